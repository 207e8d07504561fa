"""Calibration: do the scores of the scripted models show what was injected into their answers, and nothing else?

Whether an instance is hit, and where that shows first, is known without any score (llm.scripted.faults.injected).
Against it stands where the scores fall below 1.0 first, in the order of the pipeline: F1_src, F1_der, ER, VAS. A metric
that does not apply to an instance (there is no reference) is passed over.

found        hit, and the first score below 1.0 is the one at which the fault shows
missed       hit, and that score is 1.0
unexpected   below 1.0 without being hit, or before the fault
clean        not hit, and 1.0 everywhere
unscored     a score is not there, or is in error, before the question is answered

Where wrong data were found, the diagnosis should name what is wrong with them: it does where one of its classes for the
unmatched values on that side is one that stands for a kind of fault that was injected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.results import InstanceResult, Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.generation.asking import MESSAGES_NAME, asked_instances
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.scripted.faults import Metric, injected, injected_kinds
from deepchart_dagster.scoring.diagnosis import DiagnosisClass

# Metric -> the asset that holds it, and its name among the asset's values.
_STORED: dict[Metric, tuple[str, str]] = {
    Metric.F1_SRC: ("source_fidelity", "f1"),
    Metric.F1_DER: ("derived_fidelity", "f1"),
    Metric.ER: ("execution_rate", "executed"),
    Metric.VAS: ("visual_accuracy", "vas"),
}

# Kind of fault in the data -> the classes of the diagnosis that name it.
NAMED_BY: dict[str, frozenset[DiagnosisClass]] = {
    "wrong_column": frozenset({"other_row"}),
    "wrong_year": frozenset({"year_shift"}),
    "unit_slip": frozenset({"scale"}),
    "wrong_sign": frozenset({"sign"}),
    "percent_fraction": frozenset({"percent"}),
    "wrong_denominator": frozenset({"same_factor"}),
    "forgotten_entry": frozenset({"missing_years", "missing_entities"}),
    "reading_order": frozenset({"top_k"}),
}
_SIDES = {Metric.F1_SRC: "src", Metric.F1_DER: "der"}
NAMED_SHARE = 0.95  # of the diagnosed instances

Finding = Literal["found", "missed", "unexpected", "clean", "unscored"]
_WRONG: tuple[Finding, ...] = ("missed", "unexpected")


@dataclass(frozen=True)
class CalibratedInstance:
    """``injected`` and ``lowered``: the metric at which the fault shows, and the first one below 1.0; None: none.

    named: whether the diagnosis names the fault; None where there is nothing to name, or no diagnosis
    """

    uid: str
    split: Split
    injected: Metric | None
    lowered: Metric | None
    finding: Finding
    named: bool | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "uid": self.uid,
            "split": self.split.value,
            "injected": self.injected,
            "lowered": self.lowered,
            "finding": self.finding,
            "named": self.named,
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

    @property
    def n_diagnosed(self) -> int:
        return sum(one.named is not None for one in self.instances)

    @property
    def n_named(self) -> int:
        return sum(one.named is True for one in self.instances)

    def as_json(self) -> dict[str, JsonValue]:
        findings: tuple[Finding, ...] = ("found", "missed", "unexpected", "clean", "unscored")
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "n_instances": len(self.instances),
            "injected": {metric.value: count for metric, count in self.injected.items()},
            **{f"n_{finding}": self.count(finding) for finding in findings},
            "n_diagnosed": self.n_diagnosed,
            "n_named": self.n_named,
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
        side = _SIDES.get(lowered) if lowered and finding == "found" else None
        named = self._named(model, split, uid, side) if side else None
        return CalibratedInstance(uid, split, expected, lowered, finding, named)

    def _named(self, model: ModelSpec, split: Split, uid: str, side: str) -> bool | None:
        """Whether the diagnosis of this side names a kind of fault that was injected."""
        diagnosis = self.store.read("diagnosis", (split.value, model.slug), uid)
        rows = diagnosis.value.get("classes") if diagnosis and diagnosis.status is Status.OK else None
        wanted = {name for kind in self._kinds(model, split, uid) for name in NAMED_BY.get(kind, ())}
        if not isinstance(rows, list) or not wanted:
            return None
        return any(isinstance(row, dict) and row.get("side") == side and row.get("class") in wanted for row in rows)

    def _kinds(self, model: ModelSpec, split: Split, uid: str) -> frozenset[str]:
        path = self.store.folder("predicted_states", (split.value, model.slug), uid) / MESSAGES_NAME
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return frozenset()
        parts = [part for message in document["messages"] for part in message["parts"]]
        sent = content_hash([part.get("text", part.get("image")) for part in parts])
        return injected_kinds(self.store.root, model, uid, 1, sent)

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
        ("model (scripted)", "rate", "instances", "injected", "shows at", *findings, "named"),
        *(
            (
                one.model,
                str(one.parameters.get("rate", "–")),
                str(len(one.instances)),
                str(sum(one.injected.values())),
                ", ".join(f"{metric} {count}" for metric, count in one.injected.items()) or "–",
                *(str(one.count(finding)) for finding in findings),
                f"{one.n_named} of {one.n_diagnosed}" if one.n_diagnosed else "–",
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
