"""What `deepchart doctor` asks of this room: which tiers hold here, and which browser there is."""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.execution import browser
from deepchart_dagster.execution.browser import Browser
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.tiers import TierState

__all__ = ["Browser", "BrowserState", "TierState", "available_tiers", "find_browser"]


@dataclass(frozen=True)
class BrowserState:
    """``found`` is None where there is no Chromium; ``remedy`` then says how to get one."""

    found: Browser | None
    remedy: str = ""


def available_tiers() -> list[TierState]:
    """Every tier with whether it works here, found by running a small program in each, and why it does not."""
    with LocalRunner() as runner:
        return runner.probe_tiers()


def find_browser() -> BrowserState:
    found = browser.find_browser()
    return BrowserState(found) if found else BrowserState(None, str(browser.browser_unavailable()))
