"""A reference's D_src and D_der as they are handed to a model that is to draw them (paper, section 5.4).

JSON is handed over as it stands, of a file with both sides the asked one. A table (CSV, markdown) becomes records, one
object a row: a cell that reads as a number is a number, an empty one null.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.benchmark.numbers import narrow_number
from deepchart_dagster.benchmark.pipe_tables import is_rule, pipe_tables
from deepchart_dagster.benchmark.state import NAMES, Side, find_part
from deepchart_dagster.errors import BenchmarkFormatError

_MAX_BYTES = 64 << 20


def reference_content(data: bytes, suffix: str, side: Side, *, name: str) -> JsonValue:
    """What the file holds of ``side``; None where it says that there is none.

    Raises BenchmarkFormatError, with ``name``, for what cannot be read or is of another format.
    """
    if suffix == ".json":
        return _of_json(load_json(data, name=name, max_bytes=_MAX_BYTES), side)
    text = decoded(data, name=name)
    if suffix in (".csv", ".tsv"):
        return _records(csv_rows(text, suffix, name=name))
    if suffix in (".md", ".markdown"):
        tables = [_records([row for row in rows if not is_rule(row)]) for rows in pipe_tables(text.splitlines())]
        return tables[0] if len(tables) == 1 else cast("list[JsonValue]", tables)
    raise BenchmarkFormatError(f"{name} is neither JSON nor a table.")


def _of_json(value: JsonValue, side: Side) -> JsonValue:
    both = isinstance(value, dict) and any(name in value for names in NAMES.values() for name in names)
    if not both:
        return value
    part = find_part(value, side)
    return cast(JsonValue, part.content) if part else None


def csv_rows(text: str, suffix: str, *, name: str) -> list[list[str]]:
    """The rows of a .csv or .tsv that hold anything. Raises BenchmarkFormatError, with ``name``, for what is no CSV."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else ",")
    try:
        return [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BenchmarkFormatError(f"{name} line {reader.line_num} is no CSV: {error}.") from error


def _records(rows: Sequence[Sequence[str]]) -> list[JsonValue]:
    if not rows:
        return []
    names = column_names(rows[0])
    return [{column_name(names, at): _cell(text) for at, text in enumerate(row)} for row in rows[1:]]


def column_names(header: Sequence[str]) -> list[str]:
    """Column names, numbered where one is empty or comes twice: no column may hide another."""
    names: dict[str, None] = {}
    for at, text in enumerate(header, start=1):
        name = text.strip() or f"column {at}"
        while name in names:
            name = f"{name} ({at})"
        names[name] = None
    return list(names)


def column_name(names: Sequence[str], at: int) -> str:
    """Of a row's cell ``at``; rows may be longer than the header."""
    return names[at] if at < len(names) else f"column {at + 1}"


def _cell(text: str) -> JsonValue:
    text = text.strip()
    number = narrow_number(text)
    if number is None:
        return text or None
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number
