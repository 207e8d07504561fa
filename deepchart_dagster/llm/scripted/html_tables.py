"""Tables in a text, HTML or markdown pipes, as a reader sees them: header, rows, and the text above.

Cells that span columns are repeated, so that column n is the same in every row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from deepchart_dagster.benchmark.pipe_tables import cells_of, is_rule

_TABLE = re.compile(r"<table\b.*?</table>", re.IGNORECASE | re.DOTALL)
_PIPES = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*$\n?){2,}", re.MULTILINE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CAPTION_REACH = 400
_MAX_SPAN = 100
_KEPT_TEXTS = 128


@dataclass(frozen=True)
class TextTable:
    """``header`` are the rows that name columns; ``above`` is the end of the text before the table."""

    header: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    above: str

    def columns_named(self, name: str) -> list[int]:
        """Columns whose header is ``name``, or holds it as a word of its own, from left to right."""
        wanted = folded(name)
        width = max((len(row) for row in self.header), default=0)
        heads = [[folded(row[at]) for row in self.header if at < len(row)] for at in range(width)]
        exact = [at for at, cells in enumerate(heads) if wanted in cells]
        word = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
        return exact or [at for at, cells in enumerate(heads) if any(word.search(cell) for cell in cells)]

    def row_named(self, label: str) -> tuple[str, ...] | None:
        """The first row whose first cell is ``label``."""
        return next((row for row in self.rows if row and folded(row[0]) == folded(label)), None)


def folded(text: str) -> str:
    """``text`` for comparison: one kind of apostrophe, single blanks, no case."""
    return " ".join(text.replace("’", "'").split()).casefold()


@lru_cache(maxsize=_KEPT_TEXTS)
def tables_in(text: str) -> tuple[TextTable, ...]:
    """In their order. Five models that read the same documents have them parsed once."""
    places = sorted(_matches(text), key=lambda place: place[0])
    tables = []
    end_before = 0
    for start, end, rows in places:
        above = text[max(end_before, start - _CAPTION_REACH) : start]
        tables.append(_table(rows, above))
        end_before = end
    return tuple(table for table in tables if table.rows)


def _matches(text: str) -> Iterator[tuple[int, int, list[_Row]]]:
    for match in _TABLE.finditer(text):
        parser = _TableParser()
        parser.feed(match.group())
        yield match.start(), match.end(), parser.rows
    for match in _PIPES.finditer(text):
        yield match.start(), match.end(), _pipe_rows(match.group())


@dataclass
class _Row:
    cells: list[str] = field(default_factory=list)
    is_header: bool = False


class _TableParser(HTMLParser):
    """One table. A row is a header where it has ``th`` cells and nothing else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[_Row] = []
        self._cell: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append(_Row(is_header=True))
        elif tag in ("td", "th") and self.rows:
            self._close_cell()
            self._cell = []
            span = dict(attrs).get("colspan") or "1"
            self._span = min(int(span), _MAX_SPAN) if span.isdigit() else 1
            if tag == "td":
                self.rows[-1].is_header = False

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _close_cell(self) -> None:
        if self._cell is not None:
            self.rows[-1].cells += ["".join(self._cell).strip()] * max(1, self._span)
            self._cell = None


def _pipe_rows(text: str) -> list[_Row]:
    rows = [_Row(cells_of(line)) for line in text.strip().splitlines()]
    if len(rows) > 1 and is_rule(rows[1].cells):
        rows[0].is_header = True
        del rows[1]
    return rows


def _table(rows: Sequence[_Row], above: str) -> TextTable:
    """Where no row is marked as header, leading rows of words and years are."""
    n_header = 0
    marked = any(row.is_header for row in rows)
    for row in rows:
        if not (row.is_header if marked else _names_columns(row)):
            break
        n_header += 1
    return TextTable(
        header=tuple(tuple(row.cells) for row in rows[:n_header]),
        rows=tuple(tuple(row.cells) for row in rows[n_header:] if row.cells),
        above=above,
    )


def _names_columns(row: _Row) -> bool:
    return not any(re.search(r"\d", _YEAR.sub("", cell)) for cell in row.cells)
