"""The metrics store: one DuckDB file, built anew from the partitions' Parquet files and swapped in by rename."""

from collections.abc import Iterator

import dagster as dg

from assets.pools import TABLES
from deepchart_dagster.stage_versions import ROWS_VERSION
from resources import StorageResource, open_workbench

HAS_SCORES = "has_scores"
SCORES = [
    "source_fidelity",
    "derived_fidelity",
    "grounding",
    "drawn_fidelity",
    "execution_rate",
    "visual_accuracy",
]
PROGRAMS = ["predicted_states", "rendered_charts"]
ASKING = [*PROGRAMS, "rubrics", "visual_accuracy", "backend_charts", "backend_scores"]


def table_key(table: str) -> dg.AssetKey:
    """Key of a raw table: the dbt sources have the same ones."""
    return dg.AssetKey(["metrics", table])


def _table(name: str, deps: list[str], description: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        table_key(name),
        deps=deps,
        group_name="reports",
        code_version=str(ROWS_VERSION),
        kinds={"duckdb"},
        description=description,
    )


@dg.multi_asset(
    name="metrics",
    pool=TABLES,
    specs=[
        _table("scores", SCORES, "One row per instance, model, split and metric: value, status, versions, key."),
        _table("executions", PROGRAMS, "One row per generated program: how it ended, seconds, sandbox tier."),
        _table("diagnoses", ["diagnosis"], "Why values did not match: one row per instance, side and class."),
        _table("calls", ASKING, "One row per attempt to ask a model: the ledger."),
        _table("backends", ["backend_scores"], "The study of rendering backends: one row per query and setting."),
    ],
    check_specs=[
        dg.AssetCheckSpec(HAS_SCORES, asset=table_key("scores"), description="At least one score is there to report.")
    ],
)
def metrics(storage: StorageResource) -> Iterator[dg.MaterializeResult]:
    from deepchart_dagster.metrics.store import build_metrics

    with open_workbench(storage) as bench:
        build = build_metrics(bench.settings.storage)
    for table, count in build.row_counts.items():
        yield dg.MaterializeResult(
            asset_key=table_key(table),
            metadata={"rows": count, "database": dg.MetadataValue.path(str(build.path))},
            data_version=dg.DataVersion(build.content_hash),
            check_results=[dg.AssetCheckResult(check_name=HAS_SCORES, passed=count > 0)] if table == "scores" else [],
        )
