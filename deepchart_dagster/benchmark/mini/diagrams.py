"""Charts without a pair of axes for the pages of papers and reports: rings, wheels of bars, grids, bands.

Like those of ``pictures`` they carry names, never their values, but for the labelled bars of report pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, radians, sin

from deepchart_dagster.benchmark.mini.canvas import Align, Color, Point
from deepchart_dagster.benchmark.mini.pictures import PALETTE
from deepchart_dagster.benchmark.mini.typeset import Area

_FONT, _BOLD = "helv", "hebo"
_SIZE = 7.5
_WHITE: Color = (1.0, 1.0, 1.0)
_BAND_POINTS = 24


def lighter(color: Color, share: float) -> Color:
    """``color`` mixed with ``share`` of white."""
    red, green, blue = (part + (1 - part) * share for part in color)
    return red, green, blue


def ring_picture(area: Area, groups: Mapping[str, Mapping[str, float]]) -> None:
    """Groups as the inner ring, their members as the outer one; names stand outside."""
    centre, reach = _centre(area), (area.bottom - area.top) / 2 - 12
    total = sum(sum(members.values()) for members in groups.values())
    angle = 0.0
    for color, (group, members) in zip(PALETTE, groups.items(), strict=False):
        width = 360 * sum(members.values()) / total
        _sector(area, centre, (reach * 0.3, reach * 0.62), (angle, angle + width), color)
        _write_at(area, centre, reach * 0.46, angle + width / 2, group, _WHITE, "center")
        for number, (member, value) in enumerate(members.items()):
            end = angle + 360 * value / total
            _sector(area, centre, (reach * 0.66, reach), (angle, end), lighter(color, 0.25 + 0.2 * number))
            _write_beside(area, centre, reach + 6, (angle + end) / 2, member)
            angle = end


def wheel_picture(area: Area, bars: Mapping[str, float], high: float) -> None:
    """Bars around a circle, clockwise from the top; ``high`` is the length of the radius."""
    centre, reach = _centre(area), (area.bottom - area.top) / 2 - 12
    slot = 360 / len(bars)
    for number, (name, value) in enumerate(bars.items()):
        middle = slot * number
        _sector(area, centre, (0.0, reach * value / high), (middle - slot * 0.4, middle + slot * 0.4), PALETTE[0])
        _write_beside(area, centre, reach, middle, name)


def grid_picture(area: Area, columns: Sequence[str], rows: Mapping[str, Sequence[float]]) -> None:
    """Cells shaded by where each value lies between the least and the greatest of its column."""
    left, top, canvas = area.left + 80, area.top + 16, area.canvas
    width, height = (area.right - left) / len(columns), (area.bottom - top) / len(rows)
    for place, column in enumerate(columns):
        canvas.text((left + width * (place + 0.5), top - 5), column, font=_FONT, size=_SIZE, align="center")
        values = [row[place] for row in rows.values()]
        for number, value in enumerate(values):
            share = (value - min(values)) / (max(values) - min(values))
            x, y = left + width * place, top + height * number
            canvas.box(x + 1, y + 1, x + width - 1, y + height - 1, lighter(PALETTE[0], 0.9 - 0.8 * share))
    for number, name in enumerate(rows):
        canvas.text((left - 6, top + height * (number + 0.5) + 2.5), name, font=_FONT, size=_SIZE, align="right")


def band_picture(area: Area, flows: Mapping[str, Mapping[str, float]]) -> None:
    """Bands from names at the left to names at the right, as wide as what flows."""
    left, right, canvas = area.left + 90, area.right - 90, area.canvas
    sinks: dict[str, float] = {}
    for ways in flows.values():
        for sink, value in ways.items():
            sinks[sink] = sinks.get(sink, 0.0) + value
    scale = (area.bottom - area.top - 8 * len(sinks)) / sum(sinks.values())
    sources = {source: sum(ways.values()) for source, ways in flows.items()}
    begin, end = _piled(area.top, sources, scale), _piled(area.top, sinks, scale)
    for name, at in begin.items():
        canvas.text((left - 6, at + sources[name] * scale / 2), name, font=_FONT, size=_SIZE, align="right")
    for name, at in end.items():
        canvas.text((right + 6, at + sinks[name] * scale / 2), name, font=_FONT, size=_SIZE)
    for color, (source, ways) in zip(PALETTE, flows.items(), strict=False):
        for sink, value in ways.items():
            upper = _band(left, right, begin[source], end[sink])
            lower = [(x, y + value * scale) for x, y in upper]
            canvas.area([*upper, *lower[::-1]], color, opacity=0.6)
            begin[source] += value * scale
            end[sink] += value * scale


def labelled_bars(area: Area, title: str, bars: Mapping[str, Sequence[float]], series: Sequence[str]) -> None:
    """A full-page chart: a row for each name, then its values, a column for each series, then a bar for each value.

    Bars stand well apart from the words: text recognition takes one that touches a word for part of it.
    """
    canvas = area.canvas
    columns = [area.left + 170 + 66 * number for number in range(len(series))]
    left = columns[-1] + 50
    canvas.text((area.left + 12, area.top + 34), title, font=_BOLD, size=14)
    for color, name, right in zip(PALETTE, series, columns, strict=False):
        canvas.text((right, area.top + 66), name, font=_BOLD, size=11, align="right", color=color)
    top = area.top + 78
    step = (area.bottom - top - 10) / len(bars)
    scale = (area.right - 20 - left) / max(value for values in bars.values() for value in values)
    for row, (name, values) in enumerate(bars.items()):
        middle = top + step * (row + 0.5)
        thick = step * 0.7 / len(values)
        canvas.text((area.left + 12, middle + 4), name, font=_FONT, size=11.5)
        for number, (value, right) in enumerate(zip(values, columns, strict=True)):
            y = middle - step * 0.35 + thick * number
            canvas.box(left, y + 0.5, left + value * scale, y + thick - 0.5, lighter(PALETTE[number], 0.3))
            canvas.text((right, middle + 4), f"{value:,}", font=_FONT, size=11.5, align="right")


def _piled(top: float, totals: Mapping[str, float], scale: float) -> dict[str, float]:
    """Where each of them begins, one below the other."""
    begin: dict[str, float] = {}
    for name, total in totals.items():
        begin[name], top = top, top + total * scale + 8
    return begin


def _band(left: float, right: float, start: float, end: float) -> list[Point]:
    shares = [number / _BAND_POINTS for number in range(_BAND_POINTS + 1)]
    return [(left + (right - left) * share, start + (end - start) * (1 - cos(pi * share)) / 2) for share in shares]


def _centre(area: Area) -> Point:
    return (area.left + area.right) / 2, (area.top + area.bottom) / 2


def _on_circle(centre: Point, radius: float, degrees: float) -> Point:
    """Degrees run clockwise from the top."""
    return centre[0] + radius * sin(radians(degrees)), centre[1] - radius * cos(radians(degrees))


def _sector(area: Area, centre: Point, radii: tuple[float, float], degrees: tuple[float, float], color: Color) -> None:
    steps = max(2, round((degrees[1] - degrees[0]) / 4))
    turns = [degrees[0] + (degrees[1] - degrees[0]) * number / steps for number in range(steps + 1)]
    inner, outer = ([_on_circle(centre, radius, turn) for turn in turns] for radius in radii)
    area.canvas.area([*inner, *outer[::-1]], color)


def _write_beside(area: Area, centre: Point, radius: float, degrees: float, text: str) -> None:
    side = sin(radians(degrees))
    align: Align = "center" if abs(side) < 0.2 else "left" if side > 0 else "right"
    _write_at(area, centre, radius + 4, degrees, text, (0.0, 0.0, 0.0), align)


def _write_at(area: Area, centre: Point, radius: float, degrees: float, text: str, color: Color, align: Align) -> None:
    x, y = _on_circle(centre, radius, degrees)
    area.canvas.text((x, y + 2.5), text, font=_FONT, size=_SIZE, align=align, color=color)
