"""Load time of the code location against bare imports of dagster and dagster_dbt, in the same run.

    python benchmarks/load_time.py [--rounds 7]

The last line is one JSON object; ratio_load is the median of the code location over the median of the bare
imports (goal ≤ 1.3). Rounds alternate, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

BARE = "import dagster, dagster_dbt"
OURS = "import deepchart_dagster.definitions"


def seconds(program: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    for program in (BARE, OURS):
        seconds(program)  # byte code and disk cache
    bare, ours = zip(*[(seconds(BARE), seconds(OURS)) for _ in range(rounds)], strict=True)
    result = {
        "ratio_load": round(statistics.median(ours) / statistics.median(bare), 3),
        "bare_s": round(statistics.median(bare), 2),
        "code_location_s": round(statistics.median(ours), 2),
        "rounds": rounds,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
