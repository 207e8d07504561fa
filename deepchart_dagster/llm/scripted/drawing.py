"""What a chart shows, as a judge would name it: panels, marks, and series.

A scripted judge sees a chart only through this view of its drawn data. A *series* is named values at named
places: a bar at a category, a point of a line at its x, a slice of a pie.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, zip_longest

from pydantic import JsonValue

from deepchart_dagster.benchmark.drawn import (
    Area,
    Axes,
    AxisName,
    Bars,
    Boxes,
    Figure,
    Heatmap,
    Line,
    Mark,
    Pie,
    Place,
    Scatter,
    Segments,
    Tick,
    known,
    label_of,
    pieces,
)
from deepchart_dagster.benchmark.numbers import narrow_number

_SAME_BOX = 0.01
_TELLS_TICKS = "matplotlib"
_AXES: tuple[AxisName, ...] = ("horizontal", "vertical")
_EVEN_SCALES = ("linear", "category")


@dataclass(frozen=True)
class Series:
    """Finite values at named places, in drawn order; ``names`` are unique once normalised.

    ``axes`` numbers the axes it is drawn on: values on different ones cannot be compared by eye. ``pixel`` is what one
    pixel is worth there: values that differ by less look the same. 0 where that is unknown.
    """

    name: str
    kind: str
    axes: int
    names: tuple[str, ...]
    values: tuple[float, ...]
    pixel: float = 0.0

    @cached_property
    def by_name(self) -> dict[str, float]:
        return {same(name): value for name, value in zip(self.names, self.values, strict=True)}

    def exceeds(self, larger: float, smaller: float) -> bool:
        """Whether one value is seen to be above another of this series."""
        return larger > smaller and larger - smaller >= self.pixel


@dataclass(frozen=True)
class Cell:
    row: str
    column: str
    value: float


@dataclass(frozen=True)
class Cloud:
    """The points of one numeric scatter."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def same(text: str) -> str:
    """What two labels have in common when they say the same: one line, case, minus signs, 2020.0 as 2020."""
    plain = one_line(text).casefold().replace("\N{MINUS SIGN}", "-")
    return plain.partition(".")[0] if re.fullmatch(r"-?\d+\.0+", plain) else plain


def one_line(text: str) -> str:
    """``text`` as it can stand in a question: white space collapsed, curly quotes made straight."""
    return " ".join(text.replace("“", '"').replace("”", '"').split())


def read_drawing(drawn: JsonValue) -> Drawing | None:
    """None where ``drawn`` is not in the format."""
    document = known(drawn)
    return None if document is None else Drawing(document.saved, tells_ticks=document.library == _TELLS_TICKS)


