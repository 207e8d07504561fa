"""``paddleocr``: PP-OCR through paddleocr on onnxruntime, from local model folders: no paddlepaddle, no network."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import yaml

from deepchart_dagster.contexts.engines.base import EngineUnavailableError
from deepchart_dagster.contexts.engines.config import PADDLEOCR, EngineConfig
from deepchart_dagster.contexts.engines.dashes import with_dashes
from deepchart_dagster.contexts.engines.drawing import draw
from deepchart_dagster.contexts.engines.rapid import ocr_words
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word


class PaddleOcrReader:
    """PP-OCR without its companions for photographs (orientation, unwarping, turned lines): pages are drawn here."""

    name: str = PADDLEOCR
    kind: Literal["words"] = "words"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._engine: Any = None

    def load(self) -> None:
        """Raises EngineUnavailableError."""
        if self._engine is not None:
            return
        if self._config.paddle_models is None:
            raise EngineUnavailableError("the engine paddleocr has no model folders")
        try:
            self._engine = import_paddleocr().PaddleOCR(**self._options(self._config.paddle_models))
        except Exception as error:  # paddlex raises bare Exceptions for folders that do not fit
            raise EngineUnavailableError(f"paddleocr cannot be loaded: {' '.join(str(error).split())}") from error

    def _options(self, models: Path) -> dict[str, Any]:
        options: dict[str, Any] = {
            "text_detection_model_dir": str(models / "det"),
            "text_detection_model_name": model_name(models / "det"),
            "text_recognition_model_dir": str(models / "rec"),
            "text_recognition_model_name": model_name(models / "rec"),
            "use_doc_orientation_classify": False,
            "use_doc_unwarping": False,
            "use_textline_orientation": False,
            "engine": "onnxruntime",
        }
        if self._config.cores is not None:
            options["engine_config"] = {"intra_op_num_threads": self._config.cores}
        return options

    def words(self, page: PdfPage) -> list[Word]:
        self.load()
        drawn = draw(page, self._config.dpi, self._config.max_pixels)
        words: list[Word] = []
        for found in self._engine.predict(drawn.pixels):
            words += ocr_words(found["rec_polys"], found["rec_texts"], drawn.points_per_pixel)
        return with_dashes(words, drawn)


def import_paddleocr(*, may_download: bool = False) -> Any:
    """paddleocr, kept from asking model hubs whether they can be reached (up to 36 s without network)."""
    if not may_download:
        os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    return import_module("paddleocr")


def model_name(folder: Path) -> str:
    """As the folder's own inference.yml says: paddleocr refuses a folder under another name."""
    try:
        described = yaml.safe_load((folder / "inference.yml").read_text(encoding="utf-8"))
        return str(described["Global"]["model_name"])
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        raise EngineUnavailableError(f"{folder / 'inference.yml'} does not name its model") from None
