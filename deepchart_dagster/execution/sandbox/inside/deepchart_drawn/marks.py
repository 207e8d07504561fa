"""The marks of one axes: from what matplotlib keeps of a plot to values by series."""

import contextlib
import itertools
import re
from collections.abc import Iterator
from typing import Any

from .values import MAX_POINTS, AxisReader, Names, colour, is_shown, label_of, number, numbers, plain_floats, text

_MAX_MARKS = 1000
_BOXES = "_deepchart_boxes"
_VIOLINS = "_deepchart_violins"
_FLOWS = "_deepchart_flows"
Mark = dict[str, Any]


def describe(axes: Any, x: AxisReader, y: AxisReader, names: Names) -> list[Mark]:
    if axes.get_label() == "<colorbar>":
        return []  # the scale of another mark
    reader = _MarkReader(axes, x, y, names)
    return [mark for mark in reader.marks() if not _is_empty(mark)][:_MAX_MARKS]


def _is_empty(mark: Mark) -> bool:
    """Seaborn leaves empty bars, lines and points behind as handles of its legend."""
    return any(name in mark and not mark[name] for name in ("x", "values", "segments", "fractions", "medians"))


def note_boxes(axes: Any, stats: Any, positions: Any, artists: Any, options: Any) -> None:
    """Keeps a box plot's statistics until the figure is described; its artists are then no lines of their own."""
    flat = options.get("orientation") == "horizontal" or options.get("vert") is False
    note = {
        "stats": [dict(one) for one in stats],
        "positions": list(positions) if positions is not None else list(range(1, len(stats) + 1)),
        "flat": flat,
        "artists": {id(artist) for group in artists.values() for artist in group},
    }
    axes.__dict__.setdefault(_BOXES, []).append(note)


def note_violins(axes: Any, stats: Any, positions: Any, artists: Any, options: Any) -> None:
    """Keeps a violin plot's statistics; its bodies and lines are then no areas and segments of their own."""
    flat = options.get("orientation") == "horizontal" or options.get("vert") is False
    drawn = [part for group in artists.values() for part in _flat(group)]
    note = {
        "stats": [{name: one.get(name) for name in ("median", "min", "max")} for one in stats],
        "positions": list(positions) if positions is not None else list(range(1, len(stats) + 1)),
        "flat": flat,
        "artists": {id(artist) for artist in drawn},
    }
    axes.__dict__.setdefault(_VIOLINS, []).append(note)


def note_flows(axes: Any, patch: Any, named: dict[str, Any]) -> None:
    """Keeps what ``matplotlib.sankey.Sankey.add`` was given: its patch is a path without values."""
    flows = [float(flow) for flow in _flat(named["flows"])]
    labels = named.get("labels")
    texts = [text(label or "") for label in ([labels] * len(flows) if isinstance(labels, str) else _flat(labels))]
    middle = text(named.get("patchlabel") or "")
    links = [
        (name, middle, flow) if flow > 0 else (middle, name, -flow)
        for name, flow in zip(texts, flows, strict=False)
        if flow
    ]
    axes.__dict__.setdefault(_FLOWS, []).append({"links": links[:MAX_POINTS], "patch": id(patch)})


