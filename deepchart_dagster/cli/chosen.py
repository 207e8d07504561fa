"""Rows of a table that somebody asked for, by benchmark, model and split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import UsageError
from deepchart_dagster.llm.yaml_file import did_you_mean


class Placed(Protocol):
    """A row of a table by benchmark, model and split."""

    @property
    def benchmark(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def split(self) -> str: ...


Row = TypeVar("Row", bound=Placed)


def row_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--benchmark``, ``--model`` and ``--split``."""
    split = click.Choice([split.value for split in Split])
    options = (
        click.option("--benchmark", help="This benchmark only."),
        click.option("--model", "models", multiple=True, metavar="M", help="This model only; may be repeated."),
        click.option("--split", "splits", multiple=True, type=split, help="This split only; may be repeated."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def chosen_rows(rows: Sequence[Row], benchmark: str | None, models: Sequence[str], splits: Sequence[str]) -> list[Row]:
    """Those of the benchmark, the models and the splits; nothing given means all.

    Raises UsageError for a benchmark or model that no row has, where there are rows at all.
    """
    if rows:
        _check("benchmark", [benchmark] if benchmark else [], {row.benchmark for row in rows})
        _check("model", models, {row.model for row in rows})
    return [
        row
        for row in rows
        if (benchmark is None or row.benchmark == benchmark)
        and (not models or row.model in models)
        and (not splits or row.split in splits)
    ]


def _check(what: str, asked: Iterable[str], known: set[str]) -> None:
    for name in asked:
        if name not in known:
            raise UsageError(
                f"no scores are published for the {what} {name!r}{did_you_mean(name, known) or '.'}",
                remedy=f"There are: {', '.join(sorted(known))}.",
            )
