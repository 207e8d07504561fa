"""``deepchart demo``: the main job end to end on the built-in mini benchmark, with scripted models."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, note, workbench
from deepchart_dagster.cli.materialize import announce, outcome_json
from deepchart_dagster.cli.narrow import terminal_columns
from deepchart_dagster.cli.pipeline import (
    PipelineOutcome,
    RunGroup,
    Scope,
    applicable_groups,
    is_behind,
    reports_are_due,
    run_all,
    run_groups,
    select_assets,
    sort_groups,
)
from deepchart_dagster.cli.runs import Runs
from deepchart_dagster.cli.ui import check_free, serve
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.workbench import Workbench

if TYPE_CHECKING:
    from deepchart_dagster.metrics.leaderboard import LeaderboardRow
    from deepchart_dagster.scoring.calibration import ModelCalibration

MODELS = ("oracle", "misreads", "miscalculates", "misdraws", "crashes")
BENCHMARK = "mini"


@click.command("demo", short_help="The whole pipeline on the built-in mini benchmark.")
@click.option("--quick", is_flag=True, help="Two queries of each domain, where the storage does not hold them all yet.")
@click.option("--open-ui", is_flag=True, help="Start the Dagster UI on it afterwards and show it in a browser.")
@click.option("--port", default=3000, show_default=True, type=click.IntRange(1, 65535), help="Of the UI.")
@common_options
def command(quick: bool, open_ui: bool, port: int, storage: str | None, as_json: bool) -> None:
    """Build the mini benchmark's PDFs, materialise every asset for five scripted models, print the leaderboard and
    whether the scores show what these models do wrong (calibration).

    Needs no key and no network. A second run computes nothing again and says so.

    \b
    Example: deepchart demo --open-ui
    """
    if open_ui:
        check_free(port)
    begun = time.monotonic()
    with workbench(storage, benchmarks=(BENCHMARK,)) as bench:
        outcome = _materialize(bench, quick)
        rows = _leaderboard(bench, outcome)
        calibration = bench.calibration().run(bench.model(slug) for slug in MODELS)
        report = bench.settings.storage / "report" / "index.html"
    value = {
        **outcome_json(outcome),
        "leaderboard": [row.as_json() for row in rows],
        "calibration": [row.as_json() for row in calibration],
        "report": str(report),
        "seconds": round(time.monotonic() - begun, 1),
    }
    emit(as_json, value, _text(bench, outcome, value["seconds"], rows, calibration))
    if open_ui:
        serve(storage, port, browse=True)
    if outcome.exit_code:
        raise click.exceptions.Exit(outcome.exit_code)


def _materialize(bench: Workbench, quick: bool) -> PipelineOutcome:
    from deepchart_dagster.benchmark.mini import build_mini

    written = build_mini(bench.settings.storage, quick=quick)
    note(
        f"mini benchmark: {written} PDFs drawn by scripts, queries with references as programs"
        if written
        else "mini benchmark: its PDFs and queries are there already"
    )
    runs = Runs(bench.settings)
    runs.sync_models(bench.models)
    runs.sync_documents([document.id for document in bench.documents.list()])
    scope = Scope(models=MODELS, splits=tuple(Split), documents=_documents(bench))
    groups = applicable_groups(bench, run_groups(select_assets(runs, "*"), scope), scope)
    return _run(bench, runs, groups, scope)


def _documents(bench: Workbench) -> tuple[str, ...]:
    return tuple(sorted({name for query in bench.library.queries() for name in query.document_ids}))


def _run(bench: Workbench, runs: Runs, groups: list[RunGroup], scope: Scope) -> PipelineOutcome:
    """Only what is behind runs; reports are rebuilt only where a score changed or they are not there."""
    note("looking at what is stored already")
    chosen = sort_groups(bench, groups, scope, is_behind)
    work = [group for group in chosen.behind if group.partition is not None]
    reports = [group for group in chosen.behind if group.partition is None]
    outcome = PipelineOutcome(rows=list(chosen.fresh))
    if not reports_are_due(bench, work):
        return outcome
    # benchmark_queries comes first, reports last: both are groups without a partition.
    done = run_all(runs, [*reports[:1], *work, *reports[1:]], announce)
    outcome.rows += done.rows
    outcome.failures += done.failures
    return outcome


def _leaderboard(bench: Workbench, outcome: PipelineOutcome) -> list[LeaderboardRow]:
    from deepchart_dagster.metrics.leaderboard import read_leaderboard

    try:
        return read_leaderboard(bench.settings.storage, BENCHMARK)
    except UpstreamError:
        if outcome.failures:  # which say why there is none
            return []
        raise


def _text(
    bench: Workbench,
    outcome: PipelineOutcome,
    seconds: object,
    rows: list[LeaderboardRow],
    calibration: list[ModelCalibration],
) -> str:
    from deepchart_dagster.metrics.leaderboard_text import format_leaderboard
    from deepchart_dagster.scoring.calibration import calibration_text

    reused = sum(row.n_reused for row in outcome.rows)
    done = (
        f"{outcome.n_computed} instance results computed, {reused} reused"
        if outcome.n_computed
        else f"Nothing was computed again: all {reused} instance results were there already"
    )
    storage = bench.settings.storage
    return "\n".join(
        [
            format_leaderboard(rows, columns=terminal_columns()),
            "",
            "Calibration: does the first score below 1.0 stand where each scripted model errs? (deepchart calibration)",
            "",
            calibration_text(calibration),
            "",
            "A rate is a chance for each query, which then errs in all its splits. Later stages show a fault as well:",
            "a chart program may stop at wrong data (ER), and a chart of wrong data misses questions (VAS).",
            "",
            f"{done}, {outcome.n_error} in error, {seconds} s.",
            f"Report   {storage / 'report' / 'index.html'}",
            f"Tables   {bench.settings.duckdb_path} (DuckDB)",
            f"UI       deepchart ui --storage {storage}",
        ]
    )
