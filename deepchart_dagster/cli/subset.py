"""``deepchart subset``: which instances of finance-ultra-long are run, and how well they stand for the split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import click
from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.benchmark.subset import SUBSET_SPLIT, Likeness, likeness
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import NoWorkPossible
from deepchart_dagster.workbench import Workbench


@click.command("subset", short_help="The instances of finance-ultra-long that are run.")
@click.option("--uids", "only_uids", is_flag=True, help="The uids alone, one a line: a list to start your own from.")
@common_options
def command(only_uids: bool, storage: str | None, as_json: bool) -> None:
    """Which instances of finance-ultra-long are run, and how they compare with the whole split (paper, B.3).

    By default 50, drawn once from a seed so that every indicator and chart type has its share; where there are fewer,
    all. DEEPCHART_ULTRA_LONG=all runs the split, DEEPCHART_ULTRA_LONG=FILE the uids in a file. Tokens are known for
    contexts that have been built.

    \b
    Example: deepchart subset --uids
    """
    with workbench(storage) as bench:
        reports = _reports(bench)
    lines = [uid for report in reports for uid in report.uids] if only_uids else [report.text for report in reports]
    emit(as_json, [report.as_json() for report in reports], "\n".join(lines))


@dataclass(frozen=True)
class _Report:
    benchmark: str
    selection: str
    uids: tuple[str, ...]
    likeness: tuple[Likeness, ...]

    def as_json(self) -> JsonValue:
        return {
            "benchmark": self.benchmark,
            "split": SUBSET_SPLIT.value,
            "selection": self.selection,
            "uids": list(self.uids),
            "likeness": [row.as_json() for row in self.likeness],
        }

    @property
    def text(self) -> str:
        width = max(len(row.what) for row in self.likeness)
        lines = [
            f"{SUBSET_SPLIT.value} of {self.benchmark}: {self.selection} instances run",
            f"{''.ljust(width)}  {'run'.rjust(12)}  {'all'.rjust(12)}",
            *(f"{row.what.ljust(width)}  {_number(row, run=True)}  {_number(row, run=False)}" for row in self.likeness),
        ]
        return "\n".join(lines)


def _number(row: Likeness, *, run: bool) -> str:
    value, n = (row.subset, row.n_subset) if run else (row.split, row.n_split)
    if value is None:
        return "unknown".rjust(12)
    if not row.is_mean:
        return f"{value:.0f} ({value / n:.0%})".rjust(12)
    return f"{value:,.1f}".rjust(12) + ("" if run or n == row.n_instances else f" of {n} known")


def _reports(bench: Workbench) -> list[_Report]:
    queries = bench.library.queries_of(SUBSET_SPLIT)
    if not queries:
        raise NoWorkPossible(f"no selected benchmark has {SUBSET_SPLIT.value}.", remedy="Import one: deepchart import.")
    chosen = {instance.uid for instance in bench.library.instances(SUBSET_SPLIT)}
    by_benchmark = groupby(sorted(queries, key=lambda query: query.benchmark), key=lambda query: query.benchmark)
    return [_report(bench, benchmark, list(members), chosen) for benchmark, members in by_benchmark]


def _report(bench: Workbench, benchmark: str, queries: Sequence[Query], chosen: set[str]) -> _Report:
    mine = [query for query in queries if query.uid in chosen]
    return _Report(
        benchmark=benchmark,
        selection=bench.library.selection_in_words(SUBSET_SPLIT, benchmark) or f"all {len(queries)}",
        uids=tuple(query.uid for query in mine),
        likeness=tuple(likeness(mine, queries, _tokens(bench, queries))),
    )


def _tokens(bench: Workbench, queries: Sequence[Query]) -> dict[str, int]:
    """Tokens of the contexts that have been built, by uid."""
    found: dict[str, int] = {}
    for query in queries:
        result = bench.artifacts.read("context_variants", (SUBSET_SPLIT.value,), query.uid)
        counted = result.value.get("n_tokens") if result else None
        if isinstance(counted, int):
            found[query.uid] = counted
    return found
