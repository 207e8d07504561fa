"""The shape of what a chart draws: what holds to it is read as it is, everything else counts as not seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deepchart_dagster.benchmark import drawn

LINE = {"type": "line", "label": "", "color": None, "x": [1.0], "y": [2.0], "marker": False}


def document(**changes: Any) -> dict[str, Any]:
    axes = {
        "title": "",
        "projection": "rectilinear",
        "box": [0.0, 0.0, 1.0, 1.0],
        "xlabel": "",
        "ylabel": "",
        "xscale": "linear",
        "yscale": "linear",
        "xlim": [0.0, 1.0],
        "ylim": [0.0, 1.0],
        "xticks": [],
        "yticks": [],
        "legend": None,
        "texts": [],
        "marks": [LINE],
    } | changes
    figure = {"title": "", "width_px": 640.0, "height_px": 480.0, "texts": [], "legends": [], "axes": [axes]}
    return {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": [figure]}


def test_a_document_that_holds_to_the_shape_is_read_as_it_is() -> None:
    assert drawn.read(json.dumps(document()).encode()) == document()


@pytest.mark.parametrize(
    "changes",
    [
        {"marks": [{**LINE, "x": ["a" * 300]}]},
        {"marks": [{**LINE, "x": [[1.0]]}]},
        {"marks": [{**LINE, "extra": 1}]},
        {"marks": [{**LINE, "type": "unheard of"}]},
        {"marks": [{**LINE, "y": [1.0] * 5001}]},
        {"marks": [LINE] * 1001},
        {"projection": "sideways"},
        {"xlim": [0.0]},
        {"title": 5},
        {"title": "t" * 2000},
    ],
)
def test_another_shape_is_not_read(changes: dict[str, Any]) -> None:
    assert drawn.read(json.dumps(document(**changes)).encode()) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"format": "deepchart-drawn/1", "library": "x", "figures": []}',
        bytes(5 << 20),
    ],
    ids=["nothing", "null", "list", "cut", "deep", "no figures", "large"],
)
def test_no_document_is_not_read(data: bytes) -> None:
    assert drawn.read(data) is None


def test_numbers_that_are_none_are_not_read() -> None:
    text = json.dumps(document(marks=[{**LINE, "y": [float("nan")]}]))
    assert "NaN" in text
    assert drawn.read(text.encode()) is None


@pytest.mark.parametrize("stored", [None, [], "text", 3, {}, {"format": "deepchart-drawn/2"}])
def test_evidence_of_another_shape_says_nothing(stored: Any) -> None:
    assert drawn.known(stored) is None


def test_evidence_is_read_as_what_it_was_stored_as() -> None:
    stored = drawn.read(json.dumps(document()).encode())
    found = drawn.known(stored)
    assert found is not None
    assert found.model_dump(by_alias=True) == document()
    assert found.saved.axes[0].marks == [drawn.Line(**LINE)]


def test_the_last_figure_is_the_one_that_was_saved() -> None:
    both = document()
    both["figures"].append({**both["figures"][0], "title": "the second"})
    found = drawn.known(both)
    assert found is not None
    assert found.saved.title == "the second"


def axes_of(**changes: Any) -> drawn.Axes:
    found = drawn.known(document(**changes))
    assert found is not None
    return found.saved.axes[0]


def test_limits_are_numbers_or_none() -> None:
    axes = axes_of(xlim=[3, 1], ylim=["2020-01-01", "2021-01-01"], xlabel="Year", ylabel="Share")
    assert (axes.limits("horizontal"), axes.limits("vertical")) == ((3.0, 1.0), None)
    assert (axes.axis_label("horizontal"), axes.axis_label("vertical")) == ("Year", "Share")


HEATMAP = {"type": "heatmap", "label": "", "rows": ["a"], "columns": ["x", "y"], "values": [[1.0, None]]}


@pytest.mark.parametrize(
    ("box", "mark", "strip"),
    [
        ([0.92, 0.1, 0.03, 0.8], HEATMAP, True),
        ([0.1, 0.02, 0.8, 0.05], {"type": "other", "class": "Quiver", "label": ""}, True),
        ([0.1, 0.1, 0.8, 0.8], HEATMAP, False),
        ([0.92, 0.1, 0.03, 0.8], LINE, False),
        ([0.92, 0.1, None, None], HEATMAP, False),
    ],
)
def test_a_thin_strip_of_colours_is_a_scale(box: list[float | None], mark: dict[str, Any], strip: bool) -> None:
    assert axes_of(box=box, marks=[mark]).is_colorbar is strip


BARS = {
    "type": "bars",
    "label": "Revenue",
    "color": "#ff0000",
    "orientation": "vertical",
    "categories": ["a", "b", "c"],
    "positions": [0.0, 1.0, 2.0],
    "values": [3.0, None, 0.0],
    "bases": [0.0, 0.0, 0.0],
}
PIE = {"type": "pie", "labels": ["a", "b"], "fractions": [0.25, 0.75]}


def test_pieces_are_what_is_drawn() -> None:
    marks = axes_of(marks=[BARS, {**LINE, "x": [1.0, None], "y": [2.0, 3.0]}, HEATMAP, PIE]).marks
    assert [drawn.pieces(mark) for mark in marks] == [2, 1, 1, 2]
    assert [list(drawn.values_of(mark)) for mark in marks] == [[3.0, None, 0.0], [2.0, None], [1.0, None], [0.25, 0.75]]
    assert [drawn.label_of(mark) for mark in marks] == ["Revenue", "", "", ""]


def test_bars_stand_on_the_axis_of_their_categories() -> None:
    standing, lying = axes_of(marks=[BARS, {**BARS, "orientation": "horizontal"}]).marks
    assert isinstance(standing, drawn.Bars)
    assert isinstance(lying, drawn.Bars)
    assert (standing.category_axis, standing.value_axis) == ("horizontal", "vertical")
    assert (lying.category_axis, lying.value_axis) == ("vertical", "horizontal")
