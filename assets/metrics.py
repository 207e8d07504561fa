"""The metrics store: one DuckDB file, built anew from the partitions' Parquet files and swapped in by rename."""

from __future__ import annotations

import dagster as dg

from resources import StorageResource, open_workbench

HAS_SCORES = "has_scores"
SCORES = ["source_fidelity", "derived_fidelity", "execution_rate", "visual_accuracy"]


@dg.asset(
    group_name="reports",
    deps=SCORES,
    kinds={"duckdb"},
    description="Score, execution and call rows of every partition as tables in DuckDB.",
    check_specs=[
        dg.AssetCheckSpec(HAS_SCORES, asset="metrics", description="At least one score row is there to report.")
    ],
)
def metrics(storage: StorageResource) -> dg.MaterializeResult[None]:
    from deepchart_dagster.metrics.store import build_metrics

    with open_workbench(storage) as bench:
        build = build_metrics(bench.settings.storage)
        return dg.MaterializeResult(
            metadata={
                **{f"n_{table}": count for table, count in build.row_counts.items()},
                "database": dg.MetadataValue.path(str(build.path)),
            },
            data_version=dg.DataVersion(build.content_hash),
            check_results=[dg.AssetCheckResult(check_name=HAS_SCORES, passed=build.row_counts.get("scores", 0) > 0)],
        )
