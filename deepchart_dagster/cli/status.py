"""``deepchart status``: what is fresh, stale, missing."""

from __future__ import annotations

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.cli.narrow import folded, terminal_columns
from deepchart_dagster.cli.status_text import partition_list, status_summary
from deepchart_dagster.lineage.orphans import orphaned_partitions
from deepchart_dagster.lineage.status import Cell, State, read_status
from deepchart_dagster.llm.in_flight import calls_in_flight


@click.command("status", short_help="What is fresh, stale, missing, failed.")
@click.option("--model", "models", multiple=True, help="Only these models; default: all that were ever run.")
@click.option("--split", "splits", multiple=True, type=click.Choice([split.value for split in Split]))
@click.option("--partitions", is_flag=True, help="A line for every partition, with what makes it other than fresh.")
@click.option("--anew", is_flag=True, help="Read every result again, also where nothing seems to have changed.")
@common_options
def command(
    models: tuple[str, ...],
    splits: tuple[str, ...],
    partitions: bool,
    anew: bool,
    storage: str | None,
    as_json: bool,
) -> None:
    """Model × split × stage: fresh, stale, missing, partial, failed, orphaned, error counts, age of the newest result,
    what made partitions other than fresh, and model calls in flight, of which the oldest is named. Reads files only.

    \b
    Example: deepchart status
             deepchart status --model oracle --split finance-normal --partitions
    """
    with workbench(storage) as bench:
        gone = {orphan.key.model for orphan in orphaned_partitions(bench)} if models else set()
        known = [bench.model(slug).slug for slug in models if slug not in gone]
        slugs = known if models else list(bench.models)
        cells = read_status(bench, models=slugs, splits=[Split(split) for split in splits] or list(Split), anew=anew)
    cells = [cell for cell in cells if _asked_for(cell, models, splits)]
    untouched = [] if models else _untouched(cells)
    shown = [cell for cell in cells if cell.key.model not in untouched and cell.state is not State.NOT_APPLICABLE]
    in_vain = [cell for cell in shown if cell.key.judge and cell.state is State.FAILED]
    listed = [cell for cell in shown if cell not in in_vain]
    text = partition_list(shown) if partitions else status_summary(listed, columns=terminal_columns())
    if in_vain and not partitions:
        text += "".join(f"\n{_in_vain(cell)}" for cell in in_vain)
    if untouched:
        text += f"\nNever run, left out here: {', '.join(untouched)}; --model NAME shows one, --json shows all."
    calls = calls_in_flight(bench.settings.storage)
    if calls:
        text += f"\n{len(calls)} calls in flight; the oldest: {calls[0].in_words()}"
    flying = {"n": len(calls), "oldest": calls[0].as_json() if calls else None}
    emit(as_json, {"cells": [cell.as_json() for cell in cells], "calls_in_flight": flying}, folded(text))


def _asked_for(cell: Cell, models: tuple[str, ...], splits: tuple[str, ...]) -> bool:
    """Only what is orphaned was not chosen by model and split."""
    model, split = cell.key.model, cell.key.split
    return not (models and model and model not in models) and not (splits and split and split.value not in splits)


def _in_vain(cell: Cell) -> str:
    """Nobody has to run the judge study: a judge that could not be asked makes nothing unfinished."""
    judge = cell.key.judge
    return (
        f"Tried in vain, left out here: judge {judge}: {'; '.join(cell.because)} "
        f"(again: deepchart materialize judge_verdicts --judge {judge}; forget it: deepchart prune)"
    )


def _untouched(cells: list[Cell]) -> list[str]:
    """Models of which nothing is stored: a row for each of their partitions would hide the others."""
    idle = {State.MISSING, State.NOT_APPLICABLE}
    begun = {cell.key.model for cell in cells if cell.state not in idle}
    return sorted({cell.key.model for cell in cells if cell.key.model and cell.state is State.MISSING} - begun)
