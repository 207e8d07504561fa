"""References that hold no number on a side that is there: every model scores 0 on it, whatever it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.import_report import ImportWarning
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.benchmark.state import Side
from deepchart_dagster.errors import DamagedFile, DeepChartError
from deepchart_dagster.scoring.references import ASSET
from deepchart_dagster.scoring.tables import read_reference


def stored_without_numbers(store: ArtifactStore, uids: Iterable[str]) -> list[str]:
    """Those of the queries whose stored references have such a side."""
    return [uid for uid in uids if _counts_none(store, uid)]


def _counts_none(store: ArtifactStore, uid: str) -> bool:
    try:
        result = store.read(ASSET, (), uid)
    except DamagedFile:
        return False  # the status names it
    return result is not None and 0 in (result.value.get("n_source"), result.value.get("n_derived"))


def shipped_without_numbers(library: Library, queries: Iterable[Query]) -> Iterator[ImportWarning]:
    """A warning for each reference file of the benchmark in which no number stands."""
    for query in queries:
        split = query.splits[0].value if query.splits else "SPLIT"
        sides: tuple[tuple[Side, str | None], ...] = (("src", query.references.d_src), ("der", query.references.d_der))
        for side, relative in sides:
            if relative and _holds_none(library, query, side, relative):
                message = (
                    "it holds no number, and every model scores 0 on it; once references are made, "
                    f"deepchart references check --split {split} lists such."
                )
                yield ImportWarning(query.uid, relative, message)


def _holds_none(library: Library, query: Query, side: Side, relative: str) -> bool:
    try:
        return read_reference(library.file(query, relative), Path(relative).suffix, side) == []
    except DeepChartError:
        return False  # what cannot be read is an error of the query when references are made
