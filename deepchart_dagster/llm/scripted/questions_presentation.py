"""Questions of presentation quality: what a reader needs in order to read the chart is there and in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from deepchart_dagster.benchmark.drawn import Axes, AxisName, Bars, Heatmap, Line, Pie, Scatter, pieces, values_of
from deepchart_dagster.llm.scripted.drawing import Drawing, bar_names, one_line, same
from deepchart_dagster.llm.scripted.forms import LABEL, NUMBER, Form, choice

AXIS = choice({"horizontal": "horizontal", "vertical": "vertical"})
_UNIT = re.compile(r"\(([^()]+)\)\s*$")
_NOTE = re.compile(r"[=:;]")
_EDGE = 1e-6  # of an axis' length: a mark that ends on the edge is inside
_WHOLE = 1e-3
_LINE_PX = 8.0
_FEWEST_POINTS = 3  # a line of two may be a rule across the axes, whose ends are no data


@dataclass(frozen=True)
class HasTitle(Form):
    text = "Does the chart have a title?"

    def holds(self, drawing: Drawing) -> bool:
        return bool(drawing.titles)


@dataclass(frozen=True)
class AxisLabelled(Form):
    text = "Does the {axis} axis have a label that says what it shows?"
    slots: ClassVar = {"axis": AXIS}
    axis: AxisName

    def holds(self, drawing: Drawing) -> bool:
        return any(one_line(axes.axis_label(self.axis)) for axes in drawing.axes)


@dataclass(frozen=True)
class UnitNamed(Form):
    text = "Is {unit} named as the unit of the {axis} axis?"
    slots: ClassVar = {"unit": LABEL, "axis": AXIS}
    unit: str
    axis: AxisName

    def holds(self, drawing: Drawing) -> bool:
        named = any(same(self.unit) in same(axes.axis_label(self.axis)) for axes in drawing.axes)
        return named and _NOTE.search(self.unit) is None


def unit_of(label: str) -> str | None:
    """The unit in brackets at the end of an axis label: ``Revenue (US$ millions)``, and no note (``1 = largest``)."""
    match = _UNIT.search(one_line(label))
    unit = match.group(1).strip() if match else ""
    return unit if unit and _NOTE.search(unit) is None else None


@dataclass(frozen=True)
class LegendNames(Form):
    text = "Does a legend name {label}?"
    slots: ClassVar = {"label": LABEL}
    label: str

    def holds(self, drawing: Drawing) -> bool:
        return same(self.label) in {same(label) for label in drawing.legend_labels}


@dataclass(frozen=True)
class LegendCount(Form):
    text = "Is the number of different entries of the legend exactly {count}?"
    slots: ClassVar = {"count": NUMBER}
    count: int

    def holds(self, drawing: Drawing) -> bool:
        return self.count > 0 and len(drawing.legend_labels) == self.count


@dataclass(frozen=True)
class ColoursDiffer(Form):
    text = "Can all series be told apart by their colours?"

    def holds(self, drawing: Drawing) -> bool:
        colours = [mark.color for mark in drawing.marks if isinstance(mark, Bars | Line) and pieces(mark)]
        return len(colours) > 1 and None not in colours and len(set(colours)) == len(colours)


@dataclass(frozen=True)
class TicksLabelled(Form):
    text = "Does the {axis} axis have at least two labelled ticks, all labelled differently?"
    slots: ClassVar = {"axis": AXIS}
    axis: AxisName

    def holds(self, drawing: Drawing) -> bool:
        shown = [axes for axes in drawing.axes if _tick_labels(axes, self.axis)]
        return bool(shown) and all(_can_be_read(axes, self.axis, drawing) for axes in shown)


def _tick_labels(axes: Axes, axis: AxisName) -> list[str]:
    return [label for tick in axes.ticks(axis) if (label := one_line(tick.label))]


def _can_be_read(axes: Axes, axis: AxisName, drawing: Drawing) -> bool:
    """Whether a reader can tell places of the axis apart: two labels or more, all different, none on another."""
    labels = _tick_labels(axes, axis)
    return len(set(labels)) == len(labels) > 1 and _stand_apart(_label_places(axes, axis, drawing))


def _stand_apart(places: list[float]) -> bool:
    return all(after - before >= _LINE_PX for before, after in pairwise(places))


@dataclass(frozen=True)
class LabelsApart(Form):
    """Ticks whose labels are nearer than a line of small type is high overlap, however the labels are turned."""

    text = "Do the tick labels of the {axis} axis stand clear of one another?"
    slots: ClassVar = {"axis": AXIS}
    axis: AxisName

    def holds(self, drawing: Drawing) -> bool:
        rows = [row for axes in drawing.axes if len(row := _label_places(axes, self.axis, drawing)) > 1]
        return bool(rows) and all(map(_stand_apart, rows))


def _label_places(axes: Axes, axis: AxisName, drawing: Drawing) -> list[float]:
    """Where the labelled ticks of a straight axis with even steps stand, in pixels along it, ascending."""
    limits, length = axes.limits(axis), drawing.length(axes, axis)
    if not limits or not length or limits[0] == limits[1]:
        return []
    first, last = limits
    places = {tick.at for tick in axes.ticks(axis) if isinstance(tick.at, float) and one_line(tick.label)}
    return sorted(abs(at - first) / abs(last - first) * length for at in places)


@dataclass(frozen=True)
class Increases(Form):
    text = "Do the values on the {axis}?"
    slots: ClassVar = {
        "axis": choice(
            {
                "horizontal": "horizontal axis increase from left to right",
                "vertical": "vertical axis increase from bottom to top",
            }
        )
    }
    axis: AxisName

    def holds(self, drawing: Drawing) -> bool:
        ends = [limits for axes in drawing.axes if (limits := axes.limits(self.axis))]
        if not ends or drawing.is_circular or not self._is_told(drawing):
            return False
        return all(first < last for first, last in ends)

    def _is_told(self, drawing: Drawing) -> bool:
        """Without tick labels nobody knows in which direction an axis runs; panels may share those of one."""
        labels = (set(_tick_labels(axes, self.axis)) for axes in drawing.axes)
        return not drawing.tells_ticks or any(len(distinct) > 1 for distinct in labels)


@dataclass(frozen=True)
class ZeroShown(Form):
    text = "Does the value axis of the bars include zero?"

    def holds(self, drawing: Drawing) -> bool:
        ends = [
            axes.limits(mark.value_axis)
            for axes in drawing.axes
            for mark in axes.marks
            if isinstance(mark, Bars) and pieces(mark)
        ]
        return bool(ends) and all(end is not None and min(end) <= 0 <= max(end) for end in ends)


@dataclass(frozen=True)
class NothingCutOff(Form):
    text = "Do all bars and points lie completely inside their axes?"

    def holds(self, drawing: Drawing) -> bool:
        places = [place for axes in drawing.axes for place in _edges(axes)]
        return bool(places) and all(_inside(value, limits) for value, limits in places)


def _edges(axes: Axes) -> list[tuple[float, tuple[float, float] | None]]:
    """Every value that is drawn against an axis of numbers, with that axis' limits."""
    edges: list[tuple[float, tuple[float, float] | None]] = []
    for mark in axes.marks:
        if isinstance(mark, Bars):
            edges += [(top, axes.limits(mark.value_axis)) for top in _tops(mark)]
        elif isinstance(mark, Line | Scatter) and len(mark.x) >= _FEWEST_POINTS:
            edges += [(x, axes.limits("horizontal")) for x in mark.x if isinstance(x, float)]
            edges += [(y, axes.limits("vertical")) for y in mark.y if isinstance(y, float)]
    return edges


