"""``deepchart leaderboard``: the published tables from the metrics store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from pydantic import JsonValue

from deepchart_dagster.cli.chosen import chosen_rows, row_options
from deepchart_dagster.cli.common import common_options, emit, settings_for
from deepchart_dagster.cli.narrow import terminal_columns

if TYPE_CHECKING:
    from deepchart_dagster.metrics.leaderboard import LeaderboardRow
    from deepchart_dagster.metrics.published import Published


@click.command("leaderboard", short_help="ER, F1_src, F1_der and VAS per model and split.")
@row_options
@click.option("--compare", type=click.Choice(["paper"]), help="Set each cell beside the paper's figure.")
@common_options
def command(
    benchmark: str | None,
    models: tuple[str, ...],
    splits: tuple[str, ...],
    compare: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """ER, F1_src, F1_der and VAS per model and split, with n and 95 % intervals; scripted models are marked.

    Models are compared with the paper's by the name that models.yaml gives them.

    \b
    Example: deepchart leaderboard --compare paper
             deepchart leaderboard --model oracle --split ecosystem
    """
    from deepchart_dagster.metrics.leaderboard import read_leaderboard
    from deepchart_dagster.metrics.leaderboard_text import format_leaderboard
    from deepchart_dagster.metrics.published import read_published

    root = settings_for(storage).storage
    rows = chosen_rows(read_leaderboard(root), benchmark, models, splits)
    published = read_published(root, benchmark, compare=compare == "paper")
    text = format_leaderboard(rows, published, columns=terminal_columns())
    emit(as_json, [_row_json(row, published) for row in rows], text)


def _row_json(row: LeaderboardRow, published: Published) -> dict[str, JsonValue]:
    """The row, ``mixed`` (metric -> instances on which models were measured differently), ``rules`` (metric -> rules,
    where there are several) and the paper's figures."""
    from deepchart_dagster.metrics.leaderboard import METRICS
    from deepchart_dagster.metrics.published import CellPlace

    record = row.as_json()
    here = (row.benchmark, row.split)
    mixtures = [one for one in published.mixtures if (one.benchmark, one.split) == here]
    record["mixed"] = {one.metric: one.n_mixed for one in mixtures if one.n_mixed}
    record["rules"] = {one.metric: one.n_rules for one in mixtures if one.n_rules > 1}
    if published.paper is not None:
        cells = {metric: published.cell(CellPlace(row.benchmark, row.model, row.split, metric)) for metric in METRICS}
        record["paper"] = {metric: cell.as_json() for metric, cell in cells.items() if cell} or None
    return record
