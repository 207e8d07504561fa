"""Rubrics: yes/no questions a query, written once from its reference chart (paper, section 4 and appendix B.2).

Three aspects: instruction compliance (3–5 questions), data-mapping topology (2–3), presentation quality (3–5).
``rubric.json`` is stored once a query (scope ()) and shared by every model and context variant. Questions that
the judge does not confirm on the reference chart are kept in it as invalid, beside those that replaced them;
VAS counts the valid ones. An aspect that stays short of its minimum after that is named in ``short_aspects``. A
rubric that somebody gave (scoring.given_rubrics) takes the writer's place, unless it asks what was written.

How an instance ends:

ok               every aspect was written and at least one question is valid
not_applicable   the record has no reference chart
error            the chart is not there, the writer wrote nothing complete, a call brought no answer
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, reusable, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query, Split
from deepchart_dagster.errors import BadProviderAnswer, DeepChartError, MissingInputError, UpstreamError, UsageError
from deepchart_dagster.generation.asking import first_backend, intent_of
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatModel, ChatRequest
from deepchart_dagster.llm.registry import JudgesFile, ModelSpec
from deepchart_dagster.scoring.given_rubrics import GivenRubric, GivenRubrics
from deepchart_dagster.scoring.judge import all_of, identity_of, judge_identity, judge_request
from deepchart_dagster.scoring.metered import MeteredModel
from deepchart_dagster.scoring.rubric_writing import Aspect, RubricAuthor, RubricItem
from deepchart_dagster.stage_versions import RUBRIC_VERSION

RUBRIC_NAME = "rubric.json"
CHART_NAME = "chart.png"

_STEP = Step(asset="rubrics", partition=(), scope=(), shared=True)


class Rubric(BaseModel):
    """``rubric.json``. ``chart_sha256`` is the reference chart's; writer and judge are slugs of judges.yaml.

    Of a given rubric the writer is the file it came from, and ``judge`` None where it counts as it stands.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-rubric/1"] = "deepchart-rubric/1"
    uid: str
    chart_sha256: str
    writer: str
    judge: str | None
    items: tuple[RubricItem, ...]

    @property
    def valid_items(self) -> tuple[RubricItem, ...]:
        return tuple(item for item in self.items if item.valid)

    @property
    def short_aspects(self) -> tuple[Aspect, ...]:
        """Aspects with fewer valid questions than the paper's minimum."""
        return tuple(
            aspect for aspect in Aspect if sum(item.aspect is aspect for item in self.valid_items) < aspect.fewest
        )

    @classmethod
    def read(cls, data: bytes, name: str) -> Rubric:
        """Raises UpstreamError that names the file where it is no rubric."""
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise UpstreamError(
                f"{name} is no rubric: {error.errors()[0]['msg']}.",
                remedy="Delete its folder, then: deepchart materialize rubrics.",
            ) from error


@dataclass(frozen=True)
class RubricStage:
    """Writes the rubrics of a split's queries. Partition (split), scope ().

    The check on the reference chart is done by the judge that judges.yaml names, whatever other judge a run
    asks for: rubrics stay the same when another judge answers them. ``rubric_writer`` is a slug that
    overrides judges.yaml.
    """

    store: ArtifactStore
    library: Library
    client: ChatModel
    judges: JudgesFile
    prompts: PromptSet
    rubric_writer: str | None = None
    concurrency: int = 4

    def plan(self, split: Split) -> list[Work]:
        return [self._work(instance.query) for instance in self.library.instances(split)]

    def run(self, split: Split, progress: Progress | None = None) -> StepSummary:
        step = replace(_STEP, partition=(split.value,))
        return run_step(self.store, step, self.plan(split), concurrency=self.concurrency, progress=progress)

    def requests(self, query: Query) -> list[ChatRequest]:
        """The first call of every aspect, or the checks of a rubric that was given.

        Raises UpstreamError where there is no reference chart yet, UsageError where there is none in the benchmark,
        MissingInputError where its file is missing.
        """
        job = self._job(query)
        if CHART_NAME not in job.references.files:
            raise _without_chart(query).blocked or UsageError(
                f"{query.uid}: its record has no reference chart, so no question is asked about it.",
                remedy="Stages 1 and 2 can be shown: --stage 1, --stage 2.",
            )
        author = job.author(self.client)
        if job.given is None:
            return [author.request(aspect) for aspect in Aspect]
        asked = job.given.questions if job.given.checked else ()
        return [judge_request(job.judge, self.prompts, author.chart, one.question) for one in asked]

    def _work(self, query: Query) -> Work:
        try:
            job = self._job(query)
            if CHART_NAME not in job.references.files:
                return _without_chart(query)
        except DeepChartError as error:
            return Work(query.uid, InputKey.of(version=RUBRIC_VERSION), blocked=error)
        return Work(query.uid, job.key(), job.compute)

    def _job(self, query: Query) -> _Job:
        job = _Job(
            stage=self,
            query=query,
            references=usable_result(self.store, "references", (), query.uid),
            writer=self.judges.writer_for(query.benchmark, self.rubric_writer),
            judge=self.judges.judge_for(query.benchmark),
            given=GivenRubrics(self.store.root).read(query.uid),
        )
        return replace(job, given=None) if self._is_written(job) else job

    def _is_written(self, job: _Job) -> bool:
        """Whether a rubric is given that asks what the written one asks, and that one stands: there is nothing to make.

        Where it stands no more (another writer, another prompt), the given one takes its place.
        """
        if job.given is None or CHART_NAME not in job.references.files:
            return False
        written = replace(job, given=None)
        stored = reusable(self.store, _STEP, Work(job.query.uid, written.key()))
        if stored is None or RUBRIC_NAME not in stored.files:
            return False
        try:
            rubric = Rubric.read(read_output(self.store, stored, RUBRIC_NAME), f"{stored.uid} {RUBRIC_NAME}")
        except UpstreamError:
            return False  # it is damaged: made anew, from what is given
        return job.given.asks(rubric.valid_items)


