"""The models that are evaluated and the prompts they are given."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class ModelsResource(SettingsResource):
    """Which models there are and what they are asked."""

    models_file: str | None = Field(default=None, description="path of models.yaml")
    prompts: str | None = Field(default=None, description="folder of another prompt set; part of every key")
