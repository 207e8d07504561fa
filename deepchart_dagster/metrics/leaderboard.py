"""The published tables, read from the marts: per benchmark, model and split the four metrics with n and intervals."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import StorageError, UpstreamError
from deepchart_dagster.metrics.bootstrap import mean_interval
from deepchart_dagster.metrics.dbt import DATABASE_NAME
from deepchart_dagster.metrics.store import metrics_folder

if TYPE_CHECKING:
    import duckdb

METRICS = ("er", "f1_src", "f1_der", "vas")
METRIC_NAMES = {"er": "ER", "f1_src": "F1_src", "f1_der": "F1_der", "vas": "VAS"}
# The paper's table prints models in this order of families; families that it does not have stand with "other".
FAMILIES = ("proprietary", "open-weight", "additional", "other", "scripted")
# The paper's tables, by protocol.
PROTOCOLS: tuple[tuple[str, tuple[Split, ...]], ...] = (
    ("Normal context", (Split.FINANCE_NORMAL, Split.ACADEMIC_NORMAL)),
    ("Long context", (Split.FINANCE_LONG, Split.ACADEMIC_LONG)),
    ("Ultra-long context", (Split.FINANCE_ULTRA_LONG,)),
    ("Multimodal reports", (Split.ECOSYSTEM,)),
)
_OPEN_ATTEMPTS = 8
_FIRST_WAIT_S = 0.05


@dataclass(frozen=True)
class Cell:
    """One metric of one model on one split. ``value`` is a mean over the scored instances, ``low`` and
    ``high`` its 95 % bootstrap interval; all None where nothing is scored."""

    value: float | None
    low: float | None
    high: float | None
    n_total: int
    n_scored: int
    n_failed: int
    n_error: int

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


@dataclass(frozen=True)
class LeaderboardRow:
    """``name`` is what tables print; ``scripted``: a program stood in for the model.

    ``selection`` says what of the split was run, where that can be less than all ("50 of 290, seed 20260").
    """

    benchmark: str
    model: str
    split: Split
    name: str
    family: str
    scripted: bool
    judge: str | None
    judge_scripted: bool
    selection: str | None
    cells: dict[str, Cell]

    @property
    def label(self) -> str:
        return f"{self.name} (scripted)" if self.scripted else self.name

    def as_json(self) -> dict[str, JsonValue]:
        """The row of ``deepchart leaderboard --json`` (design/CLI.md)."""
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            "split": self.split.value,
            "name": self.name,
            "family": self.family,
            "scripted": self.scripted,
            "judge": self.judge,
            "judge_scripted": self.judge_scripted,
            "selection": self.selection,
            **{metric: cell.as_json() for metric, cell in self.cells.items()},
        }


def database_path(storage: Path) -> Path:
    return metrics_folder(storage) / DATABASE_NAME


def read_leaderboard(storage: Path, benchmark: str | None = None) -> list[LeaderboardRow]:
    """All rows (of one benchmark), by benchmark, split, family and name.

    Raises UpstreamError where the marts have not been built, StorageError where the file is damaged or
    stays locked by a writer.
    """
    with open_marts(storage) as connection:
        values = _scored_values(connection, benchmark)
        rows = records(
            connection, "select * from marts.leaderboard where ? is null or benchmark = ?", [benchmark, benchmark]
        )
    return sorted((_row(record, values) for record in rows), key=row_order)


_MATERIALISE = 'Make one: deepchart demo, or deepchart materialize "predicted_states+" --model M --split S.'


@contextmanager
def open_marts(storage: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The store with its marts, for reading.

    Raises UpstreamError where they have not been built, or by another version that had other tables or columns;
    StorageError where the store cannot be read.
    """
    import duckdb

    path = database_path(storage)
    with open_read_only(path) as connection:
        try:
            yield connection
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            what = str(error).splitlines()[0].rstrip(".!")
            raise _outdated(str(path), what) from error


def _outdated(store: str, what: str) -> UpstreamError:
    return UpstreamError(
        f"the tables in {store} are not those that this version reads ({what}).",
        remedy="Build them again: deepchart report.",
    )


