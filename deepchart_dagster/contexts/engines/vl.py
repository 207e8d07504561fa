"""``paddleocr-vl``: the paper's engine."""

from __future__ import annotations

from typing import Literal

from deepchart_dagster.contexts.engines.base import EngineUnavailableError
from deepchart_dagster.contexts.engines.config import PADDLEOCR_VL, EngineConfig
from deepchart_dagster.contexts.layout import PageLine
from deepchart_dagster.contexts.pdf import PdfPage


class PaddleOcrVlReader:
    name: str = PADDLEOCR_VL
    kind: Literal["blocks"] = "blocks"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config

    def blocks(self, page: PdfPage) -> list[PageLine]:
        raise EngineUnavailableError("paddleocr-vl is being built")
