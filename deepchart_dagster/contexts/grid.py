"""A table as lines of cells, and its HTML on one line."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from deepchart_dagster.contexts.words import Segment, Word


@dataclass
class Cell:
    words: list[Word] = field(default_factory=list)
    span: int = 1

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def is_value(self) -> bool:
        return bool(self.words) and Segment(tuple(self.words)).is_value


@dataclass
class Line:
    """One row of a table: cells[0] is the label. In a header, cells[0] is what names the labels."""

    cells: list[Cell]
    header: bool = False

    @property
    def has_values(self) -> bool:
        return any(cell.words for cell in self.cells[1:])


@dataclass(frozen=True)
class Table:
    lines: tuple[Line, ...]

    @property
    def words(self) -> list[Word]:
        return [word for line in self.lines for cell in line.cells for word in cell.words]

    def html(self) -> str:
        return f"<table>{''.join(_html_row(line) for line in self.lines)}</table>"


def _html_row(line: Line) -> str:
    tag = "th" if line.header else "td"
    cells = (
        f"<{tag}{f' colspan={chr(34)}{cell.span}{chr(34)}' if cell.span > 1 else ''}>"
        f"{html.escape(cell.text, quote=False)}</{tag}>"
        for cell in line.cells
    )
    return f"<tr>{''.join(cells)}</tr>"
