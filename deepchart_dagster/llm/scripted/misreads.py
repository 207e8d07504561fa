"""The scripted model ``misreads``: like ``oracle``, but takes some source values from the wrong place.

Parameters (models.yaml) beside ``rate`` and ``seed`` (llm.scripted.faults):

    share   share of a hit instance's source values that are misread, at least one

Kinds of fault, chosen among those that a value allows; the record has "mixed" where an instance has several:

    wrong_column   the number of another column of the same row
    wrong_year     the number of a year that was not asked for, from the same row of any filing
    unit_slip      1000 times the number

A misread value differs by more than 1e-3 (relative) from every true source value of the instance. Of n values
with k misread, n - k match on both sides: F1_src = 1 - k/n. The record says of each what is true and what was given:
{"n_source", "values": [{"path", "kind", "true", "given"}…]}.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import Field, JsonValue

from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.faults import FAULTS_VERSION, Dice, FaultParameters, Metric, record
from deepchart_dagster.llm.scripted.lookups import Found, MisreadKind, Neighbour, Number
from deepchart_dagster.llm.scripted.oracle import Task, answer_by, solve
from deepchart_dagster.llm.scripted.recipes import recipes_hash
from deepchart_dagster.llm.scripted.sent_context import context_hash

NAME = "misreads"
# Changes with what is misread, and with what the oracle reads.
VERSION = f"2, faults {FAULTS_VERSION}, oracle {oracle.VERSION}"

_SLIP = 1000
_APART = 1e-3


class Parameters(FaultParameters):
    share: float = Field(default=0.25, ge=0, le=1)


@dataclass(frozen=True)
class Injection:
    """One misread value."""

    path: tuple[str, ...]
    kind: MisreadKind
    true: Number
    given: Number


def followed_files_hash() -> str:
    return recipes_hash()


def shows_at(dice: Dice[FaultParameters]) -> Metric:
    return Metric.F1_SRC


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(_solve, request)


def _solve(task: Task) -> ScriptedReply:
    dice = Dice.of(NAME, Parameters, task)
    if task.stage == 2 or not dice.hit:
        return solve(task)
    found = task.sources()
    chosen = misread(found, dice.parameters.share, dice.generator(context_hash(task.request.messages)))
    if chosen:
        _record(task, dice, len(found), list(chosen.values()))
    given = [replace(value, value=chosen[at].given) if at in chosen else value for at, value in enumerate(found)]
    return ScriptedReply(task.known.stage1_program(given))


def misread(found: Sequence[Found], share: float, generator: random.Random) -> dict[int, Injection]:
    """Position in ``found`` -> what is given in its place."""
    truths = [value.value for value in found]
    wanted = min(len(found), max(1, round(share * len(found))))
    chosen: dict[int, Injection] = {}
    for at in generator.sample(range(len(found)), len(found)):
        if len(chosen) == wanted:
            break
        options = _options(found[at], truths)
        if options:
            kind = generator.choice(sorted({option.kind for option in options}))
            taken = generator.choice([option for option in options if option.kind == kind])
            chosen[at] = Injection(found[at].path, kind, found[at].value, taken.value)
    return dict(sorted(chosen.items()))


def _options(value: Found, truths: Sequence[Number]) -> list[Neighbour]:
    """What could be taken for ``value`` and is no true source value of the instance."""
    slip = Neighbour("unit_slip", round(value.value * _SLIP, 6))  # 65.1 gives 65100, not 65099.99…
    return [option for option in (*value.neighbours, slip) if option.value and _is_apart(option.value, truths)]


def _is_apart(given: Number, truths: Sequence[Number]) -> bool:
    return all(abs(given - truth) > _APART * max(abs(truth), abs(given)) for truth in truths)


def _record(task: Task, dice: Dice[Parameters], n_source: int, injections: list[Injection]) -> None:
    kinds = {injection.kind for injection in injections}
    values: list[JsonValue] = [{**asdict(injection), "path": list(injection.path)} for injection in injections]
    kind = kinds.pop() if len(kinds) == 1 else "mixed"
    record(task, dice, kind, {"n_source": n_source, "values": values})
