"""VAS: the share of a query's rubric that a judge confirms on a model's chart (paper, section 4, appendix B.2).

VAS of an instance is the mean over the rubric's valid questions: Yes is 1, No and unclear are 0. Beside it
stand the means of the three aspects. How an instance is scored:

ok               there is a chart, and every question has a verdict
failed           the model made no valid chart: VAS and aspects are 0
not_applicable   the query has no reference chart to ask about, or the model is not asked about it
error            chart or rubric could not be had, or a call brought no answer: unscored, asked again next time
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_json_lines
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Problem, Status
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query, Split
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.generation.asking import asked_instances
from deepchart_dagster.generation.charts import CHART_ASSET
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatModel, ChatRequest
from deepchart_dagster.llm.registry import JudgesFile, ModelSpec
from deepchart_dagster.scoring.judge import Verdict, judge_identity, judge_questions, judge_request
from deepchart_dagster.scoring.metered import MeteredModel
from deepchart_dagster.scoring.rubric_writing import Aspect, RubricItem
from deepchart_dagster.scoring.rubrics import CHART_NAME, RUBRIC_NAME, Rubric
from deepchart_dagster.stage_versions import VISUAL_ACCURACY_VERSION

VERDICTS_NAME = "verdicts.jsonl"


@dataclass(frozen=True)
class Judged:
    item: RubricItem
    verdict: Verdict

    def row(self) -> dict[str, JsonValue]:
        """A line of verdicts.jsonl."""
        return {
            "aspect": self.item.aspect.value,
            "id": self.item.id,
            "question": self.item.question,
            "verdict": self.verdict.answer,
            "said": self.verdict.said,
            "answer_key": self.verdict.answer_key,
        }


def visual_accuracy(judged: Iterable[Judged]) -> dict[str, JsonValue]:
    """``vas`` and the aspect means, 0…1 (None where an aspect has no question), and the counts of verdicts.

    Needs at least one verdict.
    """
    rows = tuple(judged)
    answers = [row.verdict.answer for row in rows]
    aspects: dict[str, JsonValue] = {aspect.value: _mean(rows, aspect) for aspect in Aspect}
    return {
        "vas": fmean(row.verdict.point for row in rows),
        **aspects,
        "n_items": len(rows),
        "n_yes": answers.count("yes"),
        "n_no": answers.count("no"),
        "n_unclear": answers.count("unclear"),
    }


def _mean(rows: tuple[Judged, ...], aspect: Aspect) -> float | None:
    points = [row.verdict.point for row in rows if row.item.aspect is aspect]
    return fmean(points) if points else None


def no_chart(judge: ModelSpec) -> dict[str, JsonValue]:
    """The value of an instance whose model left no valid chart: nothing is asked, everything is 0."""
    scores: dict[str, JsonValue] = {"vas": 0.0, **{aspect.value: 0.0 for aspect in Aspect}}
    return {**scores, "n_items": 0, "n_yes": 0, "n_no": 0, "n_unclear": 0, "judge": judge.slug}


@dataclass(frozen=True)
class Judging:
    """The collaborators of whatever has charts judged.

    The judge of a query is the one that judges.yaml names for its benchmark; ``judge`` is a slug that
    overrides it.
    """

    store: ArtifactStore
    client: ChatModel
    judges: JudgesFile
    prompts: PromptSet
    judge: str | None = None
    concurrency: int = 4

    def work(self, query: Query, asset: str, scope: tuple[str, ...]) -> Work:
        """What it takes to score the chart that ``asset`` has for ``query``."""
        try:
            judge = self.judges.judge_for(query.benchmark, self.judge)
            chart = usable_result(self.store, asset, scope, query.uid)
            if chart.status is Status.FAILED and not self._beyond_judging(query):
                return _scored_zero(query, chart, judge)
            rubric = usable_result(self.store, "rubrics", (), query.uid)
        except DeepChartError as error:
            return Work(query.uid, InputKey.of(version=VISUAL_ACCURACY_VERSION), blocked=error)
        for result in (chart, rubric):
            if result.status is Status.NOT_APPLICABLE:
                return _not_applicable(query, result)
        job = _Job(self, chart, rubric, judge)
        return Work(query.uid, job.key(), job.compute)

    def requests(self, query: Query, asset: str, scope: tuple[str, ...]) -> list[ChatRequest]:
        """One call for every valid question. Raises UpstreamError where chart or rubric is not there yet."""
        chart = usable_result(self.store, asset, scope, query.uid)
        rubric = usable_result(self.store, "rubrics", (), query.uid)
        job = _Job(self, chart, rubric, self.judges.judge_for(query.benchmark, self.judge))
        picture = job.chart_bytes()
        return [judge_request(job.judge, self.prompts, picture, item.question) for item in job.items()]

    def _beyond_judging(self, query: Query) -> bool:
        """Whether it is known that the query has no reference chart: then no model's chart can be scored."""
        rubric = self.store.read("rubrics", (), query.uid)
        return rubric is not None and rubric.status is Status.NOT_APPLICABLE


