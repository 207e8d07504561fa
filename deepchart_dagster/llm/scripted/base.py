"""What a scripted model is given, what it answers, and which version of its program answers.

A behaviour module has a function from request to reply and a constant ``VERSION``, which is part of every key
that an answer of it goes into: whoever changes what a program answers changes its version, and what was stored
of the old one is stale.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from pydantic import JsonValue

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
    """``VERSION`` of the program behind ``scripted/<name>``; None where nobody is called that, so nobody answers."""
    module, _, _ = BEHAVIOURS.get(name, "").partition(":")
    return str(importlib.import_module(module).VERSION) if module else None
