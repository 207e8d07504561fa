"""Reference data as numbers: JSON, CSV and markdown tables (design: metrics, upstream).

Tables: header cells are labels; every body cell that reads as a number counts, years included. CSV is
read with a CSV reader, so a comma between cells joins nothing. Markdown: all tables of the file count,
text around them does not. ``nan`` cells and empty ones are no numbers.

JSON: finance writes {"scr_data", "der_data"} (sic) and only the asked side counts. Research reports keep
their values under ``data`` or ``records``, beside codes, page numbers and names of fields, none of which
count. Everything else (academic references) is free-form: every leaf counts. ``null`` is no reference.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.benchmark.numbers import narrow_number, numeric_leaves
from deepchart_dagster.benchmark.pipe_tables import cells_of, is_rule
from deepchart_dagster.benchmark.state import Side
from deepchart_dagster.errors import BenchmarkFormatError, MissingInputError

REFERENCE_MAX_BYTES = 64 * 1024 * 1024
TABLE_SUFFIXES = (".csv", ".tsv", ".md", ".markdown")
REFERENCE_SUFFIXES = (*TABLE_SUFFIXES, ".json")

# The two sides as published references write them, which is not all that is forgiven a model's J: a reference
# may hold raw_data or chart_data as names of its own.
_STATE_MEMBERS: dict[Side, tuple[str, ...]] = {"src": ("src_data", "scr_data"), "der": ("der_data",)}
_REPORT_VALUES = ("data", "records")
# What research reports write beside their values. One of these marks such a file; inside a record
# they are bookkeeping, which no chart shows and no model is asked for.
_REPORT_BOOKKEEPING = frozenset({"report_code", "query_id", "source_page", "source_pages"})
_REPORT_MARKS = _REPORT_BOOKKEEPING | {"source_fields", "status", "label_field", "value_field"}

_EMPHASIS = re.compile(r"(\*{1,3}|`)(.+)\1")


def read_reference(source: Path | bytes, suffix: str, side: Side, *, name: str = "") -> list[float] | None:
    """The values of one reference file, in reading order; None where the file says there is none (null).

    ``suffix`` tells the format (.json, .csv, .tsv, .md), ``name`` stands for the file in messages. Raises
    MissingInputError where there is no such file, BenchmarkFormatError where it cannot be read.
    """
    name = name or (str(source) if isinstance(source, Path) else f"the {side} reference")
    data = read_bounded(source) if isinstance(source, Path) else source
    if suffix.lower() == ".json":
        return json_values(load_json(data, name=name, max_bytes=REFERENCE_MAX_BYTES), side)
    if suffix.lower() in TABLE_SUFFIXES:
        return table_values(decoded(data, name=name), suffix.lower(), name=name)
    raise BenchmarkFormatError(
        f"{name} has the suffix {suffix or '(none)'}.", remedy=f"References are {', '.join(REFERENCE_SUFFIXES)}."
    )


def read_bounded(path: Path, max_bytes: int = REFERENCE_MAX_BYTES) -> bytes:
    """The file's bytes. Raises MissingInputError, or BenchmarkFormatError for more than ``max_bytes``."""
    try:
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise MissingInputError(f"cannot read {path}: {error.strerror}.") from error
    if len(data) > max_bytes:
        raise BenchmarkFormatError(f"{path} is too large: {max_bytes} bytes at most.")
    return data


def json_values(value: object, side: Side) -> list[float] | None:
    """The values of parsed reference JSON; None for null and for a state without the asked side."""
    if isinstance(value, dict):
        if any(name in value for names in _STATE_MEMBERS.values() for name in names):
            value = next((value[name] for name in _STATE_MEMBERS[side] if name in value), None)
        elif _is_report(value):
            value = _without_bookkeeping(next(value[name] for name in _REPORT_VALUES if name in value))
    return None if value is None else numeric_leaves(value)


def _is_report(value: dict[str, object]) -> bool:
    holds_values = any(isinstance(value.get(name), list | dict) for name in _REPORT_VALUES)
    return holds_values and not _REPORT_MARKS.isdisjoint(value)


def _without_bookkeeping(values: object) -> object:
    if not isinstance(values, list):
        return values
    return [
        {name: member for name, member in record.items() if name not in _REPORT_BOOKKEEPING}
        if isinstance(record, dict)
        else record
        for record in values
    ]


def table_values(text: str, suffix: str, *, name: str = "the table") -> list[float]:
    """The numbers in the body cells of a CSV (.csv, .tsv) or of every markdown table in ``text``."""
    rows = _markdown_body(text) if suffix in (".md", ".markdown") else _csv_body(text, suffix, name)
    return [number for row in rows for cell in row if (number := narrow_number(_cell_text(cell))) is not None]


def _csv_body(text: str, suffix: str, name: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else ",")
    try:
        written = (row for row in reader if any(cell.strip() for cell in row))
        next(written, None)
        yield from written
    except csv.Error as error:
        raise BenchmarkFormatError(f"{name} line {reader.line_num} is no CSV: {error}.") from error


def _markdown_body(text: str) -> Iterator[list[str]]:
    for table in _markdown_tables(text.splitlines()):
        yield from _body_rows(table)


def _markdown_tables(lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """Consecutive lines that begin with ``|``, as rows of cells."""
    table: list[list[str]] = []
    for line in (*lines, ""):
        if line.lstrip().startswith("|"):
            table.append(cells_of(line))
        elif table:
            yield table
            table = []


def _body_rows(table: list[list[str]]) -> Iterator[list[str]]:
    """All rows but rules and headers: the row above a rule, or the first where there is no rule."""
    rules = {number for number, row in enumerate(table) if is_rule(row)}
    headers = {number - 1 for number in rules} if rules else {0}
    for number, row in enumerate(table):
        if number not in rules and number not in headers:
            yield row


def _cell_text(cell: str) -> str:
    emphasised = _EMPHASIS.fullmatch(cell.strip())
    return emphasised.group(2) if emphasised else cell
