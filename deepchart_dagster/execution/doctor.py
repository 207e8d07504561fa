"""What `deepchart doctor` asks of this room: which tiers hold, which browser and which chart libraries there are."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.execution import browser
from deepchart_dagster.execution.browser import Browser, BrowserSandbox
from deepchart_dagster.execution.libraries import ChartLibraries, installing
from deepchart_dagster.execution.libraries.serving import default_folder
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.tiers import TierState
from deepchart_dagster.settings import Settings

__all__ = [
    "Browser",
    "BrowserState",
    "LibraryState",
    "TierState",
    "available_tiers",
    "browser_sandbox",
    "chart_libraries",
    "find_browser",
]


@dataclass(frozen=True)
class BrowserState:
    """``found`` is None where there is no Chromium; ``remedy`` then says how to get one."""

    found: Browser | None
    remedy: str = ""


def available_tiers(settings: Settings) -> list[TierState]:
    """Every tier with whether it works here, found by running a small program in each, and why it does not."""
    with LocalRunner(containers=ContainerOptions.of(settings)) as runner:
        return runner.probe_tiers()


def find_browser() -> BrowserState:
    found = browser.find_browser()
    return BrowserState(found) if found else BrowserState(None, str(browser.browser_unavailable()))


def browser_sandbox(found: Browser) -> BrowserSandbox:
    """Whether Chromium's own sandbox is on for this user."""
    return browser.sandbox_of(found)


@dataclass(frozen=True)
class LibraryState:
    """``versions`` is empty where there are none; ``remedy`` says how to get them, or newer ones."""

    folder: Path | None
    versions: dict[str, str]
    remedy: str = ""


def chart_libraries() -> LibraryState:
    libraries = ChartLibraries.from_folder(None)
    versions = libraries.versions()
    own = libraries.root is not None and libraries.root.parent == default_folder().resolve()
    if versions and (not own or installing.is_installed()):
        return LibraryState(libraries.root, versions)
    can = "deepchart libraries install"
    return LibraryState(libraries.root, versions, can if shutil.which("npm") else installing.npm_remedy())
