"""What a refresh has to run next, by the status alone: the furthest upstream first, partition by partition.

What is missing altogether was never asked for, and what is in error is tried again by whoever wants to pay for it:
neither is refreshed by itself. What reads from an error has nothing to be made from: its last result stays until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.lineage.graph import PartitionKey, PartitionKind, node
from deepchart_dagster.lineage.status import Cell, State

_ORDER = (
    PartitionKind.DOCUMENT,
    PartitionKind.SPLIT,
    PartitionKind.MODEL_SPLIT,
    PartitionKind.MODEL_BACKEND,
    PartitionKind.JUDGE,
)


@dataclass(frozen=True)
class Refresh:
    """One run: assets of one kind for one partition. ``key`` is that partition for the first of them."""

    kind: PartitionKind
    key: PartitionKey
    assets: tuple[str, ...]
    because: tuple[str, ...]

    @property
    def reason(self) -> str:
        """The same for as long as the same things are behind for the same reasons."""
        return content_hash([list(self.assets), list(self.because)])


def is_due(cell: Cell) -> bool:
    """Begun, and something can be made that is no error and waits for none."""
    return cell.state in (State.STALE, State.PARTIAL) and (cell.unlisted or bool(cell.refreshable))


def due(cells: Iterable[Cell]) -> list[Refresh]:
    """The runs of the first kind in the pipeline that has any; the next kind is looked at when those are done, since
    what they leave may be what was there before."""
    wanted = [cell for cell in cells if is_due(cell)]
    for kind in _ORDER:
        if own := [cell for cell in wanted if node(cell.key.asset).kind is kind]:
            by_partition: dict[tuple[str, ...], list[Cell]] = {}
            for cell in own:
                by_partition.setdefault(cell.key.parts, []).append(cell)
            return [_refresh(kind, group) for group in by_partition.values()]
    return []


def _refresh(kind: PartitionKind, cells: list[Cell]) -> Refresh:
    because = tuple(line for cell in cells for line in cell.because)
    return Refresh(kind, cells[0].key, tuple(cell.key.asset for cell in cells), because)
