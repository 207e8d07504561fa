"""Which questions a chart suggests, the most telling first; not all of them need hold.

Comparisons prefer values whose difference can be seen (at least 2 % of the largest value), and among those
the closest: a misread value changes their order first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, zip_longest

from deepchart_dagster.benchmark.drawn import AxisName, Bars, Heatmap, Line, Scatter
from deepchart_dagster.llm.scripted import questions_compliance as ask
from deepchart_dagster.llm.scripted import questions_presentation as ask_reader
from deepchart_dagster.llm.scripted import questions_topology as ask_order
from deepchart_dagster.llm.scripted.drawing import Cell, Drawing, Series, one_line, same
from deepchart_dagster.llm.scripted.forms import Form

_VISIBLE = 0.02
_MOST_PAIRS = 50
_AXES: tuple[AxisName, ...] = ("vertical", "horizontal")


def compliance(drawing: Drawing) -> Iterator[Form]:
    """Instruction compliance: at least three hold for every chart that has marks of a known type."""
    kinds = [kind for kind in ask.MARK_WORDS if drawing.of_type(kind)]
    yield from (ask.Shows(kind) for kind in kinds[:2])
    yield ask.AroundCircle()
    yield from (ask.Oriented(orientation) for orientation in ("vertical", "horizontal"))
    yield from (ask.Arranged(arrangement) for arrangement in ("stacked", "grouped"))
    yield from _grids(drawing)
    yield from _spans(drawing)
    several = [kind for kind in kinds if kind in ("bars", "line", "scatter", "area")]
    yield from (ask.SeriesCount(kind, len(drawing.of_type(kind))) for kind in several[:1])
    yield ask.PanelCount(drawing.panels)
    yield from _counts(drawing, kinds)
    yield from _outermost(drawing)
    yield from (ask.SeriesCount(kind, len(drawing.of_type(kind))) for kind in kinds)
    yield from (ask.Shows(kind) for kind in kinds[2:])


def _grids(drawing: Drawing) -> Iterator[Form]:
    for mark in drawing.marks:
        if isinstance(mark, Heatmap) and mark.values:
            yield ask.Grid(rows=len(mark.values), columns=len(mark.values[0]))


def _spans(drawing: Drawing) -> Iterator[Form]:
    lines = [series for series in drawing.series if series.kind == "line"]
    yield from (ask.Spans(line.names[0], line.names[-1]) for line in lines[:1])


def _counts(drawing: Drawing, kinds: Iterable[str]) -> Iterator[Form]:
    for kind in kinds:
        if kind in ask.PIECE_WORDS:
            yield ask.PieceCount(kind, drawing.count(kind))


def _outermost(drawing: Drawing) -> Iterator[Form]:
    for axes in drawing.axes:
        for mark in axes.marks:
            names = ask.reading_order(mark, axes) if isinstance(mark, Bars) else []
            if len(names) > 1:
                yield ask.Outermost(names[0], names[-1])


def topology(drawing: Drawing) -> Iterator[Form]:
    """Data-mapping topology: at least two hold for every chart with a named value, a grid, or a cloud of points."""
    if not drawing.of_type("bars") and not drawing.of_type("boxes"):
        yield from _clouds(drawing)  # over bars, points are the sample behind a bar; alone, they are the chart
    yield from islice(_against_each_other(drawing), 1)
    yield from _in_turn([_within(series, drawing) for series in drawing.series])
    yield from _clouds(drawing)
    yield from _cells(drawing.cells)
    yield from _against_each_other(drawing)
    for series in drawing.series:
        yield from _plain(series, drawing)


def _in_turn(rows: list[Iterator[Form]]) -> Iterator[Form]:
    """The first of each row, then the second of each, so that every series is asked about."""
    yield from (form for column in zip_longest(*rows) for form in column if form is not None)


def _name(series: Series, drawing: Drawing) -> str | None:
    """How a question names the series: not at all where it is the only one, or has no name."""
    return series.name if len(drawing.series) > 1 and one_line(series.name) else None


def _within(series: Series, drawing: Drawing) -> Iterator[Form]:
    name = _name(series, drawing)
    if len(series.values) < 2:
        return
    ranked = sorted(zip(series.values, series.names, strict=True), reverse=True)
    yield ask_order.Extreme(ranked[0][1], "highest", name)
    if series.kind == "line":
        direction = "rise" if series.values[-1] > series.values[0] else "fall"
        yield ask_order.Trend(direction, series.names[0], series.names[-1], name)
    for larger, smaller in _visible_pairs(ranked):
        yield ask_order.Larger(larger, smaller, name)
    yield ask_order.Extreme(ranked[-1][1], "lowest", name)


def _visible_pairs(ranked: list[tuple[float, str]]) -> list[tuple[str, str]]:
    """Neighbours in rank: those whose difference can be seen, closest first, then the others."""
    scale = max(abs(value) for value, _ in ranked)
    pairs = [(high[0] - low[0], high[1], low[1]) for high, low in pairwise(ranked)]
    pairs.sort(key=lambda pair: (pair[0] < _VISIBLE * scale, pair[0]))
    return [(larger, smaller) for _, larger, smaller in pairs[:_MOST_PAIRS]]


def _against_each_other(drawing: Drawing) -> Iterator[Form]:
    """Two neighbouring series of the same axes, at the place where they differ most."""
    named = [series for series in drawing.series if one_line(series.name)]
    for one, other in islice(pairwise(named), _MOST_PAIRS):
        if one.axes != other.axes:
            continue
        gaps = [
            (value - other.by_name[same(name)], name)
            for name, value in zip(one.names, one.values, strict=True)
            if same(name) in other.by_name
        ]
        if gaps:
            gap, place = max(gaps, key=lambda pair: abs(pair[0]))
            larger, smaller = (one, other) if gap > 0 else (other, one)
            yield ask_order.SeriesLarger(place, larger.name, smaller.name)


def _clouds(drawing: Drawing) -> Iterator[Form]:
    for cloud in drawing.clouds:
        name = cloud.name if len(drawing.clouds) > 1 and one_line(cloud.name) else None
        yield from (ask_order.Tendency(direction, name) for direction in ("rise", "fall"))
        yield from (ask_order.HighestLies(side, name) for side in ("left", "right"))


def _cells(cells: tuple[Cell, ...]) -> Iterator[Form]:
    if len(cells) < 2:
        return
    ranked = sorted(cells, key=lambda cell: cell.value, reverse=True)
    yield ask_order.CellExtreme(ranked[0].row, ranked[0].column, "highest")
    yield ask_order.CellExtreme(ranked[-1].row, ranked[-1].column, "lowest")
    for high, low in islice(pairwise(ranked), _MOST_PAIRS):
        yield ask_order.CellLarger(high.row, high.column, low.row, low.column)


def _plain(series: Series, drawing: Drawing) -> Iterator[Form]:
    """What can be asked of a single value, or where all are equal."""
    name = _name(series, drawing)
    for place, value in islice(zip(series.names, series.values, strict=True), _MOST_PAIRS):
        yield ask_order.Sign(place, ask_order.side_of_zero(value, series.pixel), name)
        yield ask_order.Present(place, name)


def presentation(drawing: Drawing) -> Iterator[Form]:
    """Presentation quality: at least three hold for the usual charts, labelled or not."""
    yield ask_reader.HasTitle()
    yield ask_reader.AxisLabelled("vertical")
    yield from _units(drawing)
    yield from _legend(drawing)
    yield ask_reader.SlicesNamed()
    yield ask_reader.WholeCircle()
    yield ask_reader.CellsNamed()
    yield from (ask_reader.Increases(axis) for axis in _AXES if axis in _number_axes(drawing))
    yield ask_reader.AxisLabelled("horizontal")
    yield ask_reader.BarsNamed()
    yield from (ask_reader.LabelsApart(axis) for axis in reversed(_AXES))
    yield from (ask_reader.TicksLabelled(axis) for axis in _AXES)
    yield ask_reader.NothingCutOff()
    yield ask_reader.NoGaps()
    yield ask_reader.ColoursDiffer()
    yield ask_reader.ZeroShown()


def _units(drawing: Drawing) -> Iterator[Form]:
    for axes in drawing.axes:
        for axis in _AXES:
            unit = ask_reader.unit_of(axes.axis_label(axis))
            if unit:
                yield ask_reader.UnitNamed(unit, axis)


def _legend(drawing: Drawing) -> Iterator[Form]:
    labels = drawing.legend_labels
    yield from (ask_reader.LegendNames(label) for label in labels[:1])
    yield from ([ask_reader.LegendCount(len(labels))] if labels else [])
    yield from (ask_reader.LegendNames(label) for label in labels[1:])


def _number_axes(drawing: Drawing) -> set[AxisName]:
    """Axes on which values are read off; the other axis of bars and dumbbells holds names."""
    found: set[AxisName] = set()
    for mark in drawing.marks:
        if isinstance(mark, Bars):
            found.add(mark.value_axis)
        elif isinstance(mark, Line):
            found.add("vertical")
        elif isinstance(mark, Scatter) and drawing.clouds:
            found |= {"horizontal", "vertical"}
    return found
