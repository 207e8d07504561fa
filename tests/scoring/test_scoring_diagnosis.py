"""Each class of mistake on constructed cases, the order between classes, one class for each value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.scoring.diagnosis import MAX_DIAGNOSED, Diagnosed, diagnose
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.matching import match


def classes(reference: list[float], predicted: object) -> list[tuple[str, float, str, float | None]]:
    return [(one.of, one.value, one.kind, one.counterpart) for one in compare(reference, predicted).diagnosis]


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
    assert diagnose([wanted], [given], []) == [
        Diagnosed("reference", 0, wanted, kind, given, factor),
        Diagnosed("prediction", 0, given, kind, wanted, factor),
    ]


def test_values_that_nothing_explains_are_unknown_on_both_sides() -> None:
    assert classes([2016.0, 7.0], [2016, 9]) == [
        ("reference", 7.0, "unknown", None),
        ("prediction", 9.0, "unknown", None),
    ]


def test_a_year_is_no_rounded_other_year() -> None:
    assert classes([2016.0], [2017]) == [
        ("reference", 2016.0, "unknown", None),
        ("prediction", 2017.0, "unknown", None),
    ]


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
    assert {one.kind for one in diagnose([1e-320, 1e308, 0.0], [0.0, -1e308 / 2], [])} == {"unknown"}


def test_two_megabytes_of_zeros_are_diagnosed_up_to_a_limit() -> None:
    found = diagnose([3.0, 7.0], [0.0] * 1_000_000, [])

    assert len(found) == 2 + MAX_DIAGNOSED


values = st.lists(st.sampled_from([0.0, 1.0, -1.0, 10.0, 0.01, 100.0, 1.005, 2016.0, 2017.0, 1e9]), max_size=12)


@given(values, values)
def test_every_unmatched_value_has_exactly_one_class(reference: list[float], predicted: list[float]) -> None:
    pairs = match(reference, predicted)
    found = diagnose(reference, predicted, pairs)

    places = [(one.of, one.index) for one in found]
    assert len(places) == len(set(places)) == len(reference) + len(predicted) - 2 * len(pairs)
    for kind in {one.kind for one in found} - {"unknown"}:
        sides = [one.of for one in found if one.kind == kind]
        assert sides.count("reference") == sides.count("prediction")
