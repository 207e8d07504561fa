"""Simple vector charts for the pages of papers and reports. They carry axis labels, never their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import quantiles

from deepchart_dagster.benchmark.mini.canvas import GREY, Align, Color
from deepchart_dagster.benchmark.mini.typeset import Area

PALETTE: tuple[Color, ...] = (
    (0.16, 0.37, 0.55),
    (0.80, 0.47, 0.20),
    (0.36, 0.58, 0.36),
    (0.55, 0.40, 0.62),
    (0.35, 0.35, 0.35),
)
_FONT = "helv"
_SIZE = 7.5


@dataclass(frozen=True)
class Axis:
    label: str
    low: float
    high: float
    step: float

    @property
    def ticks(self) -> list[float]:
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]


@dataclass(frozen=True)
class Bar:
    """``spread`` is half the length of the error bar; 0 draws none."""

    value: float
    spread: float = 0.0


@dataclass(frozen=True)
class _Plot:
    """The rectangle that the axes enclose."""

    area: Area
    y: Axis

    @property
    def left(self) -> float:
        return self.area.left + 46

    @property
    def right(self) -> float:
        return self.area.right - 96

    @property
    def top(self) -> float:
        return self.area.top + 6

    @property
    def bottom(self) -> float:
        return self.area.bottom - 30

    def level(self, value: float) -> float:
        return self.bottom - (value - self.y.low) / (self.y.high - self.y.low) * (self.bottom - self.top)

    def write(self, x: float, y: float, text: str, align: Align = "left") -> None:
        self.area.canvas.text((x, y), text, font=_FONT, size=_SIZE, align=align)

    def frame(self) -> None:
        canvas = self.area.canvas
        for tick in self.y.ticks:
            y = self.level(tick)
            canvas.line([(self.left, y), (self.right, y)], color=GREY, width=0.2)
            self.write(self.left - 4, y + 2.5, f"{tick:g}", "right")
        canvas.line([(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)])
        place = (self.area.left + 8, (self.top + self.bottom) / 2)
        canvas.text(place, self.y.label, font=_FONT, size=_SIZE, align="center", upwards=True)

    def legend(self, labels: Sequence[str]) -> None:
        for index, label in enumerate(labels):
            y = self.top + 10 + 13 * index
            self.area.canvas.box(self.right + 8, y - 6, self.right + 15, y + 1, PALETTE[index])
            self.write(self.right + 19, y, label)


def bar_picture(area: Area, axis: Axis, groups: Mapping[str, Sequence[Bar]], series: Sequence[str]) -> None:
    """Groups along x, one bar a series in each."""
    plot = _Plot(area, axis)
    plot.frame()
    plot.legend(series)
    slot = (plot.right - plot.left) / len(groups)
    width = slot * 0.8 / len(series)
    for number, (name, bars) in enumerate(groups.items()):
        start = plot.left + slot * (number + 0.1)
        plot.write(start + slot * 0.4, plot.bottom + 13, name, "center")
        for index, bar in enumerate(bars):
            _draw_bar(plot, bar, start + width * index, width, PALETTE[index])


def _draw_bar(plot: _Plot, bar: Bar, left: float, width: float, color: Color) -> None:
    canvas, middle = plot.area.canvas, left + width / 2
    canvas.box(left + 1, plot.level(bar.value), left + width - 1, plot.bottom, color)
    if bar.spread:
        low, high = plot.level(bar.value - bar.spread), plot.level(bar.value + bar.spread)
        canvas.line([(middle, low), (middle, high)])
        for y in (low, high):
            canvas.line([(middle - 3, y), (middle + 3, y)])


def scatter_picture(
    area: Area, x: Axis, y: Axis, points: Mapping[str, Sequence[tuple[float, float]]], *, joined: bool = False
) -> None:
    """One colour a series; ``joined`` draws lines from point to point."""
    plot = _Plot(area, y)
    plot.frame()
    plot.legend(list(points))

    def across(value: float) -> float:
        return plot.left + (value - x.low) / (x.high - x.low) * (plot.right - plot.left)

    for tick in x.ticks:
        plot.write(across(tick), plot.bottom + 10, f"{tick:g}", "center")
    plot.write((plot.left + plot.right) / 2, plot.bottom + 23, x.label, "center")
    for color, series in zip(PALETTE, points.values(), strict=False):
        places = [(across(a), plot.level(b)) for a, b in series]
        for place in places:
            area.canvas.dot(place, 2.2, color)
        if joined:
            area.canvas.line(places, color=color, width=1.0)


@dataclass(frozen=True)
class Spread:
    """Five numbers that a box shows, from the smallest to the largest."""

    low: float
    q1: float
    median: float
    q3: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        q1, median, q3 = quantiles(values, n=4, method="inclusive")
        return cls(min(values), q1, median, q3, max(values))


def box_picture(area: Area, axis: Axis, groups: Mapping[str, Spread]) -> None:
    """One box a group, whiskers to its ends."""
    plot = _Plot(area, axis)
    plot.frame()
    canvas, slot = area.canvas, (plot.right - plot.left) / len(groups)
    for number, (name, spread) in enumerate(groups.items()):
        middle, half = plot.left + slot * (number + 0.5), slot * 0.25
        low, q1, median, q3, high = (plot.level(value) for value in astuple(spread))
        canvas.line([(middle, low), (middle, high)])
        canvas.box(middle - half, q3, middle + half, q1, PALETTE[number % len(PALETTE)])
        for y, width in ((low, half / 2), (median, half), (high, half / 2)):
            canvas.line([(middle - width, y), (middle + width, y)], width=1.1)
        plot.write(middle, plot.bottom + 13, name, "center")


def interval_picture(area: Area, axis: Axis, rows: Mapping[str, tuple[float, float, float]]) -> None:
    """A dot between the ends of a line for each row (low, middle, high), along a horizontal axis."""
    left, right, bottom = area.left + 90, area.right - 20, area.bottom - 26
    canvas, step = area.canvas, (bottom - area.top) / len(rows)

    def across(value: float) -> float:
        return left + (value - axis.low) / (axis.high - axis.low) * (right - left)

    for tick in axis.ticks:
        canvas.line([(across(tick), area.top), (across(tick), bottom)], color=GREY, width=0.2)
        canvas.text((across(tick), bottom + 10), f"{tick:g}", font=_FONT, size=_SIZE, align="center")
    canvas.text(((left + right) / 2, bottom + 22), axis.label, font=_FONT, size=_SIZE, align="center")
    for number, (name, (low, middle, high)) in enumerate(rows.items()):
        y = area.top + step * (number + 0.5)
        canvas.line([(across(low), y), (across(high), y)], width=1.0)
        canvas.dot((across(middle), y), 2.6, PALETTE[0])
        canvas.text((left - 6, y + 2.5), name, font=_FONT, size=_SIZE, align="right")
