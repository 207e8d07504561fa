"""What Dagster is told beside results: pools, and which errors are worth another attempt."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from assets.outcome import progress_log, try_again
from assets.pools import LIMITS
from deepchart_dagster.artifacts.steps import InstanceProblem, StepSummary


def test_every_pool_has_a_limit_and_is_of_some_asset() -> None:
    from deepchart_dagster.definitions import defs

    nodes = defs.resolve_all_asset_specs()
    pools = {pool for asset in defs.assets or [] for pool in getattr(asset, "node_def", asset).pools}
    assert nodes
    assert pools == set(LIMITS)


def _summary(*kinds: str) -> StepSummary:
    problems = tuple(InstanceProblem(uid=f"q{n}", kind=kind, message="no.") for n, kind in enumerate(kinds))
    n = len(problems)
    return StepSummary(
        asset="predicted_states",
        partition=("ecosystem", "m"),
        n_total=n + 1,
        n_computed=n + 1,
        n_reused=0,
        n_ok=1,
        n_failed=0,
        n_error=n,
        n_not_applicable=0,
        errors=problems,
        failures=(),
        data_version="v",
        seconds=1.0,
    )


def _context(*, retry: int = 0, launched: bool = True) -> SimpleNamespace:
    origin = object() if launched else None
    run = SimpleNamespace(remote_job_origin=origin)
    return SimpleNamespace(run=run, retry_number=retry, log=logging.getLogger("test"))


def _asked(context: Any, summary: StepSummary) -> dg.RetryRequested | None:
    """The retry that was asked for, if any."""
    try:
        try_again(context, summary)
    except dg.RetryRequested as asked:
        return asked
    return None


@pytest.mark.parametrize(("retry", "wait"), [(0, 60), (1, 300)])
def test_a_provider_that_is_down_is_asked_again_after_a_while(retry: int, wait: int) -> None:
    asked = _asked(_context(retry=retry), _summary("ProviderRefusedRequest", "ProviderTimeout"))
    assert asked is not None
    assert (asked.max_retries, asked.seconds_to_wait) == (2, wait)


@pytest.mark.parametrize(
    ("context", "summary"),
    [
        (_context(retry=2), _summary("RateLimited")),
        (_context(launched=False), _summary("RateLimited")),
        (_context(), _summary("ProviderRefusedRequest", "BudgetReached", "UpstreamError", "MissingInputError")),
        (_context(), _summary()),
    ],
    ids=["tried often enough", "command line", "would not pass", "no error"],
)
def test_other_errors_are_left_for_the_next_run(context: SimpleNamespace, summary: StepSummary) -> None:
    assert _asked(context, summary) is None


def _said(seconds_each: float, total: int) -> list[str]:
    """The lines of a step whose instances end one after the other, each after so many seconds."""
    lines: list[str] = []
    now = 0.0
    context: Any = SimpleNamespace(log=SimpleNamespace(info=lines.append))
    report = progress_log(context, clock=lambda: now)
    for done in range(1, total + 1):
        now += seconds_each
        report(done, total)
    return [line.removesuffix(" instances done") for line in lines]


def test_progress_is_said_each_ten_instances_and_where_these_take_long_each_half_minute() -> None:
    assert _said(0.1, 25) == ["10 of 25", "20 of 25", "25 of 25"]
    assert _said(20.0, 5) == ["2 of 5", "4 of 5", "5 of 5"]
    assert _said(65.0, 3) == ["1 of 3", "2 of 3", "3 of 3"]
