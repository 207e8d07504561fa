"""Who writes rubrics and who judges charts."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class JudgeResource(SettingsResource):
    """Who writes rubrics and who judges charts."""

    judges_file: str | None = Field(default=None, description="path of judges.yaml")
    judge: str | None = Field(default=None, description="slug in judges.yaml; empty: as judges.yaml says")
    rubric_writer: str | None = Field(default=None, description="slug in judges.yaml; empty: as judges.yaml says")
