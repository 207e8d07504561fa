"""The published harness's rules: the figures of the sample, and each rule that makes the difference."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.matching import Pair
from deepchart_dagster.scoring.upstream import match_nearest, upstream_leaves, upstream_reference


@pytest.mark.parametrize(
    ("query", "source", "derived"), [("1", 0.500, 0.400), ("4", 0.000, 0.444), ("287", 0.495, 0.364)]
)
def test_a_perfect_prediction_loses_points_on_finance(shared: Path, query: str, source: float, derived: float) -> None:
    folder = shared / "upstream-sample/references/finance" / query
    with (folder / "d_src.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    plotted = json.loads((folder / "d_der.json").read_text(encoding="utf-8"))["der_data"]

    src = compare(upstream_reference((folder / "d_src.csv").read_bytes(), ".csv"), rows, "upstream").fidelity
    der = compare(upstream_reference((folder / "d_der.json").read_bytes(), ".json"), plotted, "upstream").fidelity

    assert src is not None
    assert der is not None
    assert (round(src.f1, 3), round(der.f1, 3)) == (source, derived)


def test_tokens_of_a_text_file() -> None:
    """Joined by commas, a minus only before two characters of digits, a point only before a digit."""
    text = b"Year,A\n2016,3717.0,5953,0.5\n-5 -12 7. 1,2, x3\n"

    assert upstream_reference(text, ".csv") == [20163717.0, 59530.5, 5.0, -12.0, 7.0, 12.0, 3.0]


def test_a_json_reference_brings_all_of_its_leaves() -> None:
    assert upstream_reference(b'{"scr_data": [1, "1,000"], "der_data": [2, true, null]}', ".json") == [1, 1000, 2]


def test_strings_are_whatever_python_takes() -> None:
    assert upstream_leaves(["1_000", "2,17", " 5 ", "１２", "nan", "inf", "1e999", "$5", True, 3]) == [
        1000,
        217,
        5,
        12,
        3,
    ]


def test_each_reference_takes_the_nearest_unused_prediction() -> None:
    assert match_nearest([100.0, 100.012], [100.008, 99.992]) == [Pair(0, 0)]
    assert match_nearest([100.0, 100.0], [100.008, 99.996]) == [Pair(0, 1), Pair(1, 0)]
    assert match_nearest([5.0, 5.0, 5.0], [5.0, 5.0]) == [Pair(0, 0), Pair(1, 1)]
    assert match_nearest([0.0], [1e-9]) == []


def test_the_fast_search_equals_the_loop_over_all_predictions() -> None:
    def by_loop(reference: list[float], predicted: list[float]) -> list[Pair]:
        pairs, used = [], set()
        for index, wanted in enumerate(reference):
            free = [
                (abs(value - wanted), position)
                for position, value in enumerate(predicted)
                if position not in used and abs(value - wanted) <= 1e-4 * abs(wanted)
            ]
            if free:
                used.add(min(free)[1])
                pairs.append(Pair(index, min(free)[1]))
        return pairs

    chance = random.Random(20)
    for _ in range(400):
        reference = [100 + chance.randint(-20, 20) * 0.001 for _ in range(chance.randint(0, 15))]
        predicted = [100 + chance.randint(-20, 20) * 0.001 for _ in range(chance.randint(0, 15))]
        assert match_nearest(reference, predicted) == by_loop(reference, predicted)


def test_two_empty_sides_count_one() -> None:
    fidelity = compare([], [], "upstream").fidelity

    assert fidelity is not None
    assert fidelity.f1 == 1.0
    assert compare([], []).fidelity is None