def _tops(mark: Bars) -> list[float]:
    bases = [base if isinstance(base, float) else 0.0 for base in mark.bases] or [0.0] * len(mark.values)
    return [base + value for base, value in zip(bases, mark.values, strict=False) if value is not None]


def _inside(value: float, limits: tuple[float, float] | None) -> bool:
    if limits is None:
        return False
    low, high = sorted(limits)
    slack = (high - low) * _EDGE
    return low - slack <= value <= high + slack


@dataclass(frozen=True)
class NoGaps(Form):
    text = "Is every bar, point, slice or cell drawn, so that none is missing?"

    def holds(self, drawing: Drawing) -> bool:
        values = [value for mark in drawing.marks for value in values_of(mark)]
        return bool(values) and None not in values


@dataclass(frozen=True)
class BarsNamed(Form):
    text = "Does every bar stand at a named category?"

    def holds(self, drawing: Drawing) -> bool:
        rows = [
            (bar_names(mark, axes) if drawing.tells_places(mark, axes) else [], mark)
            for axes in drawing.axes
            for mark in axes.marks
            if isinstance(mark, Bars) and pieces(mark)
        ]
        return bool(rows) and all(
            len(names) >= len(mark.values) and all(one_line(name) for name in names) for names, mark in rows
        )


@dataclass(frozen=True)
class SlicesNamed(Form):
    text = "Does every slice carry a label of its own?"

    def holds(self, drawing: Drawing) -> bool:
        pies = [mark for mark in drawing.of_type("pie") if isinstance(mark, Pie)]
        return bool(pies) and all(
            len({same(label) for label in pie.labels if same(label)}) == len(pie.fractions) for pie in pies
        )


@dataclass(frozen=True)
class WholeCircle(Form):
    text = "Do the slices together make up a whole circle?"

    def holds(self, drawing: Drawing) -> bool:
        pies = [mark for mark in drawing.of_type("pie") if isinstance(mark, Pie)]
        return bool(pies) and all(abs(sum(part or 0.0 for part in pie.fractions) - 1.0) <= _WHOLE for pie in pies)


@dataclass(frozen=True)
class CellsNamed(Form):
    text = "Does every row and every column of the grid have a label?"

    def holds(self, drawing: Drawing) -> bool:
        grids = [mark for mark in drawing.of_type("heatmap") if isinstance(mark, Heatmap)]
        return bool(grids) and all(_labelled(grid) for grid in grids)


def _labelled(grid: Heatmap) -> bool:
    rows, columns = len(grid.values), max((len(row) for row in grid.values), default=0)
    names = [*grid.rows, *grid.columns]
    return len(grid.rows) == rows and len(grid.columns) == columns and all(one_line(name) for name in names)
