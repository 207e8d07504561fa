"""Finding a Chromium: named, on PATH, or Playwright's own download."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deepchart_dagster.errors import BrowserUnavailable

# The headless shell draws the same pixels as the full browser at half the cost.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLAYWRIGHT_PATTERNS = ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome")
_VERSION = re.compile(r"(\d+)\.[\d.]+")
_VERSION_TIMEOUT_S = 20


@dataclass(frozen=True)
class Browser:
    """A Chromium that answered when asked for its version ("156.0.8078.108")."""

    path: Path
    version: str

    @property
    def major(self) -> str:
        return self.version.partition(".")[0]

    @property
    def is_shell(self) -> bool:
        """The headless shell, which has no window of its own."""
        return "headless" in self.path.resolve().name.replace("_", "-")


@dataclass(frozen=True)
class BrowserSandbox:
    """Whether Chromium's own sandbox holds its pages (in addition to what this room does), and why not."""

    on: bool
    reason: str
    remedy: str = ""


@cache
def sandbox_of(found: Browser) -> BrowserSandbox:
    """Found by starting it once on an empty page with the sandbox on."""
    if os.geteuid() == 0:
        return BrowserSandbox(
            False,
            "off: Chromium refuses it to root; pages have no network all the same",
            "Run as an ordinary user to have it.",
        )
    try:
        with tempfile.TemporaryDirectory(prefix="deepchart-browser-") as home:
            done = subprocess.run(
                [
                    str(found.path),
                    "--headless",
                    "--disable-gpu",
                    f"--user-data-dir={home}",
                    "--dump-dom",
                    "about:blank",
                ],
                capture_output=True,
                timeout=_VERSION_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
                env={"PATH": os.defpath, "HOME": home},
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return BrowserSandbox(False, f"off: {type(error).__name__} with the sandbox on")
    if done.returncode == 0 and b"<html>" in done.stdout:
        return BrowserSandbox(True, "on")
    return BrowserSandbox(
        False,
        "off: this host lets this user make no namespaces; pages have no network all the same",
        "As root: sysctl kernel.unprivileged_userns_clone=1 (Debian), or an AppArmor profile for Chromium (Ubuntu).",
    )


def find_browser(named: Path | None = None) -> Browser | None:
    """The first that answers: ``named`` or DEEPCHART_CHROMIUM alone if given, else PATH, else Playwright's."""
    wanted = named or os.environ.get("DEEPCHART_CHROMIUM")
    candidates: Iterator[Path] | list[Path] = [Path(wanted)] if wanted else _candidates()
    for path in candidates:
        if version := _ask_version(path):
            return Browser(path, version)
    return None


def browser_unavailable() -> BrowserUnavailable:
    """The error that says how to get one, for whoever asks."""
    named = os.environ.get("DEEPCHART_CHROMIUM")
    if named:
        return BrowserUnavailable(
            f"DEEPCHART_CHROMIUM={named} is no Chromium that starts.", remedy="Name another, or unset the variable."
        )
    remedy = (
        "Install one: apt-get install chromium-headless-shell (Debian) or chromium."
        if os.geteuid() == 0
        else "Ask for the package chromium-headless-shell or chromium, or download one for this user: "
        "python -m playwright install --only-shell chromium; or name one in DEEPCHART_CHROMIUM."
    )
    return BrowserUnavailable("No Chromium to draw HTML charts with.", remedy=remedy)


def _candidates() -> Iterator[Path]:
    for name in _NAMES:
        if found := shutil.which(name):
            yield Path(found)
    downloads = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path("~/.cache/ms-playwright").expanduser())
    for pattern in _PLAYWRIGHT_PATTERNS:
        yield from sorted(downloads.glob(pattern), reverse=True)


def _ask_version(path: Path) -> str:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(answer.stdout)
    return found.group(0) if answer.returncode == 0 and found else ""
