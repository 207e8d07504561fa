"""Each program once: for measurements that ask for the same programs again and again."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution.model import Program, ProgramRunner, RunResult


class EachOnce:
    """Implements ProgramRunner: a program that comes again, with the same limits, gets the result of its first run.

    Results stay in memory until this object goes. Only for programs that leave the same bytes every time, as the
    scripted models' do.
    """

    def __init__(self, runner: ProgramRunner) -> None:
        self._runner = runner
        self._results: dict[Program, Future[RunResult]] = {}
        self._lock = threading.Lock()

    def run(self, program: Program) -> RunResult:
        """As ProgramRunner.run; who comes while the first run is on its way waits for it."""
        own: Future[RunResult] = Future()
        with self._lock:
            known = self._results.setdefault(program, own)
        if known is not own:
            return known.result()
        try:
            own.set_result(self._runner.run(program))
        except BaseException as error:
            with self._lock:
                del self._results[program]
            own.set_exception(error)
            raise
        return own.result()

    def identity(self, stage: Literal[1, 2], backend: CodeType) -> dict[str, JsonValue]:
        return self._runner.identity(stage, backend)
