"""One demo for all tests of the whole house: minutes of work, done once, by a fresh clone, in a storage of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
DEEPCHART = str(Path(sys.executable).with_name("deepchart"))


@dataclass(frozen=True)
class Demo:
    """A storage in which the quick demo (two queries a domain) has run once, and what that run printed with --json."""

    storage: Path
    first: dict[str, Any]
    executable: str = DEEPCHART
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_deepchart(self.storage, *arguments, environment=self.environment)

    def at(self, storage: Path, environment: Mapping[str, str]) -> Demo:
        """The same command on another storage, with these variables set."""
        return replace(self, storage=storage, environment=environment)


def run_deepchart(
    storage: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The installed command in a process of its own, without the caller's settings or keys."""
    return subprocess.run(
        [DEEPCHART, *arguments],
        env={**_inherited(), "DEEPCHART_STORAGE": str(storage), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def _inherited() -> dict[str, str]:
    """Without the caller's settings, but for where the browser is, and keys."""
    return {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith(("DEEPCHART_", "DAGSTER_")) or name == "DEEPCHART_CHROMIUM")
        and not name.endswith("_API_KEY")
    }


@dataclass(frozen=True)
class Clone:
    """The project as another machine would get it: committed, with what is not committed yet; nothing installed."""

    folder: Path
    status: str  # what git said of it in the beginning

    def run(self, *arguments: str, storage: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in _inherited().items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        environment |= {"DEEPCHART_STORAGE": str(storage)} if storage else {}
        return subprocess.run(arguments, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def git(self, *arguments: str) -> str:
        return _git(self.folder, *arguments)


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone | None:
    """None where this is no git checkout: nothing to clone. Where this is a fresh one itself (.ci/run): this."""
    if os.environ.get("FRESH_CLONE"):
        return Clone(PROJECT, _git(PROJECT, "status", "--porcelain"))
    if shutil.which("git") is None or not (PROJECT / ".git").exists():
        return None
    folder = tmp_path_factory.mktemp("clone") / "deepchart-dagster"
    _git(PROJECT, "clone", "-q", str(PROJECT), str(folder))
    for name in _git(PROJECT, "ls-files", "-z", "-m", "-o", "--exclude-standard").split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        if (PROJECT / name).is_file():
            shutil.copy(PROJECT / name, folder / name)
    return Clone(folder, _git(folder, "status", "--porcelain"))


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="session")
def demo(clone: Clone | None, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    storage = tmp_path_factory.mktemp("demo") / "storage"
    if clone:
        done = clone.run("./scripts/demo", "--quick", "--json", storage=storage)
    else:
        done = run_deepchart(storage, "demo", "--quick", "--json")
    assert done.returncode == 0, done.stderr[-3000:]
    return Demo(storage, json.loads(done.stdout))
