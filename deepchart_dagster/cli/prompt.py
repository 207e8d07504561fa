"""``deepchart prompt``: exactly what would be sent."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.llm.misses import answer_state
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
    """Print the exact messages of an instance's calls, with token and picture counts, what was cut, and whether the
    answer is stored; if not, in what the request differs from the one that was answered before. Asks nobody.

    \b
    Example: deepchart prompt mini/finance-halden-igr --model oracle --split finance-normal --stage 1
    """
    with workbench(storage, prompts=prompts) as bench:
        previews = bench.previews(uid, bench.model(model), Split(split), _STAGES[stage])
        answers = [answer_state(bench.settings.storage, preview.request) for preview in previews]
    calls = list(zip(previews, answers, strict=True))
    emit(
        as_json,
        {"calls": [{**preview.as_json(), "answer": answer.as_json()} for preview, answer in calls]},
        "\n\n".join(f"{preview.as_text()}\n{answer.as_text()}" for preview, answer in calls),
    )
