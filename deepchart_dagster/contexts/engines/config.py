"""Which engine reads, and how: made from the settings, sent to the child that reads, part of every key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.settings import DEFAULTS, OcrEngine, Settings

EngineName = Literal["text-layer", "rapidocr", "paddleocr", "paddleocr-vl"]

TEXT_LAYER: EngineName = "text-layer"
RAPIDOCR: EngineName = "rapidocr"
PADDLEOCR: EngineName = "paddleocr"
PADDLEOCR_VL: EngineName = "paddleocr-vl"
AUTO = "auto"
VlPart = Literal["layout", "recognition"]
VL_PARTS: tuple[VlPart, ...] = ("layout", "recognition")
# From the best to the last resort, for a page that needs OCR.
OCR_LADDER: tuple[EngineName, ...] = (PADDLEOCR_VL, PADDLEOCR, RAPIDOCR)


class EngineConfig(BaseModel):
    """``model_dump(mode="json")`` is what a child gets.

    ``dpi`` and ``max_pixels`` say how a page is drawn for OCR. ``paddle_models`` holds ``det`` and ``rec``;
    ``vl_models`` may hold ``layout`` and ``recognition``. Where things lie, ``threads`` and
    ``vl_timeout_s`` are in no key (contexts.engines.identity).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: OcrEngine = DEFAULTS.ocr_engine
    dpi: int = Field(default=DEFAULTS.ocr_dpi, ge=50, le=600)
    max_pixels: int = Field(default=DEFAULTS.ocr_max_pixels, ge=250_000, le=200_000_000)
    paddle_models: Path | None = None
    vl_server_url: str | None = None
    vl_model: str = DEFAULTS.vl_model
    vl_models: Path | None = None
    vl_download: bool = False
    vl_timeout_s: float = Field(default=DEFAULTS.vl_timeout_s, gt=0, allow_inf_nan=False)
    threads: int | None = Field(default=None, ge=1)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            name=settings.ocr_engine,
            dpi=settings.ocr_dpi,
            max_pixels=settings.ocr_max_pixels,
            paddle_models=settings.paddle_models,
            vl_server_url=settings.vl_server_url,
            vl_model=settings.vl_model,
            vl_models=settings.vl_models,
            vl_download=settings.vl_download,
            vl_timeout_s=settings.vl_timeout_s,
        )

    def for_workers(self, workers: int) -> Self:
        """The same engine with its share of the cores: children that each use all of them get in each other's way."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.model_copy(update={"threads": max(1, cores // max(1, workers))})

    @property
    def cores(self) -> int | None:
        """Cores that an engine may use: ``threads``, else what OMP_NUM_THREADS says (onnxruntime does not read it)."""
        given = os.environ.get("OMP_NUM_THREADS", "")
        return self.threads or (int(given) if given.isdecimal() and int(given) > 0 else None)

    @property
    def vl_layout(self) -> bool:
        """Whether a layout model tells the blocks of a page apart."""
        return self.vl_download or self.vl_folder("layout") is not None

    def vl_folder(self, part: VlPart) -> Path | None:
        folder = self.vl_models / part if self.vl_models is not None else None
        return folder if folder is not None and folder.is_dir() else None

    @property
    def vl_configured(self) -> bool:
        return self.vl_server_url is not None or self.vl_models is not None or self.vl_download


def as_config(engine: EngineConfig | str) -> EngineConfig:
    """The engine of that name with default options. Raises ConfigurationError for a name there is not."""
    if isinstance(engine, EngineConfig):
        return engine
    names = get_args(OcrEngine)
    if engine not in names:
        raise ConfigurationError(f"there is no OCR engine {engine!r}.", remedy=f"Available: {', '.join(names)}.")
    return EngineConfig.model_validate({"name": engine})
