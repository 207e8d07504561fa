"""The README's two commands in a fresh clone: they set themselves up, and a second call skips what is done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def _run(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return subprocess.run(arguments, cwd=clone, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None or not (PROJECT / ".git").exists():
        pytest.skip("this is no git checkout: nothing to clone")
    folder = tmp_path_factory.mktemp("clone") / "deepchart-dagster"
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(folder)], check=True)
    return folder


def test_the_demo_sets_itself_up_and_prints_the_leaderboard(clone: Path) -> None:
    done = _run(clone, "./scripts/demo", "--quick", "--json")
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout)
    oracle = [row for row in outcome["leaderboard"] if row["model"] == "oracle"]
    assert len(oracle) == 6
    assert {row[metric]["value"] for row in oracle for metric in ("er", "f1_src", "f1_der", "vas")} == {1.0}
    assert (clone / "storage" / "report" / "index.html").is_file()


def test_the_test_command_sets_itself_up(clone: Path) -> None:
    done = _run(clone, "./scripts/test", "--collect-only", "-q")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "tests collected" in done.stdout
    begun = time.monotonic()
    again = _run(clone, "./scripts/test", "--version")
    assert again.returncode == 0
    assert "installing" not in again.stderr
    assert time.monotonic() - begun < 20, "what is done is skipped"


def test_the_clone_stays_clean(clone: Path) -> None:
    status = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
    assert status.stdout == ""
