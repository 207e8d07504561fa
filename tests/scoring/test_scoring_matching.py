"""The matching is a maximum one: compared with scipy's, on values chosen to lie at the edge of the tolerance."""

from __future__ import annotations

import math
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from deepchart_dagster.scoring.matching import Pair, accepts, match

ANCHORS = (0.0, 1.0, -1.0, 100.0, 2016.0, 5953e6, 1e-3, 1e308, -1e308, 1e-308, 5e-324, -1e-320)
STEPS = (0.0, 1e-4, -1e-4, 5e-5, -5e-5, 2e-4, 1.0001e-4, -1.0001e-4, 1e-16)


@st.composite
def edge_values(draw: st.DrawFn) -> float:
    """A value a few representable numbers from the edge of some anchor's tolerance."""
    value = draw(st.sampled_from(ANCHORS)) * (1 + draw(st.sampled_from(STEPS)))
    for _ in range(draw(st.integers(0, 2))):
        value = math.nextafter(value, draw(st.sampled_from((-math.inf, math.inf))))
    return value


@st.composite
def near_values(draw: st.DrawFn) -> float:
    """Values so close to 100 that most tolerances overlap, with ties."""
    return 100.0 + draw(st.integers(-25, 25)) * 0.002


sides = st.one_of(
    st.lists(edge_values(), max_size=12),
    st.lists(near_values(), max_size=14),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8),
)


def largest(reference: list[float], predicted: list[float]) -> int:
    accepted = np.array([[abs(p - r) <= 1e-4 * abs(r) for p in predicted] for r in reference])
    if not accepted.any():
        return 0
    return int((maximum_bipartite_matching(csr_matrix(accepted), perm_type="column") >= 0).sum())


@settings(max_examples=300)
@given(sides, sides)
def test_as_many_pairs_as_scipy_finds(reference: list[float], predicted: list[float]) -> None:
    pairs = match(reference, predicted)

    assert len(pairs) == largest(reference, predicted)
    assert all(accepts(reference[pair.reference], predicted[pair.predicted]) for pair in pairs)
    assert len({pair.reference for pair in pairs}) == len({pair.predicted for pair in pairs}) == len(pairs)
    assert pairs == sorted(pairs)


@given(sides, sides, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(
    reference: list[float], predicted: list[float], shuffler: random.Random
) -> None:
    shuffled_reference, shuffled_predicted = list(reference), list(predicted)
    shuffler.shuffle(shuffled_reference)
    shuffler.shuffle(shuffled_predicted)

    assert len(match(shuffled_reference, shuffled_predicted)) == len(match(reference, predicted))


@given(sides, sides, edge_values())
def test_one_more_prediction_adds_one_pair_or_none(reference: list[float], predicted: list[float], more: float) -> None:
    assert len(match(reference, [*predicted, more])) - len(match(reference, predicted)) in (0, 1)


@given(sides)
def test_everything_matches_itself(values: list[float]) -> None:
    assert match(values, values[::-1]) == match(values, values[::-1])
    assert len(match(values, values[::-1])) == len(values)


def test_nearest_in_reading_order_would_find_one_pair_here() -> None:
    assert match([100.0, 100.012], [100.008, 99.992]) == [Pair(0, 1), Pair(1, 0)]


def test_zero_matches_zero_alone() -> None:
    assert match([0.0], [1e-12]) == []
    assert match([0.0, -0.0], [0.0, 5e-324]) == [Pair(0, 0)]
    assert match([5e-324], [0.0]) == []


def test_the_tolerance_belongs_to_the_reference_and_is_closed() -> None:
    assert match([10000.0], [10001.0]) == [Pair(0, 0)]
    assert match([10000.0], [math.nextafter(10001.0, math.inf)]) == []
    assert match([-10000.0], [-9999.0]) == [Pair(0, 0)]
    assert match([10000.0], [-10000.0]) == []


def test_duplicates_are_matched_once_each() -> None:
    assert match([5.0, 5.0, 5.0], [5.0, 5.0]) == [Pair(0, 0), Pair(1, 1)]


def test_an_empty_side_has_no_pairs() -> None:
    assert match([], [1.0]) == match([1.0], []) == match([], []) == []


def test_the_largest_states_of_the_benchmark() -> None:
    """10,900 × 10,900 values: every reference has its own prediction, none nearer than the tolerance to another."""
    reference = [1.0003**step for step in range(10_900)]
    predicted = [value * (1 + 0.9e-4) for value in reversed(reference)]

    assert match(reference, predicted) == [Pair(index, 10_899 - index) for index in range(10_900)]
