"""The raw store: one DuckDB file, built anew from all Parquet files and the call ledger, swapped in by rename.

    <root>/metrics/raw.duckdb     schema ``pipeline``: scores, executions, diagnoses, calls, backends

A reader that has the old file open keeps it; a build that fails or is killed leaves the old one in place.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock
from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash, sha256_file
from deepchart_dagster.artifacts.files import TEMPORARY_PREFIX, storage_errors
from deepchart_dagster.errors import StorageError
from deepchart_dagster.llm.ledger import LedgerRow, ledger_folder, read_ledger
from deepchart_dagster.llm.registry import SCRIPTED_PREFIX
from deepchart_dagster.metrics.parquet import insert_rows, load_parquet, parquet_files, parquet_folder
from deepchart_dagster.metrics.rows import BACKEND_SCORES, DIAGNOSIS, SCORE_ASSETS, STAGE_OF
from deepchart_dagster.metrics.tables import BACKENDS, CALLS, DIAGNOSES, EXECUTIONS, SCHEMA, SCORES, TABLES, Table

if TYPE_CHECKING:
    import duckdb

RAW_NAME = "raw.duckdb"


@dataclass(frozen=True)
class MetricsBuild:
    """``content_hash`` covers every row: an identical rebuild has the same one. ``row_counts``: table -> rows."""

    path: Path
    row_counts: dict[str, int]
    content_hash: str
    seconds: float


def metrics_folder(storage: Path) -> Path:
    return storage / "metrics"


def build_metrics(storage: Path) -> MetricsBuild:
    """Build raw.duckdb from every Parquet file and ledger row below ``storage``.

    Raises StorageError where a file is damaged or nothing can be written; the old store then stays.
    """
    import duckdb

    begun = time.monotonic()
    folder = metrics_folder(storage)
    temporary = folder / f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}.duckdb"
    with storage_errors(folder, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".raw.lock"):
            _remove_leftovers(folder)
            sources = sources_hash(storage)
            try:
                with duckdb.connect(temporary) as connection:
                    counts = _fill(connection, storage)
                temporary.replace(folder / RAW_NAME)
            except duckdb.Error as error:
                raise StorageError(
                    f"cannot build {folder / RAW_NAME}: {error}", remedy="The old store is kept; free space, try again."
                ) from error
            finally:
                _remove(temporary)
    return MetricsBuild(folder / RAW_NAME, counts, sources, round(time.monotonic() - begun, 3))


def _remove_leftovers(folder: Path) -> None:
    """What a killed build left behind; the caller holds the lock, so none is under way."""
    for path in folder.glob(f"{TEMPORARY_PREFIX}*.duckdb"):
        _remove(path)


def _remove(database: Path) -> None:
    for path in (database, database.with_name(database.name + ".wal")):
        path.unlink(missing_ok=True)


def _fill(connection: duckdb.DuckDBPyConnection, storage: Path) -> dict[str, int]:
    """The tables, their rows and comments; returns rows per table."""
    connection.begin()  # one transaction, one write: else every statement waits for the disk
    connection.execute(f"create schema {SCHEMA}")
    for table in TABLES:
        connection.execute(f"create table {SCHEMA}.{table.name} ({table.definition})")
    load_parquet(connection, SCORES, _files(storage, SCORE_ASSETS))
    load_parquet(connection, EXECUTIONS, _files(storage, STAGE_OF))
    load_parquet(connection, DIAGNOSES, _files(storage, [DIAGNOSIS]))
    load_parquet(connection, BACKENDS, _files(storage, [BACKEND_SCORES]))
    insert_rows(connection, f"{SCHEMA}.{CALLS.name}", CALLS, [_call(row) for row in read_ledger(storage)])
    for table in TABLES:
        _comment(connection, table)
    connection.commit()
    return {table.name: _count(connection, table) for table in TABLES}


def _files(storage: Path, assets: Iterable[str]) -> list[Path]:
    folder = parquet_folder(storage)
    return [path for asset in assets for path in parquet_files(folder / asset)]


def _call(row: LedgerRow) -> dict[str, JsonValue]:
    known = row.model_dump(mode="json")
    known["scripted"] = row.litellm_model.startswith(SCRIPTED_PREFIX)
    return {column.name: known[column.name] for column in CALLS.columns}


def _comment(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    name = f"{SCHEMA}.{table.name}"
    connection.execute(f"comment on table {name} is {_quoted(table.comment)}")
    for column in table.columns:
        connection.execute(f'comment on column {name}."{column.name}" is {_quoted(column.comment)}')


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _count(connection: duckdb.DuckDBPyConnection, table: Table) -> int:
    row = connection.execute(f"select count(*) from {SCHEMA}.{table.name}").fetchone()  # noqa: S608 - our own names
    return int(row[0]) if row else 0


def sources_hash(storage: Path) -> str:
    """Equal rows make equal Parquet files (metrics.parquet), so the files' hashes stand for the rows."""
    sources = [
        *_files(storage, SCORE_ASSETS),
        *_files(storage, STAGE_OF),
        *_files(storage, [DIAGNOSIS]),
        *_files(storage, [BACKEND_SCORES]),
        *sorted(ledger_folder(storage).glob("*.jsonl")),
    ]
    return content_hash({str(path.relative_to(storage)): sha256_file(path) for path in sources})
