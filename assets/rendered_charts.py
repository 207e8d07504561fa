"""G, the chart that the model's second program draws from J (paper, section 2 and appendix B.1)."""

import dagster as dg

from assets.model_split import materialized_model_split
from assets.outcome import partition_checks
from assets.pools import CHARTS
from deepchart_dagster.partitions import model_splits
from deepchart_dagster.stage_versions import CHART_VERSION
from resources import BenchmarkResource, ModelsResource, SandboxResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="predictions",
    pool=CHARTS,
    code_version=str(CHART_VERSION),
    deps=["predicted_states"],
    kinds={"python"},
    description="Stage 2: the model gets J and the intent, never the context; its program draws the chart.",
    check_specs=partition_checks("rendered_charts", model_splits),
)
def rendered_charts(
    context: dg.AssetExecutionContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    sandbox: SandboxResource,
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, models, sandbox) as bench:
        return materialized_model_split(context, bench, bench.rendered_charts())
