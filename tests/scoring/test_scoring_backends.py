"""ER and VAS of the study of rendering backends: the main run's rules, by backend and setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.results import Outcome, Status
from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.generation.backend_study import StudySelection
from deepchart_dagster.metrics.backend_rows import export_backends
from deepchart_dagster.metrics.backends import BackendRow, format_backends
from deepchart_dagster.metrics.store import build_metrics
from deepchart_dagster.scoring.backend_scores import BackendScoreStage


@pytest.fixture
def study(house: Any) -> Any:
    """q1 has a chart by the model in HTML, of q2 the model made none; both have rubrics."""
    house.add(house.query("q1"), house.query("q2"))
    for number, uid in enumerate(("q1", "q2")):
        house.reference(uid, house.bar_chart(10, 20, 30), house.png_of(number))
    house.rubrics().run(Split.FINANCE_NORMAL)
    scope = (Backend.HTML.value, house.model.slug)
    chart = house.png_of(7)
    house.evidence.put("drawn", sha256_bytes(chart), house.bar_chart(10, 20, 30))
    made = Outcome(value={"backend": "html", "chosen_backend": "html"})
    house.put("backend_charts", "q1", scope=scope, chart=chart, outcome=made)
    failed = Outcome.failed("crash", "exit code 1").model_copy(update={"value": {"chosen_backend": "html"}})
    house.put("backend_charts", "q2", scope=scope, chart=None, outcome=failed)
    return house


def run(house: Any, backend: Backend = Backend.HTML) -> StepSummary:
    stage = BackendScoreStage(judging=house.judging(), selection=StudySelection(house.library))
    return stage.run(backend, house.model)


def value_of(house: Any, uid: str) -> Any:
    return house.store.read("backend_scores", ("html", house.model.slug), uid)


def test_a_chart_is_judged_and_a_failure_counts_zero(study: Any) -> None:
    summary = run(study)
    assert (summary.n_ok, summary.n_failed, summary.n_error) == (1, 1, 0)
    good, bad = value_of(study, "q1").value, value_of(study, "q2")
    assert (good["executed"], good["vas"], good["chosen_backend"]) == (1, 1.0, "html")
    assert good["splits"] == ["finance-normal", "finance-long"]
    assert (bad.status, bad.value["executed"], bad.value["vas"]) == (Status.FAILED, 0, 0.0)


def test_what_is_scored_is_not_judged_again(study: Any) -> None:
    run(study)
    study.client.forget_counts()
    assert run(study).n_reused == 2
    assert study.client.count("judge") == 0


def test_a_chart_that_is_not_there_is_an_error_and_no_zero(study: Any) -> None:
    summary = run(study, Backend.FREE)
    assert summary.n_error == summary.n_total == 2
    assert {problem.kind for problem in summary.errors} == {"UpstreamError"}


def test_a_row_for_each_setting_that_the_query_counts_in(study: Any, tmp_path: Path) -> None:
    import duckdb

    run(study)
    models = {study.model.slug: study.model}
    export_backends(study.store, study.library, models, Backend.HTML, study.model.slug)
    build = build_metrics(study.root)
    assert build.row_counts["backends"] == 4
    with duckdb.connect(build.path, read_only=True) as connection:
        columns = "uid, split, backend, chosen_backend, status, executed, vas"
        rows = connection.execute(f"select {columns} from pipeline.backends order by uid, split").fetchall()
    assert rows == [
        ("q1", "finance-long", "html", "html", "ok", 1.0, 1.0),
        ("q1", "finance-normal", "html", "html", "ok", 1.0, 1.0),
        ("q2", "finance-long", "html", "html", "failed", 0.0, 0.0),
        ("q2", "finance-normal", "html", "html", "failed", 0.0, 0.0),
    ]


def a_row(backend: str, **changes: Any) -> BackendRow:
    fields: dict[str, Any] = {
        "benchmark": "b",
        "model": "m",
        "name": "M",
        "family": "proprietary",
        "scripted": False,
        "backend": backend,
        "er": 0.765,
        "vas": 0.521,
        "n_settings": 4,
        "n_total": 200,
        "n_scored": 200,
        "n_failed": 47,
        "n_error": 0,
        "n_python": 200,
        "n_html": 0,
        "judge": "j",
        "judge_scripted": False,
    }
    return BackendRow(**fields | changes)


def test_the_table_puts_backends_side_by_side() -> None:
    rows = [a_row("python"), a_row("html", er=0.983, vas=None), a_row("free", n_python=199, n_html=1, n_error=3)]
    lines = format_backends(rows).splitlines()
    assert lines[1].split() == ["model", "ER", "py", "html", "free", "VAS", "py", "html", "free", "free", "chose"]
    assert " ".join(lines[2].split()) == "M 0.765 0.983 0.765 0.521 — 0.521 199 python, 1 html of 200"
    assert lines[-1].startswith("3 charts in error are left out")
