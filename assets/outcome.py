"""What an asset tells Dagster of a step: counts, means, where to look, which instances are in error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from deepchart_dagster import errors
from deepchart_dagster.errors import NoWorkPossible
from resources.tags import CALLS_TAG, PRICE_TAG, UNKNOWN_PRICE_TAG

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.results import InstanceResult
    from deepchart_dagster.artifacts.steps import InstanceProblem, StepSummary

NO_ERRORS = "no_errors"
FRESH = "fresh"
_LISTED = 20
# What may have passed in a while: a provider that is down or refuses for want of capacity, a browser or sandbox that
# would not start. A wrong key, a spent budget or a missing file does not.
_MAY_PASS = frozenset(
    kind.__name__
    for kind in (
        errors.ProviderError,
        errors.ProviderTimeout,
        errors.RateLimited,
        errors.BrowserUnavailable,
        errors.SandboxUnavailable,
    )
)
_AGAIN_AFTER_S = (60, 300)
_SILENT_S = 30.0


def partition_checks(asset: str, partitions_def: dg.PartitionsDefinition[str]) -> list[dg.AssetCheckSpec]:
    """The checks of every partitioned asset. Non-blocking: downstream goes on for the other instances.

    ``fresh`` is kept current by the sensor ``staleness`` (assets.sensors): inputs change without a run.
    """
    return [
        dg.AssetCheckSpec(
            NO_ERRORS,
            asset=asset,
            partitions_def=partitions_def,
            description="No instance of this partition is in error (ours, not the model's); the next run retries them.",
        ),
        dg.AssetCheckSpec(
            FRESH,
            asset=asset,
            partitions_def=partitions_def,
            description="A run would compute nothing: keys and files are as they would be now, and so is what is read.",
        ),
    ]


def materialized(
    summary: StepSummary,
    *,
    means: Iterable[str] = (),
    where: Path | None = None,
    checks: Iterable[dg.AssetCheckResult] = (),
    metadata: dict[str, dg.MetadataValue] | None = None,
) -> dg.MaterializeResult:
    """The step as a materialization whose data version is the hash of what downstream can see.

    ``means`` are names of ``value`` entries whose mean over scored instances is worth seeing.
    Raises NoWorkPossible where there are instances and every one is in error.
    """
    if summary.n_total and summary.n_error == summary.n_total:
        from deepchart_dagster.artifacts.results import about

        first = summary.errors[0]
        if summary.n_total == 1 and summary.partition == (first.uid,):  # a document: its reason names it
            raise NoWorkPossible(first.message)
        raise NoWorkPossible(
            f"{summary.asset} {'|'.join(summary.partition)}: all {summary.n_total} instances are in error, "
            f"first {about(first.uid, first.message)}"
        )
    return dg.MaterializeResult(
        metadata={
            **_counts(summary),
            **{f"mean_{name}": dg.MetadataValue.float(mean) for name, mean in _means(summary.results, means)},
            **({"folder": dg.MetadataValue.path(str(where))} if where else {}),
            **_problems(summary),
            **(metadata or {}),
        },
        data_version=dg.DataVersion(summary.data_version),
        check_results=[_no_errors(summary), _fresh(summary), *checks],
    )


def tag_cost(context: dg.AssetExecutionContext, summary: StepSummary) -> None:
    """Calls and price so far as tags of the run, so that the list of runs shows what each has cost."""
    calls = int(summary.observed("calls"))
    run = context.instance.get_run_by_id(context.run.run_id)
    if not calls or run is None:
        return
    price = float(run.tags.get(PRICE_TAG, 0)) + summary.observed("price_usd")
    unknown = int(run.tags.get(UNKNOWN_PRICE_TAG, 0)) + summary.unknown("price_usd")
    tags = {CALLS_TAG: str(int(run.tags.get(CALLS_TAG, 0)) + calls), PRICE_TAG: f"{price:.4f}"}
    if unknown:  # a sum that leaves some out would pass for the price
        tags[UNKNOWN_PRICE_TAG] = str(unknown)
    context.instance.add_run_tags(context.run.run_id, tags)


def try_again(context: dg.AssetExecutionContext, summary: StepSummary) -> None:
    """Has Dagster run the step again in a while, twice at most, where instances are in error for what may pass: only
    these are computed again. A run of the command line is watched by somebody who decides; it goes on.

    Raises RetryRequested.
    """
    passing = [problem for problem in summary.errors if problem.kind in _MAY_PASS]
    launched = context.run.remote_job_origin is not None
    if not passing or not launched or context.retry_number >= len(_AGAIN_AFTER_S):
        return
    wait = _AGAIN_AFTER_S[context.retry_number]
    first = passing[0]
    context.log.warning(
        f"{len(passing)} of {summary.n_total} instances are in error for what may pass, first {first.uid}: "
        f"{first.kind}: {first.message[:300]} They are tried again in {wait} s."
    )
    raise dg.RetryRequested(max_retries=len(_AGAIN_AFTER_S), seconds_to_wait=wait)


def _counts(summary: StepSummary) -> dict[str, dg.MetadataValue]:
    counts = ("n_total", "n_computed", "n_reused", "n_ok", "n_failed", "n_error", "n_not_applicable")
    # A sum that leaves out unknown prices would pass for the price.
    unknown = summary.unknown("price_usd")
    price = "price_usd" if not unknown else "price_usd_where_known"
    spent = {"calls": summary.observed("calls"), price: summary.observed("price_usd"), "price_unknown": unknown}
    return {
        **{name: dg.MetadataValue.int(getattr(summary, name)) for name in counts},
        **{name: dg.MetadataValue.float(float(value)) for name, value in spent.items() if value},
        "step_seconds": dg.MetadataValue.float(summary.seconds),
    }


def _means(results: Iterable[InstanceResult], names: Iterable[str]) -> list[tuple[str, float]]:
    scored = list(results)
    means: list[tuple[str, float]] = []
    for name in names:
        values = [float(value) for result in scored if isinstance(value := result.value.get(name), int | float)]
        if values:
            means.append((name, sum(values) / len(values)))
    return means


def _problems(summary: StepSummary) -> dict[str, dg.MetadataValue]:
    if not summary.failures:
        return {}
    return {"failures": dg.MetadataValue.md(_as_list(summary.failures))}


def _no_errors(summary: StepSummary) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=NO_ERRORS,
        passed=summary.n_error == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description="" if not summary.errors else f"{summary.n_error} of {summary.n_total} instances are in error",
        metadata={
            "n_error": summary.n_error,
            **({"errors": dg.MetadataValue.md(_as_list(summary.errors))} if summary.errors else {}),
        },
    )


def _fresh(summary: StepSummary) -> dg.AssetCheckResult:
    """As a step leaves it: what is in error is to be made again, everything else was made or reused just now."""
    return dg.AssetCheckResult(
        check_name=FRESH,
        passed=summary.n_error == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description="" if not summary.n_error else f"partial: {summary.n_error} of {summary.n_total} are in error",
        metadata={"n_total": summary.n_total, "n_done": summary.n_total - summary.n_error},
    )


def _as_list(problems: tuple[InstanceProblem, ...]) -> str:
    lines = [f"* `{problem.uid}` {problem.kind}: {problem.message[:300]}" for problem in problems[:_LISTED]]
    more = len(problems) - _LISTED
    return "\n".join([*lines, *([f"* and {more} more"] if more > 0 else [])])


def progress_log(
    context: dg.AssetExecutionContext, *, every: int = 10, clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """A progress callback that writes a line to the run's log each ``every`` instances, with the first one that ends
    after half a minute of silence (ten charts are a hundred questions to a judge), and at the end."""
    last = clock()

    def report(done: int, total: int) -> None:
        nonlocal last
        if done == total or done % every == 0 or clock() - last >= _SILENT_S:
            context.log.info(f"{done} of {total} instances done")
            last = clock()

    return report


def bounded_check(name: str, summary: StepSummary, metric: str) -> dg.AssetCheckResult:
    """Every scored instance's ``metric`` lies in 0…1."""
    outside = [
        result.uid
        for result in summary.results
        if isinstance(value := result.value.get(metric), int | float) and not 0.0 <= value <= 1.0
    ]
    return dg.AssetCheckResult(
        check_name=name, passed=not outside, metadata={"outside": dg.MetadataValue.json(outside[:_LISTED])}
    )
