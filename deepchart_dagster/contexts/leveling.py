"""Words of a page that lies askew on its scan, brought level so that rows stay whole.

A scan that is turned by one degree sets the end of a row some ten points off its beginning, which is a
row's height: what stands on one line would fall into two. The slope is that at which the middles of the
page's words gather in the sharpest rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from deepchart_dagster.contexts.words import Word, group_rows

if TYPE_CHECKING:
    from deepchart_dagster.contexts.layout import PageLine

Box: TypeAlias = tuple[float, float, float, float]

# Slopes looked at, as the tangent: up to 3 degrees either way.
_STEEPEST = 0.052
_STEP = 0.001
# Less than this moves the end of a row by less than a sixth of its height.
_LEVEL = 0.0008
_MIN_WORDS = 12
_MIN_GAIN = 1.05
# Neighbours farther apart than this many heights count no more than those.
_FAR = 10.0


def skew(words: Sequence[Word]) -> float:
    """By how much rows fall (points down for each point to the right); 0 where nothing can be told."""
    upright = [word for word in words if not word.turn]
    if len(upright) < _MIN_WORDS:
        return 0.0
    height = sorted(word.height for word in upright)[len(upright) // 2]
    coarse = _sharpest(upright, height, _steps(0.0, _STEEPEST, _STEP))
    gain = _sharpness(upright, coarse, height) / max(_sharpness(upright, 0.0, height), 1e-9)
    slope = _fitted(upright, _fitted(upright, coarse if gain > _MIN_GAIN else 0.0))
    return slope if abs(slope) > _LEVEL else 0.0


def _fitted(words: Sequence[Word], slope: float) -> float:
    """``slope`` corrected by what is left between neighbours of a row: the median, weighted by their distance.

    Not a fitted line: values often stand a little lower than their label, on level pages as well.
    """
    left: list[tuple[float, float]] = []
    for row in group_rows(leveled(words, slope)):
        for word, after in itertools.pairwise(row):
            apart = after.center - word.center
            if apart > word.height:
                left.append(((after.middle - word.middle) / apart, min(apart, _FAR * word.height)))
    return slope + _weighted_median(left)


def _weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    """Of (number, weight)."""
    half = sum(weight for _, weight in pairs) / 2
    for number, weight in sorted(pairs):
        half -= weight
        if half <= 0:
            return number
    return 0.0


def _steps(middle: float, reach: float, step: float) -> list[float]:
    """From the middle outwards, so that of equally good slopes the smallest change is taken."""
    count = round(reach / step)
    return sorted((middle + at * step for at in range(-count, count + 1)), key=lambda slope: abs(slope - middle))


def _sharpest(words: Sequence[Word], height: float, slopes: Sequence[float]) -> float:
    return max(slopes, key=lambda slope: _sharpness(words, slope, height))


def _sharpness(words: Sequence[Word], slope: float, height: float) -> float:
    """Sum of the squares of a profile of the words' middles, in bins of a quarter of a height, softly shared."""
    size = max(height, 1.0) / 4
    bins: dict[int, float] = {}
    for word in words:
        place = (word.middle - slope * word.center) / size
        low = math.floor(place)
        bins[low] = bins.get(low, 0.0) + (low + 1 - place)
        bins[low + 1] = bins.get(low + 1, 0.0) + (place - low)
    return sum(count * count for count in bins.values())


def leveled(words: Sequence[Word], slope: float) -> list[Word]:
    """``words`` turned about the page's upper left corner until rows of that slope are level; boxes keep their size."""
    if not slope:
        return list(words)
    return [_leveled(word, slope) for word in words]


def _leveled(word: Word, slope: float) -> Word:
    x0, y0, x1, y1 = _moved((word.x0, word.y0, word.x1, word.y1), -slope)
    return replace(word, x0=x0, y0=y0, x1=x1, y1=y1)


def tilted(lines: Sequence[PageLine], slope: float) -> list[PageLine]:
    """Lines that were laid out of leveled words, with their boxes where they stand on the page."""
    if not slope:
        return list(lines)
    return [
        replace(
            line,
            numbers=tuple(replace(number, box=_rounded(_moved(number.box, slope))) for number in line.numbers),
            box=_rounded(_outline(line.box, slope)),
        )
        for line in lines
    ]


def _moved(box: Box, slope: float) -> Box:
    """A small box about its middle, which is turned about the origin."""
    x, y = _at((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, slope)
    half_width, half_height = (box[2] - box[0]) / 2, (box[3] - box[1]) / 2
    return (x - half_width, y - half_height, x + half_width, y + half_height)


def _outline(box: Box, slope: float) -> Box:
    """The box around a large one that is turned."""
    corners = [_at(x, y, slope) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return (min(xs), min(ys), max(xs), max(ys))


def _at(x: float, y: float, slope: float) -> tuple[float, float]:
    angle = math.atan(slope)
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


def _rounded(box: Box) -> Box:
    return (round(box[0], 1), round(box[1], 1), round(box[2], 1), round(box[3], 1))
