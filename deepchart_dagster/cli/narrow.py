"""What is laid out otherwise in a narrow terminal, so that no value is torn from its name."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable

import click

# Click goes no further down, and sets its two columns side by side at any width.
_CLICKS_LEAST = 52
_NAMES = 13
_TABLES_LEAST = 60
_GAP = re.compile(" {2,}")


def terminal_columns() -> int | None:
    """Of the terminal that stdout is; None where it is none, and lines may be of any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(text: str) -> str:
    """In a terminal below 60 columns, lines of a table that are longer go on below, from a gap between two of their
    columns: not from within a number. A sentence, or a command to copy, is the terminal's to wrap."""
    columns = terminal_columns()
    if columns is None or columns >= _TABLES_LEAST:
        return text
    return "\n".join(part for line in text.split("\n") for part in _fold(line, columns))


def _fold(line: str, columns: int) -> list[str]:
    cells = _GAP.split(line.strip())
    if len(line) <= columns or len(cells) == 1:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    lines = [indent + cells[0]]
    for cell in cells[1:]:
        if len(lines[-1]) + 2 + len(cell) <= columns:
            lines[-1] += f"  {cell}"
        else:
            lines.append(f"{indent}    {cell}")
    return lines


class HelpFormatter(click.HelpFormatter):
    """Click's, which in a terminal below 52 columns breaks lines where that one ends, long names on their own line."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = terminal_columns()
        self._is_narrow = width is None and columns is not None and columns < _CLICKS_LEAST
        super().__init__(indent_increment, columns - 1 if columns and self._is_narrow else width, max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, _NAMES if self._is_narrow else col_max, col_spacing)
