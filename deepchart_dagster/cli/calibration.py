"""``deepchart calibration``: the scores of the scripted models against the faults that they inject."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, note, workbench
from deepchart_dagster.errors import NoWorkPossible, UsageError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.workbench import Workbench

if TYPE_CHECKING:
    from deepchart_dagster.scoring.calibration import ModelCalibration

MINI = "mini"


def _rates(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    if value is None:
        return None
    try:
        rates = tuple(float(part) for part in value.split(","))
    except ValueError:
        rates = ()
    if not rates or not all(0 <= rate <= 1 for rate in rates):
        raise click.BadParameter(f"{value!r} is no list of numbers from 0 to 1, such as 0,0.1,0.5,1.")
    return rates


@click.command("calibration", short_help="Whether scores show the faults that scripted models inject.")
@click.option("--rates", callback=_rates, metavar="R,R…", help="Ask, run and score them now, at each of these rates.")
@click.option("--model", "slugs", multiple=True, metavar="M", help="This scripted model only; may be repeated.")
@common_options
def command(rates: tuple[float, ...] | None, slugs: tuple[str, ...], storage: str | None, as_json: bool) -> None:
    """For every scripted model that has been scored: in which instances a fault was injected, and at which metric the
    scores fall below 1.0 first. Ends with 1 where a fault is missed, or a score is lowered that should not be.

    With --rates each scripted model is asked about the whole mini benchmark at each rate, apart from the results of
    the storage, of which only contexts, references and rubrics are read (deepchart demo makes them).

    \b
    Example: deepchart calibration --json
             deepchart calibration --rates 0,0.1,0.5,1 --model misreads
    """
    from deepchart_dagster.scoring.calibration import calibration_text

    with workbench(storage, benchmarks=(MINI,) if rates else None) as bench:
        models = _models(bench, slugs)
        rows = _at(bench, models, rates) if rates else bench.calibration().run(models)
    if not rows:
        raise NoWorkPossible("no scripted model has been scored.", remedy="deepchart demo runs five of them.")
    emit(as_json, [row.as_json() for row in rows], calibration_text(rows))
    if any(row.wrong for row in rows) or (rates and any(row.count("unscored") for row in rows)):
        raise click.exceptions.Exit(1)


def _models(bench: Workbench, slugs: tuple[str, ...]) -> list[ModelSpec]:
    models = [bench.model(slug) for slug in slugs] or [model for model in bench.models.values() if model.scripted]
    for model in models:
        if not model.scripted:
            raise UsageError(f"{model.slug} is no scripted model.", remedy="Only these inject faults that are known.")
    return models


def _at(bench: Workbench, models: list[ModelSpec], rates: tuple[float, ...]) -> list[ModelCalibration]:
    from deepchart_dagster.cli.calibration_rates import RatedModel, at_rates, calibrate

    begun = time.monotonic()

    def announce(one: RatedModel) -> None:
        note(f"{time.monotonic() - begun:6.0f} s  {one}")

    return calibrate(bench, at_rates(models, rates), tuple(Split), announce)