@dataclass(frozen=True)
class Drawing:
    """One chart. ``tells_ticks``: tick labels that are not there are not in the picture; pages tell few of theirs."""

    figure: Figure
    tells_ticks: bool = True

    @cached_property
    def axes(self) -> tuple[Axes, ...]:
        """Axes that hold marks; scales of colours are none."""
        return tuple(axes for axes in self.figure.axes if axes.marks and not axes.is_colorbar)

    @cached_property
    def panels(self) -> int:
        """Places where something is drawn; two axes over each other (twin axes) are one."""
        boxes: list[list[float | None]] = []
        for axes in self.axes:
            if not any(_close(axes.box, box) for box in boxes):
                boxes.append(axes.box)
        return len(boxes)

    @cached_property
    def is_circular(self) -> bool:
        """Whether places stand around a circle: nothing is left or right, above or below."""
        return any(axes.projection == "polar" for axes in self.axes)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for axes in self.axes for mark in axes.marks)

    def of_type(self, kind: str) -> tuple[Mark, ...]:
        """The marks of one kind that have at least one piece."""
        return tuple(mark for mark in self.marks if kind_of(mark) == kind and pieces(mark))

    def count(self, kind: str) -> int:
        """How many bars, points, slices … of one kind are seen; a bar of less than a pixel is not."""
        return sum(self._pieces(mark, axes) for axes in self.axes for mark in axes.marks if kind_of(mark) == kind)

    def _pieces(self, mark: Mark, axes: Axes) -> int:
        if not isinstance(mark, Bars):
            return pieces(mark)
        pixel = self.pixel(axes, mark.value_axis)
        return sum(value is not None and value != 0 and abs(value) >= pixel for value in mark.values)

    def length(self, axes: Axes, axis: AxisName) -> float:
        """Of a straight axis with even steps, in pixels; 0 where that is unknown. Around a circle, the vertical axis
        runs from the centre outwards."""
        width, height = (
            abs(size * share) if size and share else 0.0
            for size, share in ((self.figure.width_px, axes.box[2]), (self.figure.height_px, axes.box[3]))
        )
        scale, length = (axes.xscale, width) if axis == "horizontal" else (axes.yscale, height)
        if scale not in _EVEN_SCALES:
            return 0.0
        if axes.projection == "polar":
            return min(width, height) / 2 if axis == "vertical" else 0.0
        return length if axes.projection == "rectilinear" else 0.0

    def pixel(self, axes: Axes, axis: AxisName) -> float:
        """What one pixel along an axis is worth; 0 where that is unknown."""
        limits, length = axes.limits(axis), self.length(axes, axis)
        return abs(limits[1] - limits[0]) / length if limits and length else 0.0

    @cached_property
    def legend_labels(self) -> tuple[str, ...]:
        legends = [*(axes.legend for axes in self.figure.axes if axes.legend), *self.figure.legends]
        labels = [entry.label for legend in legends for entry in legend.entries if one_line(entry.label)]
        return tuple(dict.fromkeys(labels))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        return tuple(text for text in (self.figure.title, *(axes.title for axes in self.axes)) if one_line(text))

    @cached_property
    def series(self) -> tuple[Series, ...]:
        return tuple(
            replace(series, name=self._seen(series.name), axes=number, pixel=self._step(mark, axes))
            for number, axes in enumerate(self.axes)
            for mark in axes.marks
            if self.tells_places(mark, axes)
            for series in _series_of(mark, axes)
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for mark in self.marks if isinstance(mark, Heatmap) for cell in _cells(mark))

    @cached_property
    def clouds(self) -> tuple[Cloud, ...]:
        found = [(mark, axes) for axes in self.axes for mark in axes.marks if isinstance(mark, Scatter)]
        clouds = [cloud for mark, axes in found if (cloud := _cloud(mark, axes)) is not None]
        return tuple(replace(cloud, name=self._seen(cloud.name)) for cloud in clouds)

    def tells_places(self, mark: Mark, axes: Axes) -> bool:
        """Whether a reader can tell where the bars or points of ``mark`` stand: not without labels along their axis."""
        axis = _place_axis(mark, axes)
        if not self.tells_ticks or axis is None or axis in self._labelled_axes:
            return True
        return isinstance(mark, Bars) and any(
            one_line(name) and not _is_position(name, at)
            for name, at in zip(mark.categories, mark.positions, strict=False)
        )

    @cached_property
    def _labelled_axes(self) -> frozenset[AxisName]:
        """Of all panels: they may share the labels of one."""
        return frozenset(
            axis for axes in self.axes for axis in _AXES if any(one_line(tick.label) for tick in axes.ticks(axis))
        )

    def _step(self, mark: Mark, axes: Axes) -> float:
        axis = _value_axis(mark, axes)
        return self.pixel(axes, axis) if axis else 0.0

    def _seen(self, name: str) -> str:
        """The name where the chart says it: a mark keeps its label when the legend is gone."""
        return name if same(name) in self._words else ""

    @cached_property
    def _words(self) -> frozenset[str]:
        """What stands in legends, titles, at axes, and in the chart."""
        titles = [self.figure.title, *(text for axes in self.axes for text in (axes.title, axes.xlabel, axes.ylabel))]
        texts = [*self.figure.texts, *(item.text for axes in self.axes for item in axes.texts)]
        return frozenset(map(same, (*self.legend_labels, *titles, *texts)))

    def named(self, name: str | None) -> tuple[Series, ...]:
        """The series of that name; None: all of them."""
        return tuple(series for series in self.series if name is None or same(series.name) == same(name))


def _close(left: Sequence[float | None], right: Sequence[float | None]) -> bool:
    sides = zip(left, right, strict=True)
    return all(a is not None and b is not None and abs(a - b) <= _SAME_BOX for a, b in sides)


def kind_of(mark: Mark) -> str:
    """The mark's type; lines that run across their axes (axhline, axvline) are ``rules`` and connect nothing."""
    if isinstance(mark, Segments) and mark.segments and all(map(_is_rule, mark.segments)):
        return "rules"
    return mark.type


def _is_rule(segment: Sequence[Sequence[Place]]) -> bool:
    return any(all(end[number] is None for end in segment) for number in (0, 1))


def _value_axis(mark: Mark, axes: Axes) -> AxisName | None:
    """The straight axis on which the values of a series stand; None where they stand on none, or it is not known."""
    match mark:
        case Bars():
            return mark.value_axis
        case Line() | Scatter():
            return "horizontal" if _category_axis(mark, axes) == "vertical" else "vertical"
        case Area():
            return "vertical"
        case _:
            return None


def _place_axis(mark: Mark, axes: Axes) -> AxisName | None:
    """The axis along which the bars or points of a series stand; None where there is none."""
    match _value_axis(mark, axes):
        case "vertical":
            return "horizontal"
        case "horizontal":
            return "vertical"
        case _:
            return None


def _series_of(mark: Mark, axes: Axes) -> list[Series]:
    name = series_name(mark, axes)
    match mark:
        case Bars():
            return _series(name, mark.type, bar_names(mark, axes), mark.values)
        case Line():
            return _points(name, mark, axes)
        case Scatter():
            return [] if _category_axis(mark, axes) is None else _points(name, mark, axes)
        case Pie():
            return _series(name, mark.type, mark.labels, mark.fractions)
        case Boxes():
            return _series(name, mark.type, mark.labels, mark.medians)
        case Area():
            return _series(name, mark.type, [place_name(x, axes.xticks) for x in mark.x], _spans(mark))
        case _:
            return []


