"""Numbers as a text writes them, with what stands around them: sign, percent, unit.

Two writings mean the same number where their values are equal: ``99,803`` and ``99803``, ``(1,234)`` and
``-1234``. Whether a number of a text can be a value of a reference takes units into account: ``matches``.
"""

from __future__ import annotations

import html
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from deepchart_dagster.benchmark.numbers import narrow_number
from deepchart_dagster.contexts.markup import TAG

# Digits at most of one number: what is longer is no number that a person wrote.
_MAX_DIGITS = 40
_FRACTION = rf"\.\d{{1,{_MAX_DIGITS}}}"
_NUMBER = re.compile(rf"(?:\d[\d,]{{0,{_MAX_DIGITS}}}(?:{_FRACTION})?|{_FRACTION})(?:[eE][+\-−]?\d{{1,3}}(?!\w))?")
_BEFORE = re.compile(r"\(?\s?[-−–]?\s?(?:[$€£¥]|US\$|EUR|USD)?\s?\(?[-−–]?$")
_NIL = re.compile(r"(?:^|\s)[$€£¥]?\s?[—–-]{1,2}(?=\s|$)", re.MULTILINE)
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)")
_UNIT_BEHIND = re.compile(r"\s?(thousand|million|billion|trillion|mn|bn)\b|(K|k|M|B|T)(?![A-Za-z])", re.IGNORECASE)
_UNIT_STATED = re.compile(r"\b(thousands?|millions?|billions?|trillions?|mn|bn)\b", re.IGNORECASE)
_SCALES = {"t": 1e3, "k": 1e3, "m": 1e6, "b": 1e9}
_CELL_END = re.compile(r"</t[dh]>", re.IGNORECASE)
# As the scores match (design: metrics).
RELATIVE_TOLERANCE = 1e-4
# A rounded writing of fewer digits would pass for too many numbers.
MIN_DIGITS_ROUNDED = 3
# Units that a reference may be in, whatever the text's: dollars, thousands, millions, billions.
_REFERENCE_SCALES = (1.0, 1e3, 1e6, 1e9)


@dataclass(frozen=True)
class WrittenNumber:
    """``text`` is the bare number at ``start`` to ``end``, ``writing`` has its sign, percent sign and unit.

    ``value`` has the sign, not the unit; ``scale`` is that of the unit behind it (``$1.5 billion``: 1e9).
    """

    text: str
    writing: str
    start: int
    end: int
    value: float
    decimals: int
    n_digits: int
    percent: bool
    scale: float | None


def plain_text(markup: str) -> str:
    """The text of a line of markdown or HTML; cells of a table are set apart by blanks."""
    return html.unescape(TAG.sub("", _CELL_END.sub(" ", markup)))


def written_numbers(text: str) -> Iterator[WrittenNumber]:
    """Every number of a plain text, in reading order; "2,17" is none (benchmark.numbers)."""
    for found in _NUMBER.finditer(text):
        bare = found.group().rstrip(",").replace("−", "-")
        value = narrow_number(bare)
        if value is not None:
            yield _written(text, found.start(), found.start() + len(bare), bare, value)


def _written(text: str, start: int, end: int, bare: str, value: float) -> WrittenNumber:
    found = _BEFORE.search(text[max(0, start - 8) : start])
    lead = found.group() if found else ""
    behind = _PERCENT.match(text, end) or _UNIT_BEHIND.match(text, end)
    tail = behind.end() if behind else end
    bracketed = "(" in lead and text[tail : tail + 1] == ")"
    minus = _has_minus(text, start, lead)
    lead = lead if bracketed else lead.partition("(")[2] or lead.replace("(", "")
    lead = lead if bracketed or minus else re.split("[-−–]", lead)[-1]
    mantissa = re.split("[eE]", bare)[0].replace(",", "")
    return WrittenNumber(
        text=bare,
        writing=(lead + text[start : tail + bracketed]).strip(),
        start=start,
        end=end,
        value=-value if bracketed or minus else value,
        decimals=len(mantissa.partition(".")[2]),
        n_digits=len(mantissa.replace(".", "").lstrip("0")),
        percent=behind is not None and behind.re is _PERCENT,
        scale=_scale_of(behind) if behind and behind.re is _UNIT_BEHIND else None,
    )


def _has_minus(text: str, start: int, lead: str) -> bool:
    """A minus sign, and no hyphen of a range or a word ("2016-2024", "COVID-19")."""
    minus = re.search("[-−–]", lead)
    if minus is None:
        return False
    at = start - len(lead) + minus.start()
    return at == 0 or not (text[at - 1].isalnum() or text[at - 1] in ".,)%")


def _scale_of(found: re.Match[str]) -> float:
    word = (found.group(1) or found.group(2)).lower()
    return 1e12 if word in ("trillion", "t") else _SCALES[word[0]]


