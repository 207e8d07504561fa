"""Exactly what would be sent for one instance, without sending it (``deepchart prompt``, stages 1 and 2).

The messages of rubrics and judging come from scoring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import canonical_json
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Instance, Split
from deepchart_dagster.contexts.model_input import picture_tokens
from deepchart_dagster.contexts.tokens import counter_of
from deepchart_dagster.errors import UsageError
from deepchart_dagster.generation.asking import messages_json, text_tokens
from deepchart_dagster.generation.charts import RenderedChartStage
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.registry import ModelSpec


@dataclass(frozen=True)
class Preview:
    """A request as it would be sent, with its size.

    text_tokens are counted, picture_tokens estimated from width × height. ``given`` says what of a context is sent
    and what was cut (ModelInput.record); None where the request holds no context.
    """

    request: ChatRequest
    messages: tuple[Message, ...]
    prompt_hash: str
    text_tokens: int
    n_pictures: int
    picture_tokens: int
    given: dict[str, JsonValue] | None

    @classmethod
    def of(cls, request: ChatRequest, given: dict[str, JsonValue] | None = None) -> Preview:
        pictures = request.pictures
        return cls(
            request=request,
            messages=request.messages,
            prompt_hash=request.prompt_hash,
            text_tokens=text_tokens(request.messages, counter_of(request.model.litellm_model)),
            n_pictures=len(pictures),
            picture_tokens=sum(picture_tokens(picture.width, picture.height) for picture in pictures),
            given=given,
        )

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "messages": messages_json(self.messages),
            "prompt_hash": self.prompt_hash,
            "text_tokens": self.text_tokens,
            "n_pictures": self.n_pictures,
            "picture_tokens": self.picture_tokens,
            "input": self.given,
        }

    def as_text(self) -> str:
        """For people: every message under its role, pictures by size and hash, the counts at the end."""
        blocks = [
            f"== {message.role} ==\n" + "\n".join(_part_text(part) for part in message.parts)
            for message in self.messages
        ]
        return "\n\n".join([*blocks, f"== sizes ==\n{self._sizes()}"])

    def _sizes(self) -> str:
        lines = [f"{self.text_tokens:,} tokens of text"]
        if self.n_pictures:
            lines.append(f"{self.n_pictures} pictures, about {self.picture_tokens:,} tokens")
        if self.given is not None:
            cut = self.given["cut"]
            lines.append(f"input budget: {self.given['budget_tokens']:,} tokens of text")
            lines.append(f"cut: {canonical_json(cut) if cut else 'nothing'}")
        return "\n".join(lines)


def _part_text(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[{part.media_type}, {part.width} × {part.height} pixels, sha256 {part.sha256}]"


def preview(
    uid: str,
    model: ModelSpec,
    split: Split,
    stage: Literal[1, 2],
    *,
    states: PredictedStateStage,
    charts: RenderedChartStage,
) -> Preview:
    """Raises UsageError for an instance that is not there, UpstreamError where the step before has left nothing."""
    instance = find_instance(states.library, uid, split)
    if stage == 2:
        return Preview.of(charts.request(instance, model))
    stated = states.request(instance, model)
    return Preview.of(stated.request, stated.given.record())


def find_instance(library: Library, uid: str, split: Split) -> Instance:
    query = library.query(uid)
    if split not in query.splits:
        raise UsageError(
            f"{uid} is not in {split.value}.", remedy=f"It is in: {', '.join(item.value for item in query.splits)}."
        )
    return Instance(query=query, split=split)
