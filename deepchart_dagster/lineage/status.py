"""Model × split × stage: fresh, stale, missing, partial, failed.

A partition is fresh when every instance's stored result has the key that a run would give it now, and
everything it reads is fresh too: a changed prompt makes scores stale as well, and the cell says through what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from deepchart_dagster.artifacts.results import InstanceResult, Status, about
from deepchart_dagster.artifacts.steps import Work, reusable
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.model import TEXT_SETTINGS, Backend, Split
from deepchart_dagster.errors import StorageError
from deepchart_dagster.lineage.graph import NODES, AssetNode, PartitionKey, PartitionKind, node, partition_keys, plan
from deepchart_dagster.workbench import Workbench


class State(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    ORPHANED = "orphaned"


@dataclass(frozen=True)
class Cell:
    """One partition of one asset. ``because`` says in words what makes it other than fresh."""

    key: PartitionKey
    state: State
    n_total: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_error: int = 0
    because: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The shape of ``deepchart status --json`` (a cell)."""
        return {
            "asset": self.key.asset,
            "document": self.key.document,
            "model": self.key.model,
            "split": self.key.split.value if self.key.split else None,
            "backend": self.key.backend.value if self.key.backend else None,
            "state": self.state.value,
            "n_total": self.n_total,
            "n_done": self.n_done,
            "n_failed": self.n_failed,
            "n_error": self.n_error,
            "because": list(self.because),
        }


def read_status(
    bench: Workbench,
    *,
    models: Iterable[str],
    splits: Iterable[Split],
    backends: Iterable[Backend] | None = None,
    assets: Iterable[AssetNode] = NODES,
) -> list[Cell]:
    """Cells in the order of the pipeline, then of partitions. Reads files only; starts nothing.

    ``backends`` are those of the study to look at; None: what was begun of it, since nobody has to run it.
    """
    models, splits, assets = list(models), list(splits), list(assets)
    begun = _begun_study(bench, assets)
    wanted = None if backends is None else set(backends)
    read = {split: _documents_read(bench, split) for split in splits}
    cells: dict[PartitionKey, Cell] = {}
    for asset in assets:
        for key in partition_keys(bench, asset, models, splits):
            if key.backend and (key.parts not in begun if wanted is None else key.backend not in wanted):
                continue
            cells[key] = _through_upstream(_own_state(bench, key), cells, read)
    return [*cells.values(), *_orphaned(bench, assets)]


def behind(bench: Workbench, key: PartitionKey) -> tuple[str, ...]:
    """What this partition reads that is not fresh, where that alone makes it stale: status says so of its cell."""
    splits = TEXT_SETTINGS if key.backend else [key.split] if key.split else []
    until = NODES[: NODES.index(node(key.asset)) + 1]
    backends = [key.backend] if key.backend else []
    models = [key.model] if key.model else []
    cells = read_status(bench, models=models, splits=splits, backends=backends, assets=until)
    (cell,) = (cell for cell in cells if cell.key == key)
    return cell.because if cell.state is State.STALE and cell.n_done == cell.n_total else ()


def _begun_study(bench: Workbench, assets: Iterable[AssetNode]) -> set[tuple[str, ...]]:
    study = [asset for asset in assets if asset.kind is PartitionKind.MODEL_BACKEND]
    return {partition for asset in study for partition in bench.artifacts.manifests(asset.name)}


def _own_state(bench: Workbench, key: PartitionKey) -> Cell:
    works = plan(bench, key)
    if not works:
        return Cell(key, State.NOT_APPLICABLE)
    stored = {work.uid: _stored(bench.artifacts, key, work) for work in works}
    done = [work for work in works if reusable(bench.artifacts, key.step, work)]
    errors = [work for work in works if (result := stored[work.uid]) is not None and result.is_error]
    outdated = [
        work for work in works if (result := stored[work.uid]) is not None and not result.is_error and work not in done
    ]
    return Cell(
        key,
        _state(len(works), len(done), len(errors), len(outdated)),
        n_total=len(works),
        n_done=len(done),
        n_failed=sum(_status(stored[work.uid]) is Status.FAILED for work in done),
        n_error=len(errors),
        because=_because(works, stored, outdated, errors),
    )


