"""``deepchart leaderboard``: the published tables from the metrics store."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, settings_for


@click.command("leaderboard", short_help="ER, F1_src, F1_der and VAS per model and split.")
@click.option("--benchmark", help="This benchmark only.")
@common_options
def command(benchmark: str | None, storage: str | None, as_json: bool) -> None:
    """ER, F1_src, F1_der and VAS per model and split, with n and 95 % intervals; scripted models are marked.

    \b
    Example: deepchart leaderboard --json
    """
    from deepchart_dagster.metrics.leaderboard import format_leaderboard, read_leaderboard

    rows = read_leaderboard(settings_for(storage).storage, benchmark)
    emit(as_json, [row.as_json() for row in rows], format_leaderboard(rows))
