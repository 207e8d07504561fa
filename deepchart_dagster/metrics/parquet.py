"""Parquet files of table rows: written whole under a temporary name, sorted, so that equal rows make equal files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from deepchart_dagster.artifacts.files import TEMPORARY_PREFIX, remove_leftovers, storage_errors, temporary_name
from deepchart_dagster.artifacts.store import materialize_command
from deepchart_dagster.errors import StorageError
from deepchart_dagster.metrics.tables import SCHEMA, Table

if TYPE_CHECKING:
    import duckdb

Row = Mapping[str, JsonValue]
_SUFFIX = ".parquet"


def parquet_folder(storage: Path) -> Path:
    return storage / "metrics" / "parquet"


def parquet_files(folder: Path) -> list[Path]:
    """Every finished file below ``folder``, sorted; one that is being written has a temporary name."""
    return [path for path in sorted(folder.rglob(f"*{_SUFFIX}")) if not path.name.startswith(TEMPORARY_PREFIX)]


def write_if_new(path: Path, table: Table, rows: Sequence[Row], source: str, *, list_ns: int) -> None:
    """As ``write_parquet``, where the file is not made from ``source`` already. Either way it is given ``list_ns``, the
    time (nanoseconds) of the list of results that its rows are of: by that it is known again, whatever the clock does.
    """
    if source_of(path) != source:
        write_parquet(path, table, rows, source)
    with storage_errors(path, "write"):
        os.utime(path, ns=(list_ns, list_ns))


def write_parquet(path: Path, table: Table, rows: Sequence[Row], source: str) -> None:
    """Write ``rows`` (members are the table's columns) to ``path``; ``source`` names what they were made from.

    Raises StorageError where it cannot be written.
    """
    import duckdb

    _check_columns(table, rows)
    temporary = path.parent / f"{temporary_name()}{_SUFFIX}"
    with storage_errors(path, "write"):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent)
        try:
            with _in_memory() as connection:
                connection.execute(f"create temp table rows ({table.definition})")
                insert_rows(connection, "rows", table, rows)
                connection.execute(_copy_statement(table, source), [str(temporary)])
            temporary.replace(path)
        except duckdb.Error as error:
            raise StorageError(f"cannot write {path}: {error}", remedy=_CHECK) from error
        finally:
            temporary.unlink(missing_ok=True)


_CHECK = "Check that the disk has room and that this user may write there; what is stored is kept."


@contextmanager
def _in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own, with temporary tables of its own, to the database in memory."""
    import duckdb

    try:
        with _database().cursor() as connection:
            yield connection
    except duckdb.Error:
        _database.cache_clear()  # some errors, as of a damaged file, end a database for good
        raise


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for the process: to make another takes ten times as long as to write a file with it."""
    import duckdb

    return duckdb.connect(config={"threads": 1})


def _copy_statement(table: Table, source: str) -> str:
    order = ", ".join(f'"{name}"' for name in table.order)
    label = source.replace("'", "''")
    selection = f"select * from rows order by {order}"  # noqa: S608 - our own column names
    return f"copy ({selection}) to ? (format parquet, kv_metadata {{source: '{label}'}})"


def _check_columns(table: Table, rows: Sequence[Row]) -> None:
    names = {column.name for column in table.columns}
    for row in rows:
        if row.keys() != names:
            raise TypeError(f"{table.name}: a row lacks or adds {sorted(row.keys() ^ names)}")


def insert_rows(connection: duckdb.DuckDBPyConnection, name: str, table: Table, rows: Sequence[Row]) -> None:
    """Append ``rows`` to the table called ``name``, which has the columns of ``table``."""
    structure = json.dumps([{column.name: column.type for column in table.columns}])
    connection.execute(
        f"insert into {name} by name select unnest(from_json(?::json, '{structure}'), recursive := true)",
        [json.dumps(list(rows), allow_nan=False)],
    )


def source_of(path: Path) -> str | None:
    """What the file's rows were made from, as given to write_parquet; None where it is no such file."""
    import duckdb

    if not path.is_file():
        return None
    try:
        with _in_memory() as connection:
            row = connection.execute(
                "select decode(value) from parquet_kv_metadata(?) where decode(key) = 'source'", [str(path)]
            ).fetchone()
    except duckdb.Error:
        return None
    return str(row[0]) if row else None


def load_parquet(connection: duckdb.DuckDBPyConnection, table: Table, paths: Sequence[Path]) -> None:
    """Append the rows of these files to the table in the store. Raises StorageError for a file that has others."""
    import duckdb

    if not paths:
        return
    read = f"select {table.selection} from read_parquet(?, union_by_name := true)"  # noqa: S608 - our own names
    try:
        connection.execute(f"insert into {SCHEMA}.{table.name} by name {read}", [[str(path) for path in paths]])
    except duckdb.Error as error:
        damaged = next((path for path in paths if not _is_readable(path)), paths[0].parent)
        raise StorageError(
            f"the {table.name} rows in {damaged} cannot be read: {str(error).splitlines()[0]}.",
            remedy=f"Delete it, then: {_command_for(damaged)}. Results are kept.",
        ) from error


def _command_for(file: Path) -> str:
    """What writes ``<asset>/<split>/<model>.parquet`` anew."""
    if file.suffix != ".parquet":
        return "deepchart materialize"
    return materialize_command(file.parents[1].name, (file.parent.name, file.stem))


def _is_readable(path: Path) -> bool:
    """Asked elsewhere: the connection that failed answers nothing more."""
    import duckdb

    try:
        with _in_memory() as connection:
            connection.execute("select count(*) from read_parquet(?)", [str(path)])
    except duckdb.Error:
        return False
    return True
