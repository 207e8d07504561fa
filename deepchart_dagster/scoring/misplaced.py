"""Values in the wrong place: of another year, row, column or entity; told by labels and by the cells of the context."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from deepchart_dagster.scoring.alignment import Labels
from deepchart_dagster.scoring.context_cells import Cell, CellIndex
from deepchart_dagster.scoring.labelled import Labelled
from deepchart_dagster.scoring.matching import TOLERANCE, Pair, accepts

PlaceClass = Literal["year_shift", "other_row"]

# Fewer digits occur anywhere by chance.
_TELLING_DIGITS = 3
# A statement in millions beside a reference in dollars, percentages beside fractions.
_UNITS = (1.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-2, 1e2)
_WRITTEN_UNITS = (1.0, 1e3, 1e6, 1e9)
# A number that stands in a context this often says nothing about where it was taken from.
_MAX_PLACES = 200


def n_digits(value: float) -> int:
    """Significant digits: 4 of 5953000000, 1 of 100."""
    return len(f"{abs(value):.15e}".partition("e")[0].replace(".", "").rstrip("0"))


class Misplaced:
    """What is known of places in one comparison. ``pairs`` are what matched."""

    def __init__(self, reference: Labels, predicted: Labels, pairs: Iterable[Pair], cells: CellIndex) -> None:
        self._reference, self._predicted, self._cells = reference, predicted, cells
        self._by_reference = {pair.reference: pair.predicted for pair in pairs}
        self._by_predicted = {there: here for here, there in self._by_reference.items()}

    # Other entities

    def foreign(self, left_reference: Iterable[int], left_predicted: Iterable[int]) -> tuple[list[int], list[int]]:
        """What is left on each side under a label that the other side does not have.

        A label that matched values have too is another word for the same. Where nothing matched only the names in
        records can be told from other words: those of members may be anybody's choice.
        """
        return (
            self._foreign(self._reference, left_reference, self._predicted, self._by_reference),
            self._foreign(self._predicted, left_predicted, self._reference, self._by_predicted),
        )

    def _foreign(self, side: Labels, left: Iterable[int], other: Labels, matched: Iterable[int]) -> list[int]:
        known = other.all_labels.union(*(side.leaves[at].labels for at in matched))
        return [at for at in left if not self._entities(side, at) <= known]

    def _entities(self, side: Labels, at: int) -> frozenset[str]:
        return side.telling[at] if self._by_reference else side.telling[at] & frozenset(side.leaves[at].names)

    # Values that matched elsewhere

    def displaced_references(self, left: Iterable[int]) -> dict[int, tuple[PlaceClass, float]]:
        """Reference values whose place in the prediction holds another place's value: kind, and that value."""
        return dict(_displaced(self._reference, self._predicted, self._by_predicted, left))

    def displaced_predictions(self, left: Iterable[int]) -> dict[int, tuple[PlaceClass, float]]:
        """Predicted values at a place whose own value the prediction has at another place: kind, and that value."""
        return dict(_displaced(self._predicted, self._reference, self._by_reference, left))

    # Values taken from elsewhere

    def taken_from(self, pair: Pair) -> PlaceClass | None:
        """Where the predicted value of two that belong together was taken from, if that can be told."""
        wanted, given = self._reference.leaves[pair.reference], self._predicted.leaves[pair.predicted]
        if wanted.is_year or given.is_year:
            return None
        return self._from_reference(pair.reference, given) or self._from_context(wanted, given)

    def _from_reference(self, wanted: int, given: Labelled) -> PlaceClass | None:
        if n_digits(given.value) < _TELLING_DIGITS:
            return None
        others = [at for at in self._references_near(given.value) if at != wanted]
        kinds = {_kind(self._reference, wanted, at) for at in others}
        return _preferred(kinds)

    def _references_near(self, value: float) -> Iterator[int]:
        reach = 2 * TOLERANCE * abs(value)
        first = bisect_left(self._sorted_values, value - reach)
        last = bisect_right(self._sorted_values, value + reach)
        for at in self._sorted_places[first:last]:
            leaf = self._reference.leaves[at]
            if not leaf.is_year and accepts(leaf.value, value):
                yield at

    @cached_property
    def _sorted_places(self) -> list[int]:
        leaves = self._reference.leaves
        return sorted(range(len(leaves)), key=lambda at: leaves[at].value)

    @cached_property
    def _sorted_values(self) -> list[float]:
        return [self._reference.leaves[at].value for at in self._sorted_places]

    def _from_context(self, wanted: Labelled, given: Labelled) -> PlaceClass | None:
        """Both stand in the context in one unit, in the same row, or in the same column of a table."""
        years = wanted.years or given.years
        kinds: set[PlaceClass] = set()
        is_there = False
        for unit in _UNITS:
            own = self._cells_near(wanted.value / unit)
            is_there = is_there or bool(own)
            rows = {cell.row for cell in own if cell.row}
            columns = {(cell.table, cell.column_at) for cell in own if cell.table is not None}
            for cell in self._cells_near(given.value / unit) if own else ():
                if cell.row in rows or (cell.table, cell.column_at) in columns:
                    kinds.add("year_shift" if _of_other_years(cell, years) else "other_row")
        return _preferred(kinds) if is_there else self._under_its_name(given)

    def _under_its_name(self, given: Labelled) -> PlaceClass | None:
        """The row that bears the value's own name has it in another year."""
        cells = (cell for unit in _WRITTEN_UNITS for cell in self._cells_near(given.value / unit))
        shifted = any(_of_other_years(cell, given.years) and cell.row in given.labels for cell in cells)
        return "year_shift" if shifted else None

    def stands_in_context(self, value: float) -> bool:
        """Anywhere, as it is or in thousands, millions or billions."""
        return any(self._cells.near(abs(value) / unit) for unit in _WRITTEN_UNITS)

    def _cells_near(self, value: float) -> Sequence[Cell]:
        cells = self._cells.near(abs(value)) if value else ()
        return cells if len(cells) <= _MAX_PLACES else ()


def _displaced(
    side: Labels, other: Labels, partners: dict[int, int], left: Iterable[int]
) -> Iterator[tuple[int, tuple[PlaceClass, float]]]:
    """``partners``: position on the other side -> the position on this side that it matched."""
    for at in left:
        there = other.at(side.identity(at))
        if there is None or there not in partners or side.leaves[at].is_year:
            continue
        kind = _kind(side, at, partners[there])
        if kind is not None and not accepts(side.leaves[at].value, other.leaves[there].value):
            yield at, (kind, other.leaves[there].value)


def _kind(side: Labels, one: int, other: int) -> PlaceClass | None:
    """What tells two places of a side apart; None where nothing does."""
    years, others = side.leaves[one].years, side.leaves[other].years
    if side.telling[one] == side.telling[other] and years and others and years.isdisjoint(others):
        return "year_shift"
    return "other_row" if side.identity(one) != side.identity(other) else None


def _preferred(kinds: Iterable[PlaceClass | None]) -> PlaceClass | None:
    found = set(kinds)
    if "year_shift" in found:
        return "year_shift"
    return "other_row" if "other_row" in found else None


def _of_other_years(cell: Cell, years: frozenset[int]) -> bool:
    return bool(cell.years) and bool(years) and cell.years.isdisjoint(years)
