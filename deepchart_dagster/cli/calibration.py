"""``deepchart calibration``: the scores of the scripted models against the faults that they inject."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import NoWorkPossible


@click.command("calibration", short_help="Whether scores show the faults that scripted models inject.")
@common_options
def command(storage: str | None, as_json: bool) -> None:
    """For every scripted model that has been scored: in which instances a fault was injected, and at which metric the
    scores fall below 1.0 first. Ends with 1 where a fault is missed, or a score is lowered that should not be.

    \b
    Example: deepchart calibration --json
    """
    from deepchart_dagster.scoring.calibration import calibration_text

    with workbench(storage) as bench:
        rows = bench.calibration().run(bench.models.values())
    if not rows:
        raise NoWorkPossible("no scripted model has been scored.", remedy="deepchart demo runs five of them.")
    emit(as_json, [row.as_json() for row in rows], calibration_text(rows))
    if any(row.wrong for row in rows):
        raise click.exceptions.Exit(1)
