"""Writing the questions of one aspect: ask, read, check on the reference chart, replace.

An answer that is no complete set of questions is thrown away and the aspect is asked again; only new answers
are counted against the limit, so that a later run goes on where this one stopped instead of reading the same
stored answers. Each question is then put to the judge on the reference chart itself. One that is not answered
Yes is kept as invalid, and another is asked for in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue

from deepchart_dagster.errors import BadProviderAnswer
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatAnswer, ChatModel, ChatRequest
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.judge import Answer, chart_image, judge_questions, with_image

INCOMPLETE_ANSWERS = 3  # new answers to one aspect in one run, before it is an error
REPLACEMENT_ROUNDS = 2
_MOST_REPEATS = 100
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL | re.IGNORECASE)


class Aspect(StrEnum):
    """The three aspects of a rubric, in the paper's order."""

    INSTRUCTION_COMPLIANCE = "instruction_compliance"
    DATA_MAPPING_TOPOLOGY = "data_mapping_topology"
    PRESENTATION_QUALITY = "presentation_quality"

    @property
    def prompt(self) -> str:
        return f"rubric_{self.value}"

    @property
    def fewest(self) -> int:
        return 2 if self is Aspect.DATA_MAPPING_TOPOLOGY else 3

    @property
    def most(self) -> int:
        return 3 if self is Aspect.DATA_MAPPING_TOPOLOGY else 5


class RubricItem(BaseModel):
    """One question. ``valid``: the judge answered Yes to it on the reference chart, or was not asked (a rubric that
    was given, to count as it stands): ``reference_verdict`` is None then."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aspect: Aspect
    id: str
    question: str
    valid: bool
    reference_verdict: Answer | None


def read_questions(text: str, *, fewest: int, most: int) -> tuple[str, ...]:
    """The questions of ``{"q1": …, "q2": …}``, on one line each; a code fence around it is taken off.

    More than ``most`` are cut to ``most``: they are in order and each stands for itself. Raises
    BadProviderAnswer for text that is no such object, a gap in the numbers, a member that is no text, the
    same question twice, or fewer than ``fewest``.
    """
    fenced = _FENCED.match(text.strip())
    members = _object(fenced.group(1) if fenced else text.strip())
    if [name for name, _ in members] != [f"q{number}" for number in range(1, len(members) + 1)]:
        raise BadProviderAnswer(f"the members are not q1, q2, … in order but {[name for name, _ in members]}")
    questions = tuple(" ".join(value.split()) for _, value in members if isinstance(value, str) and value.strip())
    if len(questions) < len(members):
        raise BadProviderAnswer("a question is empty or no text")
    if len(set(questions)) < len(questions):
        raise BadProviderAnswer("a question comes twice")
    if len(questions) < fewest:
        raise BadProviderAnswer(f"it has {len(questions)} questions, at least {fewest} are needed")
    return questions[:most]


def _object(text: str) -> list[tuple[str, object]]:
    """Name and value of the one object's members, also where a name comes twice."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise BadProviderAnswer(f"it is not one JSON object ({error})") from error
    if not isinstance(pairs, _Pairs):
        raise BadProviderAnswer("it is JSON, but no object")
    return list(pairs)


class _Pairs(list[tuple[str, object]]):
    """Members of a JSON object, none lost."""


@dataclass(frozen=True)
class RubricAuthor:
    """Who writes the rubric of one chart and who checks it.

    ``intent`` holds chart_type, chart_purpose and chart_layout, those that there are.
    """

    client: ChatModel
    prompts: PromptSet
    writer: ModelSpec
    judge: ModelSpec
    intent: dict[str, JsonValue]
    chart: bytes

    async def write(self, aspect: Aspect) -> tuple[RubricItem, ...]:
        """All questions asked, valid or not. An aspect may stay short where replacements fail, too.

        Raises BadProviderAnswer where no complete set came, ProviderError where a call brought no answer.
        """
        repeat, questions = await self._first_set(aspect)
        items = await self.check(aspect, questions)
        for round_ in range(1, REPLACEMENT_ROUNDS + 1):
            wanted = len(questions) - sum(item.valid for item in items)
            if not wanted:
                break
            others = await self._others(aspect, repeat + round_, [item.question for item in items])
            items += await self.check(aspect, others[:wanted], items)
        return items

    async def _first_set(self, aspect: Aspect) -> tuple[int, tuple[str, ...]]:
        bought = 0
        for repeat in range(_MOST_REPEATS):
            answer = await self._ask(aspect, repeat, ())
            try:
                return repeat, read_questions(answer.text, fewest=aspect.fewest, most=aspect.most)
            except BadProviderAnswer as error:
                reason = error.message
            bought += not answer.cached
            if bought == INCOMPLETE_ANSWERS:
                break
        raise BadProviderAnswer(
            f"{self.writer.slug} wrote no complete set of questions on {aspect.value}: {reason}.",
            remedy="The next run asks again; another writer can be set in judges.yaml.",
        )

    async def _others(self, aspect: Aspect, repeat: int, known: Sequence[str]) -> tuple[str, ...]:
        """New questions in place of those that did not hold; none where the answer cannot be read."""
        answer = await self._ask(aspect, repeat, known)
        try:
            questions = read_questions(answer.text, fewest=1, most=aspect.most + len(known))
        except BadProviderAnswer:
            return ()
        return tuple(question for question in questions if question not in known)

    async def _ask(self, aspect: Aspect, repeat: int, avoid: Sequence[str]) -> ChatAnswer:
        return await self.client.complete(self.request(aspect, repeat, avoid))

    def request(self, aspect: Aspect, repeat: int = 0, avoid: Sequence[str] = ()) -> ChatRequest:
        """``avoid``: questions asked before, where others are wanted."""
        parameter = json.dumps(self.intent, ensure_ascii=False, indent=1)
        messages = self.prompts.messages(aspect.prompt, gen_parameter=parameter, avoid=list(avoid))
        return ChatRequest(
            model=self.writer,
            messages=with_image(messages, chart_image(self.chart)),
            purpose="rubric",
            prompt_hash=self.prompts.hash(aspect.prompt),
            repeat=repeat,
        )

    async def check(
        self, aspect: Aspect, questions: Sequence[str], before: Sequence[RubricItem] = ()
    ) -> tuple[RubricItem, ...]:
        """The questions as items, each with the judge's answer on the reference chart; numbered on from ``before``."""
        verdicts = await judge_questions(self.client, self.judge, self.prompts, self.chart, questions)
        return tuple(
            RubricItem(
                aspect=aspect,
                id=f"{aspect.value}/{number}",
                question=question,
                valid=verdict.answer == "yes",
                reference_verdict=verdict.answer,
            )
            for number, (question, verdict) in enumerate(zip(questions, verdicts, strict=True), start=len(before) + 1)
        )