class MartRow(dict[str, Any]):
    """A row by column. A column that it does not have is one that another version's marts lack: UpstreamError."""

    def __missing__(self, column: str) -> Any:
        raise _outdated("the metrics store", f"no column {column}")


def open_read_only(path: Path) -> duckdb.DuckDBPyConnection:
    """The store for reading. Somebody may have it open for writing: tried again for some seconds.

    Raises UpstreamError where there is none, StorageError where it cannot be opened.
    """
    import duckdb

    if not path.is_file():
        raise UpstreamError(f"there is no leaderboard yet: {path} is not there.", remedy=_MATERIALISE)
    for attempt in range(_OPEN_ATTEMPTS):
        try:
            return duckdb.connect(path, read_only=True)
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise StorageError(f"{path} cannot be read: {error}", remedy=f"Delete it. {_MATERIALISE}") from error
            time.sleep(_FIRST_WAIT_S * 2**attempt)
    raise StorageError(f"{path} is open for writing in another program.", remedy="Close it there, then try again.")


def _scored_values(
    connection: duckdb.DuckDBPyConnection, benchmark: str | None
) -> dict[tuple[str, str, str, str], list[float]]:
    """(benchmark, model, split, metric) -> the values that count, in order of uid."""
    sql = (
        "select benchmark, model, split, metric, list(value order by uid) as scored from staging.stg_scores"
        " where is_scored and list_contains(?, metric) and (? is null or benchmark = ?) group by all"
    )
    rows = records(connection, sql, [list(METRICS), benchmark, benchmark])
    return {(row["benchmark"], row["model"], row["split"], row["metric"]): row["scored"] for row in rows}


def records(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: list[object] | dict[str, object]
) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, parameters)
    names = [column[0] for column in cursor.description or ()]
    return [MartRow(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _row(record: dict[str, Any], values: dict[tuple[str, str, str, str], list[float]]) -> LeaderboardRow:
    place = (record["benchmark"], record["model"], record["split"])
    return LeaderboardRow(
        benchmark=record["benchmark"],
        model=record["model"],
        split=Split(record["split"]),
        name=record["model_name"],
        family=record["family"],
        scripted=record["scripted"],
        judge=record["judge"],
        judge_scripted=record["judge_scripted"],
        selection=record["selection"],
        cells={metric: _cell(record, metric, values.get((*place, metric), [])) for metric in METRICS},
    )


def _cell(record: dict[str, Any], metric: str, scored: list[float]) -> Cell:
    interval = mean_interval(scored) if scored else None
    return Cell(
        value=record[f"{metric}_value"],
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n_total=record[f"{metric}_n_total"],
        n_scored=record[f"{metric}_n_scored"],
        n_failed=record[f"{metric}_n_failed"],
        n_error=record[f"{metric}_n_error"],
    )


def row_order(row: LeaderboardRow) -> tuple[object, ...]:
    return (row.benchmark, list(Split).index(row.split), family_rank(row.family), row.family, row.name.lower())


def family_rank(family: str) -> int:
    return FAMILIES.index(family if family in FAMILIES else "other")


def judge_names(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Who judged, sorted, each once: a row of which no chart came to be judged knows no more than the judge's slug."""
    scripted = {row.judge for row in rows if row.judge_scripted}
    return sorted({f"{row.judge} (scripted)" if row.judge in scripted else row.judge for row in rows if row.judge})


def count_text(row: LeaderboardRow) -> str:
    """Scored of all instances, once where the metrics agree: "290/290", or "4/4 (F1_der 3/4)"; and the errors."""
    counts = {metric: f"{cell.n_scored}/{cell.n_total}" for metric, cell in row.cells.items()}
    others = [f"{METRIC_NAMES[metric]} {text}" for metric, text in counts.items() if text != counts["er"]]
    n_error = max(cell.n_error for cell in row.cells.values())
    errors = f", {n_error} in error" if n_error else ""
    return counts["er"] + (f" ({', '.join(others)})" if others else "") + errors
