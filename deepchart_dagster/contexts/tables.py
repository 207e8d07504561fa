"""Rows of words -> tables whose rows are whole: label, then one cell a column, headers over their columns.

Values line up at their right edges (closing brackets and percent signs hang over); columns are the
clusters of these edges. A header cell belongs to the column it stands over; a phrase that names a period
("Years ended …") spans the columns nearest to it. Nothing is dropped: what fits no column stays with the
label or is added to the nearest cell.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from deepchart_dagster.contexts.words import Row, Segment, Word

# Lengths are in heights of a row of the table.
_EDGE_GAP = 0.9
_EDGE_REACH = 1.5
_HANGING = {")": 0.35, "%": 0.85}
_PERIOD = re.compile(
    r"\b(ended|ending|fiscal|years?|months?|quarters?|weeks?|as of|at|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?"
    r"|dec(ember)?)\.?$",
    re.IGNORECASE,
)
_DATE = re.compile(r"[A-Za-z]{3,9}\.? ?\d{1,2},? ?(?:\d{4})?|(?:FY ?)?\d{4}")


@dataclass
class Column:
    """``right`` is where its values end; ``x0`` to ``x1`` is what it takes up."""

    right: float
    x0: float
    x1: float
    rows: set[int]

    @property
    def center(self) -> float:
        return (self.x0 + self.x1) / 2


@dataclass
class Cell:
    words: list[Word] = field(default_factory=list)
    span: int = 1

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


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


def build_table(rows: Sequence[Row]) -> Table | None:
    """The table that ``rows`` make up, or None where they have no columns."""
    n_header = leading_headers(rows)
    body = rows[n_header:]
    height = _median([row.height for row in rows])
    columns = _columns(body, height)
    if not columns or not body:
        return None
    lines = [_body_line(row, columns, height) for row in body]
    lines = _join_wrapped(lines, body, height)
    lines = _label_from_first_column(lines, len(columns))
    headers = _header_lines(rows[:n_header], columns, n_labels=1)
    if lines and len(lines[0].cells) == len(columns):  # the first column became the label
        headers = _drop_label_column(headers)
    return Table(lines=tuple(headers + lines))


# Header rows


def leading_headers(rows: Sequence[Row]) -> int:
    """How many of the first rows name columns: they hold no value but years, and stand over values."""
    left = value_area(rows)
    count = 0
    for row in rows:
        if not is_header(row, left):
            break
        count += 1
    return count if count < len(rows) else 0


def is_header(row: Row, left: float) -> bool:
    """Whether a row names columns: years, dates or words over the value area, and no other value."""
    over = [segment for segment in row.segments if segment.x1 > left]
    values = [segment for segment in row.segments if segment.is_value]
    if not over or any(not segment.is_year for segment in values):
        return False
    if values:
        return True
    first = row.segments[0]
    return first.x0 >= left - 2 * row.height or len(row.segments) > 2 or _names_dates(row)


def _names_dates(row: Row) -> bool:
    rest = row.segments[1:]
    return bool(rest) and all(_DATE.fullmatch(segment.text) or _PERIOD.search(segment.text) for segment in rest)


def value_area(rows: Sequence[Row]) -> float:
    """Where the values begin: the left end of the leftmost value that follows a label."""
    lefts = [segment.x0 for row in rows for segment in row.segments[1:] if segment.is_value and not segment.is_year]
    return min(lefts, default=min((row.segments[-1].x0 for row in rows if len(row.segments) > 1), default=0.0))


def _header_lines(rows: Sequence[Row], columns: list[Column], n_labels: int) -> list[Line]:
    """Spanning period phrases as rows of their own, above one row with everything else stacked."""
    spans: list[Line] = []
    stacked = [Cell() for _ in range(n_labels + len(columns))]
    for row in rows:
        segments = [part for segment in row.segments for part in _single_dates(segment)]
        over = [segment for segment in segments if segment.center > columns[0].x0 - 2 * row.height]
        stacked[0].words += [word for segment in segments if segment not in over for word in segment.words]
        if _is_spanning(over, columns):
            spans.append(_span_line(over, columns))
            continue
        for segment in over:
            stacked[n_labels + _column_over(segment, columns)].words += segment.words
    lines = [*spans, Line(cells=stacked, header=True)]
    return [line for line in lines if any(cell.words for cell in line.cells)]


def _single_dates(segment: Segment) -> list[Segment]:
    """Engines may give ``September 24, September 25,`` as one phrase: one segment a date."""
    starts = [at for at, word in enumerate(segment.words) if _MONTH.match(word.text)]
    if len(starts) < 2 or starts[0] != 0:
        return [segment]
    ends = [*starts[1:], len(segment.words)]
    return [Segment(segment.words[start:end]) for start, end in zip(starts, ends, strict=True)]


def _is_spanning(over: list[Segment], columns: list[Column]) -> bool:
    """Fewer phrases than columns, each naming a period and none a single column's date."""
    if not over or len(over) >= len(columns):
        return False
    if any(segment.is_year or re.search(r"\b\d{4}$", segment.text) for segment in over):
        return False
    return all(_PERIOD.search(segment.text) for segment in over)


