"""Calibration: do the scores of the scripted models show what was injected into their answers, and nothing else?

Whether an instance is hit, and where that shows first, is known without any score (llm.scripted.faults.injected).
Against it stands where the scores fall below 1.0 first, in the order of the pipeline: F1_src, F1_der, ER, VAS. A metric
that does not apply to an instance (there is no reference) is passed over.

found        hit, and the first score below 1.0 is the one at which the fault shows
missed       hit, and that score is 1.0
unexpected   below 1.0 without being hit, or before the fault
clean        not hit, and 1.0 everywhere
unscored     a score is not there, or is in error, before the question is answered
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.results import InstanceResult, Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.generation.asking import asked_instances
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.scripted.faults import Metric, injected

# Metric -> the asset that holds it, and its name among the asset's values.
_STORED: dict[Metric, tuple[str, str]] = {
    Metric.F1_SRC: ("source_fidelity", "f1"),
    Metric.F1_DER: ("derived_fidelity", "f1"),
    Metric.ER: ("execution_rate", "executed"),
    Metric.VAS: ("visual_accuracy", "vas"),
}

Finding = Literal["found", "missed", "unexpected", "clean", "unscored"]
_WRONG: tuple[Finding, ...] = ("missed", "unexpected")


@dataclass(frozen=True)
class CalibratedInstance:
    """``injected`` and ``lowered``: the metric at which the fault shows, and the first one below 1.0; None: none."""

    uid: str
    split: Split
    injected: Metric | None
    lowered: Metric | None
    finding: Finding

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "uid": self.uid,
            "split": self.split.value,
            "injected": self.injected,
            "lowered": self.lowered,
            "finding": self.finding,
        }


@dataclass(frozen=True)
class ModelCalibration:
    """All instances of one scripted model."""

    model: str
    parameters: Mapping[str, JsonValue]
    instances: tuple[CalibratedInstance, ...]

    def count(self, finding: Finding) -> int:
        return sum(one.finding == finding for one in self.instances)

    @property
    def injected(self) -> dict[Metric, int]:
        """Metric -> how many instances have a fault that shows there."""
        counts = Counter(one.injected for one in self.instances)
        return {metric: counts[metric] for metric in Metric if counts[metric]}

    @property
    def wrong(self) -> tuple[CalibratedInstance, ...]:
        """The instances whose scores do not show what was injected."""
        return tuple(one for one in self.instances if one.finding in _WRONG)

    def as_json(self) -> dict[str, JsonValue]:
        findings: tuple[Finding, ...] = ("found", "missed", "unexpected", "clean", "unscored")
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "n_instances": len(self.instances),
            "injected": {metric.value: count for metric, count in self.injected.items()},
            **{f"n_{finding}": self.count(finding) for finding in findings},
            "wrong": [one.as_json() for one in self.wrong],
        }


@dataclass(frozen=True)
class Calibration:
    """Reads the stored scores of scripted models; asks nobody, runs nothing."""

    store: ArtifactStore
    library: Library

    def run(self, models: Iterable[ModelSpec]) -> list[ModelCalibration]:
        """One entry for each scripted model that has been scored, in the order of ``models``."""
        calibrated = (self._model(model) for model in models if model.scripted)
        return [one for one in calibrated if one.count("unscored") < len(one.instances)]

    def _model(self, model: ModelSpec) -> ModelCalibration:
        instances = tuple(
            self._instance(model, split, instance.uid)
            for split in Split
            for instance in asked_instances(self.library, split, model)
        )
        return ModelCalibration(model.slug, model.parameters, instances)

    def _instance(self, model: ModelSpec, split: Split, uid: str) -> CalibratedInstance:
        expected = injected(model, uid)
        scores = self._scores(uid, (split.value, model.slug))
        lowered, finding = find_fault(expected, scores)
        return CalibratedInstance(uid, split, expected, lowered, finding)

    def _scores(self, uid: str, scope: tuple[str, str]) -> Iterator[tuple[Metric, float | None]]:
        for metric, (asset, name) in _STORED.items():
            result = self.store.read(asset, scope, uid)
            if result is None or result.status is not Status.NOT_APPLICABLE:
                yield metric, _score(result, name)


def _score(result: InstanceResult | None, name: str) -> float | None:
    value = result.value.get(name) if result and result.status in (Status.OK, Status.FAILED) else None
    return float(value) if isinstance(value, int | float) else None


def find_fault(expected: Metric | None, scores: Iterable[tuple[Metric, float | None]]) -> tuple[Metric | None, Finding]:
    """The first metric below 1.0, and what that says of an instance in which ``expected`` was injected.

    ``scores`` come in the order of the pipeline, those that apply; None is one that is not known.
    """
    for metric, score in scores:
        if score is None:
            return None, "unscored"
        if score < 1.0:
            return metric, "found" if metric is expected else "unexpected"
        if metric is expected:
            return None, "missed"
    return None, "clean" if expected is None else "unscored"


def calibration_text(rows: Sequence[ModelCalibration]) -> str:
    """A markdown table with one row for each model, which reads well as it stands, and what is wrong below it."""
    findings: tuple[Finding, ...] = ("found", "missed", "unexpected", "unscored")
    table = [
        ("model (scripted)", "rate", "instances", "injected", "shows at", *findings),
        *(
            (
                one.model,
                str(one.parameters.get("rate", "–")),
                str(len(one.instances)),
                str(sum(one.injected.values())),
                ", ".join(f"{metric} {count}" for metric, count in one.injected.items()) or "–",
                *(str(one.count(finding)) for finding in findings),
            )
            for one in rows
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    wrong = [
        f"{one.model} {instance.uid} {instance.split}: {instance.finding}"
        f" (injected {instance.injected or 'nothing'}, first below 1.0 {instance.lowered or 'nothing'})"
        for one in rows
        for instance in one.wrong
    ]
    return "\n".join([*lines, *(["", *wrong] if wrong else [])])
