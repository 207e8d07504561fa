"""Questions of data-mapping topology: order, extremes and trends of what is drawn, never an exact value.

Values on straight axes that differ by less than a pixel look the same: neither is seen to be the larger one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from deepchart_dagster.llm.scripted.drawing import Cloud, Drawing, Series, same
from deepchart_dagster.llm.scripted.forms import LABEL, SERIES, Form, choice

EXTREME = choice({"highest": "highest", "lowest": "lowest"})
RISE = choice({"rise": "rise", "fall": "fall"})


def _with_places(drawing: Drawing, series: str | None, *places: str) -> list[Series]:
    """Every series of that name which has all ``places``."""
    keys = [same(place) for place in places]
    return [found for found in drawing.named(series) if all(key in found.by_name for key in keys)]


def _rises(series: Series, start: str, end: str) -> bool:
    """Whether the value at ``end`` is seen to be above the one at ``start``."""
    return series.exceeds(series.by_name[same(end)], series.by_name[same(start)])


@dataclass(frozen=True)
class Larger(Form):
    text = "Is the value drawn for {larger} greater than the value drawn for {smaller}{series}?"
    slots: ClassVar = {"larger": LABEL, "smaller": LABEL, "series": SERIES}
    larger: str
    smaller: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = _with_places(drawing, self.series, self.larger, self.smaller)
        return bool(found) and all(_rises(series, self.smaller, self.larger) for series in found)


@dataclass(frozen=True)
class Extreme(Form):
    text = "Does {place} have the {extreme} value of all{series}?"
    slots: ClassVar = {"place": LABEL, "extreme": EXTREME, "series": SERIES}
    place: str
    extreme: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = _with_places(drawing, self.series, self.place)
        return bool(found) and all(self._is_extreme(series) for series in found)

    def _is_extreme(self, series: Series) -> bool:
        others = [name for name in series.by_name if name != same(self.place)]
        return bool(others) and all(
            _rises(series, name, self.place) if self.extreme == "highest" else _rises(series, self.place, name)
            for name in others
        )


@dataclass(frozen=True)
class SeriesLarger(Form):
    text = "At {place}, is the value of the series {larger} greater than the value of the series {smaller}?"
    slots: ClassVar = {"place": LABEL, "larger": LABEL, "smaller": LABEL}
    place: str
    larger: str
    smaller: str

    def holds(self, drawing: Drawing) -> bool:
        large, small = (_with_places(drawing, name, self.place) for name in (self.larger, self.smaller))
        place = same(self.place)
        return (
            bool(large)
            and bool(small)
            and all(one.exceeds(one.by_name[place], other.by_name[place]) for one in large for other in small)
        )


@dataclass(frozen=True)
class Trend(Form):
    text = "Does the line {direction} from {start} to {end}{series}?"
    slots: ClassVar = {"direction": RISE, "start": LABEL, "end": LABEL, "series": SERIES}
    direction: str
    start: str
    end: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = [line for line in _with_places(drawing, self.series, self.start, self.end) if line.kind == "line"]
        low, high = (self.start, self.end) if self.direction == "rise" else (self.end, self.start)
        return bool(found) and all(_rises(line, low, high) for line in found)


@dataclass(frozen=True)
class Sign(Form):
    text = "Does the value drawn for {place} lie {side}{series}?"
    slots: ClassVar = {
        "place": LABEL,
        "side": choice({"above": "above zero", "below": "below zero", "at": "exactly at zero"}),
        "series": SERIES,
    }
    place: str
    side: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = _with_places(drawing, self.series, self.place)
        return bool(found) and {side_of_zero(one.by_name[same(self.place)], one.pixel) for one in found} == {self.side}


def side_of_zero(value: float, pixel: float) -> str:
    if value == 0 or abs(value) < pixel:
        return "at"
    return "above" if value > 0 else "below"


@dataclass(frozen=True)
class Present(Form):
    text = "Does the chart show a value for {place}{series}?"
    slots: ClassVar = {"place": LABEL, "series": SERIES}
    place: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        return bool(_with_places(drawing, self.series, self.place))


@dataclass(frozen=True)
class Tendency(Form):
    """The sign of the least-squares slope."""

    text = "Do the points tend to {direction} from left to right{series}?"
    slots: ClassVar = {"direction": RISE, "series": SERIES}
    direction: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = _clouds(drawing, self.series)
        return bool(found) and {tendency(cloud) for cloud in found} == {self.direction}


def _clouds(drawing: Drawing, series: str | None) -> list[Cloud]:
    return [cloud for cloud in drawing.clouds if series is None or same(cloud.name) == same(series)]


def tendency(cloud: Cloud) -> str:
    mean_x, mean_y = sum(cloud.x) / len(cloud.x), sum(cloud.y) / len(cloud.y)
    joint = sum((x - mean_x) * (y - mean_y) for x, y in zip(cloud.x, cloud.y, strict=True))
    return "rise" if joint > 0 else "fall" if joint < 0 else "neither"


@dataclass(frozen=True)
class HighestLies(Form):
    text = "Does the highest point lie further {side} than the lowest point{series}?"
    slots: ClassVar = {"side": choice({"left": "to the left", "right": "to the right"}), "series": SERIES}
    side: str
    series: str | None = None

    def holds(self, drawing: Drawing) -> bool:
        found = _clouds(drawing, self.series)
        return bool(found) and {side_of_highest(cloud) for cloud in found} == {self.side}


def side_of_highest(cloud: Cloud) -> str:
    points = sorted(zip(cloud.y, cloud.x, strict=True))
    lowest, highest = points[0], points[-1]
    ties = sum(y == lowest[0] for y, _ in points) > 1 or sum(y == highest[0] for y, _ in points) > 1
    if ties or lowest[1] == highest[1]:
        return "neither"
    return "right" if highest[1] > lowest[1] else "left"


@dataclass(frozen=True)
class CellExtreme(Form):
    text = "Is the cell in row {row} and column {column} the one with the {extreme} value?"
    slots: ClassVar = {"row": LABEL, "column": LABEL, "extreme": EXTREME}
    row: str
    column: str
    extreme: str

    def holds(self, drawing: Drawing) -> bool:
        place = (same(self.row), same(self.column))
        own = [cell.value for cell in drawing.cells if (same(cell.row), same(cell.column)) == place]
        others = [cell.value for cell in drawing.cells if (same(cell.row), same(cell.column)) != place]
        return len(own) == 1 and bool(others) and _is_extreme(self.extreme, own[0], others)


def _is_extreme(extreme: str, own: float, others: Iterable[float]) -> bool:
    return all(own > other if extreme == "highest" else own < other for other in others)


@dataclass(frozen=True)
class CellLarger(Form):
    text = "Is the value in row {row} and column {column} greater than in row {than_row} and column {than_column}?"
    slots: ClassVar = {"row": LABEL, "column": LABEL, "than_row": LABEL, "than_column": LABEL}
    row: str
    column: str
    than_row: str
    than_column: str

    def holds(self, drawing: Drawing) -> bool:
        values = {(same(cell.row), same(cell.column)): cell.value for cell in drawing.cells}
        large = values.get((same(self.row), same(self.column)))
        small = values.get((same(self.than_row), same(self.than_column)))
        return large is not None and small is not None and large > small
