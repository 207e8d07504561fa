"""F1_drawn: does the chart draw the data it was given? (design: metrics). No judge is asked.

    f1_drawn            what the chart draws against der_data of the prediction: errors of the rendering stage alone
    f1_drawn_reference  the same against what the reference chart draws; where nobody knows that, the reference's data

Against data, recall is the share of derived values that the chart shows, as data (one-to-one) or in another way
(scoring.drawn_values); precision is the share of drawn data that stand in der_data or src_data, as values or as names
of members. A chart need not show every step of a derivation, so both are taken relative to those that the reference
chart has over the reference's data: what draws as it does scores 1. Against the reference chart they are those of a
one-to-one matching of drawn data. A mark may be in a unit of its own (thousands, millions, billions, percent) or turned
downwards: one factor for all its values.

ok               a chart whose marks are known; a side without numbers leaves its score out
failed           the model left no chart: 0
not_applicable   no mark of the chart is known (a picture that was read from a file, say)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Problem, Status
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark import drawn
from deepchart_dagster.benchmark.model import Instance
from deepchart_dagster.benchmark.numbers import narrow_number, numeric_leaves
from deepchart_dagster.benchmark.state import Side
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.drawn_values import Series, Shown
from deepchart_dagster.scoring.labelled import labelled_leaves
from deepchart_dagster.scoring.matching import TOLERANCE, accepts, match
from deepchart_dagster.scoring.prediction import PredictedState, output_identity, reference_content, reference_file
from deepchart_dagster.scoring.stage import ScoreStage, scope_of
from deepchart_dagster.stage_versions import DRAWN_FIDELITY_VERSION

ASSET = "drawn_fidelity"
DRAWN_NAME = "drawn.json"
FIDELITY_NAME = "drawn_fidelity.json"
FIDELITY_FORMAT = "deepchart-drawn-fidelity/1"

# Drawn value = data × factor.
_UNITS = tuple(sign * unit for sign in (1, -1) for unit in (1.0, 1e-3, 1e-6, 1e-9, 1e-12, 100.0, 0.01, 1e3))
_MIN_DIGITS_WRITTEN = 2


@dataclass(frozen=True)
class Ratio:
    """``n_shown`` of ``n_expected`` values are drawn; ``n_accounted`` of ``n_drawn`` drawn values are data."""

    n_expected: int
    n_shown: int
    n_drawn: int
    n_accounted: int

    @property
    def precision(self) -> float:
        return self.n_accounted / self.n_drawn if self.n_drawn else 0.0

    @property
    def recall(self) -> float:
        return self.n_shown / self.n_expected if self.n_expected else 0.0

    @property
    def f1(self) -> float:
        return _harmonic(self.precision, self.recall)

    def relative_to(self, norm: Ratio) -> float:
        """F1 where precision and recall of ``norm`` count as full ones."""
        precision = min(1.0, self.precision / norm.precision) if norm.precision else self.precision
        recall = min(1.0, self.recall / norm.recall) if norm.recall else self.recall
        return _harmonic(precision, recall)


def _harmonic(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


@dataclass(frozen=True)
class Comparison:
    """``missing``: values that the chart does not show; ``foreign``: drawn values that are no data, by series."""

    ratio: Ratio
    missing: tuple[float, ...] = ()
    foreign: tuple[tuple[str, float], ...] = ()

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "f1": self.ratio.f1,
            "precision": self.ratio.precision,
            "recall": self.ratio.recall,
            "n_expected": self.ratio.n_expected,
            "n_shown": self.ratio.n_shown,
            "n_drawn": self.ratio.n_drawn,
            "n_accounted": self.ratio.n_accounted,
            "missing": list(self.missing),
            "foreign": [{"series": name, "value": value} for name, value in self.foreign],
        }


class _Pool:
    """Numbers among which a value is looked for, to the tolerance of the scores."""

    def __init__(self, values: Iterable[float]) -> None:
        self._values = sorted(values)

    @property
    def values(self) -> Sequence[float]:
        return self._values

    def has(self, value: float) -> bool:
        at = bisect_left(self._values, value - 2 * TOLERANCE * abs(value))
        while at < len(self._values) and self._values[at] <= value + 2 * TOLERANCE * abs(value):
            if accepts(self._values[at], value):
                return True
            at += 1
        return False


@dataclass(frozen=True)
class Data:
    """``derived`` values are to be shown; ``others`` may be: source values, and numbers that name members."""

    derived: Sequence[float]
    others: Sequence[float] = ()

    @classmethod
    def of(cls, derived: object, source: object) -> Data:
        leaves = (*labelled_leaves(derived), *labelled_leaves(source))
        named = {number for leaf in leaves for key in leaf.keys if (number := narrow_number(key)) is not None}
        years = {float(year) for leaf in leaves for year in leaf.years}
        return cls(numeric_leaves(derived), (*numeric_leaves(source), *sorted(named | years)))


def against_data(shown: Shown, data: Data) -> Comparison | None:
    """None where neither the chart nor the data have a number."""
    derived = data.derived
    pool = _Pool([*derived, *data.others])
    factors = {id(series): _factor(series, pool) for series in shown.series}
    drawn_data = [value / factors[id(one)] for one in shown.series for value in one.values]
    drawn_as_data = {pair.reference for pair in match(derived, drawn_data)}
    otherwise = _Pool(form / unit for form in shown.forms for unit in {1.0, *factors.values()})
    missing = [
        value
        for at, value in enumerate(derived)
        if at not in drawn_as_data and not otherwise.has(value) and not _is_written(value, shown)
    ]
    foreign = [
        (one.name, value) for one in shown.data for value in one.values if not pool.has(value / factors[id(one)])
    ]
    n_drawn = sum(len(one.values) for one in shown.data)
    if not n_drawn and not derived:
        return None
    ratio = Ratio(len(derived), len(derived) - len(missing), n_drawn, n_drawn - len(foreign))
    return Comparison(ratio, tuple(missing), tuple(foreign))


def against_chart(shown: Shown, reference: Shown) -> Comparison | None:
    """None where neither chart draws a number."""
    expected = [value for one in reference.data for value in one.values]
    pool = _Pool(expected)
    drawn_data = [(one.name, value / _factor(one, pool)) for one in shown.data for value in one.values]
    if not expected and not drawn_data:
        return None
    pairs = match(expected, [value for _, value in drawn_data])
    shown_there, accounted = {pair.reference for pair in pairs}, {pair.predicted for pair in pairs}
    return Comparison(
        Ratio(len(expected), len(pairs), len(drawn_data), len(pairs)),
        tuple(value for at, value in enumerate(expected) if at not in shown_there),
        tuple(one for at, one in enumerate(drawn_data) if at not in accounted),
    )


def _factor(series: Series, pool: _Pool) -> float:
    """The unit that most of a mark's values have in the data; of several the plainest."""
    units: Iterable[float] = _UNITS
    if series.is_share:
        largest = max(series.values)
        units = (*_UNITS, *(largest / value for value in pool.values if value > 0 and largest > 0))
    return max(units, key=lambda unit: sum(pool.has(value / unit) for value in series.values))


