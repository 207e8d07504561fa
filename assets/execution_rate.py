"""ER: the program ran and drew something (paper, section 4 and appendix B.2)."""

import dagster as dg

from assets.outcome import materialized, no_errors_check
from assets.rows import export_rows
from deepchart_dagster.partitions import ModelSplit, model_splits
from deepchart_dagster.scoring.execution import EXECUTION_VERSION
from resources import BenchmarkResource, ModelsResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=model_splits,
    group_name="scores",
    code_version=EXECUTION_VERSION,
    deps=["rendered_charts"],
    description="1 where the chart program exited 0 within its limit and left a valid image, 0 where it did not.",
    check_specs=[no_errors_check("execution_rate", model_splits)],
)
def execution_rate(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, models: ModelsResource
) -> dg.MaterializeResult:
    key = ModelSplit.of(context)
    with open_workbench(storage, benchmark, models) as bench:
        summary = bench.execution_rate().run(key.split, bench.model(key.model))
        export_rows(bench, "execution_rate", key)
        return materialized(
            summary,
            means=["executed"],
            where=bench.settings.storage / "execution_rate" / key.split.value / key.model,
        )
