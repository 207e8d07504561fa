"""What real judges reply over HTTP, and what each counts as (METRICS: VAS)."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from deepchart_dagster.errors import BadProviderAnswer, ProviderError
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.judge import Verdict, judge_question

PROMPTS = PromptSet.load(None)
REFUSAL = "I'm sorry, but I can't help with that."


def png(shade: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (20, 10), (shade, shade, shade)).save(stream, "PNG")
    return stream.getvalue()


def judge_at(server: Any, slug: str = "judge", **more: Any) -> ModelSpec:
    return ModelSpec(slug=slug, litellm_model="openai/local-judge", api_base=server.url, timeout_s=20.0, **more)


def ask(client: LiteLLMClient, judge: ModelSpec, question: str, chart: bytes) -> Verdict:
    return asyncio.run(judge_question(client, judge, PROMPTS, chart, question))


def test_only_yes_and_no_are_answers_and_all_else_that_is_said_is_unclear(
    server: Any, client: LiteLLMClient, replies: Any
) -> None:
    said = {
        "Yes": "yes",
        "No": "no",
        " Yes\n": "yes",
        "Yes.": "unclear",
        "YES": "unclear",
        "yes\n": "unclear",
        "No, because the bars are grey": "unclear",
        "Yes\nNo": "unclear",
        "\u200bYes": "unclear",
    }
    server.tell(*(replies.good(text) for text in said))
    server.tell(replies.good(REFUSAL), replies.good("Yes", "length"))
    judge = judge_at(server)
    answers = [ask(client, judge, f"Is it {number}?", png(1)).answer for number in range(len(said) + 2)]
    assert answers == [*said.values(), "unclear", "yes"]
    assert all(request["temperature"] == 0 for request in server.requests)
    assert ask(client, judge, "Is it 3?", png(1)).answer == "unclear"
    assert len(server.requests) == len(said) + 2, "an unclear answer is kept like any other"


@pytest.mark.parametrize(
    "reply", [("", "stop"), (None, "stop"), ("  \n", "stop"), (REFUSAL, "content_filter"), ("The chart sho", "length")]
)
def test_what_ends_before_yes_or_no_is_asked_again_and_then_an_error_never_a_zero(
    server: Any, client: LiteLLMClient, replies: Any, reply: tuple[str | None, str]
) -> None:
    judge = judge_at(server)
    server.tell(replies.good(*reply), replies.good("Yes"))
    assert ask(client, judge, "Is it one?", png(1)).answer == "yes"
    assert len(server.requests) == 2
    server.tell(*[replies.good(*reply)] * 3)
    with pytest.raises(BadProviderAnswer, match=r"asked 3 times and ended before.*'Is it two\?'.*max_tokens"):
        ask(client, judge, "Is it two?", png(1))
    assert len(server.requests) == 5


@pytest.mark.parametrize("status", [500, 429, 401])
def test_a_call_that_did_not_happen_is_an_error_and_asked_again(
    server: Any, client: LiteLLMClient, replies: Any, status: int
) -> None:
    server.tell(*[replies.bad(status)] * 3)
    judge = judge_at(server)
    with pytest.raises(ProviderError):
        ask(client, judge, "Is it one?", png(1))
    server._replies.clear()
    server.tell(replies.good("Yes"))
    assert ask(client, judge, "Is it one?", png(1)).answer == "yes"


def test_answers_belong_to_the_charts_bytes_and_the_model_not_to_a_slug(
    server: Any, client: LiteLLMClient, replies: Any, tmp_path: Path
) -> None:
    """Two judges of one model and parameters are one: what they say is the same answer, paid once."""
    server.tell(replies.good("Yes"), replies.good("No"), replies.good("No"))
    first, twin = judge_at(server), judge_at(server, "twin")
    other = judge_at(server, "other", parameters={"seed": 2})
    assert ask(client, first, "Is it one?", png(1)).answer == "yes"
    assert ask(client, first, "Is it one?", png(2)).answer == "no"
    assert ask(LiteLLMClient(tmp_path), twin, "Is it one?", png(1)).answer == "yes"
    assert len(server.requests) == 2
    assert ask(client, other, "Is it one?", png(1)).answer == "no"
    assert len(server.requests) == 3
