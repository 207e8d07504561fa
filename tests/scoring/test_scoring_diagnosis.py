"""Each class of mistake on cases written apart from the code, the order between classes, one class for each value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.scoring.diagnosis import CLASSES, MAX_DIAGNOSED, Diagnosed, Evidence, Side, diagnose
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.labelled import Labelled
from deepchart_dagster.scoring.matching import match
from deepchart_dagster.scoring.tables import table_records

CASES = yaml.safe_load(Path(__file__).with_name("diagnosis_cases.yaml").read_text(encoding="utf-8"))
TOLERATED = 0.05


def plain(values: list[float]) -> Side:
    return Side([Labelled(value) for value in values])


def diagnosed(reference: object, predicted: object, **evidence: Any) -> list[Diagnosed]:
    sides = Side.of(reference), Side.of(predicted)
    pairs = compare([leaf.value for leaf in sides[0].leaves], predicted).pairs
    return diagnose(*sides, pairs, Evidence(**evidence))


def classes(reference: object, predicted: object) -> list[tuple[str, float, str, float | None]]:
    return [(one.of, one.value, one.kind, one.counterpart) for one in diagnosed(reference, predicted)]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_hand_built_cases(case: dict[str, Any]) -> None:
    reference = table_records(case["table"], ".csv") if "table" in case else case["reference"]
    texts = (case["context"],) if "context" in case else ()

    found = diagnosed(reference, case["prediction"], purpose=case.get("query", ""), texts=texts)

    said: dict[str, dict[float, str]] = {}
    for one in found:
        said.setdefault(one.of, {})[one.value] = one.kind
    assert said == case["unmatched"]


def test_every_class_has_hand_built_cases() -> None:
    kinds = [kind for case in CASES for side in case["unmatched"].values() for kind in side.values()]

    assert len(CASES) >= 60
    assert set(kinds) == set(CLASSES)


@pytest.mark.parametrize(
    ("wanted", "given", "kind", "factor"),
    [
        (5953e6, 5953.0, "scale", 1e-6),
        (5953.0, 5953e6, "scale", 1e6),
        (120.0, 12.0, "scale", 0.1),
        (-3.5, -3500.0, "scale", 1000.0),
        (1.6e9, -1.6e9, "sign", -1.0),
        (0.125, 12.5, "percent", 100.0),
        (12.5, 0.125, "percent", 0.01),
        (0.0389964, 0.039, "rounding", 1.0),
    ],
)
def test_one_mistake_one_class(wanted: float, given: float, kind: str, factor: float) -> None:
    assert diagnose(plain([wanted]), plain([given]), []) == [
        Diagnosed("reference", 0, wanted, kind, given, factor),
        Diagnosed("prediction", 0, given, kind, wanted, factor),
    ]


def test_values_that_nothing_explains_are_unknown_on_both_sides() -> None:
    assert classes([7.0], [9]) == [("reference", 7.0, "unknown", None), ("prediction", 9.0, "unknown", None)]


def test_a_value_in_another_notation_is_found_in_the_strings() -> None:
    assert classes([5309.0, -12.0], ["$5,309", "(12)", "none"]) == [
        ("reference", 5309.0, "notation", 5309.0),
        ("reference", -12.0, "notation", -12.0),
    ]


def test_the_order_of_the_classes() -> None:
    """-1 is 1 with another sign and 100 × -0.01; the sign comes first. One prediction explains one reference."""
    assert classes([1.0, -0.01], [-1]) == [
        ("reference", 1.0, "sign", -1.0),
        ("reference", -0.01, "unknown", None),
        ("prediction", -1.0, "sign", 1.0),
    ]


def test_what_matched_is_not_diagnosed() -> None:
    assert classes([1.0, 2.0], [2, 1]) == []


def test_no_value_is_explained_by_zero_or_by_overflow() -> None:
    found = diagnose(plain([1e-320, 1e308, 0.0]), plain([0.0, -1e308 / 2]), [])

    assert {one.kind for one in found} == {"unknown"}


def test_derived_values_are_not_looked_for_in_a_context() -> None:
    table = "| | 2021 | 2020 |\n|---|---|---|\n| Rate | 7.25 | 6.5 |\n"

    (_, given) = diagnosed({"Rate": {"2021": 7.25}}, {"Rate": {"2021": 6.5}}, texts=(table,))
    (_, without) = diagnosed({"Rate": {"2021": 7.25}}, {"Rate": {"2021": 6.5}})

    assert (given.kind, without.kind) == ("year_shift", "unknown")


def test_a_value_that_stands_anywhere_in_the_context_was_taken_from_another_row() -> None:
    texts = ("Headcount rose to 4,711 in the year.",)

    found = diagnosed({"profit": 12.25}, {"profit": 12.25, "staff": 4711, "rooms": 19}, texts=texts)

    assert [(one.value, one.kind) for one in found] == [(4711.0, "other_row"), (19.0, "unknown")]


def test_many_zeros_are_diagnosed_up_to_a_limit() -> None:
    found = diagnose(plain([3.0, 7.0]), plain([0.0] * 100_000), [])

    assert len(found) == 2 + MAX_DIAGNOSED


values = st.lists(st.sampled_from([0.0, 1.0, -1.0, 10.0, 0.01, 100.0, 1.005, 2016.0, 2017.0, 1e9]), max_size=12)


@given(values, values)
def test_every_unmatched_value_has_exactly_one_class(reference: list[float], predicted: list[float]) -> None:
    pairs = match(reference, predicted)
    found = diagnose(Side.of({"x": reference}), Side.of([{"y": value} for value in predicted]), pairs)

    places = [(one.of, one.index) for one in found]
    assert len(places) == len(set(places)) == len(reference) + len(predicted) - 2 * len(pairs)
    assert {one.kind for one in found} <= set(CLASSES)
