"""Two models on the same instances."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import UsageError
from deepchart_dagster.metrics.paired import InstancePair, compare_models, format_comparison, paired_difference

SPLIT = Split.FINANCE_NORMAL


def pairs(first: list[float], second: list[float]) -> list[InstancePair]:
    return [InstancePair(a, b, alike=True) for a, b in zip(first, second, strict=True)]


def test_by_hand_and_what_is_left_out() -> None:
    given_pairs = [
        *pairs([1.0, 0.5, 0.25, 0.0], [0.5, 0.5, 0.5, 0.0]),
        InstancePair(1.0, 0.0, alike=False),
        InstancePair(1.0, None, alike=True),
        InstancePair(None, 0.5, alike=True),
    ]
    row = paired_difference("b", SPLIT, "vas", given_pairs)
    assert (row.n, row.n_unlike, row.n_single) == (4, 1, 2)
    assert (row.first_mean, row.second_mean, row.difference) == (0.4375, 0.375, 0.0625)
    assert (row.n_first_better, row.n_equal, row.n_second_better) == (1, 2, 1)
    assert not row.decided


def test_the_interval_is_scipys_paired_one() -> None:
    generator = np.random.default_rng(7)
    difficulty = generator.uniform(0.0, 0.8, 200)  # shared by both: far larger than the difference
    first, second = difficulty + generator.normal(0.03, 0.05, 200), difficulty
    row = paired_difference("b", SPLIT, "f1_src", pairs(list(first), list(second)))
    theirs = bootstrap(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=10_000,
        rng=3,
    ).confidence_interval
    assert (row.low, row.high) == (pytest.approx(theirs.low, abs=1e-3), pytest.approx(theirs.high, abs=1e-3))
    assert row.decided  # though the two means' own intervals overlap widely


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_other_way_round_is_the_negative(values: list[tuple[float, float]]) -> None:
    one = paired_difference("b", SPLIT, "vas", [InstancePair(a, b, alike=True) for a, b in values])
    two = paired_difference("b", SPLIT, "vas", [InstancePair(b, a, alike=True) for a, b in values])
    assert one.difference == pytest.approx(-two.difference)  # type: ignore[operator]
    assert (one.low, one.high) == (pytest.approx(-two.high), pytest.approx(-two.low))  # type: ignore[operator]
    assert (one.n_first_better, one.n_equal) == (two.n_second_better, two.n_equal)
    assert one.low <= one.difference + 1e-12  # type: ignore[operator]


def test_nothing_in_common_is_said() -> None:
    row = paired_difference("b", SPLIT, "vas", [InstancePair(1.0, None, alike=True)])
    assert (row.n, row.difference, row.low, row.decided) == (0, None, None, False)
    assert "VAS      no instance in common (1 scored for one only)" in format_comparison("a", "c", [row])


@pytest.mark.slow
def test_from_the_store(built: Any) -> None:
    er, f1_src, f1_der, vas = compare_models(built.root, "robot", "m-1")
    assert [row.metric for row in (er, f1_src, f1_der, vas)] == ["er", "f1_src", "f1_der", "vas"]
    # m-1: er 1, 1, 0, 0; f1_src 1, 0.5, 0, unscored; f1_der 0.8, -, 0, -; vas 0.75, -, 0, 0. robot has 1 everywhere.
    assert (er.n, er.difference, er.n_first_better, er.n_equal) == (4, 0.5, 2, 2)
    assert (f1_src.n, f1_src.difference, f1_src.n_single) == (3, 0.5, 1)
    assert (f1_der.n, f1_der.difference, f1_der.n_single) == (2, pytest.approx(0.6), 2)
    assert (vas.n, vas.difference, vas.n_single) == (3, 0.75, 1)
    assert compare_models(built.root, "robot", "m-1", Split.ECOSYSTEM) == []


@pytest.mark.slow
def test_the_command(built: Any) -> None:
    deepchart = str(Path(sys.executable).with_name("deepchart"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [deepchart, "compare", *arguments, "--storage", str(built.root)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    text = run("robot", "m-1").stdout
    assert "finance-normal · benchmark shop" in text
    assert "ER          1.000    0.500   +0.500 [+0.000, +1.000]" in text
    rows = json.loads(run("robot", "m-1", "--json").stdout)
    assert [row["n"] for row in rows] == [4, 3, 2, 3]
    wrong = run("robot", "nobody")
    assert wrong.returncode == 2
    assert "nobody has no scores. These have: m-1, robot." in wrong.stderr


@pytest.mark.slow
def test_a_model_without_scores_is_a_usage_error(built: Any) -> None:
    with pytest.raises(UsageError, match="ghost has no scores"):
        compare_models(built.root, "ghost", "m-1")
