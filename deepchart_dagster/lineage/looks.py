"""One partition on its own account: its plan compared with what is stored. What it reads from is not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from deepchart_dagster.artifacts.results import InstanceResult, Status, about
from deepchart_dagster.artifacts.steps import Work, stands
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import DamagedFile, StorageError, UpstreamError
from deepchart_dagster.lineage.changes import changes
from deepchart_dagster.lineage.graph import PartitionKey, plan
from deepchart_dagster.workbench import Workbench

_NAMED_CHANGES = 3


class State(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    ORPHANED = "orphaned"


@dataclass(frozen=True)
class Look:
    """What a partition holds, by itself.

    standing      instances whose stored result a run would keep
    in_error      instances whose stored result is an error
    waiting       of the others, those that a run could not make: what they read is in error or not there
    because       what makes it other than fresh, a line each
    cause         the same in few words, for what reads from it
    reads         document -> the instances whose context is built from it (context_variants)
    oldest, newest   when the first and the last of its results were begun
    """

    key: PartitionKey
    state: State
    uids: frozenset[str] = frozenset()
    standing: frozenset[str] = frozenset()
    in_error: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    n_failed: int = 0
    because: tuple[str, ...] = ()
    cause: str = ""
    oldest: str | None = None
    newest: str | None = None
    reads: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Instance:
    """One instance as planned and as stored. ``stored`` is None where there is none, or it cannot be read."""

    work: Work
    stored: InstanceResult | None
    stands: bool

    @property
    def is_error(self) -> bool:
        return self.stored is not None and self.stored.is_error

    @property
    def is_waiting(self) -> bool:
        return not self.is_error and isinstance(self.work.blocked, UpstreamError)

    @property
    def is_outdated(self) -> bool:
        return self.stored is not None and not self.is_error and not self.stands


def look(bench: Workbench, key: PartitionKey) -> Look:
    """Plans the partition and reads its results; computes nothing."""
    works = plan(bench, key)
    if not works:
        return Look(key, State.NOT_APPLICABLE)
    instances = [_instance(bench.artifacts, key, work) for work in works]
    standing = frozenset(one.work.uid for one in instances if one.stands)
    errors = [one for one in instances if one.is_error]
    outdated = [one for one in instances if one.is_outdated]
    state = _state(len(works), len(standing), len(errors), len(outdated))
    because, causes = _because(instances, errors, outdated)
    if state is State.FRESH and (unfinished := _unfinished(bench.artifacts, key, instances)):
        state, because = unfinished[0], [unfinished[1]]
    started = sorted(one.stored.started_at for one in instances if one.stored is not None)
    return Look(
        key,
        state,
        uids=frozenset(work.uid for work in works),
        standing=standing,
        in_error=frozenset(one.work.uid for one in errors),
        waiting=frozenset(one.work.uid for one in instances if one.is_waiting),
        n_failed=sum(one.stands and one.stored is not None and one.stored.status is Status.FAILED for one in instances),
        because=tuple(because),
        cause=", ".join(causes),
        oldest=started[0] if started else None,
        newest=started[-1] if started else None,
        reads=documents_read(bench, works) if key.asset == "context_variants" else {},
    )


def _instance(store: ArtifactStore, key: PartitionKey, work: Work) -> _Instance:
    try:
        stored = store.read(key.step.asset, key.step.scope, work.uid)
    except StorageError:
        stored = None  # damaged: the next run makes it again, `deepchart verify` names it
    return _Instance(work, stored, stored is not None and stands(store, work, stored))


def _state(total: int, done: int, errors: int, outdated: int) -> State:
    if done == total:
        return State.FRESH
    if outdated:
        return State.STALE
    if errors == total:
        return State.FAILED
    return State.PARTIAL if done or errors else State.MISSING


def _because(
    instances: list[_Instance], errors: list[_Instance], outdated: list[_Instance]
) -> tuple[list[str], list[str]]:
    """A line for each reason, and the reasons in few words."""
    lines: list[str] = []
    causes: list[str] = []
    total = len(instances)
    blocked = [one for one in outdated if one.work.blocked is not None]
    again = [one for one in outdated if one.work.again is not None and one.work.blocked is None]
    if changed := [one for one in outdated if one.work.blocked is None and one.work.again is None]:
        what = _what_changed(changed)
        lines.append(f"{len(changed)} of {total} instances have other inputs now ({what}), first {changed[0].work.uid}")
        causes.append(what)
    if blocked:
        reason = about(blocked[0].work.uid, str(blocked[0].work.blocked))
        lines.append(f"{len(blocked)} of {total} instances cannot be made now, first {reason}")
        causes.append("some of what it reads is gone")
    lines += [about(one.work.uid, one.work.again) for one in again if one.work.again is not None]
    causes += ["something is there now that was not"] if again else []
    if errors:
        problem = errors[0].stored.problem if errors[0].stored else None
        lines.append(f"{len(errors)} in error, first {about(errors[0].work.uid, problem.message if problem else '')}")
        causes.append(f"{len(errors)} in error")
    if missing := sum(one.stored is None for one in instances):
        lines.append(f"{missing} of {total} instances were never computed")
        causes.append("never computed" if missing == total else f"{missing} never computed")
    return lines, causes


def _what_changed(changed: list[_Instance]) -> str:
    """The parts of the keys that differ, each once; lost files where none does."""
    found = {
        change.what: None
        for one in changed
        if one.stored is not None
        for change in changes(one.stored.key_parts, one.work.key.parts, one.stored.asset)
    }
    names = list(found) or ["output files are missing"]
    more = f" and {len(names) - _NAMED_CHANGES} more" if len(names) > _NAMED_CHANGES else ""
    return ", ".join(names[:_NAMED_CHANGES]) + more


def _unfinished(store: ArtifactStore, key: PartitionKey, instances: list[_Instance]) -> tuple[State, str] | None:
    """Where every result stands: why a run has still to write the partition's manifest, of which its rows are made.

    Results that several splits share may be newer than a split's manifest.
    """
    if key.step.shared:
        return None
    try:
        manifest = store.read_manifest(key.asset, key.parts)
    except DamagedFile:
        return State.STALE, "its list of instances is damaged"
    listed = {row["uid"]: row["output_hash"] for row in manifest.rows} if manifest else {}
    stored = {one.stored.uid: one.stored.output_hash for one in instances if one.stored}
    if listed == stored:
        return None
    if gone := len(listed.keys() - stored.keys()):
        return State.STALE, f"it still counts {gone} instances that are no longer part of it"
    return State.PARTIAL, "every instance is done, but the run ended before it said so"


def documents_read(bench: Workbench, works: list[Work]) -> dict[str, frozenset[str]]:
    """Documents named by the keys, or (reports that a benchmark ships) registered with the same bytes."""
    by_bytes = {document.sha256: document.id for document in bench.documents.list()}
    found: dict[str, set[str]] = {}
    for work in works:
        read, pdf = work.key.parts.get("ocr"), work.key.parts.get("pdf")
        names = set(read) if isinstance(read, dict) else set()
        if isinstance(pdf, str) and pdf in by_bytes:
            names.add(by_bytes[pdf])
        if work.blocked is not None:
            names |= set(_strings(work.key.parts.get("documents")))
        for name in names:
            found.setdefault(name, set()).add(work.uid)
    return {name: frozenset(uids) for name, uids in found.items()}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
