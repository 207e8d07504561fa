"""VAS: the share of rubric questions that a judge answers Yes on the model's chart (paper, section 4, B.2)."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from assets.pools import JUDGE_CALLS
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import VISUAL_ACCURACY_VERSION
from resources import BenchmarkResource, JudgeResource, ModelsResource, StorageResource, open_workbench

IN_RANGE = "vas_in_range"


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    pool=JUDGE_CALLS,
    code_version=VISUAL_ACCURACY_VERSION,
    deps=["rendered_charts", "rubrics"],
    description="One question and one chart a call; unclear answers count 0, calls that did not happen are errors.",
    check_specs=[
        *partition_checks("visual_accuracy", model_splits),
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
    with open_workbench(storage, benchmark, models, judge) as bench:
        stage = bench.visual_accuracy()
        return materialized_model_split(context, bench, stage, means=["vas"], bounded={IN_RANGE: "vas"})