def _without_chart(query: Query) -> Work:
    """The record names a chart that is not there (an error), or none at all (nothing to ask about)."""
    named = query.references.chart_image
    key = InputKey.of(version=RUBRIC_VERSION, chart=None, named=named)
    if named is None:
        return Work(query.uid, key, _nothing_to_ask)
    missing = MissingInputError(
        f"{query.uid}: the reference chart {named} that its record names is missing or no PNG.",
        remedy="Put it where the record names it, import the benchmark again, then: deepchart materialize references.",
    )
    return Work(query.uid, key, blocked=missing)


async def _nothing_to_ask(folder: Path) -> Outcome:
    return Outcome.not_applicable("no_reference_chart", "the record has no reference chart")


@dataclass(frozen=True)
class _Job:
    """One query's rubric."""

    stage: RubricStage
    query: Query
    references: InstanceResult
    writer: ModelSpec
    judge: ModelSpec
    given: GivenRubric | None

    @property
    def intent(self) -> dict[str, JsonValue]:
        """The specification as the writer reads it; what the record lacks is left out."""
        intent = intent_of(self.query, first_backend(self.query))
        return {name: value for name, value in intent.items() if value is not None}

    def key(self) -> InputKey:
        prompts = self.stage.prompts
        if self.given is not None:
            return InputKey.of(
                version=RUBRIC_VERSION,
                chart=self.references.files[CHART_NAME].sha256,
                given=self.given.identity(),
                judge=judge_identity(self.judge, prompts) if self.given.checked else None,
            )
        return InputKey.of(
            version=RUBRIC_VERSION,
            chart=self.references.files[CHART_NAME].sha256,
            intent=self.intent,
            prompts={aspect.value: prompts.hash(aspect.prompt) for aspect in Aspect},
            writer=identity_of(self.writer),
            judge=judge_identity(self.judge, prompts),
        )

    def author(self, client: ChatModel) -> RubricAuthor:
        """Raises UpstreamError where the reference chart cannot be read."""
        chart = read_output(self.stage.store, self.references, CHART_NAME)
        return RubricAuthor(client, self.stage.prompts, self.writer, self.judge, self.intent, chart)

    async def compute(self, folder: Path) -> Outcome:
        metered = MeteredModel(self.stage.client, self.query.uid)
        author = self.author(metered)
        aspects = await all_of(self._items(author, aspect) for aspect in Aspect)
        rubric = self._rubric(item for items in aspects for item in items)
        write_json(folder / RUBRIC_NAME, rubric.model_dump(mode="json"))
        return Outcome(value=_value(rubric), observations=metered.observations())

    async def _items(self, author: RubricAuthor, aspect: Aspect) -> tuple[RubricItem, ...]:
        if self.given is None:
            return await author.write(aspect)
        questions = [one.question for one in self.given.questions if one.aspect is aspect]
        if self.given.checked:
            return await author.check(aspect, questions)
        return tuple(
            RubricItem(aspect=aspect, id=f"{aspect.value}/{n}", question=text, valid=True, reference_verdict=None)
            for n, text in enumerate(questions, start=1)
        )

    def _rubric(self, items: Iterable[RubricItem]) -> Rubric:
        rubric = Rubric(
            uid=self.query.uid,
            chart_sha256=self.references.files[CHART_NAME].sha256,
            writer=self.given.source if self.given else self.writer.slug,
            judge=None if self.given and not self.given.checked else self.judge.slug,
            items=tuple(items),
        )
        if not rubric.valid_items:
            raise BadProviderAnswer(
                f"{self.query.uid}: {self.judge.slug} confirmed none of the {len(rubric.items)} questions by "
                f"{rubric.writer} on the reference chart.",
                remedy="Look at the reference chart, or set another writer or judge in judges.yaml.",
            )
        return rubric


def _value(rubric: Rubric) -> dict[str, JsonValue]:
    return {
        "n_items": len(rubric.items),
        "n_valid": len(rubric.valid_items),
        "short_aspects": [aspect.value for aspect in rubric.short_aspects],
        "writer": rubric.writer,
        "judge": rubric.judge,
    }
