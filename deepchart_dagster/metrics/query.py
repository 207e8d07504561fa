"""Questions in SQL to a store that is there: read only, and of the store alone."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.errors import UsageError
from deepchart_dagster.metrics.leaderboard import open_read_only


@dataclass(frozen=True)
class Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]

    def as_json(self) -> dict[str, object]:
        return {"columns": list(self.columns), "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows]}


@dataclass(frozen=True)
class DescribedColumn:
    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class DescribedTable:
    schema: str
    name: str
    comment: str
    columns: tuple[DescribedColumn, ...]

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def ask(database: Path, sql: str) -> Answer:
    """The rows of one statement. Raises UsageError for what DuckDB refuses: it reads nothing but the store, and
    writes nothing."""
    import duckdb

    with open_read_only(database) as connection:
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1:
                raise UsageError(f"{len(statements)} statements were given.", remedy="Ask one question at a time.")
            found = connection.execute(statements[0])
            columns = tuple(str(column[0]) for column in found.description or ())
            rows = tuple(tuple(_plain(value) for value in row) for row in found.fetchall())
        except duckdb.Error as error:
            remedy = "Tables and columns: deepchart metrics tables."
            raise UsageError(f"DuckDB refuses that: {' '.join(str(error).split())[:300]}.", remedy=remedy) from error
    return Answer(_distinct(columns), rows)


def described(database: Path) -> list[DescribedTable]:
    """Tables and views of ours with their comments, raw tables last."""
    with open_read_only(database) as connection:
        tables = connection.execute(
            "select schema_name, table_name, comment from duckdb_tables() where not internal union all "
            "select schema_name, view_name, comment from duckdb_views() where not internal order by all"
        ).fetchall()
        columns = connection.execute(
            "select schema_name, table_name, column_name, data_type, comment from duckdb_columns() "
            "where not internal order by schema_name, table_name, column_index"
        ).fetchall()
    return [
        DescribedTable(
            schema,
            name,
            comment or "",
            tuple(DescribedColumn(one[2], one[3], one[4] or "") for one in columns if one[:2] == (schema, name)),
        )
        for schema, name, comment in tables
    ]


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Columns of one name become name, name_2, …: an object has each once."""
    return tuple(_numbered(names))


def _numbered(names: tuple[str, ...]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}_{seen[name]}"


def _plain(value: object) -> JsonValue:
    """As JSON has it: moments and decimals as text and number, NaN and infinity as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, decimal.Decimal):
        return _plain(float(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value.hex() if isinstance(value, bytes) else str(value)
