"""``deepchart materialize`` in processes that are killed with -9 at random moments, and in two at once.

    python pipeline_process.py PREPARED FOLDER KILLS SEED ARGUMENT…

PREPARED is a storage to start from, the arguments are those of the command. Imports are paid for once: each run is a
fork that calls the command. Every other kill takes the run's helpers with it; the rest leave them to notice by
themselves. A run that comes to its end before its kill is kept, and the next one begins anew. Prints one JSON object:
how often a run was killed, and whether what is left in the end equals what an undisturbed run leaves.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.main import main as deepchart
from deepchart_dagster.definitions import defs
from deepchart_dagster.lineage.graph import NODES
from deepchart_dagster.lineage.status import State, read_status
from deepchart_dagster.lineage.verify import verify
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

# How long something took, what it took, and how often the models were asked: another run's are its own.
_OF_A_RUN = ("wall_s", "cpu_s", "max_rss_mb", "seconds", "instance_s")
_CALLS = ("calls", "stg_calls")
_COUNTED_CALLS = re.compile(r"<tr><td>(stage1|stage2|rubric|judge) .*")


@dataclass(frozen=True)
class Command:
    """What each run does, and where what it says goes."""

    arguments: tuple[str, ...]
    log: Path

    def start(self, storage: Path) -> int:
        """The process that runs it on ``storage``."""
        pid = os.fork()
        if pid:
            return pid
        code: object = 1
        try:
            os.setsid()
            said = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(said, 1)
            os.dup2(said, 2)
            deepchart(["materialize", *self.arguments, "--storage", str(storage)])
        except SystemExit as leaving:
            code = leaving.code
        finally:
            os._exit(code if isinstance(code, int) else 1)

    def run(self, storage: Path) -> float:
        """To its end; the seconds that took."""
        begun = time.monotonic()
        code = ended(self.start(storage))
        assert code == 0, f"ended with {code}: {self.log.read_text()[-2000:]}"
        return time.monotonic() - begun


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(pid: int, *, helpers: bool) -> bool:
    """Whether it was killed before it had ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # it alone: a fork that has no session yet is of ours
    if helpers:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    return ended(pid) == -signal.SIGKILL


def left(storage: Path) -> dict[str, Any]:
    """Every result, list of results and table, without what differs from run to run."""
    results: dict[str, Any] = {}
    for asset in NODES:
        for path in sorted((storage / asset.name).rglob("result.json")):
            found = json.loads(path.read_text())
            kept = ("uid", "input_key", "key_parts", "status", "value", "files", "output_hash")
            results[str(path.relative_to(storage))] = {name: found[name] for name in kept}
    lists = {str(path.relative_to(storage)): path.read_text() for path in storage.glob("*/_partitions/**/*.jsonl")}
    return {
        "results": results,
        "lists": lists,
        "tables": tables(storage),
        "evidence": sorted(str(path.relative_to(storage)) for path in (storage / "evidence").rglob("*.json*")),
        "report": [_COUNTED_CALLS.sub("", path.read_text()) for path in storage.glob("report/index.html")],
    }


