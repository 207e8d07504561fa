"""The numbers that a chart shows, from what it draws (benchmark.drawn): as data, and in other ways.

Data are the values of bars, points, cells, slices, nodes …, and the places of points on axes of numbers. A series that
is drawn twice (a line and its markers) counts once. Other ways to show a number are the ends and the length of an error
bar, the slope and intercept of a straight line, the total of a stack, the length of a segment, and numbers that are
written: at ticks, in legends, labels and titles.

Straight lines without markers, curves of many points, bands, boxes and violins are mostly computed while drawing: what
they show counts where it is looked for, and is no data to account for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepchart_dagster.benchmark.drawn import (
    Area,
    Axes,
    AxisName,
    Bars,
    Boxes,
    Candles,
    ErrorBars,
    Figure,
    Flows,
    Heatmap,
    Line,
    Mark,
    Named,
    Pie,
    Scatter,
    Segments,
    Tree,
    Violins,
)
from deepchart_dagster.benchmark.numbers import narrow_number
from deepchart_dagster.contexts.written import WrittenNumber, written_numbers

# More points than data have: a curve that was computed.
_CURVE_POINTS = 60
_STRAIGHT = 1e-6
_MANY = 100


@dataclass(frozen=True)
class Series:
    """The data of one mark. ``is_share``: only proportions are known (a pie). ``is_aid``: nothing to account for."""

    name: str
    values: tuple[float, ...]
    is_share: bool = False
    is_aid: bool = False


@dataclass(frozen=True)
class Shown:
    """Everything that a figure shows."""

    series: tuple[Series, ...]
    forms: tuple[float, ...]
    written: tuple[WrittenNumber, ...]

    @classmethod
    def of(cls, figure: Figure) -> Shown:
        panels = [axes for axes in figure.axes if not axes.is_colorbar]
        series = [one for axes in panels for mark in axes.marks for one in _series(mark, axes) if one.values]
        series.sort(key=lambda one: one.is_aid)
        return cls(
            series=tuple({(one.values, one.is_share): one for one in reversed(series)}.values()),
            forms=tuple(form for axes in panels for form in _forms(axes)),
            written=tuple(number for text in _texts(figure) for number in written_numbers(text)),
        )

    @property
    def data(self) -> tuple[Series, ...]:
        """What is to be accounted for; where a chart draws nothing but aids, these."""
        return tuple(one for one in self.series if not one.is_aid) or self.series


def _series(mark: Mark, axes: Axes) -> Iterator[Series]:
    match mark:
        case Bars() | Flows() | Tree() | Named():
            yield Series(mark.label, _numbers(mark.values))
        case Candles():
            for values in (mark.open, mark.high, mark.low, mark.close):
                yield Series(mark.label, _numbers(values))
        case Line() | Scatter():
            is_aid = isinstance(mark, Line) and _is_aid(mark)
            if _has_numbers(axes, "vertical"):
                yield Series(mark.label, _numbers(mark.y), is_aid=is_aid)
            if _has_numbers(axes, "horizontal"):
                yield Series(mark.label, _numbers(mark.x), is_aid=is_aid)
        case Heatmap():
            yield Series(mark.label, _numbers(value for row in mark.values for value in row))
        case Pie():
            yield Series(" / ".join(mark.labels[:3]), _numbers(mark.fractions), is_share=True)
        case ErrorBars():
            yield Series(mark.label, _numbers(mark.centers), is_aid=True)
        case Area():
            yield Series(mark.label, _numbers([*mark.low, *mark.high]), is_aid=True)
        case Boxes():
            for values in (mark.medians, mark.q1, mark.q3, mark.low, mark.high):
                yield Series(" / ".join(mark.labels[:3]), _numbers(values), is_aid=True)
        case Violins():
            for values in (mark.medians, mark.low, mark.high):
                yield Series(mark.label, _numbers(values), is_aid=True)


def _numbers(places: Iterable[float | str | None]) -> tuple[float, ...]:
    return tuple(place for place in places if isinstance(place, float) and math.isfinite(place))


def _has_numbers(axes: Axes, axis: AxisName) -> bool:
    """Whether places on the axis are values: no names stand along it, and no years that are set side by side."""
    if (axes.xscale if axis == "horizontal" else axes.yscale) == "log":
        return True
    ticks = [(tick.at, narrow_number(tick.label.replace("−", "-"))) for tick in axes.ticks(axis) if tick.label.strip()]
    return not ticks or any(isinstance(at, float) and at == number for at, number in ticks)


def _is_aid(line: Line) -> bool:
    return not line.marker and (len(line.x) >= _CURVE_POINTS or _straight(line) is not None)


def _straight(line: Line) -> tuple[float, float] | None:
    """Slope and intercept of a straight line; None for any other, and for one that is upright."""
    points = [(x, y) for x, y in zip(line.x, line.y, strict=False) if isinstance(x, float) and isinstance(y, float)]
    if len(points) < 2 or len(points) < len(line.x):
        return None
    (x0, y0), (x1, y1) = points[0], points[-1]
    if x0 == x1:
        return None
    slope = (y1 - y0) / (x1 - x0)
    reach = _STRAIGHT * max(abs(y0), abs(y1), abs(y1 - y0))
    is_straight = all(abs(y0 + slope * (x - x0) - y) <= reach for x, y in points)
    return (slope, y0 - slope * x0) if is_straight else None


def _forms(axes: Axes) -> Iterator[float]:
    for mark in axes.marks:
        match mark:
            case ErrorBars():
                for center, low, high in zip(mark.centers, mark.low, mark.high, strict=False):
                    yield from _spans(center, high)
                    yield from _spans(low, center)
                    yield from _numbers([low, high])
            case Line():
                straight = _straight(mark)
                yield from straight or ()
            case Bars():
                yield from (
                    value + base
                    for value, base in zip(mark.values, mark.bases, strict=False)
                    if isinstance(value, float) and isinstance(base, float) and base
                )
            case Area():
                for low, high in zip(mark.low, mark.high, strict=False):
                    yield from _spans(low, high)
            case Segments():
                for (x0, y0), (x1, y1) in mark.segments:
                    yield from _spans(x0, x1)
                    yield from _spans(y0, y1)
            case Boxes():
                for low, high in zip(mark.q1, mark.q3, strict=False):
                    yield from _spans(low, high)
    yield from _distances(axes)


def _spans(one: float | str | None, other: float | str | None) -> Iterator[float]:
    """The way from one place to another, in both directions."""
    if isinstance(one, float) and isinstance(other, float):
        yield other - one
        yield one - other


def _distances(axes: Axes) -> Iterator[float]:
    """Between the points of two clouds that lie side by side: a dumbbell chart shows a difference by them."""
    clouds = [mark for mark in axes.marks if isinstance(mark, Scatter) and len(mark.x) <= _MANY]
    for first, second in pairwise(clouds):
        if len(first.x) == len(second.x):
            for places in zip((*first.x, *first.y), (*second.x, *second.y), strict=True):
                yield from _spans(*places)


def _texts(figure: Figure) -> Iterator[str]:
    yield from (figure.title, *figure.texts)
    yield from (entry.label for legend in figure.legends for entry in legend.entries)
    for axes in figure.axes:
        yield from (axes.title, axes.xlabel, axes.ylabel)
        yield from (tick.label for tick in (*axes.xticks, *axes.yticks))
        yield from (placed.text for placed in axes.texts)
        yield from (entry.label for entry in (axes.legend.entries if axes.legend else ()))
        yield from (text for mark in axes.marks for text in _names(mark))


def _names(mark: Mark) -> Sequence[str]:
    match mark:
        case Bars():
            return (mark.label, *mark.categories)
        case Pie() | Boxes():
            return mark.labels
        case Heatmap():
            return (mark.label, *mark.rows, *mark.columns)
        case Tree() | Violins():
            return (mark.label, *mark.labels)
        case Named():
            return (mark.label, *mark.names)
        case Line() | Scatter():
            return (mark.label, *(place for place in (*mark.x, *mark.y) if isinstance(place, str)))
        case _:
            return (mark.label,)
