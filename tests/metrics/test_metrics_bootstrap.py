"""Bootstrap intervals against scipy's, known cases and their own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from deepchart_dagster.metrics.bootstrap import Interval, mean_interval

unit = st.floats(0, 1, allow_nan=False, allow_subnormal=False)


def test_the_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(7).beta(2, 3, size=120)
    theirs = bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval

    ours = mean_interval(list(values))

    # Monte Carlo error of a 2.5 % quantile with 10,000 resamples: about 0.06 standard errors of the mean.
    noise = 4 * 0.06 * values.std() / np.sqrt(len(values))
    assert ours.low == pytest.approx(theirs.low, abs=noise)
    assert ours.high == pytest.approx(theirs.high, abs=noise)


def test_two_values_by_hand() -> None:
    # The mean of two draws from {0, 1} is 0, 1/2 or 1 with probability 1/4, 1/2, 1/4.
    assert mean_interval([0.0, 1.0]) == Interval(0.0, 1.0)
    assert mean_interval([0.0, 1.0], confidence=0.4) == Interval(0.5, 0.5)


def test_values_without_spread_have_no_width() -> None:
    assert mean_interval([1.0] * 50) == Interval(1.0, 1.0)
    assert mean_interval([0.1] * 7) == Interval(0.1, 0.1)
    assert mean_interval([0.3]) == Interval(0.3, 0.3)


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no mean"):
        mean_interval([])


@settings(max_examples=40, deadline=None)
@given(st.lists(unit, min_size=1, max_size=30))
def test_it_lies_within_the_values_around_the_mean_and_never_changes(values: list[float]) -> None:
    interval = mean_interval(values, resamples=2_000)
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert interval.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= interval.high
    assert mean_interval(values, resamples=2_000) == interval