def tables(storage: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Rows by table, of the raw store and of the published one where there is one."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for database in sorted((storage / "metrics").glob("[!.]*.duckdb")):
        with duckdb.connect(database, read_only=True) as connection:
            for schema, name in connection.execute(
                "select table_schema, table_name from information_schema.tables"
            ).fetchall():
                if name in _CALLS:
                    continue
                columns = [row[0] for row in connection.execute(f'describe {schema}."{name}"').fetchall()]
                chosen = ", ".join(f'"{column}"' for column in columns if column not in _OF_A_RUN)
                rows = connection.execute(f'select {chosen} from {schema}."{name}" order by all').fetchall()
                found[f"{database.stem} {schema}.{name}"] = rows
    return found


def states(storage: Path) -> list[str]:
    """The states that partitions are in of which anything was made, each once."""
    with Workbench(load_settings(storage=storage)) as bench:
        cells = read_status(bench, models=list(bench.models), splits=list(Split), anew=True)
    idle = (State.MISSING, State.NOT_APPLICABLE)
    return sorted({cell.state.value for cell in cells if cell.state not in idle})


def leftovers(storage: Path) -> list[str]:
    """Half-made files and folders that nothing swept."""
    folders = [*(asset.name for asset in NODES), "evidence", "llm"]
    return [str(path) for folder in folders for path in (storage / folder).rglob(".tmp*")]


def survivors(sessions: set[int], wait_s: float = 15.0) -> list[int]:
    """Helpers of killed runs that have not ended by themselves."""
    until = time.monotonic() + wait_s
    while alive := [pid for pid in _processes() if _session(pid) in sessions]:
        if time.monotonic() > until:
            return alive
        time.sleep(0.2)
    return []


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _session(pid: int) -> int | None:
    try:
        state, _, _, session, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(session)


def answers(storage: Path) -> int:
    """That models gave, of those they were asked for."""
    rows = [json.loads(line) for path in (storage / "llm" / "ledger").glob("*.jsonl") for line in path.open()]
    return sum(row["status"] == "ok" for row in rows)


@dataclass(frozen=True)
class Killed:
    """What became of the runs that were to be killed."""

    storage: Path
    n_killed: int
    complete: tuple[Path, ...]
    sessions: frozenset[int]


def killed_runs(command: Command, prepared: Path, folder: Path, kills: int, seed: int, longest: float) -> Killed:
    """Each killed after up to ``longest`` seconds, and the last one left to end."""
    chance = random.Random(seed)
    storage = Path(shutil.copytree(prepared, folder / "killed"))
    n_killed, complete, sessions = 0, list[Path](), set[int]()
    while n_killed < kills:
        pid = command.start(storage)
        sessions.add(pid)
        time.sleep(chance.uniform(0.0, longest))
        if kill(pid, helpers=n_killed % 2 == 0):
            n_killed += 1
            continue
        complete.append(Path(shutil.move(storage, folder / f"complete-{len(complete)}")))
        shutil.copytree(prepared, storage)
    command.run(storage)
    return Killed(storage, n_killed, tuple(complete), frozenset(sessions))


def main() -> None:
    prepared, folder, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    command = Command(tuple(sys.argv[5:]), folder / "log.txt")
    litellm_library()
    defs.resolve_asset_graph()
    whole = Path(shutil.copytree(prepared, folder / "whole"))
    usual = command.run(whole)
    asked = answers(whole)
    idle = command.run(whole)  # nothing is left to do
    # So that the kills fall all over one run, or two.
    killed = killed_runs(command, prepared, folder, kills, seed, longest=idle + 2 * usual / max(kills, 1))
    twice = Path(shutil.copytree(prepared, folder / "twice"))
    codes = [ended(pid) for pid in [command.start(twice), command.start(twice)]]
    # The databases are opened when no fork is made any more: DuckDB has threads.
    expected = left(whole)
    of_killed = {str(path.name): left(path) for path in (killed.storage, *killed.complete)}
    found = {
        "killed": killed.n_killed,
        "complete_before": len(killed.complete),
        "usual_s": round(usual, 1),
        "idle_s": round(idle, 1),
        "n_results": len(expected["results"]),
        "n_rows": sum(map(len, expected["tables"].values())),
        "differs": sorted({part for one in of_killed.values() for part in one if one[part] != expected[part]}),
        "states": states(killed.storage),
        "findings": [str(finding) for finding in verify(killed.storage).findings],
        "leftovers": leftovers(killed.storage),
        "survivors": survivors(set(killed.sessions)),
        "asked": asked,
        "asked_again_idle": answers(whole) - asked,
        "asked_more_killed": answers(killed.storage) - asked,
        "twice": codes,
        "twice_differs": sorted(part for part, value in left(twice).items() if value != expected[part]),
        "asked_more_twice": answers(twice) - asked,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
