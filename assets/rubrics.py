"""Yes/no questions about every reference chart, written once and shared by all models (paper, section 4, B.2)."""

import dagster as dg

from assets.outcome import materialized, partition_checks, progress_log, tag_cost, try_again
from assets.pools import JUDGE_CALLS
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.partitions import splits
from deepchart_dagster.stage_versions import RUBRIC_VERSION
from resources import BenchmarkResource, JudgeResource, ModelsResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=splits,
    group_name="references",
    pool=JUDGE_CALLS,
    code_version=RUBRIC_VERSION,
    deps=["references"],
    kinds={"json"},
    description="Rubric of every query of a split: three aspects, each question answered Yes by the reference chart.",
    check_specs=partition_checks("rubrics", splits),
)
def rubrics(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    judge: JudgeResource,
    models: ModelsResource,
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, judge, models) as bench:
        summary = bench.rubrics().run(Split(context.partition_key), progress=progress_log(context))
        tag_cost(context, summary)
        try_again(context, summary)
        return materialized(summary, means=["n_items", "n_valid"], where=bench.settings.storage / "rubrics")
