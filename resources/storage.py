"""Where everything that is made lies."""

from __future__ import annotations

from pydantic import Field

from resources.base import SettingsResource


class StorageResource(SettingsResource):
    """Where everything that is made lies."""

    storage: str | None = Field(default=None, description="storage root; empty: DEEPCHART_STORAGE, or ./storage")
