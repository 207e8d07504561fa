"""Dashes that stand for nil in a table's cells: strokes that PP-OCR's detector does not take for text.

A stroke counts where it is as long as a dash, alone, in the middle of a row of text, and in line with values of
other rows. Rules under totals are longer, underlines lower, hyphens inside words are words already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

from deepchart_dagster.contexts.engines.drawing import Drawn
from deepchart_dagster.contexts.words import Word, is_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DARK = 150
# In heights of the page's words.
_SHORTEST = 0.4
_LONGEST = 1.5
_THICKEST = 0.22
_CLEAR = 0.35
_OFF_MIDDLE = 0.2
_IN_LINE = 0.7
_MIN_FILLED = 0.55
_MAX_SPECKS = 0.04
_MIN_WORDS = 8


def with_dashes(words: Sequence[Word], drawn: Drawn) -> list[Word]:
    """``words`` (in points) and the dashes of the drawing that none of them covers."""
    if len(words) < _MIN_WORDS or not any(is_value(word.text) for word in words):
        return list(words)
    height = median(word.height for word in words)
    scale = drawn.points_per_pixel
    found: list[Word] = []
    for x0, y0, x1, y1, is_free in _strokes(drawn.pixels, height / scale):
        middle = (y0 + y1) / 2 * scale
        dash = Word("—", x0 * scale, middle - height / 2, x1 * scale, middle + height / 2)
        if (is_free or _before_percent(dash, words)) and _is_nil(dash, words):
            found.append(dash)
    return [*(_without(word, found) for word in words), *found]


def _without(word: Word, dashes: Sequence[Word]) -> Word:
    """A percent sign without the dash before it, whose box it was given."""
    end = max((dash.x1 for dash in dashes if word.text == "%" and _covers(word, dash)), default=None)
    return word if end is None else replace(word, x0=end)


def _strokes(pixels: NDArray[np.uint8], height: float) -> Iterator[tuple[int, int, int, int, bool]]:
    """Level strokes as long as dashes with nothing above, below or before them: x0, y0, x1, y1 in pixels, and whether
    there is nothing behind them either."""
    cv2: Any = import_module("cv2")  # comes with PP-OCR
    dark = (pixels.min(axis=2) < _DARK).astype("uint8")
    _, _, parts, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    clear = max(2, round(_CLEAR * height))
    for x, y, width, thick, area in parts[1:].tolist():
        if not (_SHORTEST * height <= width <= _LONGEST * height and thick <= max(2.0, _THICKEST * height)):
            continue
        rows, end = slice(max(0, y - clear), y + thick + clear), x + width
        around, behind = dark[rows, max(0, x - clear) : end + 1], dark[rows, end + 1 : end + clear]
        if area >= _MIN_FILLED * width * thick and around.sum() - area <= _MAX_SPECKS * around.size:
            yield x, y, end, y + thick, bool(behind.sum() <= _MAX_SPECKS * behind.size)


def _before_percent(dash: Word, words: Sequence[Word]) -> bool:
    """PP-OCR reads ``—%`` as the sign alone, in a box that holds both."""
    return any(word.text == "%" and _covers(word, dash) for word in words)


def _covers(word: Word, dash: Word) -> bool:
    return word.x0 < dash.center < word.x1 and word.y0 < dash.middle < word.y1


def _is_nil(dash: Word, words: Sequence[Word]) -> bool:
    """Whether it stands in the middle of a row, in line with a value of another row, and in no other word."""
    if any(word.text != "%" and _covers(word, dash) for word in words):
        return False
    reach = _OFF_MIDDLE * dash.height
    beside = [word for word in words if abs(word.middle - dash.middle) < reach]
    near = _IN_LINE * dash.height
    return bool(beside) and any(
        is_value(word.text) and word.x0 - near < dash.x1 and dash.x0 < word.x1 + near
        for word in words
        if abs(word.middle - dash.middle) >= reach
    )
