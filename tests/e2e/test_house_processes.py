"""Tests in several processes: what is made once for the run is made once, and a file's tests stay together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

_MADE_ONCE = """
import os
from pathlib import Path
import pytest

NOTES = Path(os.environ["NOTES"])

def note(name):
    with NOTES.open("a") as stream:
        stream.write(f"{name} {os.getpid()}\\n")

@pytest.fixture(scope="session")
def house(tmp_path_factory):
    note("house made")
    return tmp_path_factory.mktemp("house")

@pytest.fixture(scope="session")
def window(house, tmp_path_factory):
    note("window made")
    return house / "window"
"""
_TEST = """
import os, sys
import pytest

@pytest.mark.parametrize("n", range(3))
def test_one({fixture}, n):
    sys.modules["conftest_of_the_room"].note("{name}")
"""


@pytest.mark.slow
def test_what_is_made_once_is_made_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files share ``house``, one of them and a third share ``window``; others go to whichever process is free."""
    room = tmp_path / "tests"
    room.mkdir()
    (room / "conftest.py").write_text((PROJECT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    inner = room / "room"
    inner.mkdir()
    (inner / "conftest.py").write_text(
        "import sys\n" + _MADE_ONCE + "\nsys.modules['conftest_of_the_room'] = sys.modules[__name__]\n"
    )
    uses = {"a": "house", "b": "window", "c": "window", "d": "tmp_path", "e": "tmp_path", "f": "tmp_path"}
    for name, fixture in uses.items():
        (inner / f"test_{name}.py").write_text(_TEST.format(name=name, fixture=fixture))
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "--import-mode=importlib",
        str(room),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "18 passed" in done.stdout
    notes = [line.rpartition(" ") for line in (tmp_path / "notes").read_text().splitlines()]
    assert sorted(what for what, _, _ in notes if what.endswith("made")) == ["house made", "window made"]
    processes = {name: {pid for what, _, pid in notes if what == name} for name in uses}
    assert {len(pids) for pids in processes.values()} == {1}, "a file's tests run in one process"
    assert processes["a"] == processes["b"] == processes["c"]
    assert len({pid for pids in processes.values() for pid in pids}) == 2, "both processes work"
