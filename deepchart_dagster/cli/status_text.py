"""The status as text: stages side by side for every model and split, then what is not fresh, by its cause.

``partition_list`` is the long form, a line a partition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from textwrap import wrap

from deepchart_dagster.lineage.graph import BY_NAME, PartitionKind
from deepchart_dagster.lineage.status import Cell, State

_HEADS = {
    "context_variants": "contexts",
    "predicted_states": "states",
    "rendered_charts": "charts",
    "source_fidelity": "F1_src",
    "derived_fidelity": "F1_der",
    "drawn_fidelity": "drawn",
    "execution_rate": "ER",
    "visual_accuracy": "VAS",
    "backend_charts": "charts",
    "backend_scores": "ER, VAS",
    "judge_verdicts": "verdicts",
}
_THROUGH = re.compile(r"^(?:through \w+: )+")  # the way that a cause took; it stands in the long form
_WIDTH = 11
_ORDER = list(BY_NAME)
_MOST_CAUSES = 12


def status_summary(cells: Sequence[Cell], now: datetime | None = None, *, columns: int | None = None) -> str:
    """Of cells that are applicable: a grid for each model, causes of what is not fresh, and a count of states.

    Where a grid is wider than ``columns``, its rows are lists of the stages in each state.
    """
    now = now or datetime.now(UTC)
    lines = _documents(cells)
    for kind in PartitionKind:
        if kind is not PartitionKind.DOCUMENT:
            lines += _grids([cell for cell in cells if BY_NAME[cell.key.asset].kind is kind], now, columns)
    return "\n".join([*lines, *_causes(cells), "", _count(cells)]).lstrip("\n")


def _documents(cells: Iterable[Cell]) -> list[str]:
    """A line for each asset of documents; those that are not fresh are named."""
    by_asset: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.key.document:
            by_asset.setdefault(cell.key.asset, []).append(cell)
    lines = []
    for asset, members in by_asset.items():
        other = [f"{cell.key.document} {_state(cell)}" for cell in members if cell.state is not State.FRESH]
        named = f": {', '.join(other)}" if other else ""
        lines.append(f"{asset:20} {len(members) - len(other)} of {len(members)} documents fresh{named}")
    return lines


def _grids(cells: Sequence[Cell], now: datetime, columns: int | None) -> list[str]:
    """Assets side by side: a block for each model (one where there is no model), a row for each of its partitions."""
    lines: list[str] = []
    for model in dict.fromkeys(cell.key.model for cell in cells):
        members = [cell for cell in cells if cell.key.model == model]
        assets = sorted({cell.key.asset for cell in members}, key=_ORDER.index)
        heads = "".join(_HEADS.get(asset, asset).ljust(_WIDTH) for asset in assets)
        heading = f"{model or _title(members[0]):20} {heads}age"
        if columns is not None and columns <= len(heading):
            lines += ["", model or _title(members[0]), *_lists(members, assets, now, columns)]
            continue
        lines += ["", heading]
        for row in dict.fromkeys(_row(cell) for cell in members):
            of_row = {cell.key.asset: cell for cell in members if _row(cell) == row}
            states = "".join((_state(of_row[a]) if a in of_row else "").ljust(_WIDTH) for a in assets)
            newest = max((cell.newest for cell in of_row.values() if cell.newest), default=None)
            lines.append(f"  {row:18} {states}{age(newest, now)}")
    return lines


def _lists(cells: Sequence[Cell], assets: Sequence[str], now: datetime, columns: int) -> Iterator[str]:
    """For each row of a grid its age, and below it the stages by what they are."""
    for row in dict.fromkeys(_row(cell) for cell in cells):
        of_row = {cell.key.asset: cell for cell in cells if _row(cell) == row}
        newest = max((cell.newest for cell in of_row.values() if cell.newest), default=None)
        yield f"  {row:18} {age(newest, now)}".rstrip()
        by_state: dict[str, list[str]] = {}
        for asset in assets:
            if asset in of_row:
                by_state.setdefault(_state(of_row[asset]), []).append(_HEADS.get(asset, asset))
        for state, heads in by_state.items():
            yield from wrap(f"{state}: {', '.join(heads)}", columns, initial_indent=" " * 4, subsequent_indent=" " * 6)


def _title(cell: Cell) -> str:
    return "judge" if cell.key.judge else "split"


def _row(cell: Cell) -> str:
    key = cell.key
    return str(key.judge or (key.backend and key.backend.value) or (key.split and key.split.value) or "")


def _state(cell: Cell) -> str:
    """In a word, with how many instances it is about."""
    if cell.n_error:
        return f"error {cell.n_error}"
    if cell.state is State.STALE:
        return f"stale {len(cell.behind) or cell.n_behind or cell.n_total}"
    if cell.state is State.PARTIAL:
        return f"{cell.n_done} of {cell.n_total}"
    return cell.state.value


def _causes(cells: Iterable[Cell]) -> list[str]:
    """What is not fresh, by what made it so: the assets that it reaches, each with its number of partitions."""
    reached: dict[str, Counter[str]] = {}
    for cell in cells:
        if cell.state is not State.FRESH:
            cause = _THROUGH.sub("", cell.cause) or "; ".join(cell.because) or cell.state.value
            reached.setdefault(cause, Counter())[cell.key.asset] += 1
    if not reached:
        return []
    lines = ["", "Not fresh, and through what (--partitions: each partition; deepchart why: each instance):"]
    for cause, assets in list(reached.items())[:_MOST_CAUSES]:
        listed = ", ".join(f"{asset} {n}" for asset, n in assets.items())
        lines += [f"  {cause}", f"      {listed}"]
    if len(reached) > _MOST_CAUSES:
        lines.append(f"  and {len(reached) - _MOST_CAUSES} more causes")
    return lines


_NOTHING_YET = (
    "There is nothing to make yet. deepchart demo brings the mini benchmark, deepchart import PATH one of your own, "
    "deepchart documents add FILE.pdf a document."
)


def _count(cells: Sequence[Cell]) -> str:
    states = Counter(cell.state for cell in cells)
    if not cells:
        return _NOTHING_YET
    if states[State.FRESH] == len(cells):
        return f"Everything is fresh: {_counted(len(cells), 'partition')}."
    others = ", ".join(f"{n} {state.value}" for state, n in states.items() if state is not State.FRESH)
    n_error = sum(cell.n_error for cell in cells)
    errors = f"; the next run tries {_counted(n_error, 'instance')} in error again" if n_error else ""
    return f"{states[State.FRESH]} of {_counted(len(cells), 'partition')} fresh, {others}{errors}."


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def partition_list(cells: Sequence[Cell], now: datetime | None = None) -> str:
    """A line a partition, with its reasons."""
    now = now or datetime.now(UTC)
    lines = [f"{'asset':20} {'partition':40} {'state':10} done   failed error  age"]
    for cell in cells:
        lines.append(
            f"{cell.key.asset:20} {cell.key!s:40} {cell.state.value:10} "
            f"{cell.n_done:>3}/{cell.n_total:<4}{cell.n_failed:>5}{cell.n_error:>6}  {age(cell.newest, now):>4}"
            f"  {'; '.join(cell.because)}".rstrip()
        )
    return "\n".join(lines)


def age(moment: str | None, now: datetime) -> str:
    """Of a result, in its largest unit: 40s, 12m, 5h, 3d."""
    if moment is None:
        return "-"
    seconds = max(0.0, (now - datetime.fromisoformat(moment)).total_seconds())
    for size, letter in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{letter}"
    return f"{seconds:.0f}s"
