"""Kill -9 at random moments and two runs at once: what is left equals what an undisturbed run leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.lineage.graph import NODES

# ``KILLS=30`` for the whole mini benchmark, all of it, killed so often: a quarter of an hour.
KILLS = int(os.environ.get("KILLS", "0"))
STAGES = [node.name for node in NODES if not node.name.startswith(("backend", "judge"))]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


def _killed(prepared: Path, folder: Path, kills: int, *arguments: str) -> dict[str, Any]:
    program = Path(__file__).with_name("pipeline_process.py")
    command = [sys.executable, str(program), str(prepared), str(folder), str(kills), "20260", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _hold(found: dict[str, Any], kills: int) -> None:
    assert found["killed"] == kills
    assert found["differs"] == [], "results, lists, tables, report"
    assert found["states"] == ["fresh"]
    assert found["findings"] == []
    assert found["leftovers"] == []
    assert found["survivors"] == []
    assert found["asked_again_idle"] == 0
    assert found["twice"] == [0, 0], "one works, the other waits"
    assert found["twice_differs"] == []
    assert found["asked_more_twice"] == 0, "no answer is asked for twice"


def test_kills_and_two_at_once_leave_what_an_undisturbed_run_leaves(made: Path, tmp_path: Path) -> None:
    """Of the slice, everything after its documents."""
    prepared = Path(shutil.copytree(made, tmp_path / "prepared"))
    for folder in ("predicted_states", "source_fidelity", "references", "context_variants", "llm"):
        shutil.rmtree(prepared / folder)
    selection = ",".join((*STAGES, "metrics/scores"))
    found = _killed(prepared, tmp_path, 3, selection, "--model", "oracle", "--split", "academic-normal", "--stale-only")
    _hold(found, 3)
    assert found["n_results"] == 28, "two documents twice, and twelve stages of two queries"


@pytest.mark.skipif(not KILLS, reason="takes long: KILLS=30 runs it")
def test_the_whole_mini_benchmark(tmp_path: Path) -> None:
    """From PDFs to the report, with a model that does everything right and one whose programs fail."""
    prepared = tmp_path / "prepared"
    build_mini(prepared)
    found = _killed(prepared, tmp_path, KILLS, "*", "--model", "oracle", "--model", "crashes", "--stale-only")
    sys.stdout.write(json.dumps(found) + "\n")
    _hold(found, KILLS)
    assert found["n_results"] > 1000
