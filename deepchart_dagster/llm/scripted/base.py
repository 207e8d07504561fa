"""What a scripted model is given and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue

from deepchart_dagster.artifacts.evidence import EvidenceStore
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
