"""``deepchart libraries``: the chart libraries that HTML charts ask CDNs for."""

from __future__ import annotations

from pathlib import Path

import click

from deepchart_dagster.cli.common import common_options, emit, group_options, note


@click.group(short_help="Chart libraries for HTML charts, from npm.")
@group_options
def command() -> None:
    """Generated pages load ECharts, Plotly, Chart.js, D3 or Vega from CDNs; here they are served from a local folder.

    \b
    Example: deepchart libraries install
    """


@command.command("install")
@click.option(
    "--into", type=click.Path(path_type=Path, file_okay=False), help="Another folder than the environment's own."
)
@common_options
def install(into: Path | None, storage: str | None, as_json: bool) -> None:
    """Install the chart libraries with npm, in the versions that the lock file names. Does nothing where they are.

    Highcharts is not among them: its licence asks for one of your own.

    \b
    Example: deepchart libraries install
    """
    from deepchart_dagster.execution.libraries.installing import install as install_libraries
    from deepchart_dagster.execution.libraries.installing import is_installed

    del storage
    if not is_installed(into):
        note("installing chart libraries (about 250 MB)")
    installed = install_libraries(into)
    emit(
        as_json,
        {"folder": str(installed.folder), "changed": installed.changed, "versions": installed.versions},
        f"{len(installed.versions)} chart libraries in {installed.folder}"
        + ("" if into is None else f"\nName it to use it: DEEPCHART_CHART_LIBRARIES={installed.folder}"),
    )


@command.command("list")
@common_options
def list_libraries(storage: str | None, as_json: bool) -> None:
    """The chart libraries that are there, with their versions.

    \b
    Example: deepchart libraries list --json
    """
    from deepchart_dagster.execution.libraries import ChartLibraries

    del storage
    libraries = ChartLibraries.from_folder(None)
    versions = libraries.versions()
    lines = [f"{name:36} {version}" for name, version in versions.items()]
    emit(
        as_json,
        {"folder": str(libraries.root) if libraries.root else None, "versions": versions},
        "\n".join(lines) or "no chart libraries; get them: deepchart libraries install",
    )
