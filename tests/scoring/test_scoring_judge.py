"""One question, one chart, one call; exactly Yes or No."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.errors import ProviderError, UpstreamError
from deepchart_dagster.llm.model import ChatRequest, ImagePart, TextPart
from deepchart_dagster.scoring.judge import (
    Verdict,
    chart_image,
    judge_identity,
    judge_question,
    judge_questions,
    judge_request,
    read_answer,
)

QUESTION = "Does the chart show bars?"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes", "yes"),
        ("No", "no"),
        (" Yes\n", "yes"),
        ("\tNo\r\n", "no"),
        ("yes", "unclear"),
        ("NO", "unclear"),
        ("Yes.", "unclear"),
        ("**Yes**", "unclear"),
        ("Yes, it does", "unclear"),
        ("Yes No", "unclear"),
        ("", "unclear"),
        ("unclear", "unclear"),
    ],
)
def test_only_the_exact_word_counts(text: str, answer: str) -> None:
    assert read_answer(text) == answer


@given(st.text())
def test_whatever_else_is_said_is_unclear(text: str) -> None:
    expected = {"Yes": "yes", "No": "no"}.get(text.strip(), "unclear")
    assert read_answer(text) == expected
    assert read_answer(f"{text}?") == "unclear"


def test_a_yes_is_one_point_and_all_else_is_none() -> None:
    assert [Verdict(answer, "", "").point for answer in ("yes", "no", "unclear")] == [1, 0, 0]


def test_a_call_holds_one_question_one_chart_and_temperature_0(house: Any) -> None:
    chart = house.png_of(5)
    request = judge_request(house.judges.judges["judge"], house.prompts, chart, QUESTION)
    parts = [part for message in request.messages for part in message.parts]
    pictures = [part for part in parts if isinstance(part, ImagePart)]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert [(picture.data, picture.media_type) for picture in pictures] == [(chart, "image/png")]
    assert (pictures[0].width, pictures[0].height) == (40, 30)
    assert sum(QUESTION in text for text in texts) == 1
    assert request.parameters == {"temperature": 0}
    assert request.purpose == "judge"
    assert request.prompt_hash == house.prompts.hash("judge")


def test_the_answers_place_depends_on_chart_question_model_parameters_and_prompt(house: Any) -> None:
    judge, other = house.judges.judges["judge"], house.judges.judges["other"]

    def key(chart: bytes, question: str, model: Any = judge) -> str:
        return judge_request(model, house.prompts, chart, question).key().digest

    base = key(house.png_of(5), QUESTION)
    assert base == key(house.png_of(5), QUESTION)
    assert (
        len(
            {base, key(house.png_of(6), QUESTION), key(house.png_of(5), "Else?"), key(house.png_of(5), QUESTION, other)}
        )
        == 4
    )
    assert judge_identity(judge, house.prompts) != judge_identity(other, house.prompts)
    dearer = judge.model_copy(update={"concurrency": 99, "timeout_s": 1.0})
    assert judge_identity(judge, house.prompts) == judge_identity(dearer, house.prompts)


def test_the_scripted_judge_answers_through_the_normal_call(house: Any) -> None:
    judge = house.judges.judges["judge"]

    def ask(chart: bytes, question: str) -> Verdict:
        return asyncio.run(judge_question(house.client, judge, house.prompts, chart, question))

    yes = ask(house.png_of(1), QUESTION)
    assert (yes.answer, yes.said) == ("yes", "Yes")
    assert yes.answer_key in house.client.kept
    assert ask(house.png_of(1), "Does the chart show lines?").answer == "no"
    assert ask(house.png_of(1), "Is it beautiful?").answer == "unclear"
    assert ask(house.png_of(99), QUESTION).answer == "unclear"


def test_one_failing_call_lets_the_others_end_and_then_raises(house: Any, provider_down: ProviderError) -> None:
    def instead(request: ChatRequest) -> Exception | None:
        texts = [part.text for message in request.messages for part in message.parts if isinstance(part, TextPart)]
        return provider_down if any("lines" in text for text in texts) else None

    house.client.instead = instead
    questions = ["Does the chart show lines?", QUESTION, "Are the bars vertical?"]
    judge = house.judges.judges["judge"]
    with pytest.raises(ProviderError, match="503"):
        asyncio.run(judge_questions(house.client, judge, house.prompts, house.png_of(1), questions))
    assert sorted(house.client.kept.values()) == ["Yes", "Yes"]


def test_a_jpeg_is_sent_as_one_and_what_is_no_picture_is_refused() -> None:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (20, 10)).save(stream, "JPEG")
    image = chart_image(stream.getvalue())
    assert (image.media_type, image.width, image.height) == ("image/jpeg", 20, 10)
    for data in (b"", b"<html>", stream.getvalue()[:3]):
        with pytest.raises(UpstreamError, match="cannot be read as a picture"):
            chart_image(data)
