"""A partition's instances, each computed at most once.

An instance whose input key is stored with a result that is no error, and whose output files are all
there, is reused. Everything else is computed, in order of uid, with bounded concurrency. What goes wrong
for one instance is kept as that instance's error and stops nothing else; only a storage that cannot be
written stops the step, since nothing could be kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import remove_leftovers
from deepchart_dagster.artifacts.interrupts import in_thread, run_until_done
from deepchart_dagster.artifacts.results import (
    InstanceResult,
    Outcome,
    Problem,
    Status,
    output_hash,
    utc_now,
)
from deepchart_dagster.artifacts.store import (
    ArtifactStore,
    Manifest,
    hash_outputs,
    save_result,
)
from deepchart_dagster.errors import DamagedFile, DeepChartError, NoWorkPossible, StorageError

Compute = Callable[[Path], Awaitable[Outcome]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Work:
    """One instance to do. ``compute`` writes output files into the folder it is given.

    ``blocked`` is set instead of computing where the inputs could not even be named (a missing file,
    an upstream error); ``key`` then names what is known. ``again`` says why the stored result, though of this key,
    is to be made again: it was made without something that may be there now.
    """

    uid: str
    key: InputKey
    compute: Compute | None = None
    blocked: DeepChartError | None = None
    again: str | None = None


@dataclass(frozen=True)
class Step:
    """One asset partition: where its instances' results go and which partition they make up.

    ``shared`` results belong to several partitions: steps on any of these take turns.
    """

    asset: str
    partition: tuple[str, ...]
    scope: tuple[str, ...]
    shared: bool = False

    @classmethod
    def own(cls, asset: str, *partition: str) -> Step:
        """A partition whose results belong to it alone: they lie under its own names."""
        return cls(asset=asset, partition=partition, scope=partition)


@dataclass(frozen=True)
class InstanceProblem:
    uid: str
    kind: str
    message: str


@dataclass(frozen=True)
class StepSummary:
    """What a step did. Counts are instances; ``n_computed + n_reused == n_total``."""

    asset: str
    partition: tuple[str, ...]
    n_total: int
    n_computed: int
    n_reused: int
    n_ok: int
    n_failed: int
    n_error: int
    n_not_applicable: int
    errors: tuple[InstanceProblem, ...]
    failures: tuple[InstanceProblem, ...]
    data_version: str
    seconds: float
    results: tuple[InstanceResult, ...] = field(repr=False, default=())

    def observed(self, name: str) -> float:
        """Sum of a numeric observation over the instances computed now (reused ones cost nothing now)."""
        return sum(_number(value) for value in self._observations(name))

    def unknown(self, name: str) -> int:
        """In how many of these instances the observation was made and its value is not known (a price, say)."""
        return sum(value is None for value in self._observations(name))

    def _observations(self, name: str) -> list[JsonValue]:
        computed = (result for result in self.results if result.uid in self.computed_uids)
        return [result.observations[name] for result in computed if name in result.observations]

    computed_uids: frozenset[str] = field(repr=False, default=frozenset())


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def run_step(
    store: ArtifactStore,
    step: Step,
    works: Sequence[Work],
    *,
    concurrency: int = 1,
    progress: Progress | None = None,
) -> StepSummary:
    """Do what is not done yet, write the partition's manifest, say what happened.

    Raises StorageError when results cannot be written, NoWorkPossible when a uid comes twice.
    """
    _check_unique(step, works)
    begun = time.monotonic()
    with store.lock(step.asset, () if step.shared else step.partition):
        remove_leftovers(store.folder(step.asset, step.scope, "x").parent)
        remove_leftovers(store.partition_path(step.asset, step.partition, ".jsonl").parent)
        done = run_until_done(_run_all(store, step, works, concurrency, progress))
        results = tuple(result for result, _ in done)
        manifest = store.write_manifest(step.asset, step.partition, results)
    fresh = frozenset(result.uid for result, is_new in done if is_new)
    return _summary(step, manifest, results, fresh, time.monotonic() - begun)


def _check_unique(step: Step, works: Sequence[Work]) -> None:
    seen: set[str] = set()
    for work in works:
        if work.uid in seen:
            raise NoWorkPossible(f"{step.asset} {'|'.join(step.partition)}: the uid {work.uid} comes twice.")
        seen.add(work.uid)


async def _run_all(
    store: ArtifactStore,
    step: Step,
    works: Sequence[Work],
    concurrency: int,
    progress: Progress | None,
) -> list[tuple[InstanceResult, bool]]:
    gate = asyncio.Semaphore(max(1, concurrency))
    finished = 0

    async def one(work: Work) -> tuple[InstanceResult, bool]:
        nonlocal finished
        async with gate:
            stored = await asyncio.to_thread(_stored, store, step, work)
            outcome = (stored, False) if stored else (await _compute(store, step, work), True)
        finished += 1
        if progress:
            progress(finished, len(works))
        return outcome

    tasks = [asyncio.create_task(one(work)) for work in sorted(works, key=lambda work: work.uid)]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _stored(store: ArtifactStore, step: Step, work: Work) -> InstanceResult | None:
    """What stands for ``work``, or None where it is to be computed. Where only errors are tried again, every other
    result stands as it is; what has none is computed, since it may have waited for what was in error."""
    if store.only_errors:
        try:
            result = store.read(step.asset, step.scope, work.uid)
        except StorageError:
            return None  # a damaged result is made again
        return result if result is not None and not result.is_error else None
    return reusable(store, step, work)


def reusable(store: ArtifactStore, step: Step, work: Work) -> InstanceResult | None:
    """The stored result that stands for ``work``, or None where it would be computed."""
    if work.blocked is not None or work.again is not None:
        return None
    try:
        stored = store.read(step.asset, step.scope, work.uid)
    except StorageError:
        return None  # a damaged result is made again
    return stored if stored is not None and stands(store, work, stored) else None


def stands(store: ArtifactStore, work: Work, stored: InstanceResult) -> bool:
    """Whether ``stored``, the result of this instance, is what a run would leave: same key, no error, files there."""
    if work.blocked is not None or work.again is not None:
        return False
    if stored.is_error or stored.input_key != work.key.digest:
        return False
    folder = store.folder(stored.asset, stored.scope, stored.uid)
    return all(_has_size(folder / name, file.bytes) for name, file in stored.files.items())


def _has_size(path: Path, size: int) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return S_ISREG(found.st_mode) and found.st_size == size


async def _compute(store: ArtifactStore, step: Step, work: Work) -> InstanceResult:
    started_at = utc_now()
    begun = time.monotonic()
    with store.writing(step.asset, step.scope, work.uid) as folder:
        outcome = await _attempt(work, folder)
        if outcome.status is Status.ERROR:
            _empty(folder)
        files = await in_thread(hash_outputs, folder)
        result = InstanceResult(
            asset=step.asset,
            scope=step.scope,
            uid=work.uid,
            input_key=work.key.digest,
            key_parts=work.key.parts,
            status=outcome.status,
            value=outcome.value,
            problem=outcome.problem,
            files=files,
            output_hash=output_hash(outcome.status, outcome.value, outcome.problem, files),
            started_at=started_at,
            seconds=round(time.monotonic() - begun, 3),
            observations=outcome.observations,
        )
        await in_thread(save_result, folder, result)  # it waits for the disk
    return result


async def _attempt(work: Work, folder: Path) -> Outcome:
    if work.blocked is not None:
        return Outcome(status=Status.ERROR, problem=Problem.from_error(work.blocked))
    if work.compute is None:
        raise TypeError(f"{work.uid}: neither a computation nor a reason why there is none")
    try:
        return await work.compute(folder)
    except DamagedFile as error:  # a file that this instance reads: the others may do without
        return Outcome(status=Status.ERROR, problem=Problem.from_error(error))
    except StorageError:
        raise
    except Exception as error:  # noqa: BLE001 - ours by definition: kept with the instance
        return Outcome(status=Status.ERROR, problem=Problem.from_error(error))


def _empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def _summary(
    step: Step,
    manifest: Manifest,
    results: tuple[InstanceResult, ...],
    fresh: frozenset[str],
    seconds: float,
) -> StepSummary:
    def count(status: Status) -> int:
        return sum(result.status is status for result in results)

    return StepSummary(
        asset=step.asset,
        partition=step.partition,
        n_total=len(results),
        n_computed=len(fresh),
        n_reused=len(results) - len(fresh),
        n_ok=count(Status.OK),
        n_failed=count(Status.FAILED),
        n_error=count(Status.ERROR),
        n_not_applicable=count(Status.NOT_APPLICABLE),
        errors=_problems(results, Status.ERROR),
        failures=_problems(results, Status.FAILED),
        data_version=manifest.data_version,
        seconds=round(seconds, 3),
        results=results,
        computed_uids=fresh,
    )


def _problems(results: tuple[InstanceResult, ...], status: Status) -> tuple[InstanceProblem, ...]:
    return tuple(
        InstanceProblem(uid=result.uid, kind=result.problem.kind, message=result.problem.message)
        for result in results
        if result.status is status and result.problem
    )
