"""The diagnosis of stored states: why their values did not match, one class each (scoring.diagnosis).

An instance is ``ok`` where there is a valid state and a reference, whether or not anything is left to explain. Its
file ``diagnosis.json`` names every unmatched value with its labels; ``value`` counts the classes by side.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.inputs import usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.model import Instance
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import Side as StateSide
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.diagnosis import Diagnosed, Evidence, Side, diagnose
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.given import GivenContext
from deepchart_dagster.scoring.labelled import Labelled
from deepchart_dagster.scoring.prediction import PredictedState, output_identity, reference_content, reference_file
from deepchart_dagster.scoring.stage import ScoreStage, scope_of
from deepchart_dagster.stage_versions import DIAGNOSIS_VERSION

ASSET = "diagnosis"
DIAGNOSIS_NAME = "diagnosis.json"
DIAGNOSIS_FORMAT = "deepchart-diagnosis/1"
SIDES: tuple[StateSide, ...] = get_args(StateSide)


@dataclass(frozen=True)
class DiagnosisStage(ScoreStage):
    """Reads predicted_states, references and context_variants. Partition and scope: (split, model)."""

    evidence: EvidenceStore

    @property
    def asset(self) -> str:
        return ASSET

    def work(self, instance: Instance, model: ModelSpec) -> Work:
        uid, scope = instance.uid, scope_of(instance, model)
        try:
            reference = usable_result(self.store, "references", (), uid)
            state = PredictedState.of(self.store, scope, uid)
            given = GivenContext.of(self.store, self.evidence, model, instance.split.value, state.result)
        except InfrastructureError as error:
            return Work(uid, InputKey.of(version=DIAGNOSIS_VERSION), blocked=error)
        diagnosing = _Diagnosing(self.store, reference, state, given, instance.query.chart_purpose)
        return Work(uid, diagnosing.key, compute=diagnosing.compute)


@dataclass(frozen=True)
class _Diagnosing:
    store: ArtifactStore
    reference: InstanceResult
    state: PredictedState
    given: GivenContext
    purpose: str

    @property
    def key(self) -> InputKey:
        references = {side: output_identity(self.reference, reference_file(self.reference, side)) for side in SIDES}
        return InputKey.of(
            version=DIAGNOSIS_VERSION,
            references=references,
            state=self.state.identity,
            given=self.given.identity,
            purpose=self.purpose,
        )

    async def compute(self, folder: Path) -> Outcome:
        unusable = self.state.unusable
        return unusable if unusable is not None else await asyncio.to_thread(self._diagnose, folder)

    def _diagnose(self, folder: Path) -> Outcome:
        found = {side: sides for side in SIDES if (sides := self._side(side)) is not None}
        if not found:
            return Outcome.not_applicable("no_reference", "the query has no reference data")
        rows = [row for side, (one, other, values) in found.items() for row in _rows(side, one, other, values)]
        write_json(folder / DIAGNOSIS_NAME, {"format": DIAGNOSIS_FORMAT, "unmatched": rows})
        counted = {side: values for side, (_, _, values) in found.items()}
        return Outcome(value=counts(counted))

    def _side(self, side: StateSide) -> tuple[Side, Side, list[Diagnosed]] | None:
        content = reference_content(self.store, self.reference, side)
        if content is None:
            return None
        predicted = self.state.content(side)
        pairs = compare(numeric_leaves(content), predicted).pairs
        reference, given = Side.of(content), Side.of(predicted)
        return reference, given, diagnose(reference, given, pairs, self._evidence(side, len(pairs), reference, given))

    def _evidence(self, side: StateSide, n_matched: int, reference: Side, given: Side) -> Evidence:
        """Source values are looked for in the context, where there is something to look for."""
        is_perfect = n_matched == len(reference.leaves) == len(given.leaves)
        if side == "der" or is_perfect:
            return Evidence(self.purpose)
        return Evidence(self.purpose, ("\n".join(line.text for line in self.given.lines()),))


def counts(found: dict[StateSide, list[Diagnosed]]) -> dict[str, JsonValue]:
    """Totals, and for each side, ``of`` and class how many."""
    classes = Counter((side, one.of, one.kind) for side, values in found.items() for one in values)
    n_unmatched: dict[str, JsonValue] = {f"n_unmatched_{side}": len(values) for side, values in found.items()}
    return {
        **n_unmatched,
        "classes": [
            {"side": side, "of": of, "class": kind, "n": count} for (side, of, kind), count in sorted(classes.items())
        ],
    }


def _rows(side: StateSide, reference: Side, predicted: Side, found: Iterable[Diagnosed]) -> Iterator[JsonValue]:
    leaves = {"reference": reference.leaves, "prediction": predicted.leaves}
    for one in found:
        yield {"side": side, **one.as_json(), **_labels(leaves[one.of][one.index])}


def _labels(leaf: Labelled) -> dict[str, JsonValue]:
    return {"keys": list(leaf.keys), "names": list(leaf.names), "years": [*sorted(leaf.years)]}
