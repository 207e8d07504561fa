"""Why values did not match: one class each, counted by side."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import DIAGNOSIS_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=DIAGNOSIS_VERSION,
    deps=["predicted_states", "references", "context_variants"],
    description="Every unmatched value with its class: scale, sign, year shift, other row, missing statistics …",
    check_specs=partition_checks("diagnosis", model_splits),
)
def diagnosis(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models) as bench:
        return materialized_model_split(context, bench, bench.diagnosis())
