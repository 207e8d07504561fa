"""CPU seconds a Python program: as a fork of an interpreter with its libraries, behind all walls, against a fresh one.

    python benchmarks/execution.py [--rounds 10]
    python benchmarks/execution.py --programs 1000 --workers 2

The first compares, in the same run, the chart programs of the corpus (the paper's families) and a stage-1 program with
json, csv and pandas. The other way is a bare interpreter for each program: no walls, no drawing hook, no limits. Both
take turns, since a machine that others use as well is slower one minute than the next. CPU seconds of the forks are
those of every process: this one, the servers and programs; what starting and ending cost is spread over the programs
that a server serves in its life. The second runs many programs side by side and looks for what was left behind. The
last line of stdout is one JSON object; ``ratio_chart`` and ``ratio_stage1`` are the fresh interpreter's CPU seconds by
the fork's, ``identical`` whether every output has the same bytes both ways and every time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution.model import Limits, Program, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.keeper.processes import descendants, used_by

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "execution" / "corpus"
FAMILIES = (
    *("bar", "line", "grouped_bar", "stacked_bar", "horizontal_bar", "ranked_bar", "regression_scatter"),
    *("dose_response", "heatmap", "radial_bar", "box", "violin", "combination", "forest", "dot", "sunburst"),
    *("scatter", "sankey", "bubble", "dumbbell", "slope", "seaborn_heatmap", "pandas_bar"),
)
SERVER_LIFE = 2000  # programs
STAGE_1 = """\
import csv
import io
import json
import sys

import pandas as pd

rows = list(csv.DictReader(io.StringIO("year,segment,value\\n2020,A,1.5\\n2020,B,2\\n2021,A,3\\n2021,B,4.25\\n")))
table = pd.DataFrame(rows).astype({"year": int, "value": float})
totals = table.groupby("year")["value"].sum()
growth = (totals.pct_change().dropna() * 100).round(2)
result = {"src_data": table.to_dict("records"), "der_data": {"totals": totals.to_dict(), "growth": growth.to_dict()}}
with open(sys.argv[1], "w") as out:
    json.dump(result, out, indent=2)