def _span_line(over: list[Segment], columns: list[Column]) -> Line:
    cells = [Cell()]
    owners = [min(over, key=lambda segment: abs(segment.center - column.center)) for column in columns]
    for at, owner in enumerate(owners):
        if at and owner is owners[at - 1]:
            cells[-1].span += 1
        else:
            cells.append(Cell(words=list(owner.words)))
    return Line(cells=cells, header=True)


def _column_over(segment: Segment, columns: list[Column]) -> int:
    """The column a header cell stands over: between the right edges of its neighbours, else the nearest."""
    previous = float("-inf")
    for at, column in enumerate(columns):
        reach = column.x1 if at + 1 == len(columns) else (column.x1 + min(column.x1 + 6, columns[at + 1].x0)) / 2
        if previous < segment.center <= reach:
            return at
        previous = reach
    return min(range(len(columns)), key=lambda at: abs(columns[at].center - segment.center))


def _drop_label_column(headers: list[Line]) -> list[Line]:
    """Where the first column became the label, its header names the labels."""
    for line in headers:
        if line.cells[1].span > 1:
            line.cells[1].span -= 1
            continue
        line.cells[1].words = line.cells[0].words + line.cells[1].words
        del line.cells[0]
    return headers


# Columns


def _edge(segment: Segment, height: float) -> float:
    return segment.x1 - _HANGING.get(segment.text[-1], 0.0) * height


def _columns(rows: Sequence[Row], height: float) -> list[Column]:
    """Clusters of right edges of values, then of whatever else stands in line, left to right."""
    values = [(segment, at) for at, row in enumerate(rows) for segment in _trailing(row)]
    columns = _merge_alternating(_edge_clusters(values, height))
    need = _support(len({at for _, at in values}))
    columns = [column for column in columns if len(column.rows) >= need]
    return sorted(columns + _text_columns(rows, columns, height), key=lambda column: column.center)


def _support(n_rows: int) -> float:
    return 1 if n_rows <= 3 else max(2.0, 0.08 * n_rows)


def _trailing(row: Row) -> list[Segment]:
    """Values at the end of a row, which is where columns are seen best."""
    run: list[Segment] = []
    for segment in reversed(row.segments):
        if not segment.is_value:
            break
        run.append(segment)
    return run[::-1]


def _edge_clusters(values: list[tuple[Segment, int]], height: float) -> list[Column]:
    clusters: list[list[tuple[Segment, int]]] = []
    last = float("-inf")
    for segment, at in sorted(values, key=lambda pair: _edge(pair[0], height)):
        edge = _edge(segment, height)
        if edge - last < _EDGE_GAP * height:
            clusters[-1].append((segment, at))
        else:
            clusters.append([(segment, at)])
        last = edge
    return [_column(cluster, height) for cluster in clusters]


