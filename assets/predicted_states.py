"""J = (D_src, D_der), what a model read and derived (paper, section 2 and appendix B.1)."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from assets.pools import MODEL_CALLS
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import STATE_VERSION
from resources import BenchmarkResource, ModelsResource, SandboxResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="predictions",
    pool=MODEL_CALLS,
    code_version=str(STATE_VERSION),
    deps=["context_variants"],
    kinds={"python"},
    description="Stage 1: the model reads context and intent and answers with a program; its JSON is J.",
    check_specs=partition_checks("predicted_states", model_splits),
)
def predicted_states(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    sandbox: SandboxResource,
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models, sandbox) as bench:
        return materialized_model_split(context, bench, bench.predicted_states(), means=["n_source", "n_derived"])
