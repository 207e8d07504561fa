"""Reference data as numbers: JSON, CSV and markdown tables (design: metrics, upstream).

Tables: header cells are labels; every body cell that reads as a number counts, years included. CSV is
read with a CSV reader, so a comma between cells joins nothing. Markdown: all tables of the file count,
text around them does not. ``nan`` cells and empty ones are no numbers.

JSON: finance writes {"scr_data", "der_data"} (sic) and only the asked side counts. Research reports keep
their values under ``data`` or ``records``, beside codes, page numbers and names of fields, none of which
count. Everything else (academic references) is free-form: every leaf counts. ``null`` is no reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.pipe_tables import is_rule, pipe_tables
from deepchart_dagster.benchmark.reference_state import column_name, column_names, csv_rows
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


def read_reference(
    source: Path | bytes, suffix: str, side: Side, *, name: str = "", remedy: str = ""
) -> list[float] | None:
    """The values of one reference file, in reading order; None where the file says there is none (null).

    ``suffix`` tells the format (.json, .csv, .tsv, .md); ``name`` stands for the file in messages, and ``remedy`` says
    what helps where it is no JSON or no text. Raises
    MissingInputError where there is no such file, BenchmarkFormatError where it cannot be read.
    """
    content = reference_data(source, suffix, side, name=name, remedy=remedy)
    return None if content is None else numeric_leaves(content)


def reference_data(source: Path | bytes, suffix: str, side: Side, *, name: str = "", remedy: str = "") -> object:
    """What of the file counts as this side, as parsed JSON or records; None where there is none. Raises as above."""
    name = name or (str(source) if isinstance(source, Path) else f"the {side} reference")
    data = read_bounded(source) if isinstance(source, Path) else source
    if suffix.lower() == ".json":
        return json_side(load_json(data, name=name, max_bytes=REFERENCE_MAX_BYTES, remedy=remedy), side)
    if suffix.lower() in TABLE_SUFFIXES:
        return table_records(decoded(data, name=name, remedy=remedy), suffix.lower(), name=name)
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


def json_side(value: object, side: Side) -> object:
    """What of parsed reference JSON counts; None for null and for a state without the asked side."""
    if isinstance(value, dict):
        if any(name in value for names in _STATE_MEMBERS.values() for name in names):
            return next((value[name] for name in _STATE_MEMBERS[side] if name in value), None)
        if _is_report(value):
            return _without_bookkeeping(next(value[name] for name in _REPORT_VALUES if name in value))
    return value


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
    return numeric_leaves(table_records(text, suffix, name=name))


def table_records(text: str, suffix: str, *, name: str = "the table") -> list[dict[str, str]]:
    """The same rows of the body as objects, cell by column."""
    if suffix in (".md", ".markdown"):
        tables = pipe_tables(text.splitlines())
        return [record for table in tables for record in _markdown_records(table)]
    rows = csv_rows(text, suffix, name=name)
    names = column_names(rows[0]) if rows else []
    return [_record(names, row) for row in rows[1:]]


def _markdown_records(table: Sequence[Sequence[str]]) -> Iterator[dict[str, str]]:
    """All rows but rules and headers: the row above a rule, or the first where there is no rule."""
    rules = {number for number, row in enumerate(table) if is_rule(row)}
    headers = {number - 1 for number in rules} if rules else {0}
    names: list[str] = []
    for number, row in enumerate(table):
        if number in headers:
            names = column_names(row)
        elif number not in rules:
            yield _record(names, row)


def _record(names: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    return {column_name(names, at): _cell_text(cell) for at, cell in enumerate(row)}


def _cell_text(cell: str) -> str:
    emphasised = _EMPHASIS.fullmatch(cell.strip())
    return emphasised.group(2) if emphasised else cell
