"""``deepchart materialize``: assets for partitions, through Dagster."""

from __future__ import annotations

from collections.abc import Sequence

import click

from deepchart_dagster.artifacts.results import utc_now
from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.cli.common import common_options, emit, note, note_loading, workbench
from deepchart_dagster.cli.forecast import forecast
from deepchart_dagster.cli.pipeline import (
    JUDGE_STUDY,
    ROOT,
    Cells,
    PipelineOutcome,
    Place,
    RunGroup,
    Scope,
    Sorted,
    applicable_groups,
    has_errors,
    is_behind,
    n_instances,
    nothing_to_do,
    read_cells,
    reports_are_due,
    run_all,
    run_groups,
    select_assets,
    sort_groups,
    tables_as_they_were,
)
from deepchart_dagster.cli.runs import RunOutcome, Runs
from deepchart_dagster.errors import ConfigurationError, UsageError
from deepchart_dagster.lineage.graph import BY_NAME, PartitionKind
from deepchart_dagster.llm.doctor import missing_key
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.empty_references import stored_without_numbers
from deepchart_dagster.workbench import Workbench


@click.command("materialize", short_help="Make assets for partitions, through Dagster.")
@click.argument("selection")
@click.option("--model", "models", multiple=True, metavar="M", help="Models to run; may be repeated.")
@click.option("--split", "splits", multiple=True, type=click.Choice([split.value for split in Split]))
@click.option(
    "--backend",
    "backends",
    multiple=True,
    type=click.Choice([backend.value for backend in Backend]),
    help="The study of rendering backends; default: all three where nothing else is selected, else none.",
)
@click.option("--judge", "judges", multiple=True, metavar="J", help="Judges of the judge study (judge_verdicts).")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Documents; default: all registered.")
@click.option("--stale-only", is_flag=True, help="Only partitions that are stale, missing, partial or failed.")
@click.option("--dry-run", is_flag=True, help="Say what would run and what it would ask; run nothing.")
@click.option("--retry-errors", is_flag=True, help="Only what is in error or waited for it; other results stay.")
@click.option("--prompts", metavar="DIR", help="Another prompt set; default: DEEPCHART_PROMPTS, else ours.")
@click.option("--max-cost", type=float, metavar="USD", help="What the calls of this command may cost, at most.")
@click.option("--max-tokens", type=int, metavar="N", help="Tokens that its calls may take, in and out.")
@common_options
def command(
    selection: str,
    models: tuple[str, ...],
    splits: tuple[str, ...],
    backends: tuple[str, ...],
    judges: tuple[str, ...],
    documents: tuple[str, ...],
    stale_only: bool,
    dry_run: bool,
    retry_errors: bool,
    prompts: str | None,
    max_cost: float | None,
    max_tokens: int | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Materialise assets for partitions. SELECTION: names with commas between them, or Dagster's own
    syntax: `predicted_states+` (and what is made from it), `group:scores`, `*`.

    Only what changed is computed, whatever is selected; errors are tried again, failures are not. With --stale-only
    partitions that have nothing to do start no run, and what the others will ask is said first. A budget stops before
    the call that would exceed it; what is answered by then is kept.

    \b
    Example: deepchart materialize "predicted_states+" --model oracle --split finance-normal
             deepchart materialize "*" --model oracle --stale-only --dry-run
    """
    budget = budget_settings(max_cost, max_tokens)
    note_loading()
    with workbench(storage, only_errors=retry_errors or None, prompts=prompts, **budget) as bench:
        runs = Runs(bench.settings)
        _sync(runs, bench)
        assets = select_assets(runs, selection)
        scope = Scope(
            models=tuple(bench.model(slug).slug for slug in models),
            splits=tuple(Split(split) for split in splits) or tuple(Split),
            documents=_documents(bench, documents),
            backends=_backends(assets, backends),
            judges=judges,
        )
        _check(assets, scope, bench)
        groups = applicable_groups(bench, run_groups(assets, scope), scope)
        if not groups:
            raise nothing_to_do(bench, assets, scope)
        cells = read_cells(bench, scope) if stale_only or retry_errors or dry_run else {}
        chosen = _chosen(bench, groups, scope, cells, stale_only=stale_only, retry_errors=retry_errors)
        if dry_run:
            expected = forecast(bench, chosen.behind, scope, cells)
            emit(as_json, expected.as_json(), expected.in_words())
            return
        if stale_only and chosen.behind:
            note(forecast(bench, chosen.behind, scope, cells).in_words())
        _note_missing_keys(assets, scope, bench)
        done = _run(runs, bench, chosen.behind)
    outcome = PipelineOutcome([*chosen.fresh, *done.rows], done.failures)
    emit(as_json, {**outcome_json(outcome), **_published(bench, outcome)}, outcome_text(outcome))
    if outcome.exit_code:
        raise click.exceptions.Exit(outcome.exit_code)


def _chosen(
    bench: Workbench, groups: list[RunGroup], scope: Scope, cells: Cells, *, stale_only: bool, retry_errors: bool
) -> Sorted:
    """All groups, or those that are behind or in error; none where not even tables and report would come out new."""
    if not stale_only and not retry_errors:
        return Sorted(tuple(groups), ())
    chosen = sort_groups(bench, groups, scope, has_errors if retry_errors else is_behind, cells)
    if stale_only and not reports_are_due(bench, chosen.behind):
        return Sorted((), chosen.fresh)
    return chosen


def _run(runs: Runs, bench: Workbench, groups: Sequence[RunGroup]) -> PipelineOutcome:
    """Says what it begins with, and in the end what a person should know of it."""
    if groups:
        note(_beginning(bench, groups))
    done = run_all(runs, groups, announce, tables_as_they_were(bench, groups))
    _note_empty_references(done, bench)
    note_budget(bench)
    return done


def _sync(runs: Runs, bench: Workbench) -> None:
    """Dagster's partitions in line with models.yaml, judges.yaml and the registered documents."""
    runs.sync_models(bench.models)
    runs.sync_judges(bench.judges.judges)
    runs.sync_documents(document.id for document in bench.documents.list())


def _documents(bench: Workbench, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Those asked for, else all that are registered. Raises UsageError for one that is not."""
    return tuple(bench.documents.get(name).id for name in asked) or tuple(one.id for one in bench.documents.list())


def _check(assets: list[str], scope: Scope, bench: Workbench) -> None:
    """What is known to be wrong before any call is made."""
    _check_models(assets, scope, bench)
    _check_judges(assets, bench)
    _check_study(assets, scope, bench)
    _check_prices(assets, scope, bench)


def _backends(assets: list[str], asked: tuple[str, ...]) -> tuple[Backend, ...]:
    """The study is paid for apart: a wide selection (``*``, ``references+``) does not begin it unasked."""
    kinds = {BY_NAME[name].kind for name in assets if name in BY_NAME}
    if asked or kinds != {PartitionKind.MODEL_BACKEND}:
        return tuple(Backend(name) for name in asked)
    return tuple(Backend)


_BY_MODEL = (PartitionKind.MODEL_SPLIT, PartitionKind.MODEL_BACKEND)


def _check_models(assets: list[str], scope: Scope, bench: Workbench) -> None:
    by_model = [name for name in assets if name in BY_NAME and BY_NAME[name].kind in _BY_MODEL]
    if by_model and not scope.models:
        raise UsageError(
            f"{by_model[0]} is partitioned by model: name at least one --model (calls cost money).",
            remedy=f"Models: {', '.join(bench.models)}.",
        )


def _check_study(assets: list[str], scope: Scope, bench: Workbench) -> None:
    """The judge study is begun judge by judge, by name."""
    for judge in scope.judges:
        bench.judge_study().plan(judge)
    if "judge_verdicts" in assets and set(assets) <= set(JUDGE_STUDY) and not scope.judges:
        raise UsageError(
            "judge_verdicts is partitioned by judge: name at least one --judge (calls cost money).",
            remedy=f"Judges: {', '.join(bench.judges.judges)}.",
        )


def _check_judges(assets: list[str], bench: Workbench) -> None:
    """A judge or writer that was asked for and is not there is known before any call is made."""
    if {"rubrics", "visual_accuracy"} & set(assets):
        for benchmark in bench.library.names():
            bench.judges.judge_for(benchmark, bench.settings.judge)
            bench.judges.writer_for(benchmark, bench.settings.rubric_writer)


def budget_settings(max_cost: float | None, max_tokens: int | None) -> dict[str, object]:
    """Limits given with a command count from now on; those of the environment say themselves from when."""
    given: dict[str, object] = {"max_cost": max_cost, "max_tokens": max_tokens}
    return {**given, "budget_since": utc_now()} if max_cost is not None or max_tokens is not None else given


def _check_prices(assets: list[str], scope: Scope, bench: Workbench) -> None:
    """A budget of money needs prices: known before any call is made."""
    if bench.settings.max_cost is None:
        return
    unpriced = sorted({model.slug for model in _asked(assets, scope, bench) if not model.prices.known})
    if unpriced:
        raise ConfigurationError(
            f"the price of {', '.join(unpriced)} is unknown, so no call can be held within "
            f"{bench.settings.max_cost:g} US dollars.",
            remedy="Fill in prices in models.yaml or judges.yaml, or use --max-tokens (DEEPCHART_MAX_TOKENS).",
        )


def _asked(assets: list[str], scope: Scope, bench: Workbench) -> list[ModelSpec]:
    """The models, writers and judges that these assets may have to ask."""
    asked: list[ModelSpec] = []
    if {"predicted_states", "rendered_charts", "backend_charts"} & set(assets):
        asked += [bench.model(slug) for slug in scope.models]
    for name in bench.library.names():
        if {"rubrics", "visual_accuracy", "backend_scores"} & set(assets):
            asked.append(bench.judges.judge_for(name, bench.settings.judge))
        if "rubrics" in assets:
            asked += [bench.judges.writer_for(name, bench.settings.rubric_writer), bench.judges.judge_for(name)]
    return asked


def _note_missing_keys(assets: list[str], scope: Scope, bench: Workbench) -> None:
    """Said before the runs, which may take long: answers that are stored need no key, so nothing is refused here."""
    asked = {model.slug: model for model in _asked(assets, scope, bench)}
    asked |= {slug: bench.judges.judges[slug] for slug in scope.judges}
    for model in asked.values():
        if names := missing_key(model):
            note(f"{model.slug}: {' or '.join(names)} is not set: what has no stored answer will be in error")


def _note_empty_references(done: PipelineOutcome, bench: Workbench) -> None:
    """Said where references are made: a score of 0 looks like the model's later."""
    for split in sorted({row.partition for row in done.rows if row.asset == "references"}):
        queries = bench.library.queries_of(Split(split))
        if empty := stored_without_numbers(bench.artifacts, (query.uid for query in queries)):
            note(
                f"{split}: {len(empty)} of {len(queries)} references hold no number on a side, on which every model "
                f"scores 0: deepchart references check --split {split}"
            )


def note_budget(bench: Workbench) -> None:
    """What was spent of a budget, on stderr."""
    from deepchart_dagster.llm.budget import spent

    limits = bench.budget
    if not limits:
        return
    taken = spent(bench.settings.storage, limits.since)
    allowed = [
        *([f"{limits.max_cost:g} US dollars"] if limits.max_cost is not None else []),
        *([f"{limits.max_tokens:,} tokens"] if limits.max_tokens is not None else []),
    ]
    unknown = f", {taken.unknown} calls at a price that is not known" if taken.unknown else ""
    note(f"budget: {taken.cost:.4f} US dollars and {taken.tokens:,} tokens taken{unknown}, of {', '.join(allowed)}")


def _beginning(bench: Workbench, groups: Sequence[RunGroup]) -> str:
    """How many runs there are, and what the first of them does; a run's own line comes when it is done."""
    first = next((group for group in groups if group.partition is not None), groups[0])
    n = n_instances(bench, first)
    counted = f", {n} instance{'' if n == 1 else 's'}" if n is not None else ""
    what = f"{first.partition or 'all'}: {_names(first.assets)}{counted}"
    return f"beginning: {what}" if len(groups) == 1 else f"beginning {len(groups)} runs with {what}"


def announce(place: Place, group: RunGroup, result: RunOutcome | None) -> None:
    """A line a run, on stderr; tables and report, which take a while and have no instances to count, are announced."""
    if result is None:
        if group.partition is None and group.assets != (ROOT,):
            note(f"{place} tables and report: {_names(group.assets)}: being made")
        return
    if result.failure:
        note(f"deepchart: {result.failure}")
        return
    if not result.rows and not result.in_error:
        note(f"{place} tables and report: of the same results as they are stored now, left as they are")
        return
    partitioned = [row for row in result.rows if row.asset in BY_NAME]
    counts = (
        f"{sum(row.n_computed for row in partitioned)} computed, {sum(row.n_reused for row in partitioned)} reused"
        if partitioned
        else "done"
    )
    errors = sum(row.n_error for row in result.rows)
    note(
        f"{place} {group.partition or 'all'}: {_names(group.assets)}: {counts}"
        + (f", {errors} in error (deepchart status --partitions says why)" if errors else "")
    )


def _names(assets: tuple[str, ...]) -> str:
    return ", ".join(assets[:4]) + (" …" if len(assets) > 4 else "")


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
    if outcome.rows and not outcome.failures and not any(row.asset in BY_NAME for row in outcome.rows):
        return f"{len(outcome.rows)} tables and pages made"
    text = f"{outcome.n_computed} instances computed, {reused} reused, {outcome.n_error} in error"
    if outcome.failures and not outcome.anything_done:
        text = f"nothing could be done: all {outcome.n_error} instances are in error" if outcome.n_error else text
        text += "; tables and report say so" if any(row.asset == "report" for row in outcome.rows) else ""
    n_failures = len(outcome.failures)
    return text + (f"; {n_failures} run{'s' if n_failures > 1 else ''} ended early" if n_failures else "")
