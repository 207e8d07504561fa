"""What a run's records cost: Dagster's events in SQLite, and the rows of a partition in Parquet, against the plain way.

    python benchmarks/records.py [--runs 10]

The last line is one JSON object; runs and files take turns, in one process:

    ratio_records      CPU seconds of a run of one asset with Dagster as it is, over those with cli.records
    ratio_records_wall the same of the clock: making a run's file waits for the disk
    ratio_rows         CPU seconds of a Parquet file by a database of its own, over those by the process's one
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from deepchart_dagster.cli.records import quick_records
from deepchart_dagster.metrics import parquet
from deepchart_dagster.metrics.tables import SCORES


@dataclass(frozen=True)
class Taken:
    cpu_s: float
    wall_s: float


def taken(work: Callable[[], object]) -> Taken:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Taken(time.process_time() - cpu, time.perf_counter() - wall)


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(["here"]))
def counted() -> int:
    return 1


def runs(home: Path, number: int) -> dict[str, float]:
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    os.environ["DAGSTER_HOME"] = str(home)
    with dg.DagsterInstance.get() as instance:

        def run() -> Taken:
            return taken(lambda: dg.materialize([counted], instance=instance, partition_key="here"))

        run()
        plain, ours = [], []
        for _ in range(number):
            plain.append(run())
            with quick_records():
                run()  # the connections that a command's first run makes
                ours.append(run())
    return {
        "ratio_records": _ratio([each.cpu_s for each in plain], [each.cpu_s for each in ours]),
        "ratio_records_wall": _ratio([each.wall_s for each in plain], [each.wall_s for each in ours]),
        "run_cpu_s": round(statistics.median(each.cpu_s for each in ours), 3),
    }


def files(folder: Path, number: int) -> dict[str, float]:
    def write() -> float:
        return taken(lambda: parquet.write_parquet(folder / "rows.parquet", SCORES, [], "benchmark")).cpu_s

    def alone() -> float:
        parquet._database.cache_clear()
        return write()

    pairs = [(alone(), write()) for _ in range(number)]
    return {
        "ratio_rows": _ratio([pair[0] for pair in pairs], [pair[1] for pair in pairs]),
        "file_cpu_s": round(statistics.median(pair[1] for pair in pairs), 4),
    }


def _ratio(plain: list[float], ours: list[float]) -> float:
    return round(statistics.median(plain) / statistics.median(ours), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    number = parser.parse_args().runs
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="deepchart-benchmark-") as place:
        print(json.dumps({**runs(Path(place), number), **files(Path(place), number)}))


if __name__ == "__main__":
    main()
