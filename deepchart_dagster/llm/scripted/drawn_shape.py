"""The shape of drawn data (``deepchart-drawn/1``, docs/architecture.md), checked.

A program can forge what it says it drew: numbers that are none become None, and what does not have the
shape at all is no figure.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

Orientation = Literal["vertical", "horizontal"]
AxisName = Literal["horizontal", "vertical"]
_COLORBAR_SHARE = 0.08


def _finite(value: object) -> object:
    """A finite number as float; everything else that stands for a number (null, text, NaN) as None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _place(value: object) -> object:
    """A place on an axis: a number, or a text (a category, a date)."""
    return value if isinstance(value, str) else _finite(value)


def _text(value: object) -> object:
    return "" if value is None else str(value)


Number: TypeAlias = Annotated[float | None, BeforeValidator(_finite)]
Place: TypeAlias = Annotated[float | str | None, BeforeValidator(_place)]
Text: TypeAlias = Annotated[str, BeforeValidator(_text)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Tick(_Part):
    at: Place = None
    label: Text = ""


class LegendEntry(_Part):
    label: Text = ""
    color: str | None = None


class Legend(_Part):
    title: Text = ""
    entries: tuple[LegendEntry, ...] = ()


class Bars(_Part):
    type: Literal["bars"]
    label: Text = ""
    color: str | None = None
    orientation: Orientation = "vertical"
    categories: tuple[Text, ...] = ()
    positions: tuple[Place, ...] = ()
    values: tuple[Number, ...] = ()
    bases: tuple[Number, ...] = ()


class Line(_Part):
    type: Literal["line"]
    label: Text = ""
    color: str | None = None
    x: tuple[Place, ...] = ()
    y: tuple[Place, ...] = ()


class Scatter(_Part):
    type: Literal["scatter"]
    label: Text = ""
    color: str | None = None
    x: tuple[Place, ...] = ()
    y: tuple[Place, ...] = ()


class Heatmap(_Part):
    type: Literal["heatmap"]
    label: Text = ""
    rows: tuple[Text, ...] = ()
    columns: tuple[Text, ...] = ()
    values: tuple[tuple[Number, ...], ...] = ()


class Pie(_Part):
    type: Literal["pie"]
    label: Text = ""
    labels: tuple[Text, ...] = ()
    fractions: tuple[Number, ...] = ()


class ErrorBars(_Part):
    type: Literal["errorbars"]
    label: Text = ""
    orientation: Orientation = "vertical"
    centers: tuple[Place, ...] = ()
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()


class Boxes(_Part):
    type: Literal["boxes"]
    label: Text = ""
    labels: tuple[Text, ...] = ()
    medians: tuple[Number, ...] = ()


class Area(_Part):
    type: Literal["area"]
    label: Text = ""
    color: str | None = None
    x: tuple[Place, ...] = ()
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()


class Segments(_Part):
    type: Literal["segments"]
    label: Text = ""
    color: str | None = None
    segments: tuple[tuple[tuple[Place, ...], ...], ...] = ()


class Other(_Part):
    type: Literal["other"]
    label: Text = ""


Mark: TypeAlias = Annotated[
    Bars | Line | Scatter | Heatmap | Pie | ErrorBars | Boxes | Area | Segments | Other, Field(discriminator="type")
]


class Axes(_Part):
    title: Text = ""
    projection: str = "rectilinear"
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    xlabel: Text = ""
    ylabel: Text = ""
    xlim: tuple[Place, ...] = ()
    ylim: tuple[Place, ...] = ()
    xticks: tuple[Tick, ...] = ()
    yticks: tuple[Tick, ...] = ()
    legend: Legend | None = None
    marks: tuple[Mark, ...] = ()

    def label(self, axis: AxisName) -> str:
        return self.xlabel if axis == "horizontal" else self.ylabel

    def limits(self, axis: AxisName) -> tuple[float, float] | None:
        """The two ends of the axis, left to right or bottom to top; None where they are no numbers."""
        ends = self.xlim if axis == "horizontal" else self.ylim
        match ends:
            case (float(first), float(last)):
                return first, last
            case _:
                return None

    def ticks(self, axis: AxisName) -> tuple[Tick, ...]:
        return self.xticks if axis == "horizontal" else self.yticks

    @property
    def is_colorbar(self) -> bool:
        """A thin strip beside a panel that holds nothing but a scale of colours."""
        thin = min(self.box[2], self.box[3]) < _COLORBAR_SHARE
        return thin and all(isinstance(mark, Heatmap | Other) for mark in self.marks)


class Figure(_Part):
    title: Text = ""
    axes: tuple[Axes, ...] = ()


class _Drawn(_Part):
    format: Literal["deepchart-drawn/1"]
    figures: tuple[Figure, ...] = Field(min_length=1)


def read_figure(drawn: JsonValue) -> Figure | None:
    """The figure that was saved last; None where ``drawn`` is not in the format."""
    try:
        return _Drawn.model_validate(drawn).figures[-1]
    except ValidationError:
        return None


def category_axis(mark: Bars) -> AxisName:
    return "horizontal" if mark.orientation == "vertical" else "vertical"


def value_axis(mark: Bars) -> AxisName:
    return "vertical" if mark.orientation == "vertical" else "horizontal"


def values_of(mark: Mark) -> tuple[float | str | None, ...]:
    """One entry a bar, point, slice … of ``mark``; None for one that cannot be drawn."""
    match mark:
        case Bars():
            return mark.values
        case Line() | Scatter():
            return tuple(None if x is None else y for x, y in zip(mark.x, mark.y, strict=False))
        case Heatmap():
            return tuple(value for row in mark.values for value in row)
        case Pie():
            return mark.fractions
        case ErrorBars() | Area():
            return mark.high
        case Boxes():
            return mark.medians
        case Segments():
            return tuple(0.0 for _ in mark.segments)
        case _:
            return ()


def pieces(mark: Mark) -> int:
    """How many bars, points, slices … of ``mark`` are drawn."""
    return sum(value is not None for value in values_of(mark))
