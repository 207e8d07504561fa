"""``paddleocr``: PP-OCR through paddleocr on onnxruntime, from local model folders: no paddlepaddle, no network."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal

import yaml

from deepchart_dagster.contexts.engines.base import UnreadablePageError
from deepchart_dagster.contexts.engines.config import PADDLEOCR, EngineConfig
from deepchart_dagster.contexts.engines.drawing import draw
from deepchart_dagster.contexts.engines.rapid import ocr_words
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word


class PaddleOcrReader:
    """PP-OCR without its companions for photographs (orientation, unwarping, turned lines): pages are drawn here."""

    name: str = PADDLEOCR
    kind: Literal["words"] = "words"

    def __init__(self, config: EngineConfig) -> None:
        if config.paddle_models is None:
            raise UnreadablePageError("the engine paddleocr has no model folders")
        self._config = config
        paddleocr = import_paddleocr()
        folders = {part: config.paddle_models / part for part in ("det", "rec")}
        threads = {"intra_op_num_threads": config.threads} if config.threads else {}
        self._engine = paddleocr.PaddleOCR(
            text_detection_model_dir=str(folders["det"]),
            text_detection_model_name=_model_name(folders["det"]),
            text_recognition_model_dir=str(folders["rec"]),
            text_recognition_model_name=_model_name(folders["rec"]),
            use_doc_orientation_classify=False,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            engine="onnxruntime",
            **({"engine_config": threads} if threads else {}),
        )

    def words(self, page: PdfPage) -> list[Word]:
        drawn = draw(page, self._config.dpi, self._config.max_pixels)
        words: list[Word] = []
        for found in self._engine.predict(drawn.pixels):
            words += ocr_words(found["rec_polys"], found["rec_texts"], drawn.points_per_pixel)
        return words


def import_paddleocr() -> Any:
    """paddleocr, kept from asking model hubs whether they can be reached (up to 36 s without network)."""
    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    return import_module("paddleocr")


def _model_name(folder: Any) -> str:
    """As the folder's own inference.yml says: paddleocr refuses a folder under another name."""
    described = yaml.safe_load((folder / "inference.yml").read_text(encoding="utf-8"))
    return str(described["Global"]["model_name"])
