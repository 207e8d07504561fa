"""Why values did not match: one class for each unmatched value, by a stated order (design: metrics).

    notation   the prediction holds the value as a string that the paper's rule does not read ("$5", "(3)")
    scale      off by a power of ten other than a hundred (thousands for millions, say)
    sign       the same size with the other sign
    percent    off by a factor of a hundred: percent for a fraction, or the other way round
    rounding   equal within 1e-2, not within 1e-4 (calendar years are left out: 2016 is no rounded 2017)
    unknown    none of these: a value that is missing, or one that should not be there

Values are explained one-to-one: the classes are tried in this order, each as a maximum matching between
what is left on both sides, so that no prediction explains two references.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.scoring.matching import TOLERANCE, Pair, match

DiagnosisClass = Literal["notation", "scale", "sign", "percent", "rounding", "unknown"]
ORDER: tuple[DiagnosisClass, ...] = ("notation", "scale", "sign", "percent", "rounding", "unknown")

# Units of reports first (thousands, millions, billions, trillions), then the other powers.
_SCALE_POWERS = (3, 6, 9, 12, 1, 4, 5, 7, 8, 10, 11)
_ROUNDING_TOLERANCE = 1e-2
# The largest reference of the benchmark has 10,900 values.
MAX_DIAGNOSED = 20_000


@dataclass(frozen=True)
class Diagnosed:
    """One unmatched value. ``index`` is its position among the values of ``of``; ``counterpart`` is the
    value on the other side that explains it, None where nothing does. Predicted is reference × ``factor``."""

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


@dataclass(frozen=True)
class _Test:
    kind: DiagnosisClass
    factor: float
    tolerance: float = TOLERANCE

    def expects(self, reference: float) -> float | None:
        """The prediction that this kind of mistake makes of ``reference``, None where it makes none."""
        if self.kind == "rounding" and _is_calendar_year(reference):
            return None
        expected = reference * self.factor
        return expected if expected and math.isfinite(expected) else None


def _tests() -> Iterator[_Test]:
    for power in _SCALE_POWERS:
        yield _Test("scale", 10.0**power)
        yield _Test("scale", 10.0**-power)
    yield _Test("sign", -1.0)
    yield _Test("percent", 100.0)
    yield _Test("percent", 0.01)
    yield _Test("rounding", 1.0, _ROUNDING_TOLERANCE)


def diagnose(
    reference: Sequence[float],
    predicted: Sequence[float],
    pairs: Sequence[Pair],
    unread: Sequence[float] = (),
) -> list[Diagnosed]:
    """A class for every value that is in no pair, references first, each side in reading order.

    On a side with more than MAX_DIAGNOSED unmatched values the rest is left out (2 MB of zeros, say).
    ``unread`` are the values that a person would read in the prediction's strings but the scorer did not.
    """
    left = _Left(
        reference=_without(reference, {pair.reference for pair in pairs}),
        predicted=_without(predicted, {pair.predicted for pair in pairs}),
    )
    left.explain_by_notation(unread)
    for test in _tests():
        if not left.reference or not left.predicted:
            break
        left.explain(test)
    return left.result()


def _is_calendar_year(value: float) -> bool:
    return value.is_integer() and 1900 <= value <= 2100


def _without(values: Sequence[float], taken: set[int]) -> dict[int, float]:
    unmatched = ((index, value) for index, value in enumerate(values) if index not in taken)
    return dict(islice(unmatched, MAX_DIAGNOSED))


@dataclass
class _Left:
    """Position -> value of what is not explained yet on each side, and what has been."""

    reference: dict[int, float]
    predicted: dict[int, float]
    found: list[Diagnosed] = field(default_factory=list)

    def explain_by_notation(self, unread: Sequence[float]) -> None:
        indices = list(self.reference)
        for pair in match(list(self.reference.values()), unread):
            index = indices[pair.reference]
            value = self.reference.pop(index)
            self.found.append(Diagnosed("reference", index, value, "notation", unread[pair.predicted], 1.0))

    def explain(self, test: _Test) -> None:
        expected = {index: value for index, wanted in self.reference.items() if (value := test.expects(wanted))}
        references, predictions = list(expected), list(self.predicted)
        for pair in match(list(expected.values()), list(self.predicted.values()), test.tolerance):
            self._explained(references[pair.reference], predictions[pair.predicted], test)

    def _explained(self, reference: int, prediction: int, test: _Test) -> None:
        wanted, given = self.reference.pop(reference), self.predicted.pop(prediction)
        self.found += [
            Diagnosed("reference", reference, wanted, test.kind, given, test.factor),
            Diagnosed("prediction", prediction, given, test.kind, wanted, test.factor),
        ]

    def result(self) -> list[Diagnosed]:
        rest = [Diagnosed("reference", index, value, "unknown") for index, value in self.reference.items()]
        rest += [Diagnosed("prediction", index, value, "unknown") for index, value in self.predicted.items()]
        return sorted(self.found + rest, key=lambda one: (one.of != "reference", one.index))
