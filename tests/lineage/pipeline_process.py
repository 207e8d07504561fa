"""All stages of the slice in processes that are killed at random moments, or run twice at once.

    python pipeline_process.py PREPARED FOLDER KILLS SEED

Imports are paid for once: each run is a fork. Prints one JSON object: how often a run was killed or had ended before,
and whether what was left in the end equals what an undisturbed run leaves.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.lineage.graph import NODES
from deepchart_dagster.lineage.status import State, read_status
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.metrics.rows import export_all
from deepchart_dagster.metrics.store import build_metrics
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

SPLIT, MODEL = Split.ACADEMIC_NORMAL, "oracle"
TIMES = ("wall_s", "cpu_s", "max_rss_mb", "seconds")


def run(storage: Path) -> None:
    with Workbench(load_settings(storage=storage)) as bench:
        model = bench.model(MODEL)
        for stage in (bench.context_variants(), bench.references(), bench.rubrics()):
            assert not stage.run(SPLIT).n_error
        for each in (
            bench.predicted_states(),
            bench.rendered_charts(),
            bench.fidelity("src"),
            bench.fidelity("der"),
            bench.execution_rate(),
            bench.visual_accuracy(),
        ):
            assert not each.run(SPLIT, model).n_error
        export_all(bench.artifacts, bench.library, bench.models)
        build_metrics(storage)


def started(storage: Path) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()  # what it starts is killed with it
        code = 1
        try:
            run(storage)
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def left(storage: Path) -> dict[str, Any]:
    """Every result and every table, without times."""
    results: dict[str, Any] = {}
    for asset in NODES:
        for path in sorted((storage / asset.name).rglob("result.json")):
            found = json.loads(path.read_text())
            kept = {name: found[name] for name in ("uid", "input_key", "status", "value", "output_hash")}
            results[str(path.relative_to(storage))] = kept
    with duckdb.connect(storage / "metrics" / "raw.duckdb", read_only=True) as connection:
        tables = {
            name: connection.execute(
                f"select * exclude ({', '.join(out)}) from pipeline.{name} order by all"
            ).fetchall()
            if out
            else connection.execute(f"select * from pipeline.{name} order by all").fetchall()
            for name, out in {"scores": (), "executions": TIMES}.items()
        }
    return {"results": results, "tables": tables, "states": states(storage)}


def states(storage: Path) -> set[State]:
    with Workbench(load_settings(storage=storage)) as bench:
        cells = read_status(bench, models=[MODEL], splits=[SPLIT], anew=True)
        made = [cell for cell in cells if (storage / cell.key.asset).is_dir()]
        return {cell.state for cell in made}


def leftovers(storage: Path) -> list[str]:
    return [str(path) for asset in NODES for path in (storage / asset.name).rglob(".tmp*")]


def main() -> None:
    prepared, folder, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    litellm_library()
    chance = random.Random(seed)
    whole = Path(shutil.copytree(prepared, folder / "whole"))
    begun = time.monotonic()
    assert ended(started(whole)) == 0
    usual = time.monotonic() - begun
    expected = left(whole)
    killed = before = 0
    storage = Path(shutil.copytree(prepared, folder / "killed"))
    same = True
    while killed < kills:
        pid = started(storage)
        time.sleep(chance.uniform(0.0, usual))
        os.killpg(pid, signal.SIGKILL) if _has_session(pid) else os.kill(pid, signal.SIGKILL)
        if ended(pid) == -signal.SIGKILL:
            killed += 1
            continue
        before += 1  # it had come to its end: the next one begins anew
        same = same and left(storage) == expected
        shutil.rmtree(storage)
        shutil.copytree(prepared, storage)
    assert ended(started(storage)) == 0
    same = same and left(storage) == expected
    twice = Path(shutil.copytree(prepared, folder / "twice"))
    codes = [ended(pid) for pid in [started(twice), started(twice)]]
    found = {
        "killed": killed,
        "ended_before": before,
        "usual_s": round(usual, 1),
        "same": same,
        "fresh": expected["states"] == {State.FRESH},
        "leftovers": leftovers(storage),
        "twice": codes,
        "twice_same": left(twice) == expected,
        "asked_twice": _asked(twice) - _asked(whole),
    }
    sys.stdout.write(json.dumps(found) + "\n")


def _has_session(pid: int) -> bool:
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


def _asked(storage: Path) -> int:
    """Answers that a model gave, of those it was asked for."""
    rows = [json.loads(line) for path in (storage / "llm" / "ledger").glob("*.jsonl") for line in path.open()]
    return sum(row["status"] == "ok" for row in rows)


if __name__ == "__main__":
    main()
