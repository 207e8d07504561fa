"""How generated programs are held, and for how long."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class SandboxResource(SettingsResource):
    """How generated programs are held, and for how long."""

    sandbox: str | None = Field(default=None, description="tier: auto, namespaces, landlock, container, trusted")
    workers: int | None = Field(default=None, description="programs run at once; empty: the number of cores")
    stage1_timeout_s: float | None = Field(default=None, description="seconds; paper: 60; part of the key")
    chart_timeout_s: float | None = Field(default=None, description="seconds; paper: 120; part of the key")
