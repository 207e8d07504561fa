"""F1_src and F1_der: how much was extracted, how much was derived (paper, section 4 and appendix B.2)."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from deepchart_dagster.benchmark.state import Side
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import FIDELITY_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench

IN_RANGE = "f1_in_range"


def _fidelity_asset(name: str, side: Side, description: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        partitions_def=model_splits,
        group_name="scores",
        code_version=FIDELITY_VERSION,
        deps=["predicted_states", "references"],
        description=description,
        check_specs=[
            *partition_checks(name, model_splits),
            dg.AssetCheckSpec(IN_RANGE, asset=name, partitions_def=model_splits, description="Every F1 lies in 0…1."),
        ],
    )
    def fidelity(
        context: dg.AssetExecutionContext,
        storage: StorageResource,
        benchmark: BenchmarkResource,
        models: ModelsResource,
    ) -> dg.MaterializeResult:
        with open_workbench(storage, benchmark, models) as bench:
            means = ["f1", "precision", "recall"]
            return materialized_model_split(context, bench, bench.fidelity(side), means=means, bounded={IN_RANGE: "f1"})

    return fidelity


source_fidelity = _fidelity_asset(
    "source_fidelity", "src", "Predicted source values matched one-to-one with the reference: precision, recall, F1."
)
derived_fidelity = _fidelity_asset(
    "derived_fidelity", "der", "Predicted derived values matched one-to-one with the reference: precision, recall, F1."
)
