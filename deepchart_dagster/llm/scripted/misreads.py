"""The scripted model ``misreads``: like ``oracle``, but takes some source values from the wrong place.

Parameters (models.yaml):

    rate    share of the instances that are hit; a hash of seed, query and context decides, so it is the same every run
    share   share of a hit instance's source values that are misread, at least one
    seed    another seed hits other instances and values
    name    folder of the records; "misreads" unless given

Kinds of fault, chosen among those that a value allows:

    wrong_column   the number of another column of the same row
    wrong_year     the number of a year that was not asked for, from the same row of any filing
    unit_slip      1000 times the number

A misread value differs by more than 1e-3 (relative) from every true source value of the instance. Of n values
with k misread, n - k match on both sides: F1_src = 1 - k/n. What was injected is recorded apart from the
pipeline's results, one file for each stage-1 request, hit or not:

    storage/scripted/injections/<name>/<hash of request>.json
    {"format", "query", "context", "parameters", "hit", "n_source", "values": [{"path", "kind", "true", "given"}…]}
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import path_segment, write_json
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.lookups import Found, MisreadKind, Neighbour, Number
from deepchart_dagster.llm.scripted.oracle import VERSION as ORACLE_VERSION
from deepchart_dagster.llm.scripted.oracle import answer_by, read_sources
from deepchart_dagster.llm.scripted.recipes import KnownQuery, recipes_hash
from deepchart_dagster.llm.scripted.sent_context import context_hash

# Changes with what is misread, and with what the oracle reads.
VERSION = f"1, oracle {ORACLE_VERSION}"

INJECTION_FORMAT = "deepchart-injection/1"
_SLIP = 1000
_APART = 1e-3


class Parameters(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: float = Field(default=0.5, ge=0, le=1)
    share: float = Field(default=0.25, ge=0, le=1)
    seed: int = 0
    name: str = "misreads"


@dataclass(frozen=True)
class Injection:
    """One misread value."""

    path: tuple[str, ...]
    kind: MisreadKind
    true: Number
    given: Number


def followed_files_hash() -> str:
    return recipes_hash()


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(misread_sources, request)


def misread_sources(known: KnownQuery, request: ScriptedRequest) -> list[Found]:
    """What the oracle reads, some of it from the wrong place; what was injected is recorded."""
    parameters = Parameters.model_validate(dict(request.parameters))
    found = read_sources(known, request)
    context = context_hash(request.messages)
    chosen = misread(found, _Dice(parameters, known.query.uid, context))
    _record(request, parameters, known, context, len(found), list(chosen.values()))
    return [replace(value, value=chosen[at].given) if at in chosen else value for at, value in enumerate(found)]


@dataclass(frozen=True)
class _Dice:
    """Chance that falls the same way for the same seed, query and context."""

    parameters: Parameters
    query: str
    context: str

    def _number(self, purpose: str) -> int:
        text = f"{self.parameters.seed}|{self.query}|{self.context}|{purpose}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    @property
    def hit(self) -> bool:
        return self._number("hit") < self.parameters.rate * 2**64

    def generator(self) -> random.Random:
        return random.Random(self._number("values"))  # noqa: S311 - a choice to be repeated, no secret

    def how_many(self, n: int) -> int:
        return min(n, max(1, round(self.parameters.share * n)))


def misread(found: Sequence[Found], dice: _Dice) -> dict[int, Injection]:
    """Position in ``found`` -> what is given in its place; empty where the instance is not hit."""
    if not dice.hit or not found:
        return {}
    generator = dice.generator()
    truths = [value.value for value in found]
    chosen: dict[int, Injection] = {}
    for at in generator.sample(range(len(found)), len(found)):
        if len(chosen) == dice.how_many(len(found)):
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


def _record(
    request: ScriptedRequest,
    parameters: Parameters,
    known: KnownQuery,
    context: str,
    n_source: int,
    injections: list[Injection],
) -> None:
    identity: JsonValue = {**parameters.model_dump(), "context": context}
    values: list[JsonValue] = [{**asdict(injection), "path": list(injection.path)} for injection in injections]
    record: JsonValue = {
        "format": INJECTION_FORMAT,
        "query": known.query.uid,
        "context": context,
        "parameters": parameters.model_dump(),
        "hit": bool(injections),
        "n_source": n_source,
        "values": values,
    }
    write_json(injection_folder(request.storage, parameters.name) / f"{content_hash(identity)}.json", record)


def injection_folder(storage: Path, name: str = "misreads") -> Path:
    """Where the records of the model ``name`` lie."""
    return storage / "scripted" / "injections" / path_segment(name)
