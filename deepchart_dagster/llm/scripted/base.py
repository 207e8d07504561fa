"""What a scripted model is given, what it answers, and which version of its program answers.

A behaviour module has a function from request to reply and a constant ``VERSION``, which is part of every key
that an answer of it goes into: whoever changes what a program answers changes its version, and what was stored
of the old one is stale. It may have

    Parameters              pydantic model of the parameters that models.yaml can give it; otherwise it takes none
    shows_at(dice)          at which metric a hit instance's fault shows (llm.scripted.faults); otherwise it never errs
    followed_files_hash()   hash of the files that its answers follow beside its code; part of its version
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.errors import ProviderRefusedRequest
from deepchart_dagster.llm.model import FinishReason, Message


@dataclass(frozen=True)
class ScriptedRequest:
    """``messages`` exactly as sent, images as bytes; ``parameters`` from models.yaml (rate, seed, …)."""

    messages: tuple[Message, ...]
    parameters: Mapping[str, JsonValue]
    evidence: EvidenceStore
    storage: Path


@dataclass(frozen=True)
class ScriptedReply:
    text: str
    finish_reason: FinishReason = "stop"


Behaviour: TypeAlias = Callable[[ScriptedRequest], ScriptedReply]

# name -> "module:function", imported when first asked
BEHAVIOURS: dict[str, str] = {
    "oracle": "deepchart_dagster.llm.scripted.oracle:answer",
    "misreads": "deepchart_dagster.llm.scripted.misreads:answer",
    "miscalculates": "deepchart_dagster.llm.scripted.miscalculates:answer",
    "misdraws": "deepchart_dagster.llm.scripted.misdraws:answer",
    "crashes": "deepchart_dagster.llm.scripted.breaks:crashes",
    "hangs": "deepchart_dagster.llm.scripted.breaks:hangs",
    "truncates": "deepchart_dagster.llm.scripted.breaks:truncates",
    "chatters": "deepchart_dagster.llm.scripted.chatters:answer",
    "rubric-writer": "deepchart_dagster.llm.scripted.rubric_writer:answer",
    "judge": "deepchart_dagster.llm.scripted.judge:answer",
}


def load_behaviour(name: str) -> Behaviour:
    """The program behind ``scripted/<name>``. Raises ProviderRefusedRequest with the known names."""
    target = BEHAVIOURS.get(name)
    if target is None:
        raise ProviderRefusedRequest(
            f"there is no scripted model {name!r}.", remedy=f"Known: {', '.join(BEHAVIOURS)}.", status=404
        )
    module, _, function = target.partition(":")
    return cast(Behaviour, getattr(importlib.import_module(module), function))


def behaviour_version(name: str) -> str | None:
    """``VERSION`` of the program behind ``scripted/<name>``, with the hash of the files that it follows, if any.

    None where nobody is called that, so nobody answers.
    """
    if name not in BEHAVIOURS:
        return None
    module = _module(name)
    followed = f", files {module.followed_files_hash()}" if hasattr(module, "followed_files_hash") else ""
    return f"{module.VERSION}{followed}"


class NoParameters(BaseModel):
    """Of a program that takes none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def behaviour_parameters(name: str) -> type[BaseModel]:
    """What models.yaml may give the program behind ``scripted/<name>``, one of BEHAVIOURS."""
    return cast(type[BaseModel], getattr(_module(name), "Parameters", NoParameters))


def _module(name: str) -> ModuleType:
    return importlib.import_module(BEHAVIOURS[name].partition(":")[0])
