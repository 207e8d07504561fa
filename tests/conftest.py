"""What every test relies on: no setting and no key of the person who runs it reaches a test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"

# A busy machine is no failure: what a property costs is no property.
hypothesis_settings.register_profile("project", deadline=None)
hypothesis_settings.load_profile("project")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if (name.startswith(("DEEPCHART_", "DAGSTER_")) and name != "DEEPCHART_CHROMIUM") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared material beside the project ({SHARED.name}/ is absent)")
    return SHARED