"""
JSON_ONLY = (CORPUS / "programs" / "json_only.py").read_text()


@dataclass(frozen=True)
class Kind:
    name: str
    stage: int
    sources: tuple[str, ...]
    forks_a_round: int = 1  # of each
    rounds_a_fresh: int = 1

    @property
    def output_name(self) -> str:
        return "output.json" if self.stage == 1 else "output.png"

    def programs(self) -> list[Program]:
        return [Program(source, self.stage, CodeType.PYTHON, Limits(wall_s=120)) for source in self.sources]  # type: ignore[arg-type]


KINDS = (
    Kind("chart", 2, tuple((CORPUS / "charts" / f"{name}.py").read_text() for name in FAMILIES), rounds_a_fresh=3),
    Kind("stage1", 1, (STAGE_1,), forks_a_round=len(FAMILIES)),
    Kind("json_only", 1, (JSON_ONLY,), forks_a_round=len(FAMILIES)),
)


def _cpu_s(*who: int) -> float:
    parts = [resource.getrusage(one) for one in who]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def _cpu_s_of_all() -> float:
    """Of this process and all that it has reaped."""
    return _cpu_s(resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def _cpu_s_with_running() -> float:
    """Of this process, of what runs below it, and of all that they have reaped."""
    return _cpu_s_of_all() + used_by(descendants(os.getpid())).cpu_s


@dataclass
class Spent:
    """CPU seconds and seconds of so many programs."""

    programs: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0

    @contextmanager
    def count(self, programs: int) -> Iterator[None]:
        start, wall = _cpu_s_with_running(), time.monotonic()
        yield
        self.programs += programs
        self.cpu_s += _cpu_s_with_running() - start
        self.wall_s += time.monotonic() - wall

    @property
    def cpu_s_each(self) -> float:
        return self.cpu_s / self.programs

    @property
    def wall_s_each(self) -> float:
        return self.wall_s / self.programs


@dataclass(frozen=True)
class Costs:
    """Of forks while their server stands, of fresh interpreters, and of starting and ending the servers."""

    forks: Spent
    fresh: Spent
    around_cpu_s: float


def measure(kind: Kind, rounds: int, outputs: list[set[bytes]]) -> Costs:
    forks, fresh = Spent(), Spent()
    with tempfile.TemporaryDirectory() as folder:
        environment = _bare_environment(folder)
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=environment, check=True)
        start = _cpu_s_of_all()
        with LocalRunner(workers=1, fresh=False) as runner:
            _run_forks(runner, kind, outputs)
            for number in range(rounds):
                with forks.count(kind.forks_a_round * len(kind.sources)):
                    for _ in range(kind.forks_a_round):
                        _run_forks(runner, kind, outputs)
                if number % kind.rounds_a_fresh == 0:
                    with fresh.count(len(kind.sources)):
                        _run_fresh(Path(folder), environment, kind, outputs)
    return Costs(forks, fresh, _cpu_s_of_all() - start - forks.cpu_s - fresh.cpu_s)


def _run_forks(runner: LocalRunner, kind: Kind, outputs: list[set[bytes]]) -> None:
    for program, found in zip(kind.programs(), outputs, strict=True):
        result = runner.run(program)
        assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
        found.add(result.output or b"")


def _run_fresh(folder: Path, environment: dict[str, str], kind: Kind, outputs: list[set[bytes]]) -> None:
    """A bare interpreter for each program."""
    run = [sys.executable, "this.py", kind.output_name]
    for source, found in zip(kind.sources, outputs, strict=True):
        Path(folder, "this.py").write_text(source)
        subprocess.run(run, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)
        found.add(Path(folder, kind.output_name).read_bytes())


def _bare_environment(folder: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "MPLCONFIGDIR": folder,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MPLBACKEND": "Agg",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def compare(rounds: int) -> dict[str, object]:
    figures: dict[str, object] = {"benchmark": "execution", "rounds": rounds}
    identical = True
    for kind in KINDS:
        outputs: list[set[bytes]] = [set() for _ in kind.sources]
        costs = measure(kind, rounds, outputs)
        fork_cpu_s = costs.forks.cpu_s_each + costs.around_cpu_s / SERVER_LIFE
        figures |= {
            f"cpu_s_{kind.name}_fork": round(fork_cpu_s, 4),
            f"cpu_s_{kind.name}_fresh": round(costs.fresh.cpu_s_each, 4),
            f"cpu_s_{kind.name}_around": round(costs.around_cpu_s, 2),
            f"wall_s_{kind.name}_fork": round(costs.forks.wall_s_each, 3),
            f"wall_s_{kind.name}_fresh": round(costs.fresh.wall_s_each, 3),
            f"ratio_{kind.name}": round(costs.fresh.cpu_s_each / fork_cpu_s, 2),
        }
        same = all(len(found) == 1 for found in outputs)
        identical &= same
        print(f"{kind.name}: {len(outputs)} programs, {'same bytes' if same else 'DIFFERENT BYTES'}")
    return {**figures, "identical": identical}


@contextmanager
def _peak_memory(seen: list[float]) -> Iterator[None]:
    """MiB of this process and all below it, shared pages divided among those who share them."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            seen.append(sum(map(_memory_mb, {os.getpid(), *descendants(os.getpid())})))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _memory_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def throughput(count: int, workers: int) -> dict[str, object]:
    """Charts and stage-1 programs in turn."""
    charts, stage_1 = KINDS[0].programs(), KINDS[1].programs()
    programs = [charts[n // 2 % len(charts)] if n % 2 else stage_1[0] for n in range(count)]
    seen: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder  # the runner's place for folders
        with _peak_memory(seen), LocalRunner(workers=workers, fresh=False) as runner:
            start = time.monotonic()
            statuses = _run_side_by_side(runner.run, programs, workers)
            wall = time.monotonic() - start
        left = {
            "processes": sorted(descendants(os.getpid())),
            "mounts": [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if folder in line],
            "folders": sorted(str(path) for path in Path(folder).rglob("*")),
        }
        tempfile.tempdir = None
    print(f"left behind: {left}")
    return {
        "benchmark": "execution",
        "programs": count,
        "workers": workers,
        "ok": sum(status is RunStatus.OK for status in statuses),
        "programs_per_s": round(count / wall, 2),
        "peak_memory_mb": round(max(seen, default=0.0)),
        "nothing_left": not any(left.values()),
    }


def _run_side_by_side(run: Callable[[Program], object], programs: list[Program], workers: int) -> list[RunStatus]:
    with ThreadPoolExecutor(workers) as pool:
        return [result.status for result in pool.map(run, programs)]  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="turns: in each, every chart is drawn as a fork")
    parser.add_argument("--programs", type=int, default=0, help="run so many programs side by side instead")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    figures = throughput(options.programs, options.workers) if options.programs else compare(options.rounds)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
