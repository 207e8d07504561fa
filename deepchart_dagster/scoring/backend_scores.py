"""ER and VAS of the charts of the backend study (paper, section 5.4), by the rules and the rubrics of the main run.

A result's value holds ``executed``, ``vas`` and the aspect means, ``chosen_backend`` (what the model wrote) and
``splits``: the settings in which the query counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.inputs import usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.benchmark.model import Backend
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.generation.backend_study import STUDY_ASSET, StudyInstance, StudySelection
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.execution import executed
from deepchart_dagster.scoring.visual import Judging
from deepchart_dagster.stage_versions import EXECUTION_VERSION

ASSET = "backend_scores"


@dataclass(frozen=True)
class BackendScoreStage:
    """Reads backend_charts and rubrics. Partition and scope: (backend, model)."""

    judging: Judging
    selection: StudySelection

    def plan(self, backend: Backend, model: ModelSpec) -> list[Work]:
        scope = (backend.value, model.slug)
        return [self._work(instance, scope) for instance in self.selection.instances(backend, model)]

    def run(self, backend: Backend, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        step = Step.own(ASSET, backend.value, model.slug)
        judging = self.judging
        works = self.plan(backend, model)
        return run_step(judging.store, step, works, concurrency=judging.concurrency, progress=progress)

    def _work(self, instance: StudyInstance, scope: tuple[str, ...]) -> Work:
        judged = self.judging.work(instance.query, STUDY_ASSET, scope)
        if judged.compute is None:
            return judged
        try:
            chart = usable_result(self.judging.store, STUDY_ASSET, scope, instance.query.uid)
        except DeepChartError as error:
            return Work(judged.uid, judged.key, blocked=error)
        return replace(judged, key=_key(judged, chart, instance), compute=_Scored(judged, chart, instance).compute)


def _key(judged: Work, chart: InstanceResult, instance: StudyInstance) -> InputKey:
    return InputKey.of(
        **judged.key.parts,
        execution={"version": EXECUTION_VERSION, "status": chart.status.value},
        chosen_backend=chart.value.get("chosen_backend"),
        splits=[split.value for split in instance.splits],
    )


@dataclass(frozen=True)
class _Scored:
    judged: Work
    chart: InstanceResult
    instance: StudyInstance

    async def compute(self, folder: Path) -> Outcome:
        assert self.judged.compute is not None
        outcome = await self.judged.compute(folder)
        more: dict[str, JsonValue] = {
            "executed": executed(self.chart).value.get("executed"),
            "chosen_backend": self.chart.value.get("chosen_backend"),
            "splits": [split.value for split in self.instance.splits],
        }
        return outcome.model_copy(update={"value": {**outcome.value, **more}})
