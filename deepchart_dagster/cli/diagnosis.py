"""``deepchart diagnosis``: why values did not match."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, settings_for
from deepchart_dagster.cli.narrow import folded


@click.command("diagnosis", short_help="Why values did not match, by model and split.")
@click.option("--model", help="This model (slug of models.yaml) only.")
@click.option("--split", type=click.Choice([split.value for split in Split]), help="This split only.")
@common_options
def command(model: str | None, split: str | None, storage: str | None, as_json: bool) -> None:
    """Values that did not match, counted by class: scale, sign, year shift, other row, missing years, top k, missing
    statistics and more (docs/scoring.md). Each value is in the diagnosis.json of its instance.

    \b
    Example: deepchart diagnosis --model misreads --split finance-normal
    """
    from deepchart_dagster.metrics.diagnoses import format_classes, read_classes

    rows = read_classes(settings_for(storage).storage, model, split)
    emit(as_json, [row.as_json() for row in rows], folded(format_classes(rows)))
