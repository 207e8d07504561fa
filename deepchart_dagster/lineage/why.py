"""Which part of an instance's key changed, from what to what."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import changed_parts
from deepchart_dagster.artifacts.steps import reusable
from deepchart_dagster.lineage.graph import PartitionKey, plan
from deepchart_dagster.workbench import Workbench


@dataclass(frozen=True)
class Change:
    """One part of a key; a side that lacks the part reads as None."""

    part: str
    old: JsonValue
    new: JsonValue


@dataclass(frozen=True)
class Explanation:
    """Why the next run would (or would not) compute this instance."""

    uid: str
    fresh: bool
    reason: str
    changes: tuple[Change, ...] = ()


def explain(bench: Workbench, key: PartitionKey, uid: str | None = None) -> list[Explanation]:
    """One explanation an instance of the partition, or for ``uid`` alone."""
    explanations: list[Explanation] = []
    for work in plan(bench, key):
        if uid is not None and work.uid != uid:
            continue
        stored = bench.artifacts.read(key.step.asset, key.step.scope, work.uid)
        if reusable(bench.artifacts, key.step, work):
            explanations.append(Explanation(work.uid, True, "fresh: nothing it depends on has changed"))
        elif work.blocked is not None:
            explanations.append(
                Explanation(work.uid, False, f"cannot be computed: {str(work.blocked).removeprefix(f'{work.uid}: ')}")
            )
        elif work.again is not None:
            explanations.append(Explanation(work.uid, False, work.again))
        elif stored is None:
            explanations.append(Explanation(work.uid, False, "was never computed"))
        elif stored.is_error:
            reason = stored.problem.message.removeprefix(f"{work.uid}: ") if stored.problem else "unknown"
            explanations.append(Explanation(work.uid, False, f"is in error and will be tried again: {reason}"))
        else:
            changes = tuple(
                Change(part, old, new) for part, (old, new) in changed_parts(stored.key_parts, work.key.parts).items()
            )
            reason = "its inputs changed" if changes else "its output files are missing"
            explanations.append(Explanation(work.uid, False, reason, changes))
    return explanations
