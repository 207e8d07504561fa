"""JSON that somebody else wrote (a model's program, a benchmark), read in bounded time and stack.

The one reader of such files: bytes are counted before anything is parsed, depth and the length of integers
are bounded, and whatever is refused is refused in one line that names the file.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn

from pydantic import JsonValue

from deepchart_dagster.errors import BenchmarkFormatError

# Real files nest below 10. A fixed limit far under the interpreter's gives one verdict everywhere.
MAX_DEPTH = 200
# The largest float has 309 digits: a longer integer is beyond it, and need not be computed.
_MAX_INTEGER_CHARACTERS = 310
_SHOWN_CHARACTERS = 40


def load_json(data: bytes, *, name: str, max_bytes: int, finite: bool = False, remedy: str = "") -> JsonValue:
    """Parsed JSON; ``name`` is the file (or line of a file) in messages.

    NaN, Infinity and numbers beyond a float's range are no JSON: with ``finite`` they are refused, without it
    they are read as Python reads them, integers of that size as infinity. Of members with the same name the
    last one holds, as in every reader that a program would use. Raises BenchmarkFormatError for more than
    ``max_bytes``, for nesting deeper than MAX_DEPTH, and for what is no UTF-8 or no JSON.
    """
    if len(data) > max_bytes:
        raise BenchmarkFormatError(f"{name} is too large: {len(data)} bytes, {max_bytes} at most.", remedy=remedy)
    text = decoded(data, name=name, remedy=remedy)
    try:
        value = _parsed_finite(text) if finite else _parsed(text)
    except RecursionError:  # the parser's own bound, some way above ours
        raise _too_deep(name, remedy) from None
    except ValueError as error:
        raise BenchmarkFormatError(f"{name} is no valid JSON: {error}.", remedy=remedy) from error
    if _deeper_than(value, MAX_DEPTH):
        raise _too_deep(name, remedy)
    return value


def decoded(data: bytes, *, name: str, remedy: str = "") -> str:
    """UTF-8 text, a byte order mark removed. Raises BenchmarkFormatError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"{error.reason} at byte {error.start}"
        raise BenchmarkFormatError(f"{name} is not UTF-8 text: {reason}.", remedy=remedy) from error


def _too_deep(name: str, remedy: str) -> BenchmarkFormatError:
    return BenchmarkFormatError(f"{name} is nested too deeply: {MAX_DEPTH} levels at most.", remedy=remedy)


def _parsed(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, parse_int=_integer)
    return value


def _parsed_finite(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, parse_constant=_refused, parse_float=_finite_float, parse_int=_finite_integer)
    return value


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_INTEGER_CHARACTERS else float(digits)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal[:_SHOWN_CHARACTERS]} is larger than a number can be")
    return number


def _finite_integer(digits: str) -> int:
    _finite_float(digits)
    return int(digits)


def _deeper_than(value: JsonValue, limit: int) -> bool:
    """Whether a container stands inside ``limit`` others. Level by level, so that no input can make this recurse."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)
