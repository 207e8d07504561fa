"""Is this a readable JSON file? What a stage-1 program leaves, bounded by size and depth before it is parsed.

Strict JSON (RFC 8259): NaN, Infinity and numbers beyond a float are no JSON and nothing of the pipeline could
store them. Whether src_data and der_data are in it is for generation to say.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

MAX_BYTES = 2 << 20
MAX_DEPTH = 100

# Strings are skipped as a whole; what is left of interest are the brackets.
_STRING_OR_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]+|[\]}]+', re.DOTALL)


def json_problem(data: bytes) -> str:
    """Why ``data`` is not taken as the JSON of a stage-1 program; empty where it is."""
    if len(data) > MAX_BYTES:
        return f"the JSON file has {len(data)} bytes, at most {MAX_BYTES} are read"
    if not data.strip():
        return "the JSON file is empty"
    try:
        text = data.decode("utf-8-sig")
        if _depth(text) > MAX_DEPTH:
            return f"the JSON is nested more than {MAX_DEPTH} levels deep"
        json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        return f"the file is no JSON: {error}"
    return ""


def _depth(text: str) -> int:
    deepest = depth = 0
    for match in _STRING_OR_BRACKETS.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += match.end() - match.start()
            deepest = max(deepest, depth)
        elif first in "]}":
            depth -= match.end() - match.start()
    return deepest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal[:40]} is larger than a number can be")
    return number
