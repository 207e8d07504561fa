"""The numbers of a context as cells of its tables: under which row, in which column, of which year.

The diagnosis asks whether a wrong value is another cell's. Tables are those of HTML (a line of the text each) and of
markdown pipes. A column belongs to the last header that begins at it or left of it: filings put "$" and brackets into
cells of their own and move them about.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from deepchart_dagster.benchmark.pipe_tables import cells_of, is_rule
from deepchart_dagster.contexts.written import plain_text, written_numbers
from deepchart_dagster.scoring.labelled import folded, years_in
from deepchart_dagster.scoring.matching import TOLERANCE

_HTML_ROW = re.compile(r"<tr\b.*?(?=<tr\b|</table|$)", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(r"<t([dh])\b([^>]*)>(.*?)(?=</?t[dhr]\b|</table|$)", re.IGNORECASE | re.DOTALL)
_SPAN = re.compile(r"\bcolspan\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_HAS_NUMBER = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a context. ``row`` and ``column`` are folded labels, "" where there is none; ``table`` counts the
    context's tables, None for a number in running text. ``column_at`` tells columns of the same name apart."""

    value: float
    row: str = ""
    column: str = ""
    years: frozenset[int] = frozenset()
    table: int | None = None
    column_at: int = 0


class CellIndex:
    """The numbers of some texts, found by size: a sign in a filing depends on where a number stands."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    @cached_property
    def _by_size(self) -> list[Cell]:
        cells = (cell for number, text in enumerate(self._texts) for cell in _cells(text, number * _TABLES_PER_TEXT))
        return sorted(cells, key=lambda cell: abs(cell.value))

    @cached_property
    def _sizes(self) -> list[float]:
        return [abs(cell.value) for cell in self._by_size]

    def near(self, size: float) -> Sequence[Cell]:
        """The cells whose number is ``size``, to the tolerance of the scores."""
        reach = TOLERANCE * size
        return self._by_size[bisect_left(self._sizes, size - reach) : bisect_right(self._sizes, size + reach)]


# Numbers tables of all texts apart.
_TABLES_PER_TEXT = 1_000_000


def _cells(text: str, first_table: int) -> Iterator[Cell]:
    table, pipes = first_table, list[str]()
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            pipes.append(line)
            continue
        if pipes:
            yield from _of_table(_pipe_rows(pipes), table)
            table, pipes = table + 1, []
        if "<table" in line:
            yield from _of_table(_html_rows(line), table)
            table += 1
        elif _HAS_NUMBER.search(line):
            yield from (Cell(number.value) for number in written_numbers(plain_text(line)))


@dataclass(frozen=True)
class _Row:
    """``cells``: the column at which a cell begins, and its text."""

    cells: tuple[tuple[int, str], ...]
    is_header: bool


def _html_rows(line: str) -> list[_Row]:
    rows = []
    for row in _HTML_ROW.findall(line):
        cells, column, tags = [], 0, set()
        for tag, attributes, body in _HTML_CELL.findall(row):
            span = _SPAN.search(attributes)
            cells.append((column, " ".join(plain_text(body).split())))
            column += int(span.group(1)) if span else 1
            tags.add(tag.lower())
        rows.append(_Row(tuple(cells), tags == {"h"}))
    return rows


def _pipe_rows(lines: Sequence[str]) -> list[_Row]:
    rows = [cells_of(line) for line in lines]
    rules = {number for number, row in enumerate(rows) if is_rule(row)}
    return [
        _Row(tuple(enumerate(plain_text(cell) for cell in row)), number + 1 in rules)
        for number, row in enumerate(rows)
        if number not in rules
    ]


def _of_table(rows: Sequence[_Row], table: int) -> Iterator[Cell]:
    """A header below values begins anew; where no row is marked as one, leading rows are that have no values."""
    marked = any(row.is_header for row in rows)
    headers: list[_Row] = []
    open_header = True
    for row in rows:
        if row.is_header if marked else (open_header and not _has_values(row)):
            headers = [*headers, row] if open_header else [row]
            open_header = True
            continue
        open_header = False
        yield from _of_row(row, headers, table)


def _has_values(row: _Row) -> bool:
    """Whether anything behind the label is a number and neither a year nor a date ("December 31, 2018")."""
    return any(_HAS_NUMBER.search(_YEAR.sub("", text)) and not _is_date(text) for _, text in row.cells[1:])


def _is_date(text: str) -> bool:
    return _YEAR.search(text) is not None and _LETTER.search(text) is not None


def _of_row(row: _Row, headers: Sequence[_Row], table: int) -> Iterator[Cell]:
    label = next((text for _, text in row.cells if _LETTER.search(text)), "")
    first = row.cells[0][1] if row.cells else ""
    row_years = years_in(label) or years_in(first)
    for at, text in row.cells:
        if text is label or not _HAS_NUMBER.search(text):
            continue
        place, above = _above(headers, at)
        years = frozenset().union(*(years_in(head) for head in above)) or row_years
        column = folded(" ".join(above))
        for number in written_numbers(text):
            yield Cell(number.value, folded(label), column, years, table, place)


def _above(headers: Sequence[_Row], at: int) -> tuple[int, list[str]]:
    """The column that a cell belongs to, and its headers from top to bottom."""
    place, texts = 0, []
    for header in headers:
        heads = [(begin, text) for begin, text in header.cells if begin <= at and text]
        if heads:
            place = max(place, heads[-1][0])
            texts.append(heads[-1][1])
    return place, texts
