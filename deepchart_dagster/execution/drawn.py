"""What a chart draws, in one shape (format deepchart-drawn/1, documented in docs/architecture.md).

The drawing hook writes it inside the sandbox, pages.js inside the page: both run beside the program, which can
forge it. It is evidence beside the image, never instead of it, and it is read as a stranger's file: bounded in
size, then held against the models below; anything else counts as not seen (None).
"""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

FORMAT = "deepchart-drawn/1"
MAX_BYTES = 4 << 20
MAX_POINTS = 5000
MAX_FIGURES = 20

_Text = Annotated[str, Field(max_length=1000)]
_Colour = Annotated[str, Field(max_length=40)] | None
_Number = Annotated[float, Field(allow_inf_nan=False)] | None
_Coordinate = _Number | Annotated[str, Field(max_length=200)]  # text: a date (ISO 8601) or a category
_Points = Annotated[list[_Coordinate], Field(max_length=MAX_POINTS)]
_Numbers = Annotated[list[_Number], Field(max_length=MAX_POINTS)]
_Texts = Annotated[list[_Text], Field(max_length=MAX_POINTS)]
_Pair = Annotated[list[_Coordinate], Field(min_length=2, max_length=2)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Bars(_Shape):
    type: Literal["bars"]
    label: _Text
    color: _Colour
    orientation: Literal["vertical", "horizontal"]
    categories: _Texts
    positions: _Points
    values: _Numbers
    bases: _Points


class _Line(_Shape):
    type: Literal["line"]
    label: _Text
    color: _Colour
    x: _Points
    y: _Points
    marker: bool


class _Scatter(_Shape):
    type: Literal["scatter"]
    label: _Text
    color: _Colour
    x: _Points
    y: _Points
    sizes: _Numbers


class _HeatMap(_Shape):
    type: Literal["heatmap"]
    label: _Text
    rows: _Texts
    columns: _Texts
    values: Annotated[list[_Numbers], Field(max_length=MAX_POINTS)]


class _Pie(_Shape):
    type: Literal["pie"]
    labels: _Texts
    fractions: _Numbers


class _ErrorBars(_Shape):
    type: Literal["errorbars"]
    label: _Text
    orientation: Literal["vertical", "horizontal"]
    centers: _Points
    low: _Points
    high: _Points


class _Boxes(_Shape):
    type: Literal["boxes"]
    labels: _Texts
    medians: _Numbers
    q1: _Numbers
    q3: _Numbers
    low: _Numbers
    high: _Numbers


class _Area(_Shape):
    type: Literal["area"]
    label: _Text
    color: _Colour
    x: _Points
    low: _Points
    high: _Points


class _Segments(_Shape):
    type: Literal["segments"]
    label: _Text
    color: _Colour
    segments: Annotated[list[Annotated[list[_Pair], Field(min_length=2, max_length=2)]], Field(max_length=MAX_POINTS)]


class _Other(_Shape):
    type: Literal["other"]
    class_: _Text = Field(alias="class")
    label: _Text


_Mark = Annotated[
    _Bars | _Line | _Scatter | _HeatMap | _Pie | _ErrorBars | _Boxes | _Area | _Segments | _Other,
    Field(discriminator="type"),
]


class _Tick(_Shape):
    at: _Coordinate
    label: _Text


class _LegendEntry(_Shape):
    label: _Text
    color: _Colour


class _Legend(_Shape):
    title: _Text
    entries: Annotated[list[_LegendEntry], Field(max_length=1000)]


class _PlacedText(_Shape):
    text: _Text
    x: _Coordinate
    y: _Coordinate


class _Axes(_Shape):
    title: _Text
    projection: Literal["rectilinear", "polar", "3d"]
    box: Annotated[list[_Number], Field(min_length=4, max_length=4)]
    xlabel: _Text
    ylabel: _Text
    xscale: _Text
    yscale: _Text
    xlim: _Pair
    ylim: _Pair
    xticks: Annotated[list[_Tick], Field(max_length=1000)]
    yticks: Annotated[list[_Tick], Field(max_length=1000)]
    legend: _Legend | None
    texts: Annotated[list[_PlacedText], Field(max_length=MAX_POINTS)]
    marks: Annotated[list[_Mark], Field(max_length=1000)]


class _Figure(_Shape):
    title: _Text
    width_px: _Number
    height_px: _Number
    texts: _Texts
    axes: Annotated[list[_Axes], Field(max_length=200)]


class _Drawn(_Shape):
    format: Literal["deepchart-drawn/1"]
    library: Annotated[str, Field(max_length=40)]
    figures: Annotated[list[_Figure], Field(max_length=MAX_FIGURES)]


def read(data: bytes) -> JsonValue:
    """The drawn chart in ``data`` (JSON), or None where there is none, or none that holds to the shape."""
    if not data or len(data) > MAX_BYTES:
        return None
    try:
        document = _Drawn.model_validate_json(data)
    except ValidationError:
        return None
    return cast("JsonValue", document.model_dump(by_alias=True)) if document.figures else None
