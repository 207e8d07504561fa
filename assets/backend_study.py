"""The controlled study of rendering backends: stage 2 alone, from the reference's J (paper, section 5.4)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

import dagster as dg

from assets.outcome import materialized, partition_checks, progress_log, tag_cost, try_again
from assets.pools import CHARTS, JUDGE_CALLS
from deepchart_dagster.partitions import ModelBackend, model_backends
from deepchart_dagster.stage_versions import CHART_VERSION, VISUAL_ACCURACY_VERSION
from resources import (
    BenchmarkResource,
    JudgeResource,
    ModelsResource,
    SandboxResource,
    StorageResource,
    open_workbench,
)

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.steps import Progress, StepSummary
    from deepchart_dagster.benchmark.model import Backend
    from deepchart_dagster.llm.registry import ModelSpec
    from deepchart_dagster.workbench import Workbench


class _Stage(Protocol):
    def run(self, backend: "Backend", model: "ModelSpec", progress: "Progress | None" = None) -> "StepSummary": ...


@dg.asset(
    partitions_def=model_backends,
    group_name="backend_study",
    pool=CHARTS,
    code_version=str(CHART_VERSION),
    deps=["references"],
    kinds={"python", "html"},
    description="Charts drawn from the reference's data in Python, in HTML, or in the backend that the model chooses.",
    check_specs=partition_checks("backend_charts", model_backends),
)
def backend_charts(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    sandbox: SandboxResource,
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models, sandbox) as bench:
        return _materialized(context, bench, bench.backend_charts())


@dg.asset(
    partitions_def=model_backends,
    group_name="backend_study",
    pool=JUDGE_CALLS,
    code_version=VISUAL_ACCURACY_VERSION,
    deps=["backend_charts", "rubrics"],
    description="ER and VAS of the study's charts, by the rules and rubrics of the main run.",
    check_specs=partition_checks("backend_scores", model_backends),
)
def backend_scores(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    judge: JudgeResource,
) -> dg.MaterializeResult:
    from deepchart_dagster.metrics.backend_rows import export_backends

    with open_workbench(storage, benchmark, models, judge) as bench:
        done = _materialized(context, bench, bench.backend_scores(), means=["executed", "vas"])
        key = ModelBackend.of(context)
        export_backends(bench.artifacts, bench.library, bench.models, key.backend, key.model)
        return done


def _materialized(
    context: dg.AssetExecutionContext, bench: "Workbench", stage: "_Stage", means: Iterable[str] = ()
) -> dg.MaterializeResult:
    key = ModelBackend.of(context)
    model = bench.model(key.model)
    summary = stage.run(key.backend, model, progress=progress_log(context))
    tag_cost(context, summary)
    try_again(context, summary)
    return materialized(
        summary,
        means=means,
        where=bench.settings.storage.joinpath(summary.asset, *summary.partition),
        metadata={"scripted": dg.MetadataValue.bool(model.scripted)},
    )
