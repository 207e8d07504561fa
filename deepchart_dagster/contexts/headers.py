"""The header rows of a table: which rows name columns, and what stands over which column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from deepchart_dagster.contexts.columns import Column
from deepchart_dagster.contexts.grid import Cell, Line
from deepchart_dagster.contexts.words import Row, Segment

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
_ENDED = re.compile(r"(?:(?:fiscal )?years?|(?:\w+ )?(?:months|weeks|quarters?)) (?:ended|ending)\b.*", re.IGNORECASE)
_UNIT = re.compile(r"\((?:(?:dollars|amounts|u\.s\.) )?in (?:thousands|millions|billions)\b.*", re.IGNORECASE)


def leading_headers(rows: Sequence[Row]) -> int:
    """How many of the first rows name columns: they hold no value but years, and stand over values."""
    left = value_area(rows)
    margin = left_margin(rows)
    count = 0
    for at, row in enumerate(rows):
        below = rows[at + 1] if at + 1 < len(rows) else None
        between = count and below and _has_names(row, left) and is_header(below, left, margin)
        if not (is_header(row, left, margin) or between):
            break
        count += 1
    return count if count < len(rows) else 0


def _has_names(row: Row, left: float) -> bool:
    """Whether it can be one of several header rows: words over the labels and over the values, and no value."""
    values = any(segment.is_value for segment in row.segments)
    return len(row.segments) > 1 and row.segments[-1].x1 > left and not values


def left_margin(rows: Sequence[Row]) -> float:
    return min((row.segments[0].x0 for row in rows), default=0.0)


def is_header(row: Row, left: float, margin: float) -> bool:
    """Whether a row names columns: years, dates or words over the values, and no other value.

    ``left`` is where the values begin, ``margin`` where the labels do.
    """
    over = [segment for segment in row.segments if segment.x1 > left]
    values = [segment for segment in row.segments if segment.is_value]
    if not over or any(not segment.is_year for segment in values):
        return False
    if values:
        return True
    first = row.segments[0]
    over_values = first.x0 >= left - 2 * row.height or stands_over(first, left, margin, row.height)
    return over_values or len(row.segments) > 2 or _names_dates(row)


def stands_over(segment: Segment, left: float, margin: float, height: float) -> bool:
    """A header may be wider than the values below it, and begins nowhere near the labels (a page's title may)."""
    reaches = segment.x1 > left - height and segment.x0 > left - 10 * height
    return (reaches or segment.center >= left - 2 * height) and segment.x0 > margin + 6 * height


def names_period(segment: Segment) -> bool:
    """A year, a month, a date or a period, and nothing else."""
    return segment.is_year or any(kind.fullmatch(segment.text) for kind in (_DATE, _MONTH, _ENDED))


def _names_dates(row: Row) -> bool:
    rest = row.segments[1:]
    return bool(rest) and all(_DATE.fullmatch(segment.text) or _PERIOD.search(segment.text) for segment in rest)


def value_area(rows: Sequence[Row]) -> float:
    """Where the values begin: the left end of the leftmost value that follows a label."""
    lefts = [segment.x0 for row in rows for segment in row.segments[1:] if segment.is_value and not segment.is_year]
    return min(lefts, default=min((row.segments[-1].x0 for row in rows if len(row.segments) > 1), default=0.0))


def header_lines(rows: Sequence[Row], columns: list[Column], margin: float, n_labels: int) -> list[Line]:
    """Spanning period phrases as rows of their own, above one row with everything else stacked.

    ``margin`` is where the labels begin.
    """
    stacked = [Cell() for _ in range(n_labels + len(columns))]
    spanning: list[tuple[list[Segment], float]] = []
    split = [[part for segment in row.segments for part in _single_dates(segment)] for row in rows]
    for at, (row, segments) in enumerate(zip(rows, split, strict=True)):
        over = segments
        if len(segments) != len(columns) or not all(_DATE.fullmatch(segment.text) for segment in segments):
            over = [segment for segment in segments if _is_over(segment, columns[0].x0, margin, row.height)]
        stacked[0].words += [word for segment in segments if segment not in over for word in segment.words]
        over = [part for segment in over for part in _by_column(segment, columns)]
        if _is_spanning(over, columns) or _spans_names(over, split[at + 1 :], columns):
            spanning.append((over, row.height))
            continue
        for nth, segment in enumerate(over):
            column = nth if len(over) == len(columns) else _column_over(segment, columns)
            stacked[n_labels + column].words += segment.words
    wide = [_with_name(column, cell) for column, cell in zip(columns, stacked[n_labels:], strict=True)]
    spans = [_span_line(over, wide, height) for over, height in spanning]
    lines = [*spans, Line(cells=stacked, header=True)]
    return [line for line in lines if any(cell.words for cell in line.cells)]


def _is_over(segment: Segment, left: float, margin: float, height: float) -> bool:
    return segment.center > left - 2 * height or stands_over(segment, left, margin, height)


def _with_name(column: Column, name: Cell) -> Column:
    """What a column takes up together with its name."""
    x0 = min((word.x0 for word in name.words), default=column.x0)
    x1 = max((word.x1 for word in name.words), default=column.x1)
    return replace(column, x0=min(column.x0, x0), x1=max(column.x1, x1))


def _single_dates(segment: Segment) -> list[Segment]:
    """Engines may give ``September 24, September 25,`` as one phrase: one segment a date."""
    starts = [at for at, word in enumerate(segment.words) if _MONTH.match(word.text)]
    if len(starts) < 2 or starts[0] != 0:
        return [segment]
    ends = [*starts[1:], len(segment.words)]
    return [Segment(segment.words[start:end]) for start, end in zip(starts, ends, strict=True)]


def _by_column(segment: Segment, columns: list[Column]) -> list[Segment]:
    """OCR may give the names of neighbouring columns as one phrase: one segment a name, where each is one word."""
    under = [column for column in columns if segment.x0 < column.center < segment.x1]
    if len(under) < 2 or len(segment.words) < 2 or _PERIOD.search(segment.text) or _UNIT.match(segment.text):
        return [segment]
    words = [Segment((word,)) for word in segment.words]
    owners = {min(range(len(columns)), key=lambda at: abs(columns[at].center - word.center)) for word in words}
    return words if len(owners) == len(words) else [segment]


def _is_spanning(over: list[Segment], columns: list[Column]) -> bool:
    """Fewer phrases than columns, each naming a period and none a single column's date."""
    if not over or len(over) >= len(columns):
        return False
    if len(over) == 1 and _UNIT.fullmatch(over[0].text):
        return True
    if any(segment.is_year or re.search(r"\b\d{4}$", segment.text) for segment in over):
        return False
    return all(_PERIOD.search(segment.text) for segment in over)


def _spans_names(over: list[Segment], below: Sequence[list[Segment]], columns: list[Column]) -> bool:
    """Years or dates, fewer than there are columns, above names of more columns than they are themselves."""
    if not over or len(over) >= len(columns) or not all(map(names_period, over)):
        return False
    named = [sum(segment.center > columns[0].x0 - 10 for segment in row) for row in below]
    dated = any(names_period(segment) for row in below for segment in row)
    return not dated and max(named, default=0) > max(len(over), 0.5 * len(columns))


def _span_line(over: list[Segment], columns: list[Column], height: float) -> Line:
    cells = [Cell()]
    owners = _owners(over, columns, height)
    for at, owner in enumerate(owners):
        if at and owner is owners[at - 1]:
            cells[-1].span += 1
        else:
            cells.append(Cell(words=list(owner.words) if owner else []))
    return Line(cells=cells, header=True)


def _owners(over: list[Segment], columns: list[Column], height: float) -> list[Segment | None]:
    """The phrase that each column stands under: the nearest, and none where that would leave it off its middle."""
    owners: list[Segment | None] = [
        min(over, key=lambda segment: abs(segment.center - column.center)) for column in columns
    ]
    for segment in over:
        own = [at for at, owner in enumerate(owners) if owner is segment]
        while len(own) > 1:
            ends = min((own[1:], own[:-1]), key=lambda part: _off(segment, part, columns))
            if _off(segment, ends, columns) + 2 * height > _off(segment, own, columns):
                break
            (lost,) = set(own) - set(ends)
            owners[lost] = None
            own = ends
    return owners


def _off(segment: Segment, part: Sequence[int], columns: list[Column]) -> float:
    return abs((columns[part[0]].x0 + columns[part[-1]].x1) / 2 - segment.center)


def _column_over(segment: Segment, columns: list[Column]) -> int:
    """The column a header cell stands over: between the right edges of its neighbours, else the nearest."""
    previous = float("-inf")
    for at, column in enumerate(columns):
        reach = column.x1 if at + 1 == len(columns) else (column.x1 + min(column.x1 + 6, columns[at + 1].x0)) / 2
        if previous < segment.center <= reach:
            return at
        previous = reach
    return min(range(len(columns)), key=lambda at: abs(columns[at].center - segment.center))


def drop_label_column(headers: list[Line]) -> list[Line]:
    """Where the first column became the label, its header names the labels."""
    for line in headers:
        if line.cells[1].span > 1:
            line.cells[1].span -= 1
            continue
        line.cells[1].words = line.cells[0].words + line.cells[1].words
        del line.cells[0]
    return headers
