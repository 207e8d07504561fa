"""``deepchart prompt``: exactly what would be sent."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, workbench


@click.command("prompt")
@click.argument("uid")
@click.option("--model", required=True, metavar="M", help="Slug in models.yaml.")
@click.option("--split", required=True, type=click.Choice([split.value for split in Split]))
@click.option("--stage", required=True, type=click.Choice(["1", "2", "rubric", "judge"]))
@click.option("--prompts", metavar="DIR", help="Another prompt set.")
@common_options
def command(
    uid: str, model: str, split: str, stage: str, prompts: str | None, storage: str | None, as_json: bool
) -> None:
    """Print the exact messages of a call, with token and picture counts and what was cut. Asks nobody.

    Example: deepchart prompt mini/finance-igr --model oracle --split finance-normal --stage 1
    """
    with workbench(storage, prompts=prompts) as bench:
        preview = bench.preview(uid, model, Split(split), stage)
    emit(as_json, preview.as_json(), preview.as_text())
