"""J = (D_src, D_der), what a model read and derived (paper, section 2 and appendix B.1)."""

import dagster as dg

from assets.outcome import materialized, no_errors_check, progress_log
from assets.rows import export_rows
from deepchart_dagster.generation.states import STATE_VERSION
from deepchart_dagster.partitions import ModelSplit, model_splits
from resources import BenchmarkResource, ModelsResource, SandboxResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="predictions",
    code_version=str(STATE_VERSION),
    deps=["context_variants"],
    kinds={"python"},
    description="Stage 1: the model reads context and intent and answers with a program; its JSON is J.",
    check_specs=[no_errors_check("predicted_states", model_splits)],
)
def predicted_states(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    sandbox: SandboxResource,
) -> dg.MaterializeResult:
    key = ModelSplit.of(context)
    with open_workbench(storage, benchmark, models, sandbox) as bench:
        model = bench.model(key.model)
        summary = bench.predicted_states().run(key.split, model, progress=progress_log(context))
        export_rows(bench, "predicted_states", key)
        return materialized(
            summary,
            means=["n_source", "n_derived"],
            where=bench.settings.storage / "predicted_states" / key.split.value / key.model,
            metadata={"scripted": dg.MetadataValue.bool(model.scripted)},
        )
