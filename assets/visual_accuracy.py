"""VAS: the share of rubric questions that a judge answers Yes on the model's chart (paper, section 4, B.2)."""

import dagster as dg

from assets.outcome import bounded_check, materialized, no_errors_check, progress_log
from assets.rows import export_rows
from deepchart_dagster.partitions import ModelSplit, model_splits
from deepchart_dagster.scoring.visual import VISUAL_ACCURACY_VERSION
from resources import BenchmarkResource, JudgeResource, ModelsResource, StorageResource, open_workbench

IN_RANGE = "vas_in_range"


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=VISUAL_ACCURACY_VERSION,
    deps=["rendered_charts", "rubrics"],
    description="One question and one chart a call; unclear answers count 0, calls that did not happen are errors.",
    check_specs=[
        no_errors_check("visual_accuracy", model_splits),
        dg.AssetCheckSpec(
            IN_RANGE, asset="visual_accuracy", partitions_def=model_splits, description="Every VAS lies in 0…1."
        ),
    ],
)
def visual_accuracy(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    judge: JudgeResource,
) -> dg.MaterializeResult:
    key = ModelSplit.of(context)
    with open_workbench(storage, benchmark, models, judge) as bench:
        summary = bench.visual_accuracy().run(key.split, bench.model(key.model), progress=progress_log(context))
        export_rows(bench, "visual_accuracy", key)
        return materialized(
            summary,
            means=["vas"],
            where=bench.settings.storage / "visual_accuracy" / key.split.value / key.model,
            checks=[bounded_check(IN_RANGE, summary, "vas")],
        )