def number_of(writing: str) -> WrittenNumber | None:
    """What a person who types ``writing`` means: "99,803", "(1,234)", "$5.2 billion"; None where it is no number."""
    numbers = list(written_numbers(writing.strip()))
    return numbers[0] if len(numbers) == 1 else None


def stated_scales(text: str) -> frozenset[float]:
    """Units that a text states anywhere, 1e6 for "(in millions, except per share amounts)"."""
    words = {found.lower() for found in _UNIT_STATED.findall(text)}
    return frozenset(1e12 if word.startswith("tr") else _SCALES[word[0]] for word in words)


_NIL_NUMBER = WrittenNumber("—", "—", 0, 0, 0.0, 0, 0, percent=False, scale=None)


# What of a reference stands in a text


@dataclass(frozen=True)
class Found:
    """A number of a text that can be a value of a reference, and ``how``: "as written", "in millions", …

    ``text`` is the position of its text among those of the index; None for a dash, which stands in any of them.
    """

    number: WrittenNumber
    how: str
    text: int | None = None


class NumberIndex:
    """The numbers of a text, found by value. A unit that the text states anywhere may hold for any of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.numbers: list[WrittenNumber] = []
        self.scales: frozenset[float] = frozenset()
        self.states_percent = False
        self.has_nil = False
        self._first: list[int] = []  # of each text: position of its first number
        for text in texts:
            self._first.append(len(self.numbers))
            self.numbers += written_numbers(text)
            self.scales |= stated_scales(text)
            self.has_nil = self.has_nil or _NIL.search(text) is not None
            self.states_percent = self.states_percent or "%" in text or "percent" in text
        self.scales |= {number.scale for number in self.numbers if number.scale is not None}

    @cached_property
    def _by_size(self) -> list[tuple[float, int]]:
        return sorted((abs(number.value), at) for at, number in enumerate(self.numbers))

    @cached_property
    def _sizes(self) -> list[float]:
        return [size for size, _ in self._by_size]

    def find(self, value: float) -> Found | None:
        """The number that stands for ``value``: as it is, in a stated unit, as percent, or rounded as written.

        A sign may differ: filings put payments in parentheses that a reference counts as positive.
        """
        if value == 0 and self.has_nil:
            return Found(_NIL_NUMBER, "as a dash")
        for how, size in self._sought(abs(value)):
            near = self._near(size, RELATIVE_TOLERANCE * size)
            best = next((at for at in near if _fits(self.numbers[at], how)), None)
            if best is not None:
                same = _same_sign(self.numbers[best].value, value)
                return self._found(best, how if same else f"{how}, other sign")
        for how, size in self._sought(abs(value)):
            for at in self._near(size, 0.5 * 10 ** -_least_decimals(size)):
                if _fits(self.numbers[at], how) and _is_rounding(self.numbers[at], size):
                    return self._found(at, f"{how}, rounded")
        return None

    def _found(self, at: int, how: str) -> Found:
        return Found(self.numbers[at], how, bisect_right(self._first, at) - 1)

    def _sought(self, size: float) -> Iterator[tuple[str, float]]:
        """How a value may be written, and what is to be found then."""
        yield "as written", size
        for scale in sorted(self.scales):
            for unit in _REFERENCE_SCALES:
                if scale != unit:
                    yield f"in {_NAMES.get(scale, scale)}", size * unit / scale
        if self.states_percent:
            yield "percent", size * 100
            yield "percent", size / 100

    def _near(self, size: float, reach: float) -> list[int]:
        first, last = bisect_left(self._sizes, size - reach), bisect_right(self._sizes, size + reach)
        return [at for _, at in self._by_size[first:last]]


_NAMES = {1e3: "thousands", 1e6: "millions", 1e9: "billions", 1e12: "trillions"}


def _fits(number: WrittenNumber, how: str) -> bool:
    if how.startswith("in "):  # a number with a unit of its own is in no other
        return number.scale is None or how == f"in {_NAMES.get(number.scale)}"
    return True


def _same_sign(one: float, other: float) -> bool:
    return (one < 0) == (other < 0) or one == other == 0


def _least_decimals(size: float) -> int:
    """Decimals of a writing with MIN_DIGITS_ROUNDED digits: no coarser rounding of ``size`` counts."""
    return MIN_DIGITS_ROUNDED - 1 - math.floor(math.log10(size)) if size > 0 else 300


def _is_rounding(number: WrittenNumber, size: float) -> bool:
    half = 0.5 * 10.0**-number.decimals
    return number.n_digits >= MIN_DIGITS_ROUNDED and abs(abs(number.value) - size) <= half * (1 + 1e-9)


def is_among(value: float, others: Sequence[float]) -> bool:
    """Whether one of ``others`` is the same number to a score, whatever its sign."""
    return any(abs(abs(value) - abs(other)) <= RELATIVE_TOLERANCE * abs(other) for other in others)
