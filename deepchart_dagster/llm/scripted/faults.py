"""What the scripted models that err have in common: which instances are hit, where it must show, what was injected.

Chance. A hash of the model's name, its ``seed`` and the query's uid falls somewhere in 0…1; the instance is hit where
that lies below ``rate``. So the fate of an instance depends on nothing else: not on the order, not on the other
instances, not on what happened before; a higher rate hits the same instances and more. A rate is the chance of each
instance (34 queries at 0.1 are 3.4 on average), not a share that is met exactly. A query has one fate in all its
splits: stage 2 is sent the same in each, so a program could not tell them apart.

``injected`` is that fate as a pure function, so that scores can be compared with it (scoring.calibration). What exactly
was injected is recorded when it happens, apart from the pipeline's results:

    storage/scripted/injections/<model>/<hash>.json
    {"format", "model", "parameters", "query", "stage", "sent", "kind", …}

``sent`` is the hash of the messages (sent_context.context_hash); what follows ``kind`` is the model's own.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import path_segment, write_json
from deepchart_dagster.llm.registry import SCRIPTED_PREFIX, ModelSpec
from deepchart_dagster.llm.scripted.base import BEHAVIOURS
from deepchart_dagster.llm.scripted.oracle import Task
from deepchart_dagster.llm.scripted.sent_context import context_hash

# Changes with which instances are hit: part of the version of each model that errs.
FAULTS_VERSION = "1"

INJECTION_FORMAT = "deepchart-injection/2"


class Metric(StrEnum):
    """Where a fault shows, in the order of the pipeline: an instance has no lower score before its fault."""

    F1_SRC = "f1_src"
    F1_DER = "f1_der"
    ER = "er"
    VAS = "vas"


class FaultParameters(BaseModel):
    """rate: chance of an instance to be hit; seed: another one hits others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: float = Field(default=0.5, ge=0, le=1)
    seed: int = 0


P = TypeVar("P", bound=FaultParameters)


@dataclass(frozen=True)
class Dice(Generic[P]):
    """Chance that falls the same way every time for one model, seed and query."""

    model: str
    parameters: P
    uid: str

    @classmethod
    def of(cls, model: str, kind: type[P], task: Task) -> Dice[P]:
        """For ``task``, with the parameters that models.yaml gives with it."""
        return cls(model, kind.model_validate(dict(task.request.parameters)), task.known.query.uid)

    @property
    def hit(self) -> bool:
        return self._number("hit") < self.parameters.rate * 2**64

    def generator(self, *of: str) -> random.Random:
        """For what else is left to chance, apart from whether the instance is hit."""
        return random.Random(self._number("kind", *of))  # noqa: S311 - a choice to be repeated, no secret

    def _number(self, *purpose: str) -> int:
        text = "|".join((self.model, str(self.parameters.seed), self.uid, *purpose))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def injected(model: ModelSpec, uid: str) -> Metric | None:
    """Where the fault of ``model`` in the query ``uid`` shows first; None where it is not hit, or never errs."""
    dice = _dice_of(model, uid)
    if dice is None or not dice.hit:
        return None
    shows_at: Metric = _module_of(dice.model).shows_at(dice)
    return shows_at


def _dice_of(model: ModelSpec, uid: str) -> Dice[FaultParameters] | None:
    """None for a model that never errs."""
    name = model.litellm_model.removeprefix(SCRIPTED_PREFIX)
    if not model.scripted or name not in BEHAVIOURS:
        return None
    module = _module_of(name)
    return Dice(name, module.Parameters.model_validate(model.parameters), uid) if hasattr(module, "shows_at") else None


def _module_of(name: str) -> ModuleType:
    return importlib.import_module(BEHAVIOURS[name].partition(":")[0])


def record(task: Task, dice: Dice[P], kind: str, details: Mapping[str, JsonValue] = MappingProxyType({})) -> None:
    """Say what was injected into the answer to ``task``."""
    identity = _identity(dice, task.stage, context_hash(task.request.messages))
    write_json(
        _path(task.request.storage, dice.model, identity),
        {"format": INJECTION_FORMAT, **identity, "kind": kind, **details},
    )


def injected_kinds(storage: Path, model: ModelSpec, uid: str, stage: Literal[1, 2], sent: str) -> frozenset[str]:
    """The kinds of fault that were injected into the answer to the messages of hash ``sent``, as recorded."""
    dice = _dice_of(model, uid)
    if dice is None:
        return frozenset()
    try:
        content = _path(storage, dice.model, _identity(dice, stage, sent)).read_text(encoding="utf-8")
    except FileNotFoundError:
        return frozenset()
    found = json.loads(content)
    return frozenset(value["kind"] for value in found.get("values", [found]))


def _identity(dice: Dice[P], stage: Literal[1, 2], sent: str) -> dict[str, JsonValue]:
    return {
        "model": dice.model,
        "parameters": dice.parameters.model_dump(),
        "query": dice.uid,
        "stage": stage,
        "sent": sent,
    }


def _path(storage: Path, model: str, identity: dict[str, JsonValue]) -> Path:
    return injection_folder(storage, model) / f"{content_hash(identity)}.json"


def injection_folder(storage: Path, model: str) -> Path:
    """Where the records of the scripted model ``model`` lie."""
    return storage / "scripted" / "injections" / path_segment(model)
