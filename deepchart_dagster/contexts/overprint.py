"""Words that are set twice over one another: bold by overprinting, shadows. They are read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from deepchart_dagster.contexts.words import Word

# Of a word's height: what lies nearer covers it.
_SHIFT = 0.15
# Words are looked for in fields of 64 × 16 points.
_ACROSS, _DOWN = 6, 4

_Field: TypeAlias = tuple[str, int, int]


def without_overprint(words: Sequence[Word]) -> list[Word]:
    """``words`` in their order, without those that repeat an earlier one in the same place."""
    if not _any_near_its_like(words):
        return list(words)
    kept: list[Word] = []
    placed: dict[_Field, list[tuple[float, float]]] = {}
    for word in words:
        x, y, shift = word.x0, word.y0, _SHIFT * (word.y1 - word.y0)
        for field in _fields(word.text, x, y, shift):
            if field in placed and any(
                -shift <= x - other_x <= shift and -shift <= y - other_y <= shift for other_x, other_y in placed[field]
            ):
                break
        else:
            kept.append(word)
            placed.setdefault((word.text, int(x) >> _ACROSS, int(y) >> _DOWN), []).append((x, y))
    return kept


def _any_near_its_like(words: Sequence[Word]) -> bool:
    """Whether any word can be one printed over another: most pages have none, and this is soon said."""
    alike: dict[str, list[tuple[float, float]]] = {}
    for word in words:
        alike.setdefault(word.text, []).append((word.y0, word.x0))
    reach = _SHIFT * max((word.y1 - word.y0 for word in words), default=0.0)
    return any(_any_near(sorted(places), reach) for places in alike.values() if len(places) > 1)


def _any_near(places: Sequence[tuple[float, float]], reach: float) -> bool:
    """``places`` are (y, x) from top to bottom."""
    for at, (y, x) in enumerate(places, 1):
        while at < len(places) and places[at][0] - y <= reach:
            if abs(places[at][1] - x) <= reach:
                return True
            at += 1
    return False


def _fields(text: str, x: float, y: float, shift: float) -> Sequence[_Field]:
    """Those in which an earlier word in this place can be: one, more at an edge."""
    left, right = int(x - shift) >> _ACROSS, int(x + shift) >> _ACROSS
    top, bottom = int(y - shift) >> _DOWN, int(y + shift) >> _DOWN
    if left == right and top == bottom:
        return ((text, left, top),)
    return [(text, across, down) for across in {left, right} for down in {top, bottom}]
