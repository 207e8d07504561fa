"""Which predicted number was meant to be which reference number: by what names them, whatever their values.

The scores do without (paper, appendix B.2); the diagnosis tells by it what a wrong value stands in for. Labels that
every number of a side has (the names of wrappers, the measure of a chart that has one) tell nothing and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

from deepchart_dagster.scoring.labelled import Labelled
from deepchart_dagster.scoring.matching import Pair, accepts

_Identity: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Labels:
    """One side of a comparison, number by number."""

    leaves: Sequence[Labelled]

    @cached_property
    def telling(self) -> list[frozenset[str]]:
        """The labels of each number that not every number has."""
        measured = {leaf.labels for leaf in self.leaves if not leaf.is_year}
        everywhere = frozenset.intersection(*measured) if measured else frozenset()
        shortened = {labels: labels - everywhere for labels in {leaf.labels for leaf in self.leaves}}
        return [shortened[leaf.labels] for leaf in self.leaves]

    @cached_property
    def all_labels(self) -> frozenset[str]:
        return frozenset().union(*{leaf.labels for leaf in self.leaves})

    @cached_property
    def years(self) -> frozenset[int]:
        return frozenset().union(*{leaf.years for leaf in self.leaves})

    @cached_property
    def named_years(self) -> frozenset[int]:
        """Years that numbers which are no years themselves belong to."""
        return frozenset().union(*{leaf.years for leaf in self.leaves if not leaf.is_year})

    def identity(self, at: int) -> _Identity:
        """Numbers of both sides with the same one are meant to be the same. A place in a list tells something only
        where neither names nor years do."""
        leaf = self.leaves[at]
        named = bool(leaf.names or leaf.years)
        return (leaf.is_year, self.telling[at], leaf.years, () if named else leaf.positions)

    @cached_property
    def by_identity(self) -> dict[_Identity, list[int]]:
        found: defaultdict[_Identity, list[int]] = defaultdict(list)
        for at in range(len(self.leaves)):
            found[self.identity(at)].append(at)
        return dict(found)

    def at(self, identity: _Identity) -> int | None:
        """The only number with this identity; None where there is none, or several."""
        places = self.by_identity.get(identity, [])
        return places[0] if len(places) == 1 else None


_KeyOf: TypeAlias = Callable[[Labels, int], object | None]


def identical(
    reference: Labels, predicted: Labels, left_reference: Iterable[int], left_predicted: Iterable[int]
) -> list[Pair]:
    """Pairs of one identity among the numbers that are left, in reading order where several have it."""
    return _Pairing(reference, predicted, left_reference, left_predicted).by(Labels.identity).pairs


def aligned(
    reference: Labels, predicted: Labels, left_reference: Iterable[int], left_predicted: Iterable[int]
) -> list[Pair]:
    """Pairs among the numbers that are left: those of one identity; the only two of one year and name; those that come
    at the same place among numbers of the same years and labels, as far as both sides know the labels, where there are
    as many on both sides; and those under the same keys, in reading order."""
    pairing = _Pairing(reference, predicted, left_reference, left_predicted)
    return pairing.by(Labels.identity).by(_year_and_names, only=True).by_place().by(_innermost_key).pairs


class _Pairing:
    def __init__(
        self, reference: Labels, predicted: Labels, left_reference: Iterable[int], left_predicted: Iterable[int]
    ) -> None:
        self._reference, self._predicted = reference, predicted
        self._references, self._predictions = list(left_reference), list(left_predicted)
        self.pairs: list[Pair] = []

    def by(self, key_of: _KeyOf, *, only: bool = False) -> Self:
        """Pairs up what has the same key. ``only``: where it is the only number with it on both sides."""
        wanted = _grouped(self._reference, self._references, key_of)
        given = _grouped(self._predicted, self._predictions, key_of)
        for key, places in wanted.items():
            others = given.get(key, [])
            if not only or len(places) == len(others) == 1:
                self.pairs.extend(map(Pair, places, others))
        return self._without_taken()

    def by_place(self) -> Self:
        known = self._reference.all_labels & self._predicted.all_labels
        sides = ((self._reference, set(self._references)), (self._predicted, set(self._predictions)))
        places = [_places(side, left, known) for side, left in sides]
        self.pairs.extend(Pair(at, places[1][place]) for place, at in places[0].items() if place in places[1])
        return self._without_taken()

    def _without_taken(self) -> Self:
        references, predictions = ({pair[side] for pair in self.pairs} for side in (0, 1))
        self._references = [at for at in self._references if at not in references]
        self._predictions = [at for at in self._predictions if at not in predictions]
        return self


def _grouped(side: Labels, places: Iterable[int], key_of: _KeyOf) -> dict[object, list[int]]:
    groups: defaultdict[object, list[int]] = defaultdict(list)
    for at in places:
        key = key_of(side, at)
        if key is not None:
            groups[key].append(at)
    return dict(groups)


def _places(side: Labels, left: Set[int], known: frozenset[str]) -> dict[object, int]:
    """(years and known labels, how many numbers have them, which of these it is) -> a number that is left."""
    groups = _grouped(side, range(len(side.leaves)), lambda _, at: _known_labels(side, at, known))
    return {(key, len(group), nth): at for key, group in groups.items() for nth, at in enumerate(group) if at in left}


def _known_labels(side: Labels, at: int, known: frozenset[str]) -> object:
    leaf = side.leaves[at]
    return (leaf.is_year, leaf.years, side.telling[at] & known)


def _year_and_names(side: Labels, at: int) -> object | None:
    leaf = side.leaves[at]
    return (leaf.is_year, leaf.years, frozenset(leaf.names)) if leaf.years or leaf.names else None


def _innermost_key(side: Labels, at: int) -> object | None:
    leaf = side.leaves[at]
    return (leaf.is_year, leaf.years, leaf.keys[-1]) if leaf.keys and leaf.names else None


def settled(reference: Labels, predicted: Labels, pairs: Iterable[Pair]) -> list[Pair]:
    """The same number of pairs, where equal values could be paired in several ways: a value is given to the number
    that it was meant for, so that what is left over is the one in the wrong place."""
    by_reference = {pair.reference: pair.predicted for pair in pairs}
    by_predicted = {there: here for here, there in by_reference.items()}
    for here, there in list(by_reference.items()):
        meant = predicted.at(reference.identity(here))
        if meant is not None and meant not in by_predicted and _fits(reference, predicted, here, meant):
            by_reference[here] = meant
            by_predicted[meant] = here
            del by_predicted[there]
            continue
        wanted = reference.at(predicted.identity(there))
        if wanted is not None and wanted not in by_reference and _fits(reference, predicted, wanted, there):
            del by_reference[here]
            by_reference[wanted] = there
            by_predicted[there] = wanted
    return sorted(Pair(here, there) for here, there in by_reference.items())


def _fits(reference: Labels, predicted: Labels, here: int, there: int) -> bool:
    return accepts(reference.leaves[here].value, predicted.leaves[there].value)
