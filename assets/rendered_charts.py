"""G, the chart that the model's second program draws from J (paper, section 2 and appendix B.1)."""

import dagster as dg

from assets.outcome import materialized, no_errors_check, progress_log
from assets.rows import export_rows
from deepchart_dagster.generation.charts import CHART_VERSION
from deepchart_dagster.partitions import ModelSplit, model_splits
from resources import BenchmarkResource, ModelsResource, SandboxResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="predictions",
    code_version=str(CHART_VERSION),
    deps=["predicted_states"],
    kinds={"python"},
    description="Stage 2: the model gets J and the intent, never the context; its program draws the chart.",
    check_specs=[no_errors_check("rendered_charts", model_splits)],
)
def rendered_charts(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    sandbox: SandboxResource,
) -> dg.MaterializeResult:
    key = ModelSplit.of(context)
    with open_workbench(storage, benchmark, models, sandbox) as bench:
        model = bench.model(key.model)
        summary = bench.rendered_charts().run(key.split, model, progress=progress_log(context))
        export_rows(bench, "rendered_charts", key)
        return materialized(
            summary,
            where=bench.settings.storage / "rendered_charts" / key.split.value / key.model,
            metadata={"scripted": dg.MetadataValue.bool(model.scripted)},
        )
