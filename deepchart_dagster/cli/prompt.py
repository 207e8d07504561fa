"""``deepchart prompt``: exactly what would be sent."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.workbench import PreviewStage

_STAGES: dict[str, PreviewStage] = {"1": 1, "2": 2, "rubric": "rubric", "judge": "judge"}


@click.command("prompt", short_help="Print exactly what would be sent to a model.")
@click.argument("uid")
@click.option("--model", required=True, metavar="M", help="Slug in models.yaml.")
@click.option("--split", required=True, type=click.Choice([split.value for split in Split]))
@click.option("--stage", required=True, type=click.Choice(list(_STAGES)))
@click.option("--prompts", metavar="DIR", help="Another prompt set; default: DEEPCHART_PROMPTS, else ours.")
@common_options
def command(
    uid: str, model: str, split: str, stage: str, prompts: str | None, storage: str | None, as_json: bool
) -> None:
    """Print the exact messages of an instance's calls, with token and picture counts and what was cut. Asks nobody.

    \b
    Example: deepchart prompt mini/finance-halden-igr --model oracle --split finance-normal --stage 1
    """
    with workbench(storage, prompts=prompts) as bench:
        previews = bench.previews(uid, bench.model(model), Split(split), _STAGES[stage])
    emit(
        as_json,
        {"calls": [preview.as_json() for preview in previews]},
        "\n\n".join(preview.as_text() for preview in previews),
    )
