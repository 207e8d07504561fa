"""The engine that reads pages."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class OcrEngineResource(SettingsResource):
    """What reads pages."""

    ocr_engine: str | None = Field(default=None, description="auto, text-layer, rapidocr, …; part of the key")