@dataclass(frozen=True)
class VisualAccuracyStage:
    """Judges a model's charts of a split. Partition and scope: (split, model)."""

    judging: Judging
    library: Library

    def plan(self, split: Split, model: ModelSpec) -> list[Work]:
        """One work for each instance of the split that ``model`` is asked about."""
        scope = (split.value, model.slug)
        instances = asked_instances(self.library, split, model)
        return [self.judging.work(instance.query, CHART_ASSET, scope) for instance in instances]

    def run(self, split: Split, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        step = Step.own("visual_accuracy", split.value, model.slug)
        judging = self.judging
        return run_step(
            judging.store, step, self.plan(split, model), concurrency=judging.concurrency, progress=progress
        )

    def requests(self, query: Query, split: Split, model: ModelSpec) -> list[ChatRequest]:
        """One call for every valid question. Raises UpstreamError where chart or rubric is not there yet."""
        return self.judging.requests(query, CHART_ASSET, (split.value, model.slug))


def _scored_zero(query: Query, chart: InstanceResult, judge: ModelSpec) -> Work:
    problem = chart.problem or Problem(kind="no_chart", message="the model left no valid chart")

    async def compute(folder: Path) -> Outcome:
        return Outcome.failed(problem.kind, problem.message, **no_chart(judge))

    key = InputKey.of(version=VISUAL_ACCURACY_VERSION, chart=None, failure=problem.kind, judge=judge.slug)
    return Work(query.uid, key, compute)


def _not_applicable(query: Query, result: InstanceResult) -> Work:
    problem = result.problem or Problem(kind="not_applicable", message=f"{result.asset} does not apply")

    async def compute(folder: Path) -> Outcome:
        return Outcome.not_applicable(problem.kind, problem.message)

    key = InputKey.of(version=VISUAL_ACCURACY_VERSION, not_applicable=[result.asset, problem.kind])
    return Work(query.uid, key, compute)


@dataclass(frozen=True)
class _Job:
    """One chart against one rubric."""

    judging: Judging
    chart: InstanceResult
    rubric: InstanceResult
    judge: ModelSpec

    def key(self) -> InputKey:
        return InputKey.of(
            version=VISUAL_ACCURACY_VERSION,
            chart=self.chart.files[CHART_NAME].sha256,
            rubric=self.rubric.files[RUBRIC_NAME].sha256,
            judge=judge_identity(self.judge, self.judging.prompts),
        )

    def chart_bytes(self) -> bytes:
        return read_output(self.judging.store, self.chart, CHART_NAME)

    def items(self) -> tuple[RubricItem, ...]:
        data = read_output(self.judging.store, self.rubric, RUBRIC_NAME)
        return Rubric.read(data, f"{self.rubric.uid} {RUBRIC_NAME}").valid_items

    async def compute(self, folder: Path) -> Outcome:
        metered = MeteredModel(self.judging.client, self.chart.uid)
        items, chart = self.items(), self.chart_bytes()
        questions = [item.question for item in items]
        verdicts = await judge_questions(metered, self.judge, self.judging.prompts, chart, questions)
        judged = [Judged(item, verdict) for item, verdict in zip(items, verdicts, strict=True)]
        write_json_lines(folder / VERDICTS_NAME, [row.row() for row in judged])
        value = {**visual_accuracy(judged), "judge": self.judge.slug}
        return Outcome(value=value, observations=metered.observations())
