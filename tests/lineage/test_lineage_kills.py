"""Kill -9 at random moments and two runs at once: what is left equals what an undisturbed run leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# ``KILLS=30`` for the whole of it: each costs half a run.
KILLS = int(os.environ.get("KILLS", "3"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_kills_and_two_at_once_leave_what_an_undisturbed_run_leaves(made: Path, tmp_path: Path) -> None:
    program = Path(__file__).with_name("pipeline_process.py")
    command = [sys.executable, str(program), str(made), str(tmp_path), str(KILLS), "20260"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed"] == KILLS
    assert found["same"], "results, scores and states"
    assert found["fresh"]
    assert found["leftovers"] == []
    assert found["twice"] == [0, 0], "one works, the other waits"
    assert found["twice_same"]
    assert found["asked_twice"] == 0, "no answer is asked for twice"
