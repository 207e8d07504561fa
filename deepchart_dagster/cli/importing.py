"""``deepchart import``: a benchmark in."""

from __future__ import annotations

from pathlib import Path

import click

from deepchart_dagster.cli.common import common_options, emit, workbench


@click.command("import", short_help="Read in a benchmark from a folder.")
@click.argument("path", type=click.Path(path_type=Path, readable=False))
@click.option("--only", "only", multiple=True, metavar="UID", help="Import these records only; may be repeated.")
@click.option("--name", help="Name of the benchmark in the storage; default: the folder's name.")
@common_options
def command(path: Path, only: tuple[str, ...], name: str | None, storage: str | None, as_json: bool) -> None:
    """Read a clone of the published benchmark, or a folder in the project's own layout.

    Reports records read, imported and skipped, with file and reason for everything that is not as it should be.

    \b
    Example: deepchart import ../DeepChart --only academic/1 --only finance/4
    """
    from deepchart_dagster.benchmark.importers import import_benchmark

    with workbench(storage) as bench:
        report = import_benchmark(path, bench.library, name=name, only=only)
        others = [other for other in bench.library.names() if other != report.name]
    lines = [f"{report.name}: {report.read} records read, {report.imported} imported, {len(report.skipped)} skipped"]
    lines += [f"  skipped  {skipped.uid}: {skipped.reason}" for skipped in report.skipped]
    lines += [f"  warning  {warning.uid}: {warning.file}: {warning.message}" for warning in report.warnings]
    if others:
        lines.append(
            f"The storage also holds {', '.join(others)}; DEEPCHART_BENCHMARKS={report.name} works on this one alone."
        )
    emit(as_json, report.as_json(), "\n".join(lines))
