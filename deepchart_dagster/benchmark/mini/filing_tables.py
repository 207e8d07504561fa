"""Tables of amounts as a filing prints them, and how a total is shared out among the lines of a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.statements import Line, statement_row
from deepchart_dagster.benchmark.mini.typeset import Column, Look, Row, Table

_WIDEST_COLUMN = 74.0
_LABELS = 150.0
_DOLLAR = 44.0  # from the right edge of a number
_NOTE = 66.0  # from the right edge of the first number: where references to notes stand


@dataclass(frozen=True)
class Figures:
    """A table of amounts: ``heads`` are its columns, ``span`` stands above all of them, ``caption`` above the table."""

    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    caption: str = ""
    span: str | None = None


def money_table(look: Look, figures: Figures, notes: Mapping[str, str] | None = None) -> Table:
    """``notes``: label -> note, in a column of their own between labels and amounts."""
    heads, right = figures.heads, look.width - look.margin - 6
    width = min(_WIDEST_COLUMN, (right - look.margin - _LABELS) / len(heads))
    edges = [right - width * (len(heads) - 1 - index) for index in range(len(heads))]
    columns = [Column(look.margin)]
    for edge in edges:  # a narrow column for the dollar sign, then the number
        columns += [Column(edge - min(_DOLLAR, width - 8)), Column(edge, "right")]
    middle = Column((edges[0] + edges[-1]) / 2 - 12, "center")
    columns += [Column(edges[0] - _NOTE, "center"), middle]
    blank = (None,) * (2 * len(heads) + 1)
    header = [Row((None, *_spread(heads), "Note" if notes else None))]
    if figures.span:
        header.insert(0, Row((*blank, None, figures.span)))
    rows = []
    for line in figures.lines:
        row = statement_row(line)
        if line.label in (notes or {}):
            padded = (*row.cells, *blank)[: len(blank)]
            row = Row((*padded, (notes or {})[line.label]), style=row.style, indent=row.indent)
        rows.append(row)
    return Table(columns=tuple(columns), header=tuple(header), rows=tuple(rows), size=look.table_size)


def _spread(heads: Sequence[str]) -> list[str | None]:
    """Each head over its number, nothing over the dollar column."""
    return [cell for head in heads for cell in (None, head)]


def shared_out(totals: Sequence[int], shares: Mapping[str, int], total: str) -> list[Line]:
    """A line for each of ``shares`` (label -> percent), in whole amounts, and one for the ``total``."""
    columns = [split(amount, tuple(shares.values())) for amount in totals]
    lines = [Line(label, tuple(column[at] for column in columns)) for at, label in enumerate(shares)]
    return [*lines, Line(total, tuple(totals), "total", dollar=True)]


def split(total: int, shares: Sequence[int]) -> list[int]:
    """``total`` in whole parts by percent; the last part takes what rounding leaves."""
    parts = [total * share // 100 for share in shares[:-1]]
    return [*parts, total - sum(parts)]


def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)
