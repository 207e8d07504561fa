"""ER: whether the chart program ran and drew something (paper, section 4 and appendix B.2).

An instance counts 1 where rendered_charts is ok: the program exited 0 within its limit and left a valid
image. It counts 0 where the model failed, at this stage or before (no valid J: stage 2 is not asked).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.inputs import usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Problem, Status
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.benchmark.model import Instance
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.stage import ScoreStage, scope_of
from deepchart_dagster.stage_versions import EXECUTION_VERSION

ASSET = "execution_rate"


@dataclass(frozen=True)
class ExecutionStage(ScoreStage):
    """Reads rendered_charts. Partition and scope: (split, model)."""

    @property
    def asset(self) -> str:
        return ASSET

    def work(self, instance: Instance, model: ModelSpec) -> Work:
        uid, scope = instance.uid, scope_of(instance, model)
        try:
            chart = usable_result(self.store, "rendered_charts", scope, uid)
        except InfrastructureError as error:
            return Work(uid, InputKey.of(version=EXECUTION_VERSION), blocked=error)
        ended = {"status": chart.status.value, "problem": chart.problem.kind if chart.problem else None}

        async def compute(folder: Path) -> Outcome:
            return executed(chart)

        return Work(uid, InputKey.of(version=EXECUTION_VERSION, chart=ended), compute=compute)


def executed(chart: InstanceResult) -> Outcome:
    """``value`` holds executed: 1 or 0, or is empty where the model was not asked."""
    if chart.status is Status.OK:
        return Outcome(value={"executed": 1})
    problem = chart.problem or Problem(kind=chart.status.value, message="rendered_charts does not say why")
    if chart.status is Status.NOT_APPLICABLE:
        return Outcome(status=Status.NOT_APPLICABLE, problem=problem)
    return Outcome(status=Status.FAILED, problem=problem, value={"executed": 0})
