"""``deepchart import``: a benchmark in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepchart_dagster.cli.common import common_options, emit, exit_with_errors, note, workbench

if TYPE_CHECKING:
    from deepchart_dagster.benchmark.import_report import ImportReport, ImportWarning

_SHOWN_WARNINGS = 20  # kinds of them


@click.command("import", short_help="Read in a benchmark from a folder.")
@click.argument("path", type=click.Path(path_type=Path, readable=False))
@click.option("--only", "only", multiple=True, metavar="UID", help="Import these records only; may be repeated.")
@click.option("--name", help="Name of the benchmark in the storage; default: its own (the published one: deepchart).")
@common_options
def command(path: Path, only: tuple[str, ...], name: str | None, storage: str | None, as_json: bool) -> None:
    """Read a clone of the published benchmark, or a folder in the project's own layout.

    Reports records read, imported and skipped, with file and reason for everything that is not as it should be.
    Exit code 1 where records were skipped; the others are stored.

    \b
    Example: deepchart import ../DeepChart --only academic/1 --only finance/4
    """
    from deepchart_dagster.benchmark.importers import import_benchmark
    from deepchart_dagster.scoring.empty_references import shipped_without_numbers

    with workbench(storage) as bench:
        report = import_benchmark(path, bench.library, name=name, only=only)
        empty = shipped_without_numbers(bench.library, report.queries)
        report = replace(report, warnings=(*empty, *report.warnings))
        others = [other for other in bench.library.names() if other != report.name]
    emit(as_json, report.as_json(), "\n".join(_lines(report, others)))
    if report.imported and not as_json:
        note('Next: deepchart materialize "context_variants,references" --split finance-normal')
    exit_with_errors(len(report.skipped))


def _lines(report: ImportReport, others: list[str]) -> Iterator[str]:
    stored = "" if report.changed else "; all of it was stored before"
    counts = f"{report.read} records read, {report.imported} imported, {len(report.skipped)} skipped"
    yield f"{report.name}: {counts}{stored}"
    by_message: dict[str, list[ImportWarning]] = {}
    for warning in report.warnings:
        by_message.setdefault(warning.message, []).append(warning)
    for message, alike in list(by_message.items())[:_SHOWN_WARNINGS]:
        count = f"{len(alike)} files, first " if len(alike) > 1 else ""
        yield f"  warning  {count}{alike[0].uid}: {alike[0].file}: {message}"
    if len(report.warnings) > min(len(by_message), _SHOWN_WARNINGS):
        yield f"  {len(report.warnings)} warnings: --json lists them all."
    for skipped in report.skipped:
        yield f"  skipped  {skipped.uid or 'a record without uid'}: {skipped.reason}"
    if report.skipped:
        yield "Correct these lines and import again; the other records are stored."
    if others:
        yield f"The storage also holds {', '.join(others)}; DEEPCHART_BENCHMARKS={report.name} works on this one alone."
