"""Why values did not match: one class for each unmatched value, the first in this order that explains it.

    notation             the other side has the value in a string that no score reads ("$5", "(3)"), or as a name
    scale                off by a thousand, million, billion or trillion
    sign                 the same size with the other sign
    percent              off by a factor of a hundred: percent for a fraction, or the other way round
    missing_statistics   a reference value that is a statistic (SEM, p-value, slope …) of which the prediction has none
    missing_years        a reference value of a year of which the prediction has no value at all
    extra_years          a predicted value of a year of which the reference has none
    top_k                a ranking is asked for, and the prediction has other entities than the reference
    missing_entities     a reference value of a group, row or entity of which the prediction has no value at all
    same_factor          three values and more are off by one factor, a wrong denominator or another currency, say
    year_shift           the value of another year, in the reference or in the same row of the context
    other_row            the value of another row, column or entity, in the reference or in the context
    rounding             equal within 1e-2, not within 1e-4 (calendar years are left out: 2016 is no rounded 2017)
    scale                off by another power of ten, a hundred excepted
    other_row            a predicted value of three digits or more that stands anywhere in the context
    unknown              none of these: a value that is missing, invented, or wrongly computed

What explains a reference value and a predicted one explains both, one-to-one. Factors are looked for between a
value and what stands in its place, then among values whose years do not contradict each other, then, for values of
three digits and more, whatever their years.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, get_args

from pydantic import JsonValue

from deepchart_dagster.benchmark.numbers import unread_numbers
from deepchart_dagster.scoring.alignment import Labels, aligned, identical, settled
from deepchart_dagster.scoring.context_cells import CellIndex
from deepchart_dagster.scoring.labelled import Labelled, is_calendar_year, labelled_leaves
from deepchart_dagster.scoring.matching import TOLERANCE, Pair, accepts, match
from deepchart_dagster.scoring.misplaced import Misplaced, n_digits
from deepchart_dagster.scoring.statistics_named import statistics_named

DiagnosisClass = Literal[
    "notation",
    "scale",
    "sign",
    "percent",
    "missing_statistics",
    "missing_years",
    "extra_years",
    "top_k",
    "missing_entities",
    "same_factor",
    "year_shift",
    "other_row",
    "rounding",
    "unknown",
]
CLASSES: tuple[DiagnosisClass, ...] = get_args(DiagnosisClass)

_UNIT_POWERS = (3, 6, 9, 12)
_OTHER_POWERS = (1, 4, 5, 7, 8, 10, 11)
_ROUNDING_TOLERANCE = 1e-2
# The largest reference of the benchmark has 10,900 values.
MAX_DIAGNOSED = 20_000
# Fewer digits occur anywhere by chance.
_TELLING_DIGITS = 3
_MIN_OF_ONE_FACTOR = 3
_RANKING = re.compile(
    r"\btop\b|\brank(?:ed|ing|s)?\b|\b(?:largest|highest|biggest|leading|smallest|lowest|least)\b|(?<!at )\bmost\b"
    r"|\bbottom \w+\b|前\s*\d|排名|最[大高多低小]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Side:
    """The numbers of one side of the comparison, and those that a person would read in its strings."""

    leaves: Sequence[Labelled]
    unread: Sequence[float] = ()

    @classmethod
    def of(cls, content: object) -> Side:
        """Of parsed JSON or the records of a table."""
        return cls(labelled_leaves(content), unread_numbers(content))


@dataclass(frozen=True)
class Evidence:
    """What beside the values is known: the chart purpose, and the texts that the model was given.

    Derived values are computed and stand in no text: for them ``texts`` stays empty.
    """

    purpose: str = ""
    texts: tuple[str, ...] = ()

    @property
    def asks_for_ranking(self) -> bool:
        return _RANKING.search(self.purpose) is not None


@dataclass(frozen=True)
class Diagnosed:
    """One unmatched value. ``index`` is its position among the values of ``of``; ``counterpart`` is the value on the
    other side that explains it, None where none does. Predicted is reference × ``factor`` where that is the mistake."""

    of: Literal["reference", "prediction"]
    index: int
    value: float
    kind: DiagnosisClass
    counterpart: float | None = None
    factor: float | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "of": self.of,
            "index": self.index,
            "value": self.value,
            "class": self.kind,
            "counterpart": self.counterpart,
            "factor": self.factor,
        }


def diagnose(
    reference: Side, predicted: Side, pairs: Sequence[Pair], evidence: Evidence | None = None
) -> list[Diagnosed]:
    """A class for every value that is in no pair, references first, each side in reading order.

    ``pairs`` may be any maximum matching: among equal values those count as matched that stand where they belong.
    On a side with more than MAX_DIAGNOSED unmatched values the rest is left out (2 MB of zeros, say).
    """
    case = _Case(reference, predicted, pairs, evidence or Evidence())
    for explain in _ORDER:
        if not case.left.reference and not case.left.predicted:
            break
        explain(case)
    return case.left.result()


@dataclass(frozen=True)
class _Factor:
    """A mistake that turns a reference value into another number."""

    kind: DiagnosisClass
    factor: float
    tolerance: float = TOLERANCE

    def expects(self, reference: float) -> float | None:
        """The prediction that this mistake makes of ``reference``, None where it makes none."""
        if self.kind == "rounding" and is_calendar_year(reference):
            return None
        expected = reference * self.factor
        return expected if expected and math.isfinite(expected) else None

    def makes(self, reference: float, predicted: float) -> bool:
        expected = self.expects(reference)
        return expected is not None and accepts(expected, predicted, self.tolerance)


def _powers(powers: Iterable[int]) -> list[_Factor]:
    return [_Factor("scale", 10.0 ** (sign * power)) for power in powers for sign in (1, -1)]


_UNIT_FACTORS = _powers(_UNIT_POWERS)
_SIGN_AND_PERCENT = [_Factor("sign", -1.0), _Factor("percent", 100.0), _Factor("percent", 0.01)]
_ROUNDING = _Factor("rounding", 1.0, _ROUNDING_TOLERANCE)


@dataclass
class _Left:
    """Position -> value of what is not explained yet on each side, and what has been."""

    reference: dict[int, float]
    predicted: dict[int, float]
    found: list[Diagnosed] = field(default_factory=list)

    def explain_both(self, pair: Pair, kind: DiagnosisClass, factor: float | None = None) -> None:
        wanted, given = self.reference.pop(pair.reference), self.predicted.pop(pair.predicted)
        self.found += [
            Diagnosed("reference", pair.reference, wanted, kind, given, factor),
            Diagnosed("prediction", pair.predicted, given, kind, wanted, factor),
        ]

    def explain_reference(self, at: int, kind: DiagnosisClass, counterpart: float | None = None) -> None:
        self.found.append(Diagnosed("reference", at, self.reference.pop(at), kind, counterpart))

    def explain_predicted(self, at: int, kind: DiagnosisClass, counterpart: float | None = None) -> None:
        self.found.append(Diagnosed("prediction", at, self.predicted.pop(at), kind, counterpart))

    def result(self) -> list[Diagnosed]:
        rest = [Diagnosed("reference", at, value, "unknown") for at, value in self.reference.items()]
        rest += [Diagnosed("prediction", at, value, "unknown") for at, value in self.predicted.items()]
        return sorted(self.found + rest, key=lambda one: (one.of != "reference", one.index))


class _Case:
    """One comparison under examination. Each method explains some of what is left."""

    def __init__(self, reference: Side, predicted: Side, pairs: Sequence[Pair], evidence: Evidence) -> None:
        self.reference, self.predicted = Labels(reference.leaves), Labels(predicted.leaves)
        self.unread = predicted.unread
        self.evidence = evidence
        self.pairs = settled(self.reference, self.predicted, pairs)
        self.left = _Left(
            _without(reference.leaves, {pair.reference for pair in self.pairs}),
            _without(predicted.leaves, {pair.predicted for pair in self.pairs}),
        )
        self.misplaced = Misplaced(self.reference, self.predicted, self.pairs, CellIndex(evidence.texts))

    def by_notation(self) -> None:
        """Strings that only a person reads, and years that name values on one side and are values on the other."""
        places = list(self.left.reference)
        for pair in match(list(self.left.reference.values()), self.unread):
            self.left.explain_reference(places[pair.reference], "notation", self.unread[pair.predicted])
        for at in self._years_named(self.reference, self.left.reference, self.predicted):
            self.left.explain_reference(at, "notation", self.left.reference[at])
        for at in self._years_named(self.predicted, self.left.predicted, self.reference):
            self.left.explain_predicted(at, "notation", self.left.predicted[at])

    @staticmethod
    def _years_named(side: Labels, left: Iterable[int], other: Labels) -> list[int]:
        return [at for at in left if side.leaves[at].is_year and side.leaves[at].years <= other.named_years]

    def by_factor_in_place(self) -> None:
        """What stands in a value's own place explains it before anything else does."""
        for pair in identical(self.reference, self.predicted, self.left.reference, self.left.predicted):
            wanted, given = self.left.reference[pair.reference], self.left.predicted[pair.predicted]
            found = next((one for one in (*_UNIT_FACTORS, *_SIGN_AND_PERCENT) if one.makes(wanted, given)), None)
            if found is not None:
                self.left.explain_both(pair, found.kind, found.factor)

    def by_unit(self) -> None:
        self._by_factors(_UNIT_FACTORS)

    def by_sign_and_percent(self) -> None:
        self._by_factors(_SIGN_AND_PERCENT)

    def _by_factors(self, factors: Sequence[_Factor]) -> None:
        for factor in factors:
            self._by_factor_and_year(factor)
        for factor in factors:
            self._by_factor(factor, self._telling(self.left.reference), self._telling(self.left.predicted))

    def _by_factor_and_year(self, factor: _Factor) -> None:
        """Values of the same years first, then those that name none with any."""
        references, predictions = self._of_years(self.reference), self._of_years(self.predicted)
        undated = frozenset[int]()
        for years, places in references.items():
            if years:
                self._by_factor(factor, places, predictions.get(years, []))
                self._by_factor(factor, places, predictions.get(undated, []))
        self._by_factor(factor, references.get(undated, []), list(self.left.predicted))

    def _of_years(self, side: Labels) -> dict[frozenset[int], list[int]]:
        groups: defaultdict[frozenset[int], list[int]] = defaultdict(list)
        for at in self.left.reference if side is self.reference else self.left.predicted:
            groups[side.leaves[at].years].append(at)
        return dict(groups)

    def _by_factor(self, factor: _Factor, references: Iterable[int], predictions: Iterable[int]) -> None:
        """Among these places, as far as they are left."""
        wanted = [(at, self.left.reference[at]) for at in references if at in self.left.reference]
        expected = [(at, value) for at, wish in wanted if (value := factor.expects(wish)) is not None]
        given = [at for at in predictions if at in self.left.predicted]
        found = match([value for _, value in expected], [self.left.predicted[at] for at in given], factor.tolerance)
        for pair in found:
            self.left.explain_both(Pair(expected[pair.reference][0], given[pair.predicted]), factor.kind, factor.factor)

    @staticmethod
    def _telling(left: dict[int, float]) -> list[int]:
        return [at for at, value in left.items() if n_digits(value) >= _TELLING_DIGITS]

    def by_missing_statistics(self) -> None:
        given = frozenset[str]().union(*{_statistics(leaf) for leaf in self.predicted.leaves})
        for at in list(self.left.reference):
            if _statistics(self.reference.leaves[at]) - given:
                self.left.explain_reference(at, "missing_statistics")

    def by_covered_years(self) -> None:
        for at in self._beyond(self.reference, self.left.reference, self.predicted.years):
            self.left.explain_reference(at, "missing_years")
        for at in self._beyond(self.predicted, self.left.predicted, self.reference.years):
            self.left.explain_predicted(at, "extra_years")

    @staticmethod
    def _beyond(side: Labels, left: Iterable[int], covered: frozenset[int]) -> list[int]:
        return [at for at in left if covered and side.leaves[at].years and covered.isdisjoint(side.leaves[at].years)]

    def by_ranking(self) -> None:
        missing, foreign = self.misplaced.foreign(self.left.reference, self.left.predicted)
        if foreign and not self.evidence.asks_for_ranking:
            return  # others for those of the reference: by_place tells where they come from
        for at in missing:
            self.left.explain_reference(at, "top_k" if foreign else "missing_entities")
        for at in foreign if missing else ():
            self.left.explain_predicted(at, "top_k")

    def by_same_factor(self) -> None:
        """Most of what belongs together, and three at least."""
        pairs = [pair for pair in self._aligned() if self.left.reference[pair.reference]]
        ratios = sorted(
            (self.left.predicted[pair.predicted] / self.left.reference[pair.reference], pair) for pair in pairs
        )
        run = _longest_run([ratio for ratio, _ in ratios])
        if len(run) >= max(_MIN_OF_ONE_FACTOR, len(pairs) / 2):
            factor = ratios[run[len(run) // 2]][0]
            for at in run:
                self.left.explain_both(ratios[at][1], "same_factor", factor)

    def by_place(self) -> None:
        """A value of another year or row: where its own place is filled from elsewhere, or it fills another place."""
        for at, (kind, counterpart) in self.misplaced.displaced_references(self.left.reference).items():
            self.left.explain_reference(at, kind, counterpart)
        for at, (kind, counterpart) in self.misplaced.displaced_predictions(self.left.predicted).items():
            self.left.explain_predicted(at, kind, counterpart)
        for pair in self._aligned():
            placed = self.misplaced.taken_from(pair)
            if placed is not None:
                self.left.explain_both(pair, placed)

    def by_rounding(self) -> None:
        for pair in self._aligned():
            if _ROUNDING.makes(self.left.reference[pair.reference], self.left.predicted[pair.predicted]):
                self.left.explain_both(pair, _ROUNDING.kind, _ROUNDING.factor)
        self._by_factor_and_year(_ROUNDING)

    def by_other_powers(self) -> None:
        for factor in _OTHER_FACTORS:
            self._by_factor_and_year(factor)

    def by_context(self) -> None:
        for at in self._telling(self.left.predicted):
            if not self.predicted.leaves[at].is_year and self.misplaced.stands_in_context(self.left.predicted[at]):
                self.left.explain_predicted(at, "other_row")

    def _aligned(self) -> list[Pair]:
        return aligned(self.reference, self.predicted, self.left.reference, self.left.predicted)


_OTHER_FACTORS = _powers(_OTHER_POWERS)
_ORDER: tuple[Callable[[_Case], None], ...] = (
    _Case.by_notation,
    _Case.by_factor_in_place,
    _Case.by_unit,
    _Case.by_sign_and_percent,
    _Case.by_missing_statistics,
    _Case.by_covered_years,
    _Case.by_ranking,
    _Case.by_same_factor,
    _Case.by_place,
    _Case.by_rounding,
    _Case.by_other_powers,
    _Case.by_context,
)


def _longest_run(ordered: Sequence[float]) -> range:
    """Of the numbers that are equal to the tolerance of the scores; zeros and numbers without bounds are none."""
    best = range(0)
    first = 0
    for last, value in enumerate(ordered):
        if not value or not math.isfinite(value):
            first = last + 1
            continue
        while abs(value - ordered[first]) > 2 * TOLERANCE * abs(value):
            first += 1
        if last + 1 - first > len(best):
            best = range(first, last + 1)
    return best


def _without(leaves: Sequence[Labelled], taken: set[int]) -> dict[int, float]:
    unmatched = ((at, leaf.value) for at, leaf in enumerate(leaves) if at not in taken)
    return dict(islice(unmatched, MAX_DIAGNOSED))


def _statistics(leaf: Labelled) -> frozenset[str]:
    return statistics_named((*leaf.names, *leaf.keys))
