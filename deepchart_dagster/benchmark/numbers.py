"""Which leaves of a JSON document are numbers (paper, appendix B.2; design: metrics).

Values of objects and items of lists are walked in reading order, names are not. An integer or a float
counts; true, false and null do not; NaN, infinity and integers beyond the range of a float never count,
neither for nor against. A string counts by the paper's narrow rule only: without surrounding space and
thousands separators it is a finite decimal number.

    counts under the narrow rule        "3,717"  " 42 "  "-1.5e-3"  "+5"  ".5"  "018"  "1,23,456"
    does not count, but wide_number     "−5" (U+2212)  "$5"  "12%"  "(5)"  "1_000"  "1 000"  "１２"  "5 days"
    is no number to either              "nan"  "inf"  "1e999"  "2,17"  "0x1F"  "N/A"  "2016-2024"

A comma separates thousands where three digits follow the last one, and two (Indian) or three stand
between commas: "2,17" is a list, not 217. The wide reading serves the diagnosis and never a score.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{2,3})*,[0-9]{3}|[0-9]+)"
_NUMBER = rf"[+-]?(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NARROW = re.compile(_NUMBER)
_WIDE = re.compile(rf"({_NUMBER})\s*(?:[%‰°]|[^\W\d_]+)?")
_PLAIN_SIGNS = str.maketrans("\u2212\u2013\uff0b\uff0d\uff0c\uff0e\uff05\uff08\uff09", "--+-,.%()")
_GROUPING_MARK = re.compile(r"(?<=\d)[\s_'\u2019](?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"[$€£¥₹₩₽]|\b(?:US|USD|EUR|GBP|JPY|CNY|RMB)\b|\bUS(?=\$)")
_SIGN_SPACE = re.compile(r"^([+-])\s+")
_WIDE_MAX_CHARACTERS = 64


def numeric_leaves(value: object) -> list[float]:
    """The numbers in ``value`` (parsed JSON, nested however deep), in reading order."""
    return [number for leaf in leaves(value) if (number := number_of(leaf)) is not None]


def leaves(value: object) -> Iterator[object]:
    """Everything in ``value`` that is neither object nor list, in reading order."""
    pending: list[Iterator[object]] = [iter((value,))]
    while pending:
        for item in pending[-1]:
            if isinstance(item, dict | list | tuple):
                pending.append(iter(item.values() if isinstance(item, dict) else item))
                break
            yield item
        else:
            pending.pop()


def number_of(leaf: object) -> float | None:
    """What one leaf counts as, or None."""
    if isinstance(leaf, str):
        return narrow_number(leaf)
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return None
    try:
        return _finite(float(leaf))
    except OverflowError:
        return None


def narrow_number(text: str) -> float | None:
    """The paper's rule: surrounding space and thousands separators removed, a finite decimal number."""
    stripped = text.strip()
    return _finite(float(stripped.replace(",", ""))) if _NARROW.fullmatch(stripped) else None


def wide_number(text: str) -> float | None:
    """What a person reads in ``text``: other minus signs, digits of any script, currency, percent, a unit,
    parentheses for negatives, other grouping marks. None for what is longer than a written number."""
    if len(text) > _WIDE_MAX_CHARACTERS:
        return None
    plain = _CURRENCY.sub("", _ascii_digits(text).translate(_PLAIN_SIGNS)).strip()
    negative = plain.startswith("(") and plain.endswith(")")
    plain = _GROUPING_MARK.sub("", plain[1:-1].strip() if negative else plain)
    found = _WIDE.fullmatch(_SIGN_SPACE.sub(r"\1", plain))
    number = narrow_number(found.group(1)) if found else None
    return -number if negative and number is not None else number


def unread_numbers(value: object) -> list[float]:
    """What a person reads as numbers in the strings of ``value`` that the narrow rule leaves out."""
    strings = (leaf for leaf in leaves(value) if isinstance(leaf, str) and narrow_number(leaf) is None)
    return [number for text in strings if (number := wide_number(text)) is not None]


def _ascii_digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
