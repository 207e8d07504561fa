"""``deepchart backends``: the study of rendering backends from the metrics store."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, settings_for


@click.command("backends", short_help="ER and VAS by rendering backend: Python, HTML, free choice.")
@click.option("--benchmark", help="This benchmark only.")
@common_options
def command(benchmark: str | None, storage: str | None, as_json: bool) -> None:
    """The study of rendering backends (paper, 5.4): charts from the references' data in Python, in HTML and in the
    backend that the model chooses. Make it with `materialize "backend_charts+" --model M`, after the
    rubrics of the text splits.

    \b
    Example: deepchart backends --json
    """
    from deepchart_dagster.metrics.backends import format_backends, read_backends

    rows = read_backends(settings_for(storage).storage, benchmark)
    emit(as_json, [row.as_json() for row in rows], format_backends(rows))
