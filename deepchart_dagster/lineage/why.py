"""Why the next run would compute an instance: which part of its key changed, or what it reads that did."""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.steps import Work, stands
from deepchart_dagster.lineage.changes import Change, changes
from deepchart_dagster.lineage.graph import PartitionKey, plan
from deepchart_dagster.workbench import Workbench


@dataclass(frozen=True)
class Explanation:
    """Why the next run would (or would not) compute this instance."""

    uid: str
    fresh: bool
    reason: str
    changes: tuple[Change, ...] = ()


def explain(bench: Workbench, key: PartitionKey, uid: str | None = None) -> list[Explanation]:
    """One explanation an instance of the partition, or for ``uid`` alone."""
    return [
        explanation(bench, work, bench.artifacts.read(key.step.asset, key.step.scope, work.uid))
        for work in plan(bench, key)
        if uid is None or work.uid == uid
    ]


def explanation(bench: Workbench, work: Work, stored: InstanceResult | None) -> Explanation:
    """Of one instance by itself; what it reads from is not looked at."""
    if stored is not None and stands(bench.artifacts, work, stored):
        return Explanation(work.uid, True, "fresh: nothing it depends on has changed")
    if work.blocked is not None:
        return Explanation(work.uid, False, f"cannot be computed: {str(work.blocked).removeprefix(f'{work.uid}: ')}")
    if work.again is not None:
        return Explanation(work.uid, False, work.again)
    if stored is None:
        return Explanation(work.uid, False, "never computed")
    if stored.is_error:
        reason = stored.problem.message.removeprefix(f"{work.uid}: ") if stored.problem else "unknown"
        return Explanation(work.uid, False, f"in error, to be tried again: {reason}")
    changed = changes(stored.key_parts, work.key.parts, stored.asset)
    return Explanation(work.uid, False, "inputs changed" if changed else "output files are missing", changed)
