"""How long scoring takes: one large matching against the loop that it replaces and against sorting alone, and a run.

    .venv/bin/python benchmarks/scoring.py [--values 10900] [--states 12000] [--repeats 40]

The matching has as many values on both sides as the largest reference of the benchmark; the loop gives each reference
the nearest prediction that is free, as the published harness does, and is timed once. The run scores as many states as
8 models × 1,482 instances leave, with references of the benchmark's sizes (82.9 source and 17.7 derived values on
average, a few thousands of times that), from their JSON texts to precision, recall and F1.

Times are CPU seconds, since machines are shared; those of the matching and of sorting are the best of several, in turn.
The last line is one JSON object:

    ratio_loop   the loop's time in matchings; goal: 500 or more
    ratio_sort   the matching's time in sortings of both sides; goal: 10 or less
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from deepchart_dagster.benchmark.state import content_of, load_state
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.matching import TOLERANCE, match
from deepchart_dagster.scoring.tables import read_reference

_SEED = 11
_MEAN_SOURCE, _MEAN_DERIVED = 82.9, 17.7
_LARGEST = 10_900
# One instance in this many has a very large reference.
_LARGE_EVERY = 2_000


def main() -> int:
    options = _options()
    reference, predicted = _values(options.values)
    match_s, sort_s = _best_in_turn(
        options.repeats, lambda: match(reference, predicted), lambda: (sorted(reference), sorted(predicted))
    )
    n_loop, loop_s = _timed(lambda: nearest_free(reference, predicted))
    n_match = len(match(reference, predicted))
    print(f"{options.values} × {options.values} values: {1000 * match_s:.1f} ms, {n_match} pairs")
    print(f"sorting both sides: {1000 * sort_s:.1f} ms; the loop: {loop_s:.1f} s, {n_loop} pairs")
    states_s, n_values = _score_states(options.states)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.states} states, {n_values} values: {states_s:.1f} s, at most {peak_mb:.0f} MiB")
    result = {
        "values": options.values,
        "match_ms": round(1000 * match_s, 2),
        "sort_ms": round(1000 * sort_s, 2),
        "loop_s": round(loop_s, 2),
        "pairs": n_match,
        "pairs_loop": n_loop,
        "ratio_loop": round(loop_s / match_s, 1),
        "ratio_sort": round(match_s / sort_s, 2),
        "states": options.states,
        "states_values": n_values,
        "states_s": round(states_s, 2),
        "peak_rss_mb": round(peak_mb),
    }
    print(json.dumps(result))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=_LARGEST)
    parser.add_argument("--states", type=int, default=12_000)
    parser.add_argument("--repeats", type=int, default=40)
    return parser.parse_args()


def _values(n: int) -> tuple[list[float], list[float]]:
    """Amounts of many sizes; nine in ten predictions are right to the tolerance, in another order."""
    chance = random.Random(_SEED)
    reference = [round(chance.lognormvariate(10, 6), 4) for _ in range(n)]
    predicted = [value * (1 + chance.uniform(-0.9, 0.9) * TOLERANCE) for value in reference]
    for at in chance.sample(range(n), n // 10):
        predicted[at] *= 1.5
    chance.shuffle(predicted)
    return reference, predicted


def nearest_free(reference: Sequence[float], predicted: Sequence[float]) -> int:
    """How many pairs the plain loop finds: each reference takes the nearest prediction that is free."""
    free = [True] * len(predicted)
    pairs = 0
    for wanted in reference:
        best, best_distance = -1, float("inf")
        reach = TOLERANCE * abs(wanted)
        for at, given in enumerate(predicted):
            if free[at]:
                distance = abs(given - wanted)
                if distance <= reach and distance < best_distance:
                    best, best_distance = at, distance
        if best >= 0:
            free[best] = False
            pairs += 1
    return pairs


def _timed(work: Callable[[], int]) -> tuple[int, float]:
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def _best_in_turn(repeats: int, *works: Callable[[], object]) -> list[float]:
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for at, work in enumerate(works):
            begun = time.process_time()
            work()
            best[at] = min(best[at], time.process_time() - begun)
    return best


def _score_states(n: int) -> tuple[float, int]:
    """Seconds that reading and scoring takes (making the states is not counted), and how many values were read."""
    seconds, n_values = 0.0, 0
    for source, derived, state in _states(n):
        begun = time.process_time()
        parsed = load_state(state, name="state.json")
        references = (read_reference(source, ".csv", "src"), read_reference(derived, ".json", "der"))
        for side, values in zip(("src", "der"), references, strict=True):
            comparison = compare(values or [], content_of(parsed, side))  # type: ignore[arg-type]
            n_values += len(comparison.reference) + len(comparison.predicted)
        seconds += time.process_time() - begun
    return seconds, n_values


def _states(n: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """D_src as CSV, D_der and J as JSON, one after the other."""
    chance = random.Random(_SEED)
    for number in range(n):
        n_source = _LARGEST if number % _LARGE_EVERY == 0 else max(4, round(chance.expovariate(1 / _MEAN_SOURCE)))
        n_derived = max(1, round(chance.expovariate(1 / _MEAN_DERIVED)))
        rows = [
            {"Fiscal Year": 2000 + at % 25, "Net Income": round(chance.lognormvariate(20, 2)), "Ratio": chance.random()}
            for at in range(max(1, n_source // 3))
        ]
        derived = [{"Fiscal Year": 2000 + at % 25, "Rate": chance.random()} for at in range(max(1, n_derived // 2))]
        given = [{**row, "Net Income": row["Net Income"] * (1 if chance.random() < 0.9 else 1000)} for row in rows]
        table = "\n".join(["Fiscal Year,Net Income,Ratio", *(",".join(map(str, row.values())) for row in rows)])
        yield (
            table.encode(),
            json.dumps(derived).encode(),
            json.dumps({"src_data": given, "der_data": derived}).encode(),
        )


if __name__ == "__main__":
    sys.exit(main())
