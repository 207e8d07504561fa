"""F1_drawn: whether the chart draws the data it was given, without a judge."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import DRAWN_FIDELITY_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench

IN_RANGE = "in_range"


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=DRAWN_FIDELITY_VERSION,
    deps=["rendered_charts", "predicted_states", "references"],
    description="What the chart draws against the predicted derived data, and against the reference chart.",
    check_specs=[
        *partition_checks("drawn_fidelity", model_splits),
        dg.AssetCheckSpec(
            IN_RANGE, asset="drawn_fidelity", partitions_def=model_splits, description="Every F1 lies in 0…1."
        ),
    ],
)
def drawn_fidelity(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models) as bench:
        return materialized_model_split(
            context,
            bench,
            bench.drawn_fidelity(),
            means=["f1_drawn", "f1_drawn_reference"],
            bounded={IN_RANGE: "f1_drawn"},
        )
