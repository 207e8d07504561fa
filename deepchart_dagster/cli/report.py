"""``deepchart report``: the report page from the metrics store."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, workbench


@click.command("report", short_help="Build the report page.")
@common_options
def command(storage: str | None, as_json: bool) -> None:
    """Build the report: leaderboard, figures, gallery, in one self-contained HTML page.

    \b
    Example: deepchart report
    """
    from deepchart_dagster.metrics.hallucinations import Thresholds
    from deepchart_dagster.reporting.report import build_report

    with workbench(storage) as bench:
        path = build_report(bench.settings.storage, Thresholds.of(bench.settings))
    emit(as_json, {"report": str(path)}, str(path))
