"""Is this a readable JSON file? What a stage-1 program leaves, bounded by size and depth before it is parsed.

Strict JSON (RFC 8259): NaN, Infinity and numbers beyond a float are no JSON and nothing of the pipeline could
store them. Whether src_data and der_data are in it is for generation to say.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn

MAX_BYTES = 2 << 20
MAX_DEPTH = 100
_TOO_DEEP = f"the JSON is nested more than {MAX_DEPTH} levels deep"


def json_problem(data: bytes) -> str:
    """Why ``data`` is not taken as the JSON of a stage-1 program; empty where it is."""
    if len(data) > MAX_BYTES:
        return f"the JSON file has {len(data)} bytes, at most {MAX_BYTES} are read"
    if not data.strip():
        return "the JSON file is empty"
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite)
    except RecursionError:  # the parser's own bound, some way above ours
        return _TOO_DEEP
    except ValueError as error:
        return f"the file is no JSON: {error}"
    return _TOO_DEEP if _is_deeper(value, MAX_DEPTH) else ""


def _is_deeper(value: object, limit: int) -> bool:
    """Level by level, so that no input can make this recurse."""
    level = [value]
    for _ in range(limit + 1):
        containers = [item for item in level if isinstance(item, list | dict)]
        if not containers:
            return False
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal[:40]} is larger than a number can be")
    return number
