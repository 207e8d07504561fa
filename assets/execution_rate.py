"""ER: the program ran and drew something (paper, section 4 and appendix B.2)."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import EXECUTION_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=EXECUTION_VERSION,
    deps=["rendered_charts"],
    description="1 where the chart program exited 0 within its limit and left a valid image, 0 where it did not.",
    check_specs=partition_checks("execution_rate", model_splits),
)
def execution_rate(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models) as bench:
        return materialized_model_split(context, bench, bench.execution_rate(), means=["executed"])
