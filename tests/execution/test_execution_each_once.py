"""A runner that runs each program once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution.each_once import EachOnce
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus

PROGRAM = Program("print(1)", 1, CodeType.PYTHON, Limits(wall_s=5))


class Counting:
    """Says which programs were run; the first ``refused`` of them are not."""

    def __init__(self, refused: int = 0) -> None:
        self.ran: list[Program] = []
        self.refused = refused
        self.may_go = threading.Event()
        self.may_go.set()

    def run(self, program: Program) -> RunResult:
        self.ran.append(program)
        self.may_go.wait(10)
        if len(self.ran) <= self.refused:
            raise SandboxUnavailable("no sandbox")
        output = program.source.encode()
        return RunResult(RunStatus.OK, 0, None, 0.1, 0.1, 1.0, "trusted", "", "", output=output)

    def identity(self, stage: Literal[1, 2], backend: CodeType) -> dict[str, Any]:
        return {"stage": stage, "backend": backend.value}


def test_a_program_is_run_once_and_another_one_too() -> None:
    runner = EachOnce(inner := Counting())
    others = [replace(PROGRAM, source="print(2)"), replace(PROGRAM, limits=Limits(wall_s=6)), replace(PROGRAM, stage=2)]
    found = [runner.run(program).output for program in (PROGRAM, *others, PROGRAM, *others)]
    assert inner.ran == [PROGRAM, *others]
    assert found[:4] == found[4:] == [b"print(1)", b"print(2)", b"print(1)", b"print(1)"]
    assert runner.identity(2, CodeType.HTML) == {"stage": 2, "backend": "html"}


def test_who_comes_meanwhile_waits_for_the_first() -> None:
    runner = EachOnce(inner := Counting())
    inner.may_go.clear()
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(runner.run, PROGRAM) for _ in range(4)]
        inner.may_go.set()
        assert {id(one.result(10)) for one in waiting} == {id(runner.run(PROGRAM))}
    assert inner.ran == [PROGRAM]


def test_what_could_not_be_run_is_tried_again() -> None:
    runner = EachOnce(Counting(refused=1))
    with pytest.raises(SandboxUnavailable):
        runner.run(PROGRAM)
    assert runner.run(PROGRAM).status is RunStatus.OK
