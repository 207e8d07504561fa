"""The columns of a table: clusters of the right edges of its values, then of whatever else stands in line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepchart_dagster.contexts.words import Row, Segment

# Lengths are in heights of a row of the table.
_EDGE_GAP = 0.9
_EDGE_REACH = 1.5
_HANGING = {")": 0.35, "%": 0.85}


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


def _edge(segment: Segment, height: float) -> float:
    return segment.x1 - _HANGING.get(segment.text[-1], 0.0) * height


def columns_of(rows: Sequence[Row], height: float) -> list[Column]:
    """Clusters of right edges of values, then of whatever else stands in line, left to right."""
    values = [(segment, at) for at, row in enumerate(rows) for segment in _trailing(row)]
    clusters = _merge_alternating(_edge_clusters(values, height))
    need = _support(len({at for _, at in values}))
    columns = [column for column in clusters if len(column.rows) >= need]
    columns += [column for column in clusters if column not in columns and _stands_apart(column, columns, rows, height)]
    return sorted(columns + _text_columns(rows, columns, height), key=lambda column: column.center)


def _stands_apart(rare: Column, columns: list[Column], rows: Sequence[Row], height: float) -> bool:
    """A column with few values: they stand beside others of their row, and nothing else stands where they do."""
    if _overlaps(rare, columns):
        return False
    near = [column for column in columns if abs(column.right - rare.right) < _EDGE_REACH * height]
    others = {at for column in columns for at in column.rows}
    return not near and bool(rare.rows & others) and all(len(_trailing(rows[at])) > 1 for at in rare.rows)


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
        if nearest(segment, columns, height) is None
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


def nearest(segment: Segment, columns: list[Column], height: float) -> int | None:
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


def median(numbers: Sequence[float]) -> float:
    return sorted(numbers)[len(numbers) // 2] if numbers else 0.0
