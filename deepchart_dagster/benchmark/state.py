"""J, the predicted intermediate state: what a stage-1 program leaves, its two sides, and whether it is valid.

J is an object with ``src_data`` and ``der_data`` (paper, section 3). Models write these names wrongly in
known ways; the published harness looks for a side under several names, at the top or under ``data_list``,
and so does everybody here, saying which name it was. Valid (paper, appendix B.1): both sides are there
and not empty; where the reference has no derived data, the source side alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import MAX_DEPTH, load_json

Side = Literal["src", "der"]
InvalidKind = Literal["invalid_output", "missing_src_data", "missing_der_data"]

# The first name is the right one.
NAMES: dict[Side, tuple[str, ...]] = {
    "src": ("src_data", "scr_data", "raw_data", "source_data"),
    "der": ("der_data", "derived_data", "final_chart_data", "chart_data"),
}
# Where a stage-2 program of the mini benchmark's kind has its data put in: ``J = __J__``.
J_TOKEN = "__J__"  # noqa: S105 - a placeholder, no secret
STATE_MAX_BYTES = 2 * 1024 * 1024
_WRAPPER = "data_list"
_MISSING: dict[Side, InvalidKind] = {"src": "missing_src_data", "der": "missing_der_data"}


@dataclass(frozen=True)
class StatePart:
    """One side of J. ``member`` is where it was found: "src_data", "scr_data", "data_list.der_data", …"""

    side: Side
    member: str
    content: object

    @property
    def name(self) -> str:
        return self.member.removeprefix(f"{_WRAPPER}.")

    @property
    def is_misspelt(self) -> bool:
        return self.name != NAMES[self.side][0]

    @property
    def is_empty(self) -> bool:
        return self.content is None or self.content in ("", [], {})


@dataclass(frozen=True)
class Invalid:
    """Why J is not valid: the kind of the failure, and the same in words."""

    kind: InvalidKind
    message: str


def load_state(data: bytes, *, name: str) -> JsonValue:
    """What a stage-1 program left, parsed; whether it is a valid J is for ``invalidity`` to say.

    NaN, Infinity and numbers beyond a float's range make it no JSON. Raises BenchmarkFormatError, with ``name``,
    for what cannot be read: the failure ``invalid_output``.
    """
    return load_json(data, name=name, max_bytes=STATE_MAX_BYTES, finite=True)


def reading_limits() -> dict[str, JsonValue]:
    """What decides whether a file is read at all, for input keys."""
    return {"max_bytes": STATE_MAX_BYTES, "max_depth": MAX_DEPTH, "finite": True}


def find_part(state: object, side: Side) -> StatePart | None:
    """The side of J under the first known name that it has, None where it has none."""
    if not isinstance(state, dict):
        return None
    wrapped = state.get(_WRAPPER)
    for prefix, members in (("", state), (f"{_WRAPPER}.", wrapped if isinstance(wrapped, dict) else {})):
        for name in NAMES[side]:
            if name in members:
                return StatePart(side=side, member=prefix + name, content=members[name])
    return None


def with_state(program: str, state: object) -> str:
    """A stage-2 program with J, as a Python literal, where it has J_TOKEN."""
    return program.replace(J_TOKEN, python_literal(state))


def python_literal(value: object) -> str:
    """Python source for parsed JSON, a line for each member of the outermost object."""
    if not isinstance(value, dict) or not value:
        return repr(value)
    members = "".join(f"    {name!r}: {member!r},\n" for name, member in value.items())
    return f"{{\n{members}}}"


def content_of(state: object, side: Side) -> object:
    """What stands on one side of J, None where nothing does."""
    part = find_part(state, side)
    return part.content if part else None


def missing_side(state: object, sides: Iterable[Side]) -> Side | None:
    """The first of ``sides`` that J lacks or has empty, None where it has them all."""
    parts = {side: find_part(state, side) for side in sides}
    return next((side for side, part in parts.items() if part is None or part.is_empty), None)


def invalidity(state: object, *, needs_derived: bool) -> Invalid | None:
    """Why J is not valid, None where it is. The source side is looked at first."""
    if not isinstance(state, dict):
        return Invalid("invalid_output", f"J is a JSON {type(state).__name__}, not an object")
    missing = missing_side(state, ("src", "der") if needs_derived else ("src",))
    if missing is None:
        return None
    return Invalid(_MISSING[missing], f"J has no {NAMES[missing][0]}, or it is empty")