def _column(cluster: list[tuple[Segment, int]], height: float) -> Column:
    return Column(
        right=sum(_edge(segment, height) for segment, _ in cluster) / len(cluster),
        x0=min(segment.x0 for segment, _ in cluster),
        x1=max(segment.x1 for segment, _ in cluster),
        rows={at for _, at in cluster},
    )


def _merge_alternating(columns: list[Column]) -> list[Column]:
    """Clusters that overlap and never meet in a row are one centred column."""
    merged: list[Column] = []
    for column in columns:
        before = merged[-1] if merged else None
        if before and column.x0 < before.x1 and not column.rows & before.rows:
            weight = len(before.rows) + len(column.rows)
            before.right = (before.right * len(before.rows) + column.right * len(column.rows)) / weight
            before.x0, before.x1 = min(before.x0, column.x0), max(before.x1, column.x1)
            before.rows |= column.rows
        else:
            merged.append(column)
    return merged


def _text_columns(rows: Sequence[Row], columns: list[Column], height: float) -> list[Column]:
    """Columns of words: segments behind the label that stand under one another and over no value column."""
    loose = [
        (segment, at)
        for at, row in enumerate(rows)
        for segment in row.segments[1:]
        if _nearest(segment, columns, height) is None
    ]
    found: list[Column] = []
    for segment, at in sorted(loose, key=lambda pair: pair[0].x0):
        if found and segment.x0 < found[-1].x1:
            found[-1].x1 = max(found[-1].x1, segment.x1)
            found[-1].rows.add(at)
        else:
            found.append(Column(right=segment.x1, x0=segment.x0, x1=segment.x1, rows={at}))
    need = max(2.0, 0.2 * len(rows))
    return [column for column in found if len(column.rows) >= need and not _overlaps(column, columns)]


def _overlaps(column: Column, others: list[Column]) -> bool:
    return any(column.x0 < other.x1 and other.x0 < column.x1 for other in others)


def _nearest(segment: Segment, columns: list[Column], height: float) -> int | None:
    """The column whose right edge a value ends at, or whose extent a segment stands in; None for neither."""
    if not columns:
        return None
    if segment.is_value:
        edge = _edge(segment, height)
        best = min(range(len(columns)), key=lambda at: abs(columns[at].right - edge))
        if abs(columns[best].right - edge) < _EDGE_REACH * height:
            return best
    for at, column in enumerate(columns):
        if min(segment.x1, column.x1) - max(segment.x0, column.x0) > 0.5 * min(
            segment.x1 - segment.x0, column.x1 - column.x0
        ):
            return at
    return None


# Body rows


def _body_line(row: Row, columns: list[Column], height: float) -> Line:
    cells = [Cell() for _ in range(len(columns) + 1)]
    for at, segment in enumerate(row.segments):
        column = _nearest(segment, columns, height)
        if at == 0 and not segment.is_value and (column is None or segment.x0 < columns[0].x0 - height):
            column = None
        elif column is None and segment.x0 > columns[0].x1:
            column = min(range(len(columns)), key=lambda k: abs(columns[k].center - segment.center))
        cells[0 if column is None else column + 1].words += segment.words
    return Line(cells=cells)


def _join_wrapped(lines: list[Line], rows: Sequence[Row], height: float) -> list[Line]:
    """Labels over several rows of the page become one: the row with values carries the whole label."""
    pitches = [below.y0 - above.y0 for above, below in itertools.pairwise(rows)]
    tight = min(1.45 * height, 0.85 * _median(pitches)) if pitches else 0.0
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
        else:
            joined.append(line)
    return joined


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


def _median(numbers: Sequence[float]) -> float:
    return sorted(numbers)[len(numbers) // 2] if numbers else 0.0
