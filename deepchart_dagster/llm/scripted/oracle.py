"""The scripted model ``oracle``: reads like a careful person, knows no answers.

It recognises a mini query by its chart purpose and follows the query's recipe (llm.scripted.recipes). All its
source values come from the messages it is sent: from the documents' text, and for pictures from the text
of the pages that they show. What was not sent is missing from its src_data, and what depends on it from its
der_data. In stage 2 it draws the data it is given. Anything else it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import JsonValue

from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.lookups import Found, find_all
from deepchart_dagster.llm.scripted.recipes import KnownQuery, recipes_hash, recognise
from deepchart_dagster.llm.scripted.sent_context import asks_for_chart, asks_for_html, passages, stage2_data, text_of

# Changes with what the code here and in the look-ups answers; the queries' own files are in the key by their hash.
VERSION = "1"

_UNKNOWN = ScriptedReply("I know only the charts of the mini benchmark, and this is none of them.", "refusal")
_NO_DATA = ScriptedReply("There is no JSON after the data line, so there is nothing to draw.", "refusal")
_NO_HTML = ScriptedReply("I draw with Python only.", "refusal")


@dataclass(frozen=True)
class Task:
    """What is asked, understood. ``state`` is J, to be drawn in stage 2."""

    known: KnownQuery
    request: ScriptedRequest
    stage: Literal[1, 2]
    state: JsonValue = None

    def sources(self) -> list[Found]:
        """The query's source values as far as the context holds them."""
        return find_all(self.known.recipe.sources, passages(self.request))


# How a scripted model solves a task that the oracle understands.
Solving: TypeAlias = Callable[[Task], ScriptedReply]


def followed_files_hash() -> str:
    return recipes_hash()


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(solve, request)


def answer_by(solving: Solving, request: ScriptedRequest) -> ScriptedReply:
    """What ``solving`` makes of a task; what the oracle cannot do is refused in its words."""
    task = _understood(request)
    return task if isinstance(task, ScriptedReply) else solving(task)


def solve(task: Task) -> ScriptedReply:
    """The right program and nothing else."""
    return ScriptedReply(program_of(task))


def program_of(task: Task) -> str:
    """Stage 1: source values as literals, the derivation as code. Stage 2: a program that draws J."""
    if task.stage == 1:
        return task.known.stage1_program(task.sources())
    return task.known.stage2_program(task.state)


def _understood(request: ScriptedRequest) -> Task | ScriptedReply:
    known = recognise(text_of(request.messages))
    if known is None:
        return _UNKNOWN
    if not asks_for_chart(request.messages):
        return Task(known, request, stage=1)
    if asks_for_html(request.messages):
        return _NO_HTML
    state = stage2_data(request.messages)
    return _NO_DATA if state is None else Task(known, request, stage=2, state=state)
