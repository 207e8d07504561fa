"""``deepchart backends``: the study of rendering backends from the metrics store."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, settings_for


@click.command("backends", short_help="ER and VAS by rendering backend: Python, HTML, free choice.")
@click.option("--benchmark", help="This benchmark only.")
@click.option("--compare", type=click.Choice(["paper"]), help="Set each model beside the paper's figures (table 5).")
@common_options
def command(benchmark: str | None, compare: str | None, storage: str | None, as_json: bool) -> None:
    """The study of rendering backends (paper, 5.4): charts from the references' data in Python, in HTML and in the
    backend that the model chooses. Make it with `materialize "backend_charts+" --model M`, after the
    rubrics of the text splits.

    \b
    Example: deepchart backends --json
    """
    from dataclasses import asdict

    from deepchart_dagster.metrics.backends import format_backends, read_backends, read_paper_backends

    root = settings_for(storage).storage
    rows = read_backends(root, benchmark)
    paper = read_paper_backends(root) if compare else []
    value = [
        {**row.as_json(), "paper": next((asdict(one) for one in paper if one.is_of(row)), None)}
        if compare
        else row.as_json()
        for row in rows
    ]
    emit(as_json, value, format_backends(rows, paper))
