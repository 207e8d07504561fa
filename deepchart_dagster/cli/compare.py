"""``deepchart compare``: two models on the same instances."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, settings_for


@click.command("compare", short_help="Two models on the same instances, by the paired bootstrap.")
@click.argument("first")
@click.argument("second")
@click.option("--split", type=click.Choice([split.value for split in Split]), help="This split only.")
@common_options
def command(first: str, second: str, split: str | None, storage: str | None, as_json: bool) -> None:
    """ER, F1_src, F1_der and VAS of FIRST and SECOND (slugs of models.yaml) on the instances that both are scored on,
    with the 95 % interval of their difference.

    \b
    Example: deepchart compare oracle misreads --split finance-normal
    """
    from deepchart_dagster.metrics.paired import compare_models, format_comparison

    rows = compare_models(settings_for(storage).storage, first, second, Split(split) if split else None)
    emit(as_json, [row.as_json() for row in rows], format_comparison(first, second, rows))