def _state(total: int, done: int, errors: int, outdated: int) -> State:
    if done == total:
        return State.FRESH
    if outdated:
        return State.STALE
    if errors == total:
        return State.FAILED
    return State.PARTIAL if done or errors else State.MISSING


def _stored(store: ArtifactStore, key: PartitionKey, work: Work) -> InstanceResult | None:
    try:
        return store.read(key.step.asset, key.step.scope, work.uid)
    except StorageError:
        return None  # damaged: the next run makes it again, `deepchart verify` names it


def _status(result: InstanceResult | None) -> Status | None:
    return result.status if result else None


def _because(
    works: list[Work], stored: dict[str, InstanceResult | None], outdated: list[Work], errors: list[Work]
) -> tuple[str, ...]:
    lines: list[str] = []
    missing = sum(stored[work.uid] is None for work in works)
    if changed := [work for work in outdated if work.again is None]:
        lines.append(f"{len(changed)} of {len(works)} instances have other inputs now, first {changed[0].uid}")
    lines += [about(work.uid, work.again) for work in outdated if work.again is not None]
    if errors:
        first = stored[errors[0].uid]
        reason = first.problem.message if first and first.problem else ""
        lines.append(f"{len(errors)} in error, first {about(errors[0].uid, reason)}")
    if missing:
        lines.append(f"{missing} of {len(works)} instances were never computed")
    return tuple(lines)


def _documents_read(bench: Workbench, split: Split) -> frozenset[str]:
    """The documents that the split's contexts are built from: those of queries without context files of their own."""
    return frozenset(
        name
        for instance in bench.library.instances(split)
        if not instance.query.context_files.get(split.variant)
        for name in instance.query.document_ids
    )


def _through_upstream(cell: Cell, cells: dict[PartitionKey, Cell], read: Mapping[Split, frozenset[str]]) -> Cell:
    """A fresh cell whose inputs would change is stale, and says through what."""
    if cell.state is not State.FRESH:
        return cell
    behind = [
        upstream
        for upstream in cells.values()
        if upstream.key.asset in node(cell.key.asset).upstream
        and upstream.state in (State.STALE, State.PARTIAL, State.MISSING)
        and _feeds(upstream.key, cell.key, read)
    ]
    if not behind:
        return cell
    through = tuple(f"{other.key.asset} {other.key} is {other.state.value}" for other in behind[:3])
    return replace(cell, state=State.STALE, because=through)


def _feeds(upstream: PartitionKey, downstream: PartitionKey, read: Mapping[Split, frozenset[str]]) -> bool:
    if upstream.document is not None:
        if downstream.split is not None:
            return upstream.document in read[downstream.split]
        return upstream.document == downstream.document
    if downstream.backend is not None and upstream.split is not None:
        return upstream.split in TEXT_SETTINGS
    same = (upstream.split, upstream.backend) == (downstream.split, downstream.backend)
    return same and upstream.model in (None, downstream.model)


def _orphaned(bench: Workbench, assets: Iterable[AssetNode]) -> list[Cell]:
    """Partitions whose model is no longer in models.yaml: kept, and said."""
    keys = [key for asset in assets for key in _stored_by_model(bench, asset) if key.model not in bench.models]
    return [Cell(key, State.ORPHANED, because=(f"{key.model} is not in models.yaml any more",)) for key in keys]


def _stored_by_model(bench: Workbench, asset: AssetNode) -> Iterator[PartitionKey]:
    for partition in bench.artifacts.manifests(asset.name):
        if asset.kind is PartitionKind.MODEL_SPLIT and len(partition) == 2 and partition[0] in set(Split):
            yield PartitionKey(asset.name, split=Split(partition[0]), model=partition[1])
        if asset.kind is PartitionKind.MODEL_BACKEND and len(partition) == 2 and partition[0] in set(Backend):
            yield PartitionKey(asset.name, backend=Backend(partition[0]), model=partition[1])