def _is_written(value: float, shown: Shown) -> bool:
    """As a number with two digits or more that rounds it, as it is or as percent."""
    return any(
        number.n_digits >= _MIN_DIGITS_WRITTEN and abs(number.value - value * factor) <= 0.5 * 10.0**-number.decimals
        for number in shown.written
        for factor in ((1.0, 100.0) if number.percent else (1.0,))
    )


@dataclass(frozen=True)
class DrawnFidelityStage(ScoreStage):
    """Reads rendered_charts, predicted_states and references. Partition and scope: (split, model)."""

    @property
    def asset(self) -> str:
        return ASSET

    def work(self, instance: Instance, model: ModelSpec) -> Work:
        uid, scope = instance.uid, scope_of(instance, model)
        try:
            chart = usable_result(self.store, "rendered_charts", scope, uid)
            state = PredictedState.of(self.store, scope, uid)
            reference = usable_result(self.store, "references", (), uid)
        except InfrastructureError as error:
            return Work(uid, InputKey.of(version=DRAWN_FIDELITY_VERSION), blocked=error)
        scoring = _Scoring(self.store, chart, state, reference)
        return Work(uid, scoring.key, compute=scoring.compute)


@dataclass(frozen=True)
class _Scoring:
    store: ArtifactStore
    chart: InstanceResult
    state: PredictedState
    reference: InstanceResult

    @property
    def key(self) -> InputKey:
        files = (DRAWN_NAME, reference_file(self.reference, "src"), reference_file(self.reference, "der"))
        return InputKey.of(
            version=DRAWN_FIDELITY_VERSION,
            chart=output_identity(self.chart, DRAWN_NAME),
            state=self.state.identity,
            reference=[output_identity(self.reference, name) for name in files],
        )

    async def compute(self, folder: Path) -> Outcome:
        if self.chart.status is Status.NOT_APPLICABLE:
            return Outcome.not_applicable("no_chart", "the model is not asked about this instance")
        if self.chart.status is Status.FAILED:
            problem = self.chart.problem or Problem(kind="failed", message="stage 2 failed")
            return Outcome(status=Status.FAILED, problem=problem, value={"f1_drawn": 0.0, "f1_drawn_reference": 0.0})
        shown = _shown(self.store, self.chart)
        if shown is None or not shown.series:
            return Outcome.not_applicable("unknown_marks", "nobody knows what the chart draws")
        return self._score(shown, folder)

    def _score(self, shown: Shown, folder: Path) -> Outcome:
        expected = Data.of(self._reference("der"), self._reference("src"))
        chart = _shown(self.store, self.reference)
        norm = against_data(chart, expected) if chart else None
        state = against_data(shown, Data.of(self.state.content("der"), self.state.content("src")))
        if chart is not None and chart.data:
            reference = against_chart(shown, chart)
        else:
            reference = against_data(shown, expected) if expected.derived else None
        compared = {"f1_drawn": state, "norm": norm, "f1_drawn_reference": reference}
        details: dict[str, JsonValue] = {name: one.as_json() if one else None for name, one in compared.items()}
        write_json(folder / FIDELITY_NAME, {"format": FIDELITY_FORMAT, **details})
        scores: dict[str, JsonValue] = {}
        if state is not None:
            scores["f1_drawn"] = state.ratio.relative_to(norm.ratio) if norm else state.ratio.f1
        if reference is not None:
            scores["f1_drawn_reference"] = reference.ratio.f1
        return Outcome(value={**scores, "n_drawn": sum(len(one.values) for one in shown.data)})

    def _reference(self, side: Side) -> object:
        return reference_content(self.store, self.reference, side)


def _shown(store: ArtifactStore, result: InstanceResult) -> Shown | None:
    """None where nobody knows what the picture draws."""
    if DRAWN_NAME not in result.files:
        return None
    known = drawn.known(drawn.read(read_output(store, result, DRAWN_NAME)))
    return Shown.of(known.saved) if known else None
