"""Why values did not match, and charts that look right and are not: read from the marts, printed, thresholds moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.metrics.diagnoses import format_classes, read_classes
from deepchart_dagster.metrics.hallucinations import HiddenInstance, Thresholds, format_hidden, read_hidden
from deepchart_dagster.metrics.store import build_metrics

STRICT = Thresholds(vas=0.7, f1=0.9)


@pytest.mark.slow
def test_classes_are_counted_by_model_and_split(built: Any) -> None:
    rows = read_classes(built.root)

    assert [(row.model, row.side, row.diagnosis_class) for row in rows] == [
        ("m-1", "der", "missing_years"),
        ("m-1", "der", "percent"),
    ]
    assert [(row.n_reference, row.n_predicted, row.n_instances) for row in rows] == [(6, 0, 2), (1, 1, 1)]
    assert read_classes(built.root, model="robot") == []
    assert format_classes(rows) == (
        "M-1 · finance-normal · benchmark shop\n"
        "  derived  missing_years             6 not matched      0 wrong   in 2 instances\n"
        "  derived  percent                   1 not matched      1 wrong   in 1 instance"
    )


@pytest.mark.slow
def test_a_chart_with_a_high_vas_and_wrong_data_is_hidden(built: Any) -> None:
    """shop/1 of m-1 has a VAS of 0.75 over F1_der 0.8; shop/2 has no VAS; failed ones look like nothing."""
    real, robot = read_hidden(built.root, STRICT)

    assert (real.model, real.n_judged, real.n_looking_right, real.share) == ("m-1", 2, 1, 1.0)
    assert real.instances == (HiddenInstance("shop/1", 0.75, 1.0, 0.8),)
    assert (robot.n_judged, robot.n_looking_right, robot.instances) == (4, 4, ())
    text = format_hidden([real, robot], STRICT)
    assert text.splitlines()[0] == "Charts that look right and are not: VAS ≥ 0.7 with F1_src or F1_der < 0.9."
    assert "1 of 1 that look right (100 %), 2 judged" in text
    assert "shop/1  VAS 0.75  F1_src 1.00  F1_der 0.80" in text


@pytest.mark.slow
@pytest.mark.parametrize("thresholds", [Thresholds(vas=0.8, f1=0.9), Thresholds(vas=0.7, f1=0.8)])
def test_thresholds_decide(built: Any, thresholds: Thresholds) -> None:
    assert [row.instances for row in read_hidden(built.root, thresholds)] == [(), ()]


def test_without_marts_it_says_what_to_do(tmp_path: Path) -> None:
    build_metrics(tmp_path)

    with pytest.raises(UpstreamError, match="there is no leaderboard yet"):
        read_hidden(tmp_path, STRICT)
    with pytest.raises(UpstreamError, match="there is no leaderboard yet"):
        read_classes(tmp_path)
