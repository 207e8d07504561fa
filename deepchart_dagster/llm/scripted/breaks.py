"""The scripted models ``crashes``, ``hangs`` and ``truncates``: an attempt that comes to nothing.

Parameters (models.yaml) beside ``rate`` and ``seed`` (llm.scripted.faults):

    stage   where a hit instance breaks down: 1, 2, or either (then chance says which)

    crashes     the program does its work, leaves its output, and ends with an exception
    hangs       the program leaves its output and then waits for an hour, beyond any limit
    truncates   the answer ends in the middle of the program, with the finish reason "length"

Output that a crashed or late program has left does not count. Without a valid J both fidelities are 0, and without a
chart ER is 0: there the fault shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.faults import FAULTS_VERSION, Dice, FaultParameters, Metric, record
from deepchart_dagster.llm.scripted.oracle import Task, answer_by, program_of, solve
from deepchart_dagster.llm.scripted.recipes import recipes_hash

# Changes with how an attempt breaks down.
VERSION = f"1, faults {FAULTS_VERSION}, oracle {oracle.VERSION}"

_CRASH = '\nraise RuntimeError("the scripted model crashes: this program was made to end so")\n'
_HANG = "\nimport time\n\ntime.sleep(3600)\n"


class Parameters(FaultParameters):
    stage: Literal[1, 2, "either"] = "either"


def followed_files_hash() -> str:
    return recipes_hash()


def shows_at(dice: Dice[Parameters]) -> Metric:
    return Metric.F1_SRC if stage_of(dice) == 1 else Metric.ER


def stage_of(dice: Dice[Parameters]) -> Literal[1, 2]:
    """Where the instance breaks down, if it is hit."""
    stage = dice.parameters.stage
    return dice.generator("stage").choice((1, 2)) if stage == "either" else stage


def crashes(request: ScriptedRequest) -> ScriptedReply:
    return _broken("crashes", request, lambda program: ScriptedReply(program + _CRASH))


def hangs(request: ScriptedRequest) -> ScriptedReply:
    return _broken("hangs", request, lambda program: ScriptedReply(program + _HANG))


def truncates(request: ScriptedRequest) -> ScriptedReply:
    return _broken("truncates", request, _cut)


def _cut(program: str) -> ScriptedReply:
    return ScriptedReply(f"```python\n{program[: len(program) // 2]}", "length")


def _broken(model: str, request: ScriptedRequest, broken: Callable[[str], ScriptedReply]) -> ScriptedReply:
    """The oracle's answer; where it is hit, what ``broken`` makes of the right program."""

    def solving(task: Task) -> ScriptedReply:
        dice = Dice.of(model, Parameters, task)
        if not dice.hit or task.stage != stage_of(dice):
            return solve(task)
        record(task, dice, model)
        return broken(program_of(task))

    return answer_by(solving, request)