class _MarkReader:
    def __init__(self, axes: Any, x: AxisReader, y: AxisReader, names: Names) -> None:
        self._axes = axes
        self._x, self._y = x, y
        self._names = names
        self._used: set[int] = set()  # artists that belong to a mark already described

    def marks(self) -> Iterator[Mark]:
        if self._axes.name == "3d":
            yield from (_other(artist) for artist in (*self._axes.lines, *self._axes.collections))
            return
        # In this order: containers claim their artists before these are read one by one.
        for note in self._axes.__dict__.get(_BOXES, ()):
            yield self._boxes(note)
        for note in self._axes.__dict__.get(_VIOLINS, ()):
            yield self._violins(note)
        for note in self._axes.__dict__.get(_FLOWS, ()):
            yield self._flows(note)
        for container in self._axes.containers:
            yield from self._container(container)
        yield from self._pies()
        yield from (self._line(line) for line in self._axes.lines if self._is_new(line))
        for collection in self._axes.collections:
            if self._is_new(collection):
                yield from self._collection(collection)
        yield from (self._image(image) for image in self._axes.images)
        yield from (_other(patch) for patch in self._axes.patches if self._is_new(patch))

    def _is_new(self, artist: Any) -> bool:
        return id(artist) not in self._used and artist.get_visible()

    def _claim(self, artists: Any) -> None:
        self._used.update(id(artist) for artist in artists if artist is not None)

    # containers ----------------------------------------------------------------------------------------------

    def _container(self, container: Any) -> Iterator[Mark]:
        kind = type(container).__name__
        if kind == "BarContainer":
            yield self._bars(container)
        elif kind == "ErrorbarContainer" and id(container) not in self._used:
            yield from self._error_bars(container)
        elif kind == "StemContainer":
            self._claim([*_flat(container.stemlines), container.baseline])

    def _bars(self, container: Any) -> Mark:
        bars = [patch for patch in container.patches if hasattr(patch, "get_height")][:MAX_POINTS]
        self._claim(container.patches)
        flat = container.orientation == "horizontal"
        if flat:
            positions = numbers([bar.get_y() + bar.get_height() / 2 for bar in bars])
            values, bases = numbers([bar.get_width() for bar in bars]), [bar.get_x() for bar in bars]
        else:
            positions = numbers([bar.get_x() + bar.get_width() / 2 for bar in bars])
            values, bases = numbers([bar.get_height() for bar in bars]), [bar.get_y() for bar in bars]
        along, across = (self._y, self._x) if flat else (self._x, self._y)
        fill = _common([colour(bar.get_facecolor()) for bar in bars])
        return {
            "type": "bars",
            "label": self._names.of(label_of(container), fill),
            "color": fill,
            "orientation": "horizontal" if flat else "vertical",
            "categories": along.names_at(positions, reach=0.5),
            "positions": [along.coordinate(at) if along.is_date else at for at in positions],
            "values": values,
            "bases": across.coordinates(bases) if across.is_date else numbers(bases),
        }

    def _error_bars(self, container: Any) -> Iterator[Mark]:
        line, caps, collections = container.lines
        self._claim([container, *caps, *collections])
        label = label_of(container)
        if line is not None and line.get_label().startswith("_") and label:
            line.set_label(label)
        groups = list(collections)
        for has, flat in ((container.has_xerr, True), (container.has_yerr, False)):
            if has and groups:
                yield self._error_bar(groups.pop(0), flat, line, label)

    def _error_bar(self, collection: Any, flat: bool, line: Any, label: str) -> Mark:
        axis = 0 if flat else 1
        along = self._x if flat else self._y
        spans = [sorted((segment[0][axis], segment[-1][axis])) for segment in collection.get_segments()[:MAX_POINTS]]
        if line is not None:
            centers = line.get_xdata(orig=False) if flat else line.get_ydata(orig=False)
        else:
            centers = self._bar_ends(collection, flat)
        return {
            "type": "errorbars",
            "label": label or (self._names.of("", colour(line.get_color())) if line is not None else ""),
            "orientation": "horizontal" if flat else "vertical",
            "centers": along.coordinates(centers),
            "low": along.coordinates([low for low, _ in spans]),
            "high": along.coordinates([high for _, high in spans]),
        }

    def _bar_ends(self, collection: Any, flat: bool) -> list[float]:
        """Where bars carry the error bars, their ends are the centers; else the middle is all there is."""
        for container in self._axes.containers:
            owned = getattr(container, "errorbar", None)
            if owned is not None and any(one is collection for one in owned.lines[2]):
                if flat:
                    return [bar.get_x() + bar.get_width() for bar in container.patches]
                return [bar.get_y() + bar.get_height() for bar in container.patches]
        axis = 0 if flat else 1
        return [(segment[0][axis] + segment[-1][axis]) / 2 for segment in collection.get_segments()]

    def _boxes(self, note: Any) -> Mark:
        self._used |= note["artists"]
        stats = note["stats"][:MAX_POINTS]
        along = self._y if note["flat"] else self._x
        names = along.names_at(numbers(note["positions"]), reach=0.5)
        return {
            "type": "boxes",
            "labels": names,
            "medians": [number(one.get("med")) for one in stats],
            "q1": [number(one.get("q1")) for one in stats],
            "q3": [number(one.get("q3")) for one in stats],
            "low": [number(one.get("whislo")) for one in stats],
            "high": [number(one.get("whishi")) for one in stats],
        }

    def _violins(self, note: Any) -> Mark:
        self._used |= note["artists"]
        along = self._y if note["flat"] else self._x
        stats = note["stats"][:MAX_POINTS]
        return {
            "type": "violins",
            "label": "",
            "labels": along.names_at(numbers(note["positions"]), reach=0.5),
            "medians": [number(one["median"]) for one in stats],
            "low": [number(one["min"]) for one in stats],
            "high": [number(one["max"]) for one in stats],
        }

    def _flows(self, note: Any) -> Mark:
        self._used.add(note["patch"])
        return {
            "type": "flows",
            "label": "",
            "sources": [source for source, _, _ in note["links"]],
            "targets": [target for _, target, _ in note["links"]],
            "values": [number(value) for _, _, value in note["links"]],
        }

    # single artists ------------------------------------------------------------------------------------------

    def _pies(self) -> Iterator[Mark]:
        """Wedges by ring: a nested ring is a pie of its own."""
        rings: dict[tuple[float, ...], list[Any]] = {}
        for patch in self._axes.patches:
            if type(patch).__name__ == "Wedge":
                rings.setdefault((round(patch.r, 6), round(patch.width or 0, 6)), []).append(patch)
        shown = [item.get_text() for item in (*self._axes.texts, *self._axes.figure.texts) if is_shown(item)]
        for wedges in rings.values():
            self._claim(wedges)
            yield {
                "type": "pie",
                "labels": [self._name_of_wedge(wedge, shown) for wedge in wedges],
                "fractions": [number((wedge.theta2 - wedge.theta1) / 360) for wedge in wedges],
            }

    def _name_of_wedge(self, wedge: Any, shown: list[str]) -> str:
        """Its label where that can be seen: a pie without labels beside it keeps them for a legend."""
        if not wedge.get_visible():
            return ""
        label = label_of(wedge)
        is_seen = label and (self._names.has(label) or any(_speaks_of(label, words) for words in shown))
        return self._names.of(label if is_seen else "", colour(wedge.get_facecolor()))

    def _line(self, line: Any) -> Mark:
        stroke = colour(line.get_color())
        label = self._names.of(label_of(line), stroke)
        x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
        if line.get_transform() == self._axes.get_yaxis_transform(which="grid"):  # axhline
            return _segments(label, stroke, [[[None, self._y.coordinate(at)] for at in y[:2]]])
        if line.get_transform() == self._axes.get_xaxis_transform(which="grid"):  # axvline
            return _segments(label, stroke, [[[self._x.coordinate(at), None] for at in x[:2]]])
        return {
            "type": "line",
            "label": label,
            "color": stroke,
            "x": self._x.coordinates(x),
            "y": self._y.coordinates(y),
            "marker": str(line.get_marker()) not in ("None", "none", "", " "),
        }

    def _collection(self, collection: Any) -> Iterator[Mark]:
        kind = type(collection).__name__
        if kind == "PathCollection":
            yield from self._scatter(collection)
        elif kind == "QuadMesh":
            yield self._mesh(collection)
        elif kind == "LineCollection":
            yield self._line_segments(collection)
        elif kind == "FillBetweenPolyCollection" and collection.t_direction == "x":
            yield from self._areas(collection)
        else:
            yield _other(collection)

    def _scatter(self, collection: Any) -> Iterator[Mark]:
        import numpy as np

        offsets = plain_floats(collection.get_offsets())[:MAX_POINTS]
        sizes = np.resize(collection.get_sizes(), len(offsets)) if len(collection.get_sizes()) else np.array([])
        label = label_of(collection)
        for fill, chosen in self._by_series(collection, len(offsets)):
            yield {
                "type": "scatter",
                "label": self._names.of(label, fill),
                "color": fill,
                "x": self._x.coordinates(offsets[chosen, 0]),
                "y": self._y.coordinates(offsets[chosen, 1]),
                "sizes": numbers(sizes[chosen]) if len(sizes) else [],
            }

    def _by_series(self, collection: Any, count: int) -> list[tuple[str | None, Any]]:
        """Seaborn draws all hues as one collection: its points are told apart by colours that a legend names."""
        import numpy as np

        everything = np.arange(count)
        faces = collection.get_facecolor()
        if len(faces) != count or count < 2 or collection.get_array() is not None:
            return [(colour(faces), everything)]
        colours = [colour(face) for face in faces]
        distinct = list(dict.fromkeys(colours))
        if len(distinct) == 1 or not all(self._names.knows(one) for one in distinct):
            return [(_common(colours), everything)]
        return [(one, everything[[found == one for found in colours]]) for one in distinct]

    def _image(self, image: Any) -> Mark:
        values = image.get_array()
        if values is None or values.ndim != 2:
            return _other(image)
        left, right, bottom, top = image.get_extent()
        rows, columns = values.shape
        if image.origin == "upper":
            bottom, top = top, bottom
        return self._heat_map(image, values, _middles(bottom, top, rows), _middles(left, right, columns))

    def _mesh(self, mesh: Any) -> Mark:
        corners = mesh.get_coordinates()
        shape = (corners.shape[0] - 1, corners.shape[1] - 1)
        if mesh.get_array() is None or mesh.get_array().size != shape[0] * shape[1]:
            return _other(mesh)
        y_edges, x_edges = corners[:, 0, 1], corners[0, :, 0]
        rows = [(low + high) / 2 for low, high in itertools.pairwise(y_edges)]
        columns = [(low + high) / 2 for low, high in itertools.pairwise(x_edges)]
        return self._heat_map(mesh, mesh.get_array().reshape(shape), rows, columns)

    def _heat_map(self, artist: Any, values: Any, rows: list[float], columns: list[float]) -> Mark:
        shown = values[:MAX_POINTS, : max(1, MAX_POINTS // max(1, len(values)))]
        return {
            "type": "heatmap",
            "label": label_of(artist),
            "rows": self._y.names_at([number(at) for at in rows[: len(shown)]], reach=_half_step(rows)),
            "columns": self._x.names_at([number(at) for at in columns[: shown.shape[1]]], reach=_half_step(columns)),
            "values": [numbers(row) for row in shown],
        }

    def _line_segments(self, collection: Any) -> Mark:
        pairs = []
        for points in collection.get_segments():
            for start, end in itertools.pairwise(points):
                pairs.append([[self._x.coordinate(p[0]), self._y.coordinate(p[1])] for p in (start, end)])
        stroke = colour(collection.get_color())
        return _segments(self._names.of(label_of(collection), stroke), stroke, pairs[:MAX_POINTS])

    def _areas(self, collection: Any) -> Iterator[Mark]:
        """fill_between leaves a polygon: a corner, n points along one edge, a corner, n points back."""
        fill = colour(collection.get_facecolor())
        for path in collection.get_paths():
            points = path.vertices
            count = (len(points) - 3) // 2
            first, second = points[1 : count + 1], points[count + 2 : 2 * count + 2][::-1]
            yield {
                "type": "area",
                "label": self._names.of(label_of(collection), fill),
                "color": fill,
                "x": self._x.coordinates(first[:, 0]),
                "low": self._y.coordinates([min(pair) for pair in zip(first[:, 1], second[:, 1], strict=False)]),
                "high": self._y.coordinates([max(pair) for pair in zip(first[:, 1], second[:, 1], strict=False)]),
            }


def _speaks_of(label: str, words: str) -> bool:
    pattern = r"\s+".join(map(re.escape, label.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", words) is not None


def _segments(label: str, stroke: str | None, pairs: list[Any]) -> Mark:
    return {"type": "segments", "label": label, "color": stroke, "segments": pairs}


def _other(artist: Any) -> Mark:
    return {"type": "other", "class": text(type(artist).__name__), "label": label_of(artist)}


def _common(colours: list[str | None]) -> str | None:
    return colours[0] if len(set(colours)) == 1 else None


def _middles(start: float, end: float, count: int) -> list[float]:
    step = (end - start) / count
    return [start + step * (index + 0.5) for index in range(count)]


def _half_step(positions: list[float]) -> float:
    return abs(positions[1] - positions[0]) / 2 if len(positions) > 1 else 0.5


def _flat(value: Any) -> list[Any]:
    with contextlib.suppress(TypeError):
        return list(value)
    return [value]
