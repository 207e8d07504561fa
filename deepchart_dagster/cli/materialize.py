"""``deepchart materialize``: assets for partitions, through Dagster."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, note, workbench
from deepchart_dagster.cli.pipeline import (
    PipelineOutcome,
    RunGroup,
    Scope,
    applicable_groups,
    nothing_to_do,
    run_all,
    run_groups,
    select_assets,
    sort_by_state,
)
from deepchart_dagster.cli.runs import RunOutcome, Runs
from deepchart_dagster.errors import UsageError
from deepchart_dagster.lineage.graph import BY_NAME, PartitionKind
from deepchart_dagster.lineage.status import State
from deepchart_dagster.workbench import Workbench

BEHIND = frozenset({State.STALE, State.MISSING, State.PARTIAL, State.FAILED})
IN_ERROR = frozenset({State.PARTIAL, State.FAILED})


@click.command("materialize", short_help="Make assets for partitions, through Dagster.")
@click.argument("selection")
@click.option("--model", "models", multiple=True, metavar="M", help="Models to run; may be repeated.")
@click.option("--split", "splits", multiple=True, type=click.Choice([split.value for split in Split]))
@click.option("--document", "documents", multiple=True, metavar="ID", help="Documents; default: all registered.")
@click.option("--stale-only", is_flag=True, help="Only partitions that are stale, missing, partial or failed.")
@click.option("--retry-errors", is_flag=True, help="Only partitions with instances in error.")
@common_options
def command(
    selection: str,
    models: tuple[str, ...],
    splits: tuple[str, ...],
    documents: tuple[str, ...],
    stale_only: bool,
    retry_errors: bool,
    storage: str | None,
    as_json: bool,
) -> None:
    """Materialise assets for partitions. SELECTION: names with commas between them, or Dagster's own
    syntax: `predicted_states+` (and what is made from it), `group:scores`, `*`.

    Only what changed is computed; errors are tried again, failures are not.

    \b
    Example: deepchart materialize "predicted_states+" --model oracle --split finance-normal
    """
    with workbench(storage) as bench:
        runs = Runs(bench.settings)
        known = [document.id for document in bench.documents.list()]
        runs.sync_models(bench.models)
        runs.sync_documents(known)
        assets = select_assets(runs, selection)
        scope = Scope(
            models=tuple(bench.model(slug).slug for slug in models),
            splits=tuple(Split(split) for split in splits) or tuple(Split),
            documents=tuple(bench.documents.get(name).id for name in documents) or tuple(known),
        )
        _check_models(assets, scope, bench)
        _check_judges(assets, bench)
        groups = applicable_groups(bench, run_groups(assets, scope), scope)
        if not groups:
            raise nothing_to_do(bench, assets, scope)
        outcome = PipelineOutcome()
        if stale_only or retry_errors:
            chosen = sort_by_state(bench, groups, scope, IN_ERROR if retry_errors else BEHIND)
            groups, outcome.rows = list(chosen.behind), list(chosen.fresh)
        done = run_all(runs, groups, announce)
    outcome.rows += done.rows
    outcome.failures += done.failures
    emit(as_json, {**outcome_json(outcome), **_published(bench, outcome)}, outcome_text(outcome))
    if outcome.exit_code:
        raise click.exceptions.Exit(outcome.exit_code)


def _check_models(assets: list[str], scope: Scope, bench: Workbench) -> None:
    by_model = [name for name in assets if name in BY_NAME and BY_NAME[name].kind is PartitionKind.MODEL_SPLIT]
    if by_model and not scope.models:
        raise UsageError(
            f"{by_model[0]} is partitioned by model and split: name at least one --model (calls cost money).",
            remedy=f"Models: {', '.join(bench.models)}.",
        )


def _check_judges(assets: list[str], bench: Workbench) -> None:
    """A judge or writer that was asked for and is not there is known before any call is made."""
    if {"rubrics", "visual_accuracy"} & set(assets):
        for benchmark in bench.library.names():
            bench.judges.judge_for(benchmark, bench.settings.judge)
            bench.judges.writer_for(benchmark, bench.settings.rubric_writer)


def announce(group: RunGroup, result: RunOutcome) -> None:
    """A line a run, on stderr."""
    where = group.partition or "all"
    if result.failure:
        note(f"deepchart: {result.failure}")
        return
    partitioned = [row for row in result.rows if row.asset in BY_NAME]
    counts = (
        f"{sum(row.n_computed for row in partitioned)} computed, {sum(row.n_reused for row in partitioned)} reused"
        if partitioned
        else "done"
    )
    errors = sum(row.n_error for row in result.rows)
    note(
        f"{where}: {', '.join(group.assets[:4])}{' …' if len(group.assets) > 4 else ''}: {counts}"
        + (f", {errors} in error (deepchart status says why)" if errors else "")
    )


def outcome_json(outcome: PipelineOutcome) -> dict[str, object]:
    return {
        "materialized": [row.as_json() for row in outcome.rows],
        "problems": [str(failure) for failure in outcome.failures],
    }


def _published(bench: Workbench, outcome: PipelineOutcome) -> dict[str, object]:
    """Leaderboard and report, where these runs made them."""
    from deepchart_dagster.metrics.leaderboard import read_leaderboard
    from deepchart_dagster.reporting.report import report_path

    made = {row.asset for row in outcome.rows}
    storage = bench.settings.storage
    return {
        "leaderboard": [row.as_json() for row in read_leaderboard(storage)] if "leaderboard" in made else [],
        "report": str(report_path(storage)) if "report" in made else None,
    }


def outcome_text(outcome: PipelineOutcome) -> str:
    reused = sum(row.n_reused for row in outcome.rows)
    text = f"{outcome.n_computed} instances computed, {reused} reused, {outcome.n_error} in error"
    if outcome.failures and not outcome.anything_done:
        text = f"nothing could be done: all {outcome.n_error} instances are in error" if outcome.n_error else text
        text += "; tables and report say so" if any(row.asset == "report" for row in outcome.rows) else ""
    n_failures = len(outcome.failures)
    return text + (f"; {n_failures} run{'s' if n_failures > 1 else ''} ended early" if n_failures else "")
