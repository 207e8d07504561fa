"""Agreement of two raters, by hand and against the textbook formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.scoring.agreement import Item, Points, agreement, all_pairs


def points(**charts: str) -> Points:
    """``a="101"``: chart a, three questions answered 1, 0, 1."""
    return {Item(chart, str(place)): int(point) for chart, said in charts.items() for place, point in enumerate(said)}


def test_by_hand() -> None:
    # 10 items, 3 charts. Both 1: 5, both 0: 2, only the first 1: 2, only the second 1: 1.
    one = points(a="1111", b="1110", c="00")
    two = points(a="1111", b="0010", c="00")
    table = agreement("x", one, "y", two)
    # b: 1/0, 1/0, 1/1, 0/0. So both 1: 5, both 0: 3, only x: 2, only y: 0.
    assert (table.n_items, table.n_charts, table.n_single) == (10, 3, 0)
    assert table.accuracy == 0.8
    # F1 of 1: 2·5/(2·5+2+0) = 10/12; F1 of 0: 2·3/(2·3+0+2) = 6/8.
    assert table.macro_f1 == pytest.approx((10 / 12 + 6 / 8) / 2)
    # By chance: P(1)·P(1) + P(0)·P(0) = 0.7·0.5 + 0.3·0.5 = 0.5.
    assert table.kappa == pytest.approx((0.8 - 0.5) / (1 - 0.5))
    # Charts: (1, 1), (0.75, 0.25), (0, 0).
    assert table.mae == pytest.approx(0.5 / 3)
    assert table.spearman == pytest.approx(1.0)
    # Deviations from the means 7/12 and 5/12, in twelfths: (5, 2, -7) and (7, -2, -5).
    assert table.pearson == pytest.approx((35 - 4 + 35) / ((25 + 4 + 49) ** 0.5 * (49 + 4 + 25) ** 0.5))


def test_only_what_both_answered_counts() -> None:
    table = agreement("x", points(a="11", b="0"), "y", points(a="1", c="1"))
    assert (table.n_items, table.n_charts, table.n_single) == (1, 1, 3)
    assert table.accuracy == 1.0


def test_what_is_not_defined_is_none() -> None:
    always = agreement("x", points(a="11", b="11"), "y", points(a="11", b="11"))
    assert (always.accuracy, always.macro_f1, always.mae) == (1.0, 1.0, 0.0)
    assert (always.kappa, always.pearson, always.spearman) == (None, None, None)
    nothing = agreement("x", points(a="1"), "y", points(b="1"))
    assert (nothing.n_items, nothing.accuracy, nothing.kappa, nothing.mae) == (0, None, None, None)


def test_every_pair_once() -> None:
    raters = {name: points(a="10") for name in ("p", "q", "r")}
    assert [(pair.first, pair.second) for pair in all_pairs(raters)] == [("p", "q"), ("p", "r"), ("q", "r")]


SAID = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(SAID)
def test_kappa_and_f1_are_the_textbook_s(said: list[tuple[bool, bool]]) -> None:
    one = {Item("a", str(place)): int(first) for place, (first, _) in enumerate(said)}
    two = {Item("a", str(place)): int(second) for place, (_, second) in enumerate(said)}
    table, other = agreement("x", one, "y", two), agreement("y", two, "x", one)
    both, neither = said.count((True, True)), said.count((False, False))
    apart, n = len(said) - both - neither, len(said)
    observed = (both + neither) / n
    share_one, share_two = sum(one.values()) / n, sum(two.values()) / n
    chance = share_one * share_two + (1 - share_one) * (1 - share_two)
    assert table.accuracy == pytest.approx(observed)
    if table.kappa is not None:
        assert table.kappa == pytest.approx((observed - chance) / (1 - chance))
    scores = [2 * hits / (2 * hits + apart) for hits in (both, neither) if hits or apart]
    if 0 < share_one + share_two < 2:
        assert table.macro_f1 == pytest.approx(sum(scores) / len(scores))
    assert (table.accuracy, table.kappa, table.mae) == (other.accuracy, other.kappa, other.mae)
