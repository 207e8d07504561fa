"""Rows of words -> tables whose rows are whole: label, then one cell a column, headers over their columns.

Values line up at their right edges (closing brackets and percent signs hang over); columns are the
clusters of these edges. A header cell belongs to the column it stands over; a phrase that names a period
("Years ended …") spans the columns nearest to it. Nothing is dropped: what fits no column stays with the
label or is added to the nearest cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from deepchart_dagster.contexts.columns import Column, columns_of, median, nearest
from deepchart_dagster.contexts.grid import Cell, Line, Table
from deepchart_dagster.contexts.headers import drop_label_column, header_lines, leading_headers, left_margin
from deepchart_dagster.contexts.words import Row


def build_table(rows: Sequence[Row]) -> Table | None:
    """The table that ``rows`` make up, or None where they have no columns."""
    n_header = leading_headers(rows)
    body = rows[n_header:]
    height = median([row.height for row in rows])
    columns = columns_of(body, height)
    if not columns or not body:
        return None
    lines = [_body_line(row, columns, height) for row in body]
    lines = _join_wrapped(lines, body, height)
    lines = _label_from_first_column(lines, len(columns))
    headers = header_lines(rows[:n_header], columns, left_margin(rows), n_labels=1)
    if lines and len(lines[0].cells) == len(columns):  # the first column became the label
        headers = drop_label_column(headers)
    return Table(lines=tuple(headers + lines))


def _body_line(row: Row, columns: list[Column], height: float) -> Line:
    cells = [Cell() for _ in range(len(columns) + 1)]
    for at, segment in enumerate(row.segments):
        column = nearest(segment, columns, height)
        if at == 0 and not segment.is_value and (column is None or segment.x0 < columns[0].x0 - height):
            column = None
        elif column is None and segment.x0 > columns[0].x1:
            column = min(range(len(columns)), key=lambda k: abs(columns[k].center - segment.center))
        cells[0 if column is None else column + 1].words += segment.words
    return Line(cells=cells)


def _join_wrapped(lines: list[Line], rows: Sequence[Row], height: float) -> list[Line]:
    """Labels and texts of cells over several rows of the page become one: the row with values has the whole of them."""
    pitches = [below.y0 - above.y0 for above, below in itertools.pairwise(rows)]
    tight = min(1.45 * height, 0.85 * median(pitches)) if pitches else 0.0
    joined: list[Line] = []
    for at, line in enumerate(lines):
        before = joined[-1] if joined else None
        label = line.cells[0].text
        near = at > 0 and pitches[at - 1] <= tight
        continues = label[:1].islower() and at > 0 and pitches[at - 1] <= 1.45 * height
        if before and label and _waits(before) and (near or continues):
            line.cells[0].words[:0] = before.cells[0].words
            joined[-1] = line
        elif before and continues and not line.has_values:
            before.cells[0].words += line.cells[0].words
        elif before and at > 0 and pitches[at - 1] <= 1.45 * height and (cell := _wrapped_cell(before, line)):
            before.cells[cell].words += line.cells[cell].words
        else:
            joined.append(line)
    return joined


def _wrapped_cell(above: Line, line: Line) -> int:
    """The cell of ``above`` that ``line`` goes on with: it has text in that column alone, as ``above`` has; else 0."""
    filled = [at for at, cell in enumerate(line.cells) if cell.words]
    if len(filled) != 1 or filled[0] == 0 or line.cells[filled[0]].is_value:
        return 0
    there = above.cells[filled[0]]
    return filled[0] if there.words and not there.is_value else 0


def _waits(line: Line) -> bool:
    """A label without values that is no heading of a group: its values may follow on the next row."""
    text = line.cells[0].text
    return bool(text) and not line.has_values and not text.endswith(":") and not text.isupper()


def _label_from_first_column(lines: list[Line], n_columns: int) -> list[Line]:
    """Where hardly a row has a label (a list of years and amounts), the first column is the label."""
    unlabelled = sum(not line.cells[0].words for line in lines)
    if n_columns < 2 or unlabelled < 0.7 * len(lines):
        return lines
    for line in lines:
        line.cells[0].words += line.cells[1].words
        del line.cells[1]
    return lines
