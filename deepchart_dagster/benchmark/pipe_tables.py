"""Markdown tables: lines of cells between pipes, and the rule of dashes under a header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_CELL_BORDER = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?-+:?")


def cells_of(line: str) -> list[str]:
    """The cells of one line, stripped; an escaped pipe (``\\|``) borders none, and stays as it is written."""
    inner = line.strip().removeprefix("|")
    cells = [cell.strip() for cell in _CELL_BORDER.split(inner)]
    return cells[:-1] if cells[-1] == "" else cells


def is_rule(cells: Sequence[str]) -> bool:
    return bool(cells) and all(_RULE_CELL.fullmatch(cell) for cell in cells)


def pipe_tables(lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """Consecutive lines that begin with ``|``, as rows of cells, rules among them."""
    table: list[list[str]] = []
    for line in (*lines, ""):
        if line.lstrip().startswith("|"):
            table.append(cells_of(line))
        elif table:
            yield table
            table = []
