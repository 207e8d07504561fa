"""J, the predicted intermediate state: reading what a stage-1 program left, and whether it is valid.

J is an object with ``src_data`` and ``der_data`` (paper, 3). Models write these names wrongly in known ways; the
published harness accepts them, at the top or under ``data_list``, and so do we, saying which name it was. Valid
(paper, B.1): both are there and not empty; where the reference has no derived data, ``src_data`` alone.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from pydantic import JsonValue

SOURCE_NAMES = ("src_data", "scr_data", "raw_data", "source_data")
DERIVED_NAMES = ("der_data", "derived_data", "final_chart_data", "chart_data")

# Scoring reads no deeper; real states nest below 10.
_MAX_DEPTH = 200
# Longer integers are beyond a float's range, and Python refuses to read them.
_MAX_INTEGER_CHARACTERS = 310
# As scoring counts (scoring.numbers, which stands above this room; a test holds both to the same counts): three
# digits after the last comma, two or three between commas.
_NUMBER = re.compile(r"[+-]?((\d{1,3}(,\d{2,3})*,\d{3}|\d+)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Member:
    """One side of J. ``name`` is the name under which it was found, None where it is not there."""

    name: str | None
    data: JsonValue

    @property
    def is_empty(self) -> bool:
        return self.data is None or (isinstance(self.data, dict | list | str) and not self.data)


@dataclass(frozen=True)
class PredictedState:
    source: Member
    derived: Member

    @property
    def misspelled(self) -> dict[str, JsonValue]:
        """Right name -> the name that was used, where they differ."""
        sides = ((SOURCE_NAMES[0], self.source.name), (DERIVED_NAMES[0], self.derived.name))
        return {right: used for right, used in sides if used not in (None, right)}


def parse_state(data: bytes) -> PredictedState:
    """J from the bytes of a JSON file. Raises ValueError, in words, where they are no JSON object.

    NaN and infinity are read as Python writes them; they are never counted as values.
    """
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_int=_bounded_int)
    except RecursionError:
        raise ValueError(f"nested more than {_MAX_DEPTH} levels deep") from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"a JSON {type(value).__name__}, not an object")
    if _depth_exceeds(value, _MAX_DEPTH):
        raise ValueError(f"nested more than {_MAX_DEPTH} levels deep")
    return PredictedState(source=_member(value, SOURCE_NAMES), derived=_member(value, DERIVED_NAMES))


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_INTEGER_CHARACTERS else float(digits)


def _depth_exceeds(value: JsonValue, limit: int) -> bool:
    """Whether a container stands inside ``limit`` others."""
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item)]
    return any(isinstance(item, dict | list) for item in level)


def _children(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _member(value: dict[str, JsonValue], names: tuple[str, ...]) -> Member:
    inner = value.get("data_list")
    for holder in (value, inner if isinstance(inner, dict) else {}):
        for name in names:
            if name in holder:
                return Member(name=name, data=holder[name])
    return Member(name=None, data=None)


def count_numbers(value: JsonValue) -> int:
    """Numeric leaves by the paper's rule: finite numbers, and strings that are numbers with thousands separators."""
    count, rest = 0, [value]
    while rest:
        item = rest.pop()
        children = _children(item)
        rest.extend(children)
        count += not children and _is_number(item)
    return count


def _is_number(leaf: JsonValue) -> bool:
    if isinstance(leaf, bool) or not isinstance(leaf, str | int | float):
        return False
    if isinstance(leaf, str) and not _NUMBER.fullmatch(leaf.strip()):
        return False
    try:
        return math.isfinite(float(leaf.replace(",", "")) if isinstance(leaf, str) else leaf)
    except OverflowError:
        return False
