"""The README's commands after the demo: they reach what they say, and find it done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Demo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def test_predicted_states_and_what_is_made_from_them(demo: Demo) -> None:
    """``+`` reaches the scores, the tables, the leaderboard and the report; nothing is computed twice."""
    done = demo.run("materialize", "predicted_states+", "--model", "oracle", "--split", "finance-normal", "--json")
    assert done.returncode == 0, done.stderr
    assert "left as they are" in done.stderr
    outcome = json.loads(done.stdout)
    assert {row["asset"] for row in outcome["materialized"]} == {
        "predicted_states",
        "rendered_charts",
        "source_fidelity",
        "derived_fidelity",
        "diagnosis",
        "grounding",
        "drawn_fidelity",
        "execution_rate",
        "visual_accuracy",
        "calibration",
        "metrics/scores",
        "metrics/executions",
        "metrics/diagnoses",
        "metrics/calls",
        "metrics/backends",
        "stg_scores",
        "stg_executions",
        "stg_calls",
        "stg_diagnoses",
        "diagnosis_classes",
        "instance_scores",
        "model_averages",
        "paper_comparison",
        "yardsticks",
        "leaderboard",
        "report",
    }
    assert sum(row["n_computed"] for row in outcome["materialized"]) == 0
    assert outcome["leaderboard"] == demo.first["leaderboard"]
    assert outcome["report"] == str(demo.storage / "report/index.html")


def test_contexts_references_and_rubrics_with_commas(demo: Demo) -> None:
    done = demo.run("materialize", "context_variants,references,rubrics", "--split", "finance-normal", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["materialized"]
    assert sorted(row["asset"] for row in rows) == ["context_variants", "references", "rubrics"]
    assert {(row["n_computed"], row["n_error"]) for row in rows} == {(0, 0)}


def test_a_report_that_is_asked_for_alone_is_made(demo: Demo) -> None:
    page = demo.storage / "report" / "index.html"
    before = page.stat().st_mtime_ns
    done = demo.run("materialize", "report", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["asset"] for row in json.loads(done.stdout)["materialized"]] == ["report"]
    assert page.stat().st_mtime_ns > before
