"""Questions of instruction compliance: the kind of chart, its structure, what it has to contain."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from deepchart_dagster.benchmark.drawn import Axes, Bars, Heatmap, pieces
from deepchart_dagster.llm.scripted.drawing import Drawing, bar_names, same
from deepchart_dagster.llm.scripted.forms import LABEL, NUMBER, Form, choice, counted

MARK_WORDS = {
    "bars": "bars",
    "line": "lines",
    "scatter": "individual points",
    "heatmap": "a grid of coloured cells",
    "pie": "the slices of a pie",
    "errorbars": "error bars",
    "boxes": "boxes with medians",
    "violins": "violins",
    "area": "filled areas",
    "segments": "separate segments, each between two points",
    "rules": "straight reference lines across the axes",
}
PIECE_WORDS = {
    "bars": "bars",
    "scatter": "individual points",
    "pie": "slices",
    "errorbars": "error bars",
    "boxes": "boxes",
    "violins": "violins",
    "segments": "separate segments, each between two points",
    "rules": "straight reference lines across the axes",
}


@dataclass(frozen=True)
class Shows(Form):
    text = "Does the chart show {kind}?"
    slots: ClassVar = {"kind": choice(MARK_WORDS)}
    kind: str

    def holds(self, drawing: Drawing) -> bool:
        return bool(drawing.of_type(self.kind))


@dataclass(frozen=True)
class Oriented(Form):
    text = "Are the bars {orientation}?"
    slots: ClassVar = {"orientation": choice({"vertical": "vertical", "horizontal": "horizontal"})}
    orientation: str

    def holds(self, drawing: Drawing) -> bool:
        found = {mark.orientation for mark in drawing.of_type("bars") if isinstance(mark, Bars)}
        return found == {self.orientation} and not drawing.is_circular


@dataclass(frozen=True)
class AroundCircle(Form):
    text = "Are the values drawn around a circle, from its centre outwards?"

    def holds(self, drawing: Drawing) -> bool:
        return drawing.is_circular


@dataclass(frozen=True)
class PanelCount(Form):
    text = "Does the chart consist of exactly {count}?"
    slots: ClassVar = {"count": counted("panel")}
    count: int

    def holds(self, drawing: Drawing) -> bool:
        return drawing.panels == self.count


@dataclass(frozen=True)
class SeriesCount(Form):
    text = "Is the number of separate series drawn as {kind} exactly {count}?"
    slots: ClassVar = {"kind": choice(MARK_WORDS), "count": NUMBER}
    kind: str
    count: int

    def holds(self, drawing: Drawing) -> bool:
        return len(drawing.of_type(self.kind)) == self.count


@dataclass(frozen=True)
class PieceCount(Form):
    text = "Is the number of {kind} in the whole chart exactly {count}?"
    slots: ClassVar = {"kind": choice(PIECE_WORDS), "count": NUMBER}
    kind: str
    count: int

    def holds(self, drawing: Drawing) -> bool:
        return drawing.count(self.kind) == self.count


@dataclass(frozen=True)
class Grid(Form):
    text = "Does the grid have exactly {rows} and {columns}?"
    slots: ClassVar = {"rows": counted("row"), "columns": counted("column")}
    rows: int
    columns: int

    def holds(self, drawing: Drawing) -> bool:
        grids = [mark for mark in drawing.marks if isinstance(mark, Heatmap)]
        wide = {(len(grid.values), len(row)) for grid in grids for row in grid.values}
        return wide == {(self.rows, self.columns)}


@dataclass(frozen=True)
class Arranged(Form):
    text = "Are the bars of one category {arrangement}?"
    slots: ClassVar = {"arrangement": choice({"stacked": "stacked on one another", "grouped": "placed side by side"})}
    arrangement: str

    def holds(self, drawing: Drawing) -> bool:
        found = {_arrangement(group) for axes in drawing.axes if len(group := _bars_of(axes)) > 1}
        return found == {self.arrangement}


def _bars_of(axes: Axes) -> list[Bars]:
    return [mark for mark in axes.marks if isinstance(mark, Bars) and pieces(mark)]


def _arrangement(group: list[Bars]) -> str:
    """Bars at the same positions are stacked where they start at different heights, or go up and down from the same."""
    if len({tuple(mark.positions) for mark in group}) > 1:
        return "grouped"
    apart = all(_apart(one, other) for one, other in combinations(group, 2))
    return "stacked" if apart or len({tuple(mark.bases) for mark in group}) > 1 else "overlaid"


def _apart(one: Bars, other: Bars) -> bool:
    """Whether no bar of the two series covers the other's at its position."""
    pairs = zip(_spans(one), _spans(other), strict=False)
    return all(min(highs) <= max(lows) for lows, highs in (zip(*pair, strict=True) for pair in pairs))


def _spans(mark: Bars) -> list[tuple[float, float]]:
    bases = [base if isinstance(base, float) else 0.0 for base in mark.bases] or [0.0] * len(mark.values)
    ends = [(base, base + (value or 0.0)) for base, value in zip(bases, mark.values, strict=False)]
    return [(min(end), max(end)) for end in ends]


@dataclass(frozen=True)
class Outermost(Form):
    text = (
        "Read from left to right, or from top to bottom, is {first} the first category of the bars and {last} the last?"
    )
    slots: ClassVar = {"first": LABEL, "last": LABEL}
    first: str
    last: str

    def holds(self, drawing: Drawing) -> bool:
        rows = [
            names
            for axes in drawing.axes
            for mark in _bars_of(axes)
            if drawing.tells_places(mark, axes) and (names := reading_order(mark, axes))
        ]
        if not rows or drawing.is_circular:
            return False
        return all((same(names[0]), same(names[-1])) == (same(self.first), same(self.last)) for names in rows)


def reading_order(mark: Bars, axes: Axes) -> list[str]:
    """The bars' names as a reader meets them; empty where their positions are unknown."""
    pairs = [(at, name) for at, name in zip(mark.positions, bar_names(mark, axes), strict=False) if _is_number(at)]
    names = [name for _, name in sorted(pairs, key=lambda pair: (float(pair[0] or 0.0), pair[1]))]
    limits = axes.limits(mark.category_axis)
    downwards = mark.category_axis == "vertical"
    reversed_axis = limits is not None and limits[0] > limits[1]
    return names[::-1] if downwards != reversed_axis else names


def _is_number(place: object) -> bool:
    return isinstance(place, float)


@dataclass(frozen=True)
class Spans(Form):
    text = "Does every line run from {first} to {last}?"
    slots: ClassVar = {"first": LABEL, "last": LABEL}
    first: str
    last: str

    def holds(self, drawing: Drawing) -> bool:
        lines = [series for series in drawing.series if series.kind == "line"]
        return bool(lines) and all(
            (same(line.names[0]), same(line.names[-1])) == (same(self.first), same(self.last)) for line in lines
        )
