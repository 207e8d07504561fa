"""``deepchart score-file``: one predicted state against its references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepchart_dagster.cli.common import common_options, emit
from deepchart_dagster.errors import UsageError

if TYPE_CHECKING:
    from deepchart_dagster.scoring.fidelity import Scorer


@click.command("score-file", short_help="Score one predicted state against its references.")
@click.option(
    "--reference-src", type=click.Path(path_type=Path, readable=False), help="D_src: JSON, CSV or markdown tables."
)
@click.option("--reference-der", type=click.Path(path_type=Path, readable=False), help="D_der: JSON.")
@click.option(
    "--prediction",
    required=True,
    type=click.Path(path_type=Path, readable=False),
    help="J: JSON with src_data, der_data.",
)
@click.option("--scorer", type=click.Choice(["paper", "upstream"]), default="paper", show_default=True)
@common_options
def command(
    reference_src: Path | None,
    reference_der: Path | None,
    prediction: Path,
    scorer: Scorer,
    storage: str | None,
    as_json: bool,
) -> None:
    """Score one predicted state: precision, recall and F1 of source and derived data.

    \b
    Example: deepchart score-file --reference-src d_src.csv --reference-der d_der.json --prediction state.json
    """
    from deepchart_dagster.scoring.score_file import score_file

    if reference_src is None and reference_der is None:
        raise UsageError("there is no reference.", remedy="Give --reference-src, --reference-der, or both.")
    score = score_file(reference_src, reference_der, prediction, scorer)
    lines: list[str] = []
    for side in ("src", "der"):
        part = score[side]
        lines.append(
            f"{side}: F1 {part['f1']:.4f}  precision {part['precision']:.4f}  recall {part['recall']:.4f}  "
            f"({part['n_matched']} matched, {part['n_reference']} in the reference, {part['n_predicted']} predicted)"
            if isinstance(part, dict)
            else f"{side}: no reference"
        )
    emit(as_json, score, "\n".join(lines))
