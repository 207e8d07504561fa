"""One question and one chart a call (paper, section 4 and appendix B.2).

The judge is asked at temperature 0 and has to answer exactly ``Yes`` or ``No``. White space around the word
is no part of the answer; anything else that it says (``yes``, ``Yes.``, an explanation) is *unclear*, which
counts 0 and stays in the denominator. A call that brought no answer raises: it is an error, never an unclear
answer. So does one that its provider ended before the judge had said Yes or No (its tokens were used up, a
filter stepped in) or that came back empty, after it has been asked again: that says nothing of the chart.

Answers are kept by the client under the hash of the picture's bytes, the question, the model with its
parameters, and the prompt: the same question about the same chart is paid for once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Literal, TypeVar

from pydantic import JsonValue

from deepchart_dagster.errors import BadProviderAnswer, UpstreamError
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatAnswer, ChatModel, ChatRequest, ImagePart, Message
from deepchart_dagster.llm.registry import ModelSpec

JUDGE_PROMPT = "judge"
JUDGE_PARAMETERS: dict[str, JsonValue] = {"temperature": 0}
# Bumped when the reading of an answer changes; part of every key that verdicts went into.
VERDICT_VERSION = 2

Answer = Literal["yes", "no", "unclear"]
_ANSWERS: dict[str, Answer] = {"Yes": "yes", "No": "no"}
_KEPT_CHARACTERS = 500
# How often a question is asked whose answer was cut off, filtered or empty.
_TRIES = 3
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Verdict:
    """``said`` is what the judge wrote (its beginning), ``answer_key`` where the client keeps it."""

    answer: Answer
    said: str
    answer_key: str

    @property
    def point(self) -> int:
        return 1 if self.answer == "yes" else 0


def read_answer(text: str) -> Answer:
    return _ANSWERS.get(text.strip(), "unclear")


def chart_image(chart: bytes) -> ImagePart:
    """The chart as it is sent. Raises UpstreamError for bytes that are no picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(chart)) as image:
            media_type = Image.MIME.get(image.format or "", "image/png")
            return ImagePart(data=chart, media_type=media_type, width=image.width, height=image.height)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise UpstreamError(
            f"the chart cannot be read as a picture: {error}.",
            remedy="Delete its folder and run deepchart materialize for the step that made it.",
        ) from error


def with_image(messages: tuple[Message, ...], image: ImagePart) -> tuple[Message, ...]:
    """``messages`` with the picture behind the last one's text."""
    *before, last = messages
    return (*before, replace(last, parts=(*last.parts, image)))


def judge_request(judge: ModelSpec, prompts: PromptSet, chart: bytes, question: str) -> ChatRequest:
    return ChatRequest(
        model=judge,
        messages=with_image(prompts.messages(JUDGE_PROMPT, question=question), chart_image(chart)),
        purpose="judge",
        prompt_hash=prompts.hash(JUDGE_PROMPT),
        parameters=JUDGE_PARAMETERS,
    )


async def judge_question(
    client: ChatModel, judge: ModelSpec, prompts: PromptSet, chart: bytes, question: str
) -> Verdict:
    """Raises ProviderError where the call brought no answer, BadProviderAnswer where it ended before one."""
    request = judge_request(judge, prompts, chart, question)
    for repeat in range(_TRIES):
        answer = await client.complete(replace(request, repeat=repeat))
        read = read_answer(answer.text)
        if read != "unclear" or not _ended_early(answer):
            return Verdict(answer=read, said=answer.text[:_KEPT_CHARACTERS], answer_key=answer.key)
    raise BadProviderAnswer(
        f"{judge.slug} was asked {_TRIES} times and ended before it said Yes or No "
        f"(finish reason {answer.finish_reason}, {len(answer.text)} characters): {question!r}.",
        remedy="judges.yaml: more max_tokens for a judge that thinks, or another judge; these answers are kept.",
    )


def _ended_early(answer: ChatAnswer) -> bool:
    return answer.finish_reason in ("length", "refusal") or not answer.text.strip()


async def judge_questions(
    client: ChatModel, judge: ModelSpec, prompts: PromptSet, chart: bytes, questions: Iterable[str]
) -> list[Verdict]:
    """One verdict a question, in order. Raises the first error, after all calls have ended: answers are kept."""
    return await all_of(judge_question(client, judge, prompts, chart, question) for question in questions)


async def all_of(tasks: Iterable[Awaitable[_Result]]) -> list[_Result]:
    """Every task to its end, then the results, or the first error."""
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    results: list[_Result] = []
    for outcome in ended:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results


def identity_of(model: ModelSpec) -> dict[str, JsonValue]:
    """What of a model an answer depends on, for keys; the slug since results name it."""
    return {"slug": model.slug, **model.identity()}


def judge_identity(judge: ModelSpec, prompts: PromptSet) -> dict[str, JsonValue]:
    """What verdicts depend on beside chart and question."""
    return {
        **identity_of(judge),
        "request": JUDGE_PARAMETERS,
        "prompt": prompts.hash(JUDGE_PROMPT),
        "version": VERDICT_VERSION,
    }
