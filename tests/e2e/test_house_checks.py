"""The checks that an asset reports can fail, and an error is told apart from a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from assets.outcome import bounded_check, materialized, tag_cost
from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import MissingInputError, NoWorkPossible


def _work(uid: str, outcome: Callable[[], Outcome]) -> Work:
    async def compute(_: Path) -> Outcome:
        return outcome()

    return Work(uid=uid, key=InputKey.of(version="1", uid=uid), compute=compute)


def _missing() -> Outcome:
    raise MissingInputError("c.md is not there.", remedy="Put it there.")


def _f1(value: float) -> Callable[[], Outcome]:
    return lambda: Outcome(value={"f1": value})


def _crashed() -> Outcome:
    return Outcome.failed("crash", "the program crashed", f1=0.0)


def _run(storage: Path, **outcomes: Callable[[], Outcome]) -> StepSummary:
    works = [_work(uid, outcome) for uid, outcome in outcomes.items()]
    return run_step(ArtifactStore(storage), Step.own("source_fidelity", "finance-normal", "oracle"), works)


def test_no_errors_fails_for_an_error_and_names_it(tmp_path: Path) -> None:
    result = materialized(_run(tmp_path, a=_f1(1.0), b=_crashed, c=_missing), means=["f1"])
    assert result.check_results is not None
    check, fresh = result.check_results
    assert (fresh.check_name, fresh.passed, fresh.description) == ("fresh", False, "partial: 1 of 3 are in error")
    assert (check.check_name, check.passed, check.description) == ("no_errors", False, "1 of 3 instances are in error")
    assert "`c` MissingInputError: c.md is not there. Put it there." in str(check.metadata["errors"].value)
    assert result.metadata is not None
    assert "`b` crash" in str(result.metadata["failures"])
    # 1.0, and the failure's 0; the error is in no mean.
    assert result.metadata["mean_f1"].value == pytest.approx(0.5)  # type: ignore[union-attr]


def test_no_errors_passes_for_failures(tmp_path: Path) -> None:
    result = materialized(_run(tmp_path, a=_f1(1.0), b=_crashed))
    assert [check.passed for check in result.check_results or []] == [True, True]


def test_a_step_fails_only_where_nothing_could_be_done(tmp_path: Path) -> None:
    with pytest.raises(NoWorkPossible, match=r"finance-normal\|oracle: all 1 instances are in error, first c: c\.md"):
        materialized(_run(tmp_path, c=_missing))


@pytest.mark.parametrize(("value", "passed"), [(0.0, True), (1.0, True), (1.0001, False), (-0.1, False)])
def test_a_score_outside_its_range_is_named(tmp_path: Path, value: float, passed: bool) -> None:
    check = bounded_check("f1_in_range", _run(tmp_path, a=_f1(0.5), b=_f1(value)), "f1")
    assert check.passed is passed
    assert check.metadata["outside"].value == ([] if passed else ["b"])


def test_a_run_is_tagged_with_what_its_calls_cost(tmp_path: Path) -> None:
    def asked(price: float | None) -> Callable[[], Outcome]:
        return lambda: Outcome(value={"f1": 1.0}, observations={"calls": 1, "price_usd": price})

    first = _run(tmp_path / "first", a=asked(0.25), b=asked(0.5))
    second = _run(tmp_path / "second", a=asked(None), b=asked(0.125))

    @dg.asset
    def paid(context) -> None:  # type: ignore[no-untyped-def]  # Dagster reads no annotation as text
        tag_cost(context, first)
        tag_cost(context, second)
        tag_cost(context, _run(tmp_path / "second", a=asked(None), b=asked(0.125)))  # all reused: nothing is added

    with dg.DagsterInstance.ephemeral() as instance:
        done = dg.materialize([paid], instance=instance)
        run = instance.get_run_by_id(done.run_id)
    assert run is not None
    tags = {name: value for name, value in run.tags.items() if name.startswith("deepchart/")}
    assert tags == {"deepchart/calls": "4", "deepchart/price_usd": "0.8750", "deepchart/price_unknown": "1"}
