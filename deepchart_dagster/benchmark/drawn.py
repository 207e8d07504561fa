"""What a chart draws, in one shape (format deepchart-drawn/1, documented in docs/architecture.md).

The drawing hook writes it inside the sandbox, pages.js inside the page: both run beside the program, which can
forge it. It is evidence beside the image, never instead of it, and it is read as a stranger's file: bounded in
size, then held against the models below; anything else counts as not seen (None).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

FORMAT = "deepchart-drawn/1"
MAX_BYTES = 4 << 20
MAX_POINTS = 5000
MAX_FIGURES = 20
_COLORBAR_SHARE = 0.08

Orientation: TypeAlias = Literal["vertical", "horizontal"]
AxisName: TypeAlias = Literal["horizontal", "vertical"]

Text: TypeAlias = Annotated[str, Field(max_length=1000)]
Colour: TypeAlias = Annotated[str, Field(max_length=40)] | None
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)] | None
Place: TypeAlias = Number | Annotated[str, Field(max_length=200)]  # text: a date (ISO 8601) or a category
Places: TypeAlias = Annotated[list[Place], Field(max_length=MAX_POINTS)]
Numbers: TypeAlias = Annotated[list[Number], Field(max_length=MAX_POINTS)]
Texts: TypeAlias = Annotated[list[Text], Field(max_length=MAX_POINTS)]
Pair: TypeAlias = Annotated[list[Place], Field(min_length=2, max_length=2)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Bars(_Shape):
    type: Literal["bars"]
    label: Text
    color: Colour
    orientation: Orientation
    categories: Texts
    positions: Places
    values: Numbers
    bases: Places

    @property
    def category_axis(self) -> AxisName:
        return "horizontal" if self.orientation == "vertical" else "vertical"

    @property
    def value_axis(self) -> AxisName:
        return "vertical" if self.orientation == "vertical" else "horizontal"


class Line(_Shape):
    type: Literal["line"]
    label: Text
    color: Colour
    x: Places
    y: Places
    marker: bool


class Scatter(_Shape):
    type: Literal["scatter"]
    label: Text
    color: Colour
    x: Places
    y: Places
    sizes: Numbers


class Heatmap(_Shape):
    type: Literal["heatmap"]
    label: Text
    rows: Texts
    columns: Texts
    values: Annotated[list[Numbers], Field(max_length=MAX_POINTS)]


class Pie(_Shape):
    type: Literal["pie"]
    labels: Texts
    fractions: Numbers


class ErrorBars(_Shape):
    type: Literal["errorbars"]
    label: Text
    orientation: Orientation
    centers: Places
    low: Places
    high: Places


class Boxes(_Shape):
    type: Literal["boxes"]
    labels: Texts
    medians: Numbers
    q1: Numbers
    q3: Numbers
    low: Numbers
    high: Numbers


class Area(_Shape):
    type: Literal["area"]
    label: Text
    color: Colour
    x: Places
    low: Places
    high: Places


class Segments(_Shape):
    type: Literal["segments"]
    label: Text
    color: Colour
    segments: Annotated[list[Annotated[list[Pair], Field(min_length=2, max_length=2)]], Field(max_length=MAX_POINTS)]


class Violins(_Shape):
    """Distributions by name; ``low`` and ``high`` are the ends of what is drawn."""

    type: Literal["violins"]
    label: Text
    labels: Texts
    medians: Numbers
    low: Numbers
    high: Numbers


class Candles(_Shape):
    type: Literal["candles"]
    label: Text
    x: Places
    open: Numbers
    high: Numbers
    low: Numbers
    close: Numbers


class Flows(_Shape):
    """The links of a Sankey diagram or a graph, one entry a link in each list."""

    type: Literal["flows"]
    label: Text
    sources: Texts
    targets: Texts
    values: Numbers


class Tree(_Shape):
    """A treemap, sunburst or tree: one entry a node in each list; a node at the top has the parent ""."""

    type: Literal["tree"]
    label: Text
    labels: Texts
    parents: Texts
    values: Numbers


class Named(_Shape):
    """Values by name without axes: ``class`` says of what kind (funnel, gauge, map, polarArea, wordCloud …)."""

    type: Literal["named"]
    class_: Text = Field(alias="class")
    label: Text
    names: Texts
    values: Numbers


class Other(_Shape):
    type: Literal["other"]
    class_: Text = Field(alias="class")
    label: Text


Mark: TypeAlias = Annotated[
    Bars
    | Line
    | Scatter
    | Heatmap
    | Pie
    | ErrorBars
    | Boxes
    | Area
    | Segments
    | Violins
    | Candles
    | Flows
    | Tree
    | Named
    | Other,
    Field(discriminator="type"),
]


class Tick(_Shape):
    at: Place
    label: Text


class LegendEntry(_Shape):
    label: Text
    color: Colour


class Legend(_Shape):
    title: Text
    entries: Annotated[list[LegendEntry], Field(max_length=1000)]


class PlacedText(_Shape):
    text: Text
    x: Place
    y: Place


class Axes(_Shape):
    title: Text
    projection: Literal["rectilinear", "polar", "3d"]
    box: Annotated[list[Number], Field(min_length=4, max_length=4)]
    xlabel: Text
    ylabel: Text
    xscale: Text
    yscale: Text
    xlim: Pair
    ylim: Pair
    xticks: Annotated[list[Tick], Field(max_length=1000)]
    yticks: Annotated[list[Tick], Field(max_length=1000)]
    legend: Legend | None
    texts: Annotated[list[PlacedText], Field(max_length=MAX_POINTS)]
    marks: Annotated[list[Mark], Field(max_length=1000)]

    def axis_label(self, axis: AxisName) -> str:
        return self.xlabel if axis == "horizontal" else self.ylabel

    def limits(self, axis: AxisName) -> tuple[float, float] | None:
        """The two ends of the axis, left to right or bottom to top; None where they are no numbers."""
        match self.xlim if axis == "horizontal" else self.ylim:
            case [float(first), float(last)]:
                return first, last
            case _:
                return None

    def ticks(self, axis: AxisName) -> list[Tick]:
        return self.xticks if axis == "horizontal" else self.yticks

    @property
    def is_colorbar(self) -> bool:
        """A thin strip beside a panel that holds nothing but a scale of colours."""
        thin = any(side is not None and side < _COLORBAR_SHARE for side in self.box[2:])
        return thin and all(isinstance(mark, Heatmap | Other) for mark in self.marks)


class Figure(_Shape):
    title: Text
    width_px: Number
    height_px: Number
    texts: Texts
    legends: Annotated[list[Legend], Field(max_length=200)] = []  # those of no axes: a page's are its axes'
    axes: Annotated[list[Axes], Field(max_length=200)]


class Drawn(_Shape):
    format: Literal["deepchart-drawn/1"]
    library: Annotated[str, Field(max_length=40)]
    figures: Annotated[list[Figure], Field(min_length=1, max_length=MAX_FIGURES)]

    @property
    def saved(self) -> Figure:
        """The figure that was saved last: the one in the picture."""
        return self.figures[-1]


def read(data: bytes) -> JsonValue:
    """The drawn chart in ``data`` (JSON), or None where there is none, or none that holds to the shape."""
    if not data or len(data) > MAX_BYTES:
        return None
    try:
        document = Drawn.model_validate_json(data)
    except ValidationError:
        return None
    return cast("JsonValue", document.model_dump(by_alias=True))


def known(stored: JsonValue) -> Drawn | None:
    """What the evidence of a picture says it draws; None where that is nothing, or not in the shape."""
    try:
        return Drawn.model_validate(stored)
    except ValidationError:
        return None


def label_of(mark: Mark) -> str:
    """The series' label; pies and boxes have one label a piece, and none of their own."""
    return "" if isinstance(mark, Pie | Boxes) else mark.label


def values_of(mark: Mark) -> Sequence[float | str | None]:
    """One entry a bar, point, slice … of ``mark``; None for one that cannot be drawn."""
    match mark:
        case Bars() | Flows() | Tree() | Named():
            return mark.values
        case Candles():
            return mark.close
        case Line() | Scatter():
            return [None if x is None else y for x, y in zip(mark.x, mark.y, strict=False)]
        case Heatmap():
            return [value for row in mark.values for value in row]
        case Pie():
            return mark.fractions
        case ErrorBars() | Area():
            return mark.high
        case Boxes() | Violins():
            return mark.medians
        case Segments():
            return [0.0 for _ in mark.segments]
        case _:
            return ()


def pieces(mark: Mark) -> int:
    """How many bars, points, slices … of ``mark`` are drawn."""
    return sum(value is not None for value in values_of(mark))
