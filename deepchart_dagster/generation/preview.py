"""Exactly what would be sent for one instance, without sending it (``deepchart prompt``, stages 1 and 2).

The messages of rubrics and judging come from scoring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Instance, Split
from deepchart_dagster.contexts.model_input import picture_tokens
from deepchart_dagster.errors import UsageError
from deepchart_dagster.generation.asking import text_tokens
from deepchart_dagster.generation.charts import RenderedChartStage
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message
from deepchart_dagster.llm.registry import ModelSpec


@dataclass(frozen=True)
class Preview:
    """``text_tokens`` are counted, ``picture_tokens`` estimated; ``given`` says what of a context is sent and what
    was cut (ModelInput.record), None for stage 2, which gets no context."""

    messages: tuple[Message, ...]
    prompt_hash: str
    text_tokens: int
    n_pictures: int
    picture_tokens: int
    given: dict[str, JsonValue] | None


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
        return _preview(charts.request(instance, model), given=None)
    stated = states.request(instance, model)
    return _preview(stated.request, given=stated.given.record())


def find_instance(library: Library, uid: str, split: Split) -> Instance:
    query = library.query(uid)
    if split not in query.splits:
        raise UsageError(
            f"{uid} is not in {split.value}.", remedy=f"It is in: {', '.join(item.value for item in query.splits)}."
        )
    return Instance(query=query, split=split)


def _preview(request: ChatRequest, given: dict[str, JsonValue] | None) -> Preview:
    pictures = pictures_of(request.messages)
    return Preview(
        messages=request.messages,
        prompt_hash=request.prompt_hash,
        text_tokens=text_tokens(request.messages),
        n_pictures=len(pictures),
        picture_tokens=sum(picture_tokens(picture.width, picture.height) for picture in pictures),
        given=given,
    )


def pictures_of(messages: Sequence[Message]) -> list[ImagePart]:
    return [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