def _spans(mark: Area) -> list[float | None]:
    ends = zip(mark.low, mark.high, strict=False)
    return [high - low if isinstance(low, float) and isinstance(high, float) else None for low, high in ends]


def bar_names(mark: Bars, axes: Axes) -> list[str]:
    """A name for each bar: its category, or the label of the tick it stands at.

    Bars of a group stand beside their tick: where its labels are words, or several series share the axes, the
    nearest tick names them.
    """
    ticks = axes.ticks(mark.category_axis)
    grouped = sum(isinstance(other, Bars) for other in axes.marks) > 1
    beside = grouped or any(one_line(tick.label) and _number(tick.label) is None for tick in ticks)
    names = []
    for category, position in zip_longest(mark.categories, mark.positions, fillvalue=None):
        own = category if isinstance(category, str) else ""
        if one_line(own) and not _is_position(own, position):
            names.append(own)
        else:
            names.append((beside and _nearest_label(position, ticks)) or place_name(position, ticks))
    return names


def _is_position(category: str, position: float | str | None) -> bool:
    """Whether a category is no more than the number at which the bar stands."""
    return isinstance(position, float) and _number(category) == position


def _nearest_label(position: float | str | None, ticks: Sequence[Tick]) -> str:
    """The label of the nearest tick, "" where the bar stands half-way to the next one or further."""
    places = sorted({tick.at for tick in ticks if isinstance(tick.at, float)})
    reach = min((after - before for before, after in pairwise(places)), default=1.0) / 2
    near = [
        (abs(tick.at - position), tick.label)
        for tick in ticks
        if isinstance(tick.at, float) and isinstance(position, float) and abs(tick.at - position) < reach
    ]
    return min(near)[1] if near else ""


def series_name(mark: Mark, axes: Axes) -> str:
    """Its label, or the legend entry of its colour (hues of seaborn carry no label of their own)."""
    label, color = label_of(mark), getattr(mark, "color", None)
    if one_line(label) or color is None or axes.legend is None:
        return label
    entries = [entry.label for entry in axes.legend.entries if entry.color == color]
    return entries[0] if len(entries) == 1 else ""


def _points(name: str, mark: Line | Scatter, axes: Axes) -> list[Series]:
    """Values of a line or of points whose one axis names places (a dumbbell's names stand on the vertical one)."""
    if _category_axis(mark, axes) == "vertical":
        places, values, ticks = mark.y, mark.x, axes.yticks
    else:
        places, values, ticks = mark.x, mark.y, axes.xticks
    numbers = [value if isinstance(value, float) else None for value in values]
    return _series(name, mark.type, [place_name(place, ticks) for place in places], numbers)


def _category_axis(mark: Line | Scatter, axes: Axes) -> AxisName | None:
    """The axis on which every point stands at a place that is named in words; None where neither is."""
    if mark.x and all(_is_word(place, axes.xticks) for place in mark.x):
        return "horizontal"
    if mark.y and all(_is_word(place, axes.yticks) for place in mark.y):
        return "vertical"
    return None


def _is_word(place: float | str | None, ticks: Iterable[Tick]) -> bool:
    name = place_name(place, ticks)
    return bool(name) and _number(name) is None


def _number(text: str) -> float | None:
    return narrow_number(same(text))


def place_name(place: float | str | None, ticks: Iterable[Tick]) -> str:
    """The label of the tick at ``place``, or the place itself as text; "" for no place.

    A label that says no more than the number (2019.00) gives way to the number as it is written.
    """
    if place is None:
        return ""
    plain = place if isinstance(place, str) else f"{place:.10g}"
    labels = [tick.label for tick in ticks if one_line(tick.label) and _same_place(tick.at, place)]
    return labels[0] if labels and _number(labels[0]) != place else plain


def _same_place(left: float | str | None, right: float | str) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


def _series(name: str, kind: str, places: Sequence[str], values: Sequence[float | None]) -> list[Series]:
    """At most one series: places without a name or that come twice are left out, they could not be told apart."""
    pairs = [(place, value) for place, value in zip(places, values, strict=False) if value is not None and same(place)]
    counts = Counter(same(place) for place, _ in pairs)
    unique = [(place, value) for place, value in pairs if counts[same(place)] == 1]
    if not unique:
        return []
    return [Series(name, kind, 0, tuple(place for place, _ in unique), tuple(value for _, value in unique))]


def _cells(mark: Heatmap) -> list[Cell]:
    rows, columns = Counter(map(same, mark.rows)), Counter(map(same, mark.columns))
    return [
        Cell(row, column, value)
        for row, line in zip(mark.rows, mark.values, strict=False)
        for column, value in zip(mark.columns, line, strict=False)
        if value is not None and same(row) and same(column) and rows[same(row)] == columns[same(column)] == 1
    ]


def _cloud(mark: Scatter, axes: Axes) -> Cloud | None:
    if _category_axis(mark, axes) is not None:
        return None
    points = [(x, y) for x, y in zip(mark.x, mark.y, strict=False) if isinstance(x, float) and isinstance(y, float)]
    if not points:
        return None
    return Cloud(series_name(mark, axes), tuple(x for x, _ in points), tuple(y for _, y in points))
