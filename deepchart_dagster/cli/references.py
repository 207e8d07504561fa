"""``deepchart references``: what instances are scored against, to be looked at."""

from __future__ import annotations

from pathlib import Path

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, group_options, workbench
from deepchart_dagster.errors import NoWorkPossible


@click.group(short_help="What is scored against: charts on one page; faults.")
@group_options
def command() -> None:
    """What instances are scored against: source values, derived values, and the chart.

    \b
    Example: deepchart references sheet
    """


@command.command("sheet")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The picture to write; default report/references.png in the storage.",
)
@click.option("--columns", type=click.IntRange(1, 12), default=4, show_default=True, help="Charts in a row.")
@common_options
def sheet(out: Path | None, columns: int, storage: str | None, as_json: bool) -> None:
    """All reference charts on one page, a PNG, each with its query, what is asked, and the family of the chart.

    \b
    Example: deepchart references sheet --out charts.png --columns 5
    """
    from deepchart_dagster.artifacts.files import write_bytes
    from deepchart_dagster.reporting.chart_sheet import draw_sheet, entries

    with workbench(storage) as bench:
        charts = entries(bench.library, bench.artifacts)
        path = out or bench.settings.storage / "report" / "references.png"
        made = any(bench.artifacts.read("references", (), query.uid) for query in bench.library.queries())
    if not charts:
        raise _without_charts(made)
    write_bytes(path, draw_sheet(charts, columns))
    families = sorted({entry.query.chart_family for entry in charts if entry.query.chart_family})
    emit(
        as_json,
        {"sheet": str(path), "charts": [entry.query.uid for entry in charts], "chart_families": families},
        f"{len(charts)} reference charts of {len(families)} chart families: {path}",
    )


def _without_charts(made: bool) -> NoWorkPossible:
    if made:
        return NoWorkPossible(
            "the references that are made have no chart.",
            remedy="Their benchmark ships none that is a PNG: put each where its record names it (chart_image), import "
            "the benchmark again, then: deepchart materialize references.",
        )
    return NoWorkPossible(
        "no reference chart is stored.", remedy="Make them: deepchart materialize references, or deepchart demo."
    )


@command.command("check")
@click.option("--split", type=click.Choice([split.value for split in Split]), required=True)
@click.option("--instance", "uid", help="This query only.")
@common_options
def check(split: str, uid: str | None, storage: str | None, as_json: bool) -> None:
    """References that disagree with themselves or with their documents: two versions of one series, source values
    that are repeated and differ, signs that were dropped, sides without a number. Nothing is changed.

    \b
    Example: deepchart references check --split finance-normal
    """
    with workbench(storage) as bench:
        checks = bench.reference_checks().run(Split(split), uid)
    told = [one for one in checks if one.faults or one.problem]
    n_faulty = sum(bool(one.faults) for one in checks)
    n_without = sum(one.without_context for one in checks)
    summary = f"{n_faulty} of {len(checks)} references disagree with themselves or with their documents."
    note = (
        f" {n_without} had no context to be held against: deepchart materialize context_variants." if n_without else ""
    )
    emit(as_json, [one.as_json() for one in checks], "\n".join([*(one.as_text() for one in told), summary + note]))
