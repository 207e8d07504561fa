"""Where the system has no Chromium package (Ubuntu): Playwright's own is asked for, and found once it is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from deepchart_dagster.execution.browser import find_browser

PROJECT = Path(__file__).resolve().parents[2]
_TOOLS = ("bash", "dirname", "cat", "grep")


class Machine:
    """A copied tree on a machine without browser: a PATH of its own, an ``id`` and a ``playwright`` that take notes."""

    def __init__(self, root: Path, user: int, playwright_ends_with: int = 0) -> None:
        self.tree, self.path, self.home = root / "tree", root / "bin", root / "home"
        for folder in (self.tree / "scripts", self.tree / ".venv/bin", self.path, self.home):
            folder.mkdir(parents=True)
        shutil.copy(PROJECT / "scripts" / "lib.sh", self.tree / "scripts")
        for name in _TOOLS:
            (self.path / name).symlink_to(str(shutil.which(name)))
        self._program(self.path / "id", f"echo {user}")
        self._program(self.tree / ".venv/bin/playwright", f'echo "$@" >>{root}/asked; exit {playwright_ends_with}')
        self.asked = root / "asked"

    def _program(self, path: Path, text: str) -> None:
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def need_browser(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path / "bash"), "-c", ". scripts/lib.sh; need_browser"],
            cwd=self.tree,
            env={"PATH": str(self.path), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.mark.parametrize(
    ("user", "arguments"),
    [(0, "install --with-deps --only-shell chromium"), (1000, "install --only-shell chromium")],
    ids=["root", "another user"],
)
def test_playwright_is_asked_for_its_own(tmp_path: Path, user: int, arguments: str) -> None:
    machine = Machine(tmp_path, user)
    done = machine.need_browser()
    assert (done.returncode, done.stderr) == (0, "downloading Chromium through Playwright\n")
    assert machine.asked.read_text() == f"{arguments}\n"


def test_a_download_that_fails_is_one_line_with_what_to_do(tmp_path: Path) -> None:
    done = Machine(tmp_path, 1000, playwright_ends_with=1).need_browser()
    assert done.returncode == 3
    said, complaint = done.stderr.splitlines()
    assert said == "downloading Chromium through Playwright"
    assert complaint.startswith("no Chromium: install one and name it in DEEPCHART_CHROMIUM, or as root: ")
    assert complaint.endswith("/.venv/bin/playwright install --with-deps --only-shell chromium")


# As older and newer Playwrights name their downloads.
@pytest.mark.parametrize(
    "place", ["chrome-linux/headless_shell", "chrome-headless-shell-linux64/chrome-headless-shell"]
)
def test_what_playwright_downloaded_is_found(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = find_browser()
    if real is None:
        pytest.skip("no Chromium on this machine")
    machine = Machine(tmp_path, 1000)
    downloaded = machine.home / ".cache/ms-playwright/chromium_headless_shell-1200" / place
    downloaded.parent.mkdir(parents=True)
    downloaded.write_text(f'#!/bin/sh\nexec "{real.path}" "$@"\n')
    downloaded.chmod(0o755)
    assert machine.need_browser().returncode == 0
    assert not machine.asked.exists(), "the script finds it and downloads nothing"

    monkeypatch.delenv("DEEPCHART_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(machine.path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(machine.home / ".cache/ms-playwright"))
    found = find_browser()
    assert found is not None
    assert (found.path, found.version) == (downloaded, real.version)
