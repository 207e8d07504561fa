"""A figure and its axes, as they are after saving."""

import contextlib
from typing import Any

from . import marks
from .values import AxisReader, Names, colour, is_shown, number, text


def describe(figure: Any) -> dict[str, Any]:
    width, height = figure.get_size_inches()
    legends = [found for holder in figure.legends if (found := _legend(holder))]
    names = Names([found for axes in figure.axes if (found := _legend(axes.get_legend()))] + legends)
    return {
        "title": text(figure.get_suptitle()),
        "width_px": number(width * figure.dpi),
        "height_px": number(height * figure.dpi),
        "texts": [
            text(item.get_text())
            for item in figure.texts
            if item.get_text() != figure.get_suptitle() and is_shown(item)
        ],
        "legends": legends,
        "axes": [_axes(axes, names) for axes in figure.axes if axes.get_visible()],
    }


def _axes(axes: Any, names: Names) -> dict[str, Any]:
    x, y = AxisReader(axes, axes.xaxis), AxisReader(axes, axes.yaxis)
    titles = (axes.get_title(loc=place) for place in ("center", "left", "right"))
    return {
        "title": text(next(filter(None, titles), "")),
        "projection": axes.name if axes.name in ("rectilinear", "polar", "3d") else "rectilinear",
        "box": [number(part) for part in axes.get_position().bounds],
        "xlabel": text(axes.get_xlabel()),
        "ylabel": text(axes.get_ylabel()),
        "xscale": text(axes.get_xscale()),
        "yscale": text(axes.get_yscale()),
        "xlim": x.limits(),
        "ylim": y.limits(),
        "xticks": x.ticks(),
        "yticks": y.ticks(),
        "legend": _legend(axes.get_legend()),
        "texts": [_placed_text(axes, item) for item in axes.texts if is_shown(item)][:1000],
        "marks": marks.describe(axes, x, y, names),
    }


def _placed_text(axes: Any, item: Any) -> dict[str, Any]:
    """Annotations stand at the point they speak of."""
    x, y = getattr(item, "xy", None) or item.get_position()
    with contextlib.suppress(Exception):
        x, y = axes.convert_xunits(x), axes.convert_yunits(y)
    return {"text": text(item.get_text()), "x": number(x), "y": number(y)}


def _legend(legend: Any) -> dict[str, Any] | None:
    if legend is None or not legend.get_visible():
        return None
    handles = [*legend.legend_handles, *[None] * len(legend.get_texts())]
    entries = [
        {"label": text(item.get_text()), "color": _handle_colour(handle)}
        for item, handle in zip(legend.get_texts(), handles, strict=False)
    ]
    return {"title": text(legend.get_title().get_text()), "entries": entries}


def _handle_colour(handle: Any) -> str | None:
    for getter in ("get_facecolor", "get_color"):
        read = getattr(handle, getter, None)
        if read is not None and (found := colour(read())):
            return found
    return None
