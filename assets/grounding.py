"""The share of predicted source values that stand in the context the model was given."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import GROUNDING_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench

IN_RANGE = "in_range"


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=GROUNDING_VERSION,
    deps=["predicted_states", "context_variants"],
    description="Predicted source values in the given context, each with file, line or page and what made it match.",
    check_specs=[
        *partition_checks("grounding", model_splits),
        dg.AssetCheckSpec(
            IN_RANGE, asset="grounding", partitions_def=model_splits, description="Every share lies in 0…1."
        ),
    ],
)
def grounding(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models) as bench:
        return materialized_model_split(
            context, bench, bench.grounding(), means=["grounding"], bounded={IN_RANGE: "grounding"}
        )
