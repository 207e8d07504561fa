"""A predicted state J as scoring reads it: its two sides, under the names that models give them.

The published harness looks for a side under several names, at the top or under ``data_list``; so does
this module, for both scorers, and says which name it was. Validity (paper, appendix B.1): both sides
present and non-empty; where the reference has no derived data, the source side alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deepchart_dagster.generation.predicted import DERIVED_NAMES, SOURCE_NAMES
from deepchart_dagster.scoring.tables import Side

NAMES: dict[Side, tuple[str, ...]] = {"src": SOURCE_NAMES, "der": DERIVED_NAMES}
_WRAPPER = "data_list"

InvalidState = Literal["invalid_output", "missing_src_data", "missing_der_data"]


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


def invalidity(state: object, *, needs_derived: bool) -> InvalidState | None:
    """Why J is not valid, None where it is. The source side is looked at first."""
    if not isinstance(state, dict):
        return "invalid_output"
    source, derived = find_part(state, "src"), find_part(state, "der")
    if source is None or source.is_empty:
        return "missing_src_data"
    if needs_derived and (derived is None or derived.is_empty):
        return "missing_der_data"
    return None
