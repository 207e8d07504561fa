"""The same questions about the same charts, answered by other judges (paper, appendix B.4).

Partition and scope: (judge). An instance is one chart of a benchmark's validation subset; its uid is
``<benchmark>/<chart id>``. A judge gets one question and one chart a call, as in the main run, and nothing of who drew
the chart. Answers are kept by the client: those that the primary judge gave in the main run cost nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_json_lines
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import UsageError
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatModel
from deepchart_dagster.llm.registry import JudgesFile, ModelSpec
from deepchart_dagster.scoring.judge import judge_identity, judge_questions
from deepchart_dagster.scoring.metered import MeteredModel
from deepchart_dagster.scoring.rubric_writing import RubricItem
from deepchart_dagster.scoring.validation_subset import StudyChart, SubsetStore, ValidationSubset
from deepchart_dagster.scoring.visual import VERDICTS_NAME, Judged, visual_accuracy
from deepchart_dagster.stage_versions import JUDGE_STUDY_VERSION

ASSET = "judge_verdicts"


def instance_uid(subset: ValidationSubset, chart: StudyChart) -> str:
    return f"{subset.benchmark}/{chart.id}"


@dataclass(frozen=True)
class JudgeStudyStage:
    """Has the charts of ``benchmarks`` judged; a benchmark without a subset has none."""

    store: ArtifactStore
    subsets: SubsetStore
    client: ChatModel
    judges: JudgesFile
    prompts: PromptSet
    benchmarks: Sequence[str]
    concurrency: int = 4

    def plan(self, judge: str) -> list[Work]:
        """One work for each chart. Raises UsageError for a slug that judges.yaml lacks."""
        spec = self._spec(judge)
        subsets = [subset for name in self.benchmarks if (subset := self.subsets.read(name)) is not None]
        return [self._work(subset, chart, spec) for subset in subsets for chart in subset.charts]

    def run(self, judge: str, progress: Progress | None = None) -> StepSummary:
        works = self.plan(judge)
        return run_step(self.store, Step.own(ASSET, judge), works, concurrency=self.concurrency, progress=progress)

    def _spec(self, judge: str) -> ModelSpec:
        if judge not in self.judges.judges:
            raise UsageError(f"judges.yaml has no judge {judge!r}.", remedy=f"It has: {', '.join(self.judges.judges)}.")
        return self.judges.judges[judge]

    def _work(self, subset: ValidationSubset, chart: StudyChart, judge: ModelSpec) -> Work:
        key = InputKey.of(
            version=JUDGE_STUDY_VERSION,
            chart=chart.chart_sha256,
            questions=[question.question for question in chart.questions],
            judge=judge_identity(judge, self.prompts),
        )
        uid = instance_uid(subset, chart)
        return Work(uid, key, _Judging(self, uid, subset.benchmark, chart, judge).compute)


@dataclass(frozen=True)
class _Judging:
    stage: JudgeStudyStage
    uid: str
    benchmark: str
    chart: StudyChart
    judge: ModelSpec

    async def compute(self, folder: Path) -> Outcome:
        stage = self.stage
        metered = MeteredModel(stage.client, self.uid)
        picture = stage.subsets.chart(self.benchmark, self.chart)
        items = [
            RubricItem(aspect=one.aspect, id=one.id, question=one.question, valid=True, reference_verdict=None)
            for one in self.chart.questions
        ]
        questions = [item.question for item in items]
        verdicts = await judge_questions(metered, self.judge, stage.prompts, picture, questions)
        judged = [Judged(item, verdict) for item, verdict in zip(items, verdicts, strict=True)]
        write_json_lines(folder / VERDICTS_NAME, [row.row() for row in judged])
        value = {**visual_accuracy(judged), "judge": self.judge.slug}
        return Outcome(value=value, observations=metered.observations())
