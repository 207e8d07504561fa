"""The report: one HTML page with the leaderboard and its figures."""

import dagster as dg

from assets.outcome import FRESH
from assets.pools import TABLES
from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.stage_versions import REPORT_VERSION
from resources import StorageResource, dbt_project, open_workbench

WRITTEN = "page_written"


@dg.asset(
    group_name="reports",
    pool=TABLES,
    code_version=REPORT_VERSION,
    deps=["leaderboard", "rendering_backends", "diagnosis_classes", "instance_scores"],
    kinds={"html"},
    description="Leaderboard, figures, rendering backends and a gallery in one self-contained page.",
    check_specs=[
        dg.AssetCheckSpec(WRITTEN, asset="report", description="The page is there and is not empty."),
        dg.AssetCheckSpec(FRESH, asset="report", description="Tables and page are made of what is stored now."),
    ],
)
def report(storage: StorageResource) -> dg.MaterializeResult:
    from deepchart_dagster.metrics.freshness import record_published
    from deepchart_dagster.metrics.hallucinations import Thresholds
    from deepchart_dagster.reporting.report import build_report

    with open_workbench(storage) as bench:
        path = build_report(bench.settings.storage, Thresholds.of(bench.settings))
        record_published(bench.settings.storage, dbt_project.project_dir)
        size = path.stat().st_size
        return dg.MaterializeResult(
            metadata={"page": dg.MetadataValue.path(str(path)), "bytes": size},
            data_version=dg.DataVersion(sha256_file(path)),
            check_results=[
                dg.AssetCheckResult(check_name=WRITTEN, passed=size > 0),
                dg.AssetCheckResult(check_name=FRESH, passed=True, severity=dg.AssetCheckSeverity.WARN),
            ],
        )
