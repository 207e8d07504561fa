"""Model × split × stage: fresh, stale, missing, partial, failed.

A partition is fresh when every instance's stored result has the key that a run would give it now, and
everything it reads is fresh too: a changed prompt makes scores stale as well, and the cell says through what.
What goes on from one asset to the next goes instance by instance: one changed context is one stale score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from deepchart_dagster.benchmark.model import TEXT_SETTINGS, Backend, Split
from deepchart_dagster.lineage.graph import NODES, AssetNode, PartitionKey, PartitionKind, node, partition_keys
from deepchart_dagster.lineage.looks import Look, State
from deepchart_dagster.lineage.orphans import orphaned_partitions
from deepchart_dagster.lineage.seen import Seen
from deepchart_dagster.workbench import Workbench

__all__ = ["Cell", "State", "behind", "read_status"]

_NAMED_UPSTREAM = 3


@dataclass(frozen=True)
class Cell:
    """One partition of one asset. ``because`` says in words what makes it other than fresh.

    n_done      instances whose own result stands
    n_behind    those of them that read from an instance that is to be made again
    behind      the instances that a refresh of the whole pipeline may make again
    refreshable those of them that are not in error, and read from none that is
    unlisted    every result stands; what a run has to write of them is missing
    cause       what made it so, in few words, for cells that read from it
    oldest, newest   when its first and its last result were begun (ISO 8601, UTC)
    """

    key: PartitionKey
    state: State
    n_total: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_error: int = 0
    n_behind: int = 0
    because: tuple[str, ...] = ()
    behind: frozenset[str] = frozenset()
    refreshable: frozenset[str] = frozenset()
    unlisted: bool = False
    cause: str = ""
    oldest: str | None = None
    newest: str | None = None

    def as_json(self) -> dict[str, object]:
        """The shape of ``deepchart status --json`` (a cell)."""
        return {
            "asset": self.key.asset,
            "document": self.key.document,
            "model": self.key.model,
            "split": self.key.split.value if self.key.split else None,
            "backend": self.key.backend.value if self.key.backend else None,
            "judge": self.key.judge,
            "state": self.state.value,
            "n_total": self.n_total,
            "n_done": self.n_done,
            "n_failed": self.n_failed,
            "n_error": self.n_error,
            "n_behind": self.n_behind,
            "because": list(self.because),
            "oldest": self.oldest,
            "newest": self.newest,
        }


def read_status(
    bench: Workbench,
    *,
    models: Iterable[str],
    splits: Iterable[Split],
    backends: Iterable[Backend] | None = None,
    judges: Collection[str] | None = None,
    assets: Iterable[AssetNode] = NODES,
    anew: bool = False,
) -> list[Cell]:
    """Cells in the order of the pipeline, then of partitions. Reads files only; starts nothing.

    ``backends`` and ``judges`` are those of the two studies to look at; None: what was begun, since nobody has to run
    them.
    ``anew``: nothing is taken from the last look (lineage.seen).
    """
    models, splits, assets = list(models), list(splits), list(assets)
    begun = _begun_study(bench, assets)
    wanted = None if backends is None else set(backends)
    upstream = _Upstream()
    seen = Seen(bench, anew=anew)
    keys = [
        key
        for asset in assets
        for key in partition_keys(bench, asset, models, splits)
        if not (key.judge and (key.parts not in begun if judges is None else key.judge not in judges))
        and not (key.backend and (key.parts not in begun if wanted is None else key.backend not in wanted))
    ]
    seen.prefetch(keys)
    for key in keys:
        upstream.add(seen.look(key))
    seen.save()
    orphaned = [
        Cell(orphan.key, State.ORPHANED, because=(orphan.reason,)) for orphan in orphaned_partitions(bench, assets)
    ]
    return [*upstream.cells.values(), *orphaned]


def behind(bench: Workbench, key: PartitionKey) -> tuple[str, ...]:
    """What this partition reads that is not fresh, where that alone makes it stale: status says so of its cell."""
    splits = TEXT_SETTINGS if key.backend else [key.split] if key.split else []
    until = NODES[: NODES.index(node(key.asset)) + 1]
    backends = [key.backend] if key.backend else []
    models = [key.model] if key.model else []
    judges = [key.judge] if key.judge else []
    cells = read_status(bench, models=models, splits=splits, backends=backends, judges=judges, assets=until)
    (cell,) = (cell for cell in cells if cell.key == key and cell.state is not State.ORPHANED)
    return cell.because if cell.state is State.STALE and cell.n_done == cell.n_total else ()


def _begun_study(bench: Workbench, assets: Iterable[AssetNode]) -> set[tuple[str, ...]]:
    study = [asset for asset in assets if asset.kind in (PartitionKind.MODEL_BACKEND, PartitionKind.JUDGE)]
    return {partition for asset in study for partition in bench.artifacts.manifests(asset.name)}


class _Upstream:
    """The cells so far, in the order of the pipeline, so that what a partition reads from is there before it."""

    def __init__(self) -> None:
        self.cells: dict[PartitionKey, Cell] = {}
        self._reads: dict[Split, Mapping[str, frozenset[str]]] = {}
        self._by_asset: dict[str, list[Cell]] = {}

    def add(self, own: Look) -> None:
        if own.key.split is not None and own.reads:
            self._reads[own.key.split] = own.reads
        cell = self._cell(own)
        self.cells[own.key] = cell
        self._by_asset.setdefault(own.key.asset, []).append(cell)

    def _cell(self, own: Look) -> Cell:
        cell = Cell(
            own.key,
            own.state,
            n_total=len(own.uids),
            n_done=len(own.standing),
            n_failed=own.n_failed,
            n_error=len(own.in_error),
            because=own.because,
            behind=own.uids - own.standing,
            refreshable=self._refreshable(own),
            unlisted=own.state in (State.STALE, State.PARTIAL) and own.standing == own.uids,
            cause=own.cause,
            oldest=own.oldest,
            newest=own.newest,
        )
        reached = [
            (one, uids)
            for one in self._read_by(own.key)
            if (uids := self._reaches(one, one.behind, own) & own.standing)
        ]
        if not reached:
            return cell
        through = frozenset[str]().union(*(uids for _, uids in reached))
        cell = replace(cell, n_behind=len(through), behind=cell.behind | through)
        if own.state is not State.FRESH:
            return cell
        lines = [_line(one, uids, own) for one, uids in reached[:_NAMED_UPSTREAM]]
        if more := len(reached) - _NAMED_UPSTREAM:
            lines += [f"and {more} more"] if more > 0 else []
        return replace(cell, state=State.STALE, because=tuple(lines), cause=_cause_through(reached[0][0]))

    def _read_by(self, key: PartitionKey) -> Iterator[Cell]:
        for name in node(key.asset).upstream:
            yield from (cell for cell in self._by_asset.get(name, ()) if cell.behind)

    def _refreshable(self, own: Look) -> frozenset[str]:
        """What a refresh can make: instances by themselves, and those that read from such ones.

        Nobody asked for what is missing altogether.
        """
        if own.state is State.MISSING:
            return frozenset()
        reading = own.standing | own.waiting
        through = (self._reaches(one, one.refreshable, own) & reading for one in self._read_by(own.key))
        return (own.uids - reading - own.in_error).union(*through)

    def _reaches(self, upstream: Cell, uids: frozenset[str], own: Look) -> frozenset[str]:
        """The instances of ``own`` that read from one of ``uids``, instances of ``upstream``."""
        other, key = upstream.key, own.key
        if not uids:
            return uids
        if other.document is not None:
            if key.split is not None:
                return self._reads.get(key.split, {}).get(other.document, frozenset())
            return uids if other.document == key.document else frozenset()
        if key.backend is not None and other.split is not None:
            return uids if other.split in TEXT_SETTINGS else frozenset()
        same = (other.split, other.backend) == (key.split, key.backend)
        return uids if same and other.model in (None, key.model) else frozenset()


def _line(upstream: Cell, reached: frozenset[str], own: Look) -> str:
    part = "" if len(reached) == len(own.uids) else f" ({len(reached)} of {len(own.uids)} instances read that)"
    why = f": {upstream.cause}" if upstream.cause else ""
    return f"{upstream.key.asset} {upstream.key} is {upstream.state.value}{part}{why}"


def _cause_through(upstream: Cell) -> str:
    """``through predicted_states: prompt``; where that was reached itself, the way goes on behind it."""
    return f"through {upstream.key.asset}: {upstream.cause}" if upstream.cause else f"through {upstream.key.asset}"
