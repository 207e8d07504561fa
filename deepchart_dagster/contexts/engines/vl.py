"""``paddleocr-vl``: the paper's engine, a vision-language model behind a server or in local folders.

With a layout model (PP-DocLayout) each block of the page is asked about by its kind; without one the page is asked
about as one block of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

import httpx

from deepchart_dagster.contexts.engines.base import EngineUnavailableError, UnreadablePageError
from deepchart_dagster.contexts.engines.config import PADDLEOCR_VL, EngineConfig
from deepchart_dagster.contexts.engines.drawing import Drawn, draw
from deepchart_dagster.contexts.engines.paddle import import_paddleocr, model_name
from deepchart_dagster.contexts.engines.vl_lines import Block, Box, lines_of
from deepchart_dagster.contexts.engines.vl_server import (
    CheckedTransport,
    api_key,
    check_completes,
    check_server,
    without_key,
)
from deepchart_dagster.contexts.layout import PageLine
from deepchart_dagster.contexts.markup import readable
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word

# Attempts after the first at a request that ended in 429, 5xx or a broken connection.
_RETRIES = 2


class PaddleOcrVlReader:
    """Loaded with the first page, so that a document whose pages carry their text needs no server."""

    name: str = PADDLEOCR_VL
    kind: Literal["blocks"] = "blocks"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._transport = CheckedTransport(config.vl_timeout_s)
        self._engine: Any = None

    def load(self) -> None:
        """Raises EngineUnavailableError."""
        if self._engine is not None:
            return
        self._check_server()
        self._engine = self._pipeline()

    def _check_server(self) -> None:
        """Raises EngineUnavailableError where it could read no page at all."""
        if self._config.vl_server_url:
            check_server(self._config.vl_server_url, self._config.vl_model)

    def _check_completes(self) -> None:
        """As _check_server, when a page has got no answer."""
        self._check_server()
        if self._config.vl_server_url:
            check_completes(self._config.vl_server_url, self._config.vl_model)

    def _pipeline(self) -> Any:
        paddleocr = import_paddleocr(may_download=self._config.vl_download)
        try:
            return paddleocr.PaddleOCRVL(**self._options())
        except Exception as error:  # noqa: BLE001 - paddlex raises bare Exceptions
            raise EngineUnavailableError(f"paddleocr-vl cannot be loaded: {without_key(str(error))}") from None

    def _options(self) -> dict[str, Any]:
        config = self._config
        options: dict[str, Any] = {"use_queues": False, "use_layout_detection": config.vl_layout}
        if layout := config.vl_folder("layout"):
            options |= {"layout_detection_model_dir": str(layout), "layout_detection_model_name": model_name(layout)}
            if (layout / "inference.onnx").is_file():
                options["engine"] = "onnxruntime"
        if config.vl_server_url:
            options |= {"vl_rec_backend": "vllm-server", "vl_rec_server_url": config.vl_server_url}
            options |= {"vl_rec_api_model_name": config.vl_model, "vl_rec_api_key": api_key() or "none"}
            options["paddlex_config"] = self._with_our_client(self._transport)
        elif recognition := config.vl_folder("recognition"):
            options["vl_rec_model_dir"] = str(recognition)
        return options

    def _with_our_client(self, transport: CheckedTransport) -> dict[str, Any]:
        settings: dict[str, Any] = import_module("paddlex.inference").load_pipeline_config("PaddleOCR-VL-1.6")
        recognition = settings["SubModules"]["VLRecognition"]
        recognition["genai_config"]["client_kwargs"] = {
            "max_retries": _RETRIES,
            "http_client": httpx.AsyncClient(transport=transport, trust_env=False),
        }
        return settings

    def blocks(self, page: PdfPage) -> list[PageLine]:
        self.load()
        drawn = draw(page, self._config.dpi, self._config.max_pixels)
        words = [Word(text, x0, y0, x1, y1) for x0, y0, x1, y1, text, *_ in page.get_text("words")]
        return lines_of(self._read(drawn), words)

    def _read(self, drawn: Drawn) -> list[Block]:
        self._transport.fault, self._transport.no_answer = None, False
        try:
            results = list(self._engine.predict(drawn.pixels))
        except Exception as error:  # noqa: BLE001 - whatever paddlex makes of a fault, the transport knows its reason
            reason = self._transport.fault or without_key(str(error)) or type(error).__name__
            if self._transport.no_answer:
                self._check_completes()
            raise UnreadablePageError(f"paddleocr-vl: {reason}") from None
        found = [block for result in results for block in result["parsing_res_list"]]
        return [
            Block(
                label=block.label,
                text=readable(block.content or ""),
                box=_in_points(block.bbox, drawn.points_per_pixel),
            )
            for block in found
        ]


def _in_points(box: Sequence[int], scale: float) -> Box:
    x0, y0, x1, y1 = box
    return (x0 * scale, y0 * scale, x1 * scale, y1 * scale)
