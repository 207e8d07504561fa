"""Words with boxes, and the rows they stand in: what every engine hands to the layout.

Boxes are in PDF points, origin at the upper left corner of the page. ``$``, brackets and percent signs
that stand alone are joined to their number here, so that what follows sees values as they are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

_BLANKS = re.compile(r"[\s\u00a0\u2007\u2009\u202f\u200b]+")
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_VALUE = re.compile(
    rf"[($€£¥+\-−–]*(?:{_DIGITS})(?:[eE][+\-−]?\d+)?[KMBTkx×]?[)%]*(?:±(?:{_DIGITS})%?)?(?:\s?\([a-z]\)|[*†‡]+)?"
)
_RANGE_OF_TWO = re.compile(r"\d+(?:\.\d+)?%[-–—]\d+(?:\.\d+)?%|(?:19|20)\d\d[-–—](?:19|20)\d\d")
_NIL = re.compile(r"[$€£¥]?\(?(?:[—–\-−]{1,2}|N/?A|n/a|NM|nm)\)?%?")
_YEAR = re.compile(r"(?:FY)?(?:19[5-9]\d|20\d\d)")
_RANGE = frozenset("-–—−")
_OPENING = frozenset({"$", "€", "£", "¥", "(", "$(", "€(", "£("})
_OPENED = re.compile(r"[(\d.—–−-]")
_CLOSING = re.compile(r"[)%]+")
_CLOSED = re.compile(r"[\d)—–]$")
_MARK = re.compile(r"\([a-z]\)|[*†‡]+")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")

# Shares of a row's height: words nearer than this are one phrase, farther ones stand in separate cells.
_PHRASE_GAP = 0.9
_BESIDE_VALUE_GAP = 0.55
_NARROW_GAP = 0.6
_MIN_NARROW_COLUMNS = 3
_RUN_ON_GAP = 1.8
_SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z](?:\.\d{1,2}){0,3}\.?")
_RUN_ON_WORDS = 5
_BULLET = re.compile(r"[•●▪◦·‣○■–—*-]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]|\([a-z0-9]{1,3}\)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word without blanks; the box of a number leaves out a currency sign that stood apart from it.

    ``turn`` is 90 for text that reads upwards (the title of a y axis), -90 for downwards, 0 otherwise.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    bold: bool = False
    turn: int = 0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    @property
    def center(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def box(self) -> tuple[float, float, float, float]:
        return (round(self.x0, 1), round(self.y0, 1), round(self.x1, 1), round(self.y1, 1))


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring words of a row, set apart from others by a wide gap; a value is one of its own."""

    words: tuple[Word, ...]

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.words[-1].x1

    @property
    def center(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def is_value(self) -> bool:
        """One value, or a range of two (``0.03% – 4.78%``)."""
        first, *rest = [word.text for word in self.words]
        if 1 <= len(rest) <= 2 and _RANGE_OF_TWO.fullmatch("".join([first, *rest])):
            return True
        if len(rest) == 2:
            return (
                rest[0] in _RANGE
                and re.search(r"\d", first + rest[1]) is not None
                and is_value(first)
                and is_value(rest[1])
            )
        return not rest and is_value(first)

    @property
    def is_year(self) -> bool:
        return len(self.words) == 1 and _YEAR.fullmatch(self.words[0].text) is not None


@dataclass(frozen=True)
class Row:
    """Words on one line of the page, left to right, and their segments."""

    words: tuple[Word, ...]
    segments: tuple[Segment, ...]

    @property
    def y0(self) -> float:
        return min(word.y0 for word in self.words)

    @property
    def y1(self) -> float:
        return max(word.y1 for word in self.words)

    @cached_property
    def height(self) -> float:
        heights = sorted(word.height for word in self.words)
        return heights[len(heights) // 2]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@lru_cache(maxsize=8192)  # asked several times of every word
def is_value(text: str) -> bool:
    """Whether a token can stand in a table's value column: a number with its signs, a range, or a sign for nil."""
    return any(kind.fullmatch(text) for kind in (_VALUE, _NIL, _RANGE_OF_TWO))


def numbers_in(text: str) -> list[str]:
    """Digits of every number in ``text``, commas kept, without sign or unit."""
    return [match.rstrip(",") for match in NUMBER.findall(text)]


def clean_words(words: Iterable[Word]) -> list[Word]:
    """Words without blanks inside: an engine's box of several words is divided, x by share of characters."""
    cleaned: list[Word] = []
    for word in words:
        if not _BLANKS.search(word.text):
            cleaned += [word] if word.text else []
            continue
        text = _BLANKS.sub(" ", word.text).strip()
        if not text:
            continue
        width = (word.x1 - word.x0) / len(text)
        cleaned += [
            replace(word, text=part.group(), x0=word.x0 + part.start() * width, x1=word.x0 + part.end() * width)
            for part in re.finditer(r"\S+", text)
        ]
    return cleaned


def group_rows(words: Sequence[Word]) -> list[list[Word]]:
    """Words of one line together, left to right: their middles are within half a height of the row's."""
    groups: list[list[Word]] = []
    middles: list[float] = []
    heights: list[float] = []  # of each row's first word
    for word in sorted(words, key=lambda word: (word.middle, word.x0)):
        middle, height = word.middle, word.height
        for at in range(len(groups) - 1, max(-1, len(groups) - 5), -1):
            if abs(middles[at] - middle) < 0.5 * min(height, heights[at]):
                groups[at].append(word)
                middles[at] += (middle - middles[at]) / len(groups[at])
                break
        else:
            groups.append([word])
            middles.append(middle)
            heights.append(height)
    order = sorted(range(len(groups)), key=lambda at: middles[at])
    return [sorted(groups[at], key=lambda word: word.x0) for at in order]


def row_of(words: Sequence[Word]) -> Row:
    """The row of words that group_rows has put together, signs joined to their numbers."""
    joined = tuple(joined_signs(words))
    return Row(words=joined, segments=_segments(joined))


def joined_signs(words: Sequence[Word]) -> list[Word]:
    """``$ 23,646`` -> ``$23,646``; ``(`` ``334`` ``)`` -> ``(334)``; ``16.2`` ``%`` -> ``16.2%``."""
    joined: list[Word] = []
    for word in words:
        before = joined[-1] if joined else None
        if before and before.text in _OPENING and _OPENED.match(word.text):
            joined[-1] = replace(word, text=before.text + word.text)
        elif before and _CLOSING.fullmatch(word.text) and _CLOSED.search(before.text):
            joined[-1] = replace(before, text=before.text + word.text, x1=word.x1)
        elif before and _is_mark_of(before, word):
            joined[-1] = replace(before, text=f"{before.text} {word.text}", x1=word.x1)
        else:
            joined.append(word)
    return joined


def _is_mark_of(before: Word, word: Word) -> bool:
    """A footnote mark right behind a value, as in ``3,549 (a)``."""
    near = word.x0 - before.x1 < _BESIDE_VALUE_GAP * word.height
    return near and is_value(before.text) and _MARK.fullmatch(word.text) is not None


def _segments(words: tuple[Word, ...]) -> tuple[Segment, ...]:
    groups: list[list[Word]] = []
    for word in words:
        if groups and not _breaks(groups[-1][-1], word):
            groups[-1].append(word)
        else:
            groups.append([word])
    if len(groups) > 1 and (_is_marker(groups) or _is_heading(groups)):
        groups[0:2] = [groups[0] + groups[1]]
    return tuple(Segment(words=tuple(group)) for group in groups)


def with_columns(row: Row, n_columns: int) -> Row:
    """A row of few pieces whose words stand nearer together than cells do, divided where that makes ``n_columns``.

    A table set in small type has narrow gaps between the names of its columns.
    """
    if len(row.segments) >= n_columns or n_columns < _MIN_NARROW_COLUMNS:
        return row
    groups: list[list[Word]] = []
    for word in row.words:
        if groups and word.x0 - groups[-1][-1].x1 <= _NARROW_GAP * min(word.height, groups[-1][-1].height):
            groups[-1].append(word)
        else:
            groups.append([word])
    return Row(row.words, tuple(Segment(tuple(group)) for group in groups)) if len(groups) == n_columns else row


def _is_marker(groups: list[list[Word]]) -> bool:
    """A bullet or list number before text (a dash before a value is a value)."""
    alone = len(groups[0]) == 1
    return alone and _BULLET.fullmatch(groups[0][0].text) is not None and not is_value(groups[1][0].text)


def _is_heading(groups: list[list[Word]]) -> bool:
    """A bold section number before its bold title, or a bold heading that runs on into its paragraph."""
    if len(groups) != 2 or not all(word.bold for word in groups[0]) or is_value(groups[1][0].text):
        return False
    number, title = groups
    if all(word.bold for word in title):
        return len(number) == 1 and _SECTION_NUMBER.fullmatch(number[0].text) is not None
    gap = title[0].x0 - number[-1].x1
    return len(title) >= _RUN_ON_WORDS and gap < _RUN_ON_GAP * title[0].height


def _breaks(before: Word, word: Word) -> bool:
    gap = (word.x0 - before.x1) / max(1.0, min(before.height, word.height))
    if is_value(before.text) or is_value(word.text):
        return gap > _BESIDE_VALUE_GAP
    return gap > _PHRASE_GAP
