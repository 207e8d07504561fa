"""Tables that go on over a page break, joined into one table with one header.

A page's first table goes on with the last one of the page before where nothing but running heads, page
numbers, the same title ("continued") and the same unit stand between them, its header is the same or missing,
and its columns are as many and end at the same place. The joined table stands on the page where it begins;
its numbers keep the page they are printed on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deepchart_dagster.contexts.layout import NumberBox, PageLine
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.contexts.words import numbers_in

_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh](?: colspan=\"(\d+)\")?>(.*?)</t[dh]>", re.DOTALL)
_CONTINUED = re.compile(r"\(?\b(?:continued|cont[’'.]?d)\b\.?\)?", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?:see|the) accompanying notes|integral part of (?:these|the)|^\W*\(?(?:(?:dollars|amounts) )?in (?:thousands"
    r"|millions|billions)\b|^table of contents$",
    re.IGNORECASE,
)
# In points: how far apart the last columns of two pages may end.
_SAME_EDGE = 12.0


def joined(readings: Sequence[PageReading]) -> list[list[PageLine]]:
    """The lines of each page; a table's continuation is in the table, and no longer on its own page."""
    pages = [list(reading.lines) for reading in readings]
    open_table: _Place | None = None
    for at, reading in enumerate(readings):
        tables = [place for place, line in enumerate(reading.lines) if line.is_table]
        goes_on = open_table is not None and _goes_on(open_table.line_in(pages), readings[at - 1], reading)
        if open_table and goes_on:
            more = reading.lines[tables[0]]
            pages[open_table.page][open_table.line] = _with_rows(open_table.line_in(pages), more, reading.number)
            del pages[at][tables[0]]
        if tables and not (goes_on and len(tables) == 1):
            open_table = _Place(at, tables[-1] - goes_on)
        elif not tables:
            open_table = None
    return pages


@dataclass(frozen=True)
class _Place:
    """Indices of a page and of a line of it."""

    page: int
    line: int

    def line_in(self, pages: Sequence[Sequence[PageLine]]) -> PageLine:
        return pages[self.page][self.line]


def _goes_on(begun: PageLine, above: PageReading, below: PageReading) -> bool:
    """Whether the first table of ``below`` goes on with ``begun``, which reaches the end of ``above``."""
    last = max((at for at, line in enumerate(above.lines) if line.is_table), default=None)
    first = next((at for at, line in enumerate(below.lines) if line.is_table), None)
    if last is None or first is None or not (_can_join(begun) and _can_join(below.lines[first])):
        return False
    between = [*above.lines[last + 1 :], *below.lines[:first]]
    running = {_bare(line) for line in above.lines} & {_bare(line) for line in below.lines}
    titles = {_bare(line) for line in above.lines[: last + 1]}
    if not all(_may_stand_between(line, running | titles) for line in between):
        return False
    return _same_columns(begun, above.lines[last], below.lines[first])


def _can_join(line: PageLine) -> bool:
    return line.figure is None and bool(_ROW.search(line.markdown)) and line.markdown.endswith("</table>")


def _may_stand_between(line: PageLine, known: set[str]) -> bool:
    """``known`` lines, also several of them run together, page numbers and what stands round any statement."""
    bare = _bare(line)
    several = "|".join(map(re.escape, sorted(filter(None, known), key=len, reverse=True)))
    return (
        re.fullmatch(f"(?:{several})*", bare) is not None
        or not re.sub(r"#|page|of|f", "", bare)
        or _BETWEEN.search(_text(line)) is not None
    )


def _bare(line: PageLine) -> str:
    """A line without what differs from page to page: letters in a row, ``#`` for a number."""
    return re.sub(r"[^\w#]", "", re.sub(r"\d+", "#", _CONTINUED.sub("", _text(line)).lower()))


def _text(line: PageLine) -> str:
    return line.markdown.removeprefix("## ")


def _same_columns(begun: PageLine, above: PageLine, below: PageLine) -> bool:
    header, own = _header(begun), _header(below)
    if own and _written(own) != _written(header):
        return False
    numbers = [number for row in own for number in numbers_in(_plain(row))]
    if [number.text for number in below.numbers[: len(numbers)]] != numbers:
        return False
    return _width(begun) == _width(below) and abs(_right(above.numbers) - _right(below.numbers)) < _SAME_EDGE


def _header(line: PageLine) -> list[str]:
    return [row for row in _ROW.findall(line.markdown) if "<th" in row]


def _written(rows: Sequence[str]) -> list[str]:
    """Words of a header, sorted: a phrase over several columns may stand over another one of them on the next page."""
    words = " ".join(_CONTINUED.sub("", _plain(row)) for row in rows).lower().split()
    return sorted(bare for word in words if (bare := re.sub(r"\W", "", word)))


def _plain(row: str) -> str:
    return " ".join(text for _, text in _CELL.findall(row))


def _width(line: PageLine) -> int:
    return max(sum(int(span or 1) for span, _ in _CELL.findall(row)) for row in _ROW.findall(line.markdown))


def _right(numbers: Sequence[NumberBox]) -> float:
    return max((number.box[2] for number in numbers), default=0.0)


def _with_rows(table: PageLine, more: PageLine, page: int) -> PageLine:
    """``table`` with the rows of ``more``, which stands on ``page``, without its header."""
    header = _header(more)
    n_years = sum(len(numbers_in(_plain(row))) for row in header)
    rows = "".join(row for row in _ROW.findall(more.markdown) if row not in header)
    return replace(
        table,
        markdown=f"{table.markdown.removesuffix('</table>')}{rows}</table>",
        numbers=(*table.numbers, *(replace(number, page=page) for number in more.numbers[n_years:])),
    )
