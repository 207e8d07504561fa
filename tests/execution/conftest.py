"""Runners shared by the tests of this room, one per sandbox tier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.keeper import linux

Run = Callable[..., RunResult]


@pytest.fixture(scope="session", autouse=True)
def _escaped_processes_become_ours() -> None:
    """So that a program that outlives its keeper shows up below this process (see test_execution_hostile)."""
    linux.adopt_orphans()


@pytest.fixture(scope="session", params=["namespaces", "landlock"])
def tier_runner(request: pytest.FixtureRequest) -> Iterator[LocalRunner]:
    with LocalRunner(request.param, workers=2) as runner:
        try:
            runner.tier  # noqa: B018 - raises where this host cannot
        except SandboxUnavailable as error:
            pytest.skip(str(error))
        yield runner


@pytest.fixture(scope="session")
def auto_runner() -> Iterator[LocalRunner]:
    with LocalRunner(workers=2) as runner:
        yield runner


def _run_with(runner: LocalRunner) -> Run:
    def run(source: str, stage: int = 1, *, wall_s: float = 60.0, **limits: int) -> RunResult:
        return runner.run(Program(source, stage, CodeType.PYTHON, Limits(wall_s=wall_s, **limits)))  # type: ignore[arg-type]

    return run


@pytest.fixture
def run(tier_runner: LocalRunner) -> Run:
    """Runs a Python program in each safe tier."""
    return _run_with(tier_runner)


@pytest.fixture
def run_once(auto_runner: LocalRunner) -> Run:
    """Runs a Python program in the best tier."""
    return _run_with(auto_runner)


@pytest.fixture
def answer(run: Run) -> Callable[..., Any]:
    """What a program dumped into its output, which must have gone well."""

    def read(source: str, **options: Any) -> Any:
        result = run(source, **options)
        assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
        assert result.output is not None
        return json.loads(result.output)

    return read


@pytest.fixture(scope="session")
def project_root() -> Path:
    return Path(__file__).resolve().parents[2]
