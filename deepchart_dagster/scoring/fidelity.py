"""F1_src and F1_der: how much of the reference data a model recovered (paper, section 4 and appendix B.2).

Values are compared without keys or structure, matched one-to-one within 1e-4. Precision = matched /
predicted, recall = matched / reference. Two scorers: ``paper`` (the default) and ``upstream``, the rules
of the published harness, for comparison.

How an instance is scored:

ok               J is valid; precision, recall and F1 as they are (0 where one side has no numbers)
failed           the model left no valid J (appendix B.1): all 0, with the kind of the failure
not_applicable   there is no reference on this side, or neither side has a number
error            the reference or the state could not be had: unscored
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Problem, Status
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.benchmark.model import Instance
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import Side, StatePart, find_part, invalidity, load_state
from deepchart_dagster.errors import BenchmarkFormatError, InfrastructureError
from deepchart_dagster.generation.states import STATE_ASSET, STATE_NAME
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.matching import Pair, match
from deepchart_dagster.scoring.prediction import output_identity, reference_file
from deepchart_dagster.scoring.stage import ScoreStage, scope_of
from deepchart_dagster.scoring.tables import read_reference
from deepchart_dagster.scoring.upstream import match_nearest, upstream_leaves, upstream_reference
from deepchart_dagster.stage_versions import FIDELITY_VERSION

MATCHES_NAME = "matches.json"
MATCHES_FORMAT = "deepchart-matches/1"

Scorer = Literal["paper", "upstream"]
ASSETS: dict[Side, str] = {"src": "source_fidelity", "der": "derived_fidelity"}
_COUNTS: dict[Side, str] = {"src": "n_source", "der": "n_derived"}


@dataclass(frozen=True)
class Fidelity:
    """Precision, recall and F1 lie in 0…1; the rest are counts of values."""

    precision: float
    recall: float
    f1: float
    n_reference: int
    n_predicted: int
    n_matched: int

    @classmethod
    def of(cls, n_matched: int, n_reference: int, n_predicted: int) -> Fidelity:
        """A side without values makes its ratio, and so F1, 0."""
        total = n_reference + n_predicted
        return cls(
            precision=n_matched / n_predicted if n_predicted else 0.0,
            recall=n_matched / n_reference if n_reference else 0.0,
            f1=2 * n_matched / total if total else 0.0,
            n_reference=n_reference,
            n_predicted=n_predicted,
            n_matched=n_matched,
        )

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """One side of one state against its reference. ``fidelity`` is None where there is nothing to compare."""

    scorer: Scorer
    reference: list[float]
    predicted: list[float]
    pairs: list[Pair]
    fidelity: Fidelity | None


def compare(reference: list[float], predicted: object, scorer: Scorer = "paper") -> Comparison:
    """``reference`` values against ``predicted``, the content of one side of J (None: it has no such side)."""
    values = upstream_leaves(predicted) if scorer == "upstream" else numeric_leaves(predicted)
    pairs = match_nearest(reference, values) if scorer == "upstream" else match(reference, values)
    return Comparison(
        scorer=scorer,
        reference=reference,
        predicted=values,
        pairs=pairs,
        fidelity=_fidelity(len(pairs), len(reference), len(values), scorer),
    )


def _fidelity(n_matched: int, n_reference: int, n_predicted: int, scorer: Scorer) -> Fidelity | None:
    if n_reference or n_predicted:
        return Fidelity.of(n_matched, n_reference, n_predicted)
    return Fidelity(1.0, 1.0, 1.0, 0, 0, 0) if scorer == "upstream" else None


def reference_values(data: bytes, name: str, side: Side, scorer: Scorer = "paper") -> list[float] | None:
    """The values of reference file ``name`` as the scorer reads them; None where the file says there is none.

    Raises BenchmarkFormatError, with ``name``, for a file that cannot be read.
    """
    suffix = Path(name).suffix
    values = read_reference(data, suffix, side, name=name)
    if values is None or scorer == "paper":
        return values
    return upstream_reference(data, suffix, name=name)


@dataclass(frozen=True)
class FidelityStage(ScoreStage):
    """Scores predicted_states against references on one side. Partition and scope: (split, model)."""

    side: Side
    scorer: Scorer = "paper"

    @property
    def asset(self) -> str:
        return ASSETS[self.side]

    def work(self, instance: Instance, model: ModelSpec) -> Work:
        uid, scope = instance.uid, scope_of(instance, model)
        try:
            reference = usable_result(self.store, "references", (), uid)
            if reference.value.get(_COUNTS[self.side]) is None:
                return Work(uid, self._key(reference=None), compute=_no_reference)
            state = usable_result(self.store, STATE_ASSET, scope, uid)
        except InfrastructureError as error:
            return Work(uid, self._key(), blocked=error)
        return self._scoring(reference, state)

    def _scoring(self, reference: InstanceResult, state: InstanceResult) -> Work:
        scoring = _Scoring(self, reference, state)
        key = self._key(
            reference=output_identity(reference, scoring.reference_name),
            state=output_identity(state, STATE_NAME),
            needs_derived=scoring.needs_derived,
        )
        return Work(reference.uid, key, compute=scoring.compute)

    def _key(self, **inputs: JsonValue) -> InputKey:
        return InputKey.of(version=FIDELITY_VERSION, side=self.side, scorer=self.scorer, **inputs)


async def _no_reference(folder: Path) -> Outcome:
    return Outcome.not_applicable("no_reference", "the query has no reference data on this side")


@dataclass(frozen=True)
class _Scoring:
    """One instance to score: a reference that has this side, and the state that a model left."""

    stage: FidelityStage
    reference: InstanceResult
    state: InstanceResult

    @property
    def reference_name(self) -> str:
        return reference_file(self.reference, self.stage.side)

    @property
    def needs_derived(self) -> bool:
        """Whether a valid J has derived data: where the reference has (METRICS, validity)."""
        return bool(self.reference.value.get(_COUNTS["der"]))

    async def compute(self, folder: Path) -> Outcome:
        """Writes matches.json. Raises UpstreamError for a file that is gone, BenchmarkFormatError for one
        that cannot be read."""
        data = read_output(self.stage.store, self.reference, self.reference_name)
        reference = reference_values(data, self.reference_name, self.stage.side, self.stage.scorer)
        if reference is None:
            return await _no_reference(folder)
        if self.state.status is Status.NOT_APPLICABLE:
            return Outcome.not_applicable("no_state", "the model is not asked about this instance")
        if self.state.status is Status.FAILED:
            problem = self.state.problem or Problem(kind="failed", message="stage 1 failed")
            return _scored_zero(problem, reference)
        return self._score(reference, folder)

    def _score(self, reference: list[float], folder: Path) -> Outcome:
        try:
            state = load_state(read_output(self.stage.store, self.state, STATE_NAME), name=STATE_NAME)
        except BenchmarkFormatError as error:
            return _scored_zero(Problem(kind="invalid_output", message=str(error)), reference)
        invalid = invalidity(state, needs_derived=self.needs_derived)
        if invalid:
            return _scored_zero(Problem(kind=invalid.kind, message=invalid.message), reference)
        part = find_part(state, self.stage.side)
        comparison = compare(reference, part.content if part else None, self.stage.scorer)
        write_json(folder / MATCHES_NAME, matches_document(comparison, self.stage.side, part))
        if comparison.fidelity is None:
            return Outcome.not_applicable("no_numbers", "neither the reference nor the prediction has a number")
        return Outcome(value=comparison.fidelity.as_json())


def _scored_zero(problem: Problem, reference: list[float]) -> Outcome:
    """Appendix B.1: no valid J, no fidelity."""
    return Outcome(status=Status.FAILED, problem=problem, value=Fidelity.of(0, len(reference), 0).as_json())


def matches_document(comparison: Comparison, side: Side, part: StatePart | None) -> dict[str, JsonValue]:
    """What was compared and what matched, for matches.json; ``pairs`` are positions in the two lists of values."""
    return {
        "format": MATCHES_FORMAT,
        "side": side,
        "scorer": comparison.scorer,
        "member": part.member if part else None,
        "misspelt": part.is_misspelt if part else False,
        "reference": list(comparison.reference),
        "predicted": list(comparison.predicted),
        "pairs": [[pair.reference, pair.predicted] for pair in comparison.pairs],
    }
