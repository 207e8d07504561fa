"""Scripted models at rates that models.yaml does not set: asked, run and scored apart from the results of the storage.

Contexts, references and rubrics are those of the storage. What the models make lies in a folder of its own beside the
records of injections, as long as it is measured:

    storage/scripted/calibration-…/
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from deepchart_dagster.artifacts.files import remove_leftovers, storage_errors, temporary_name
from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.execution.each_once import EachOnce
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.calibration import ModelCalibration
from deepchart_dagster.workbench import Workbench

_PREFIX = "calibration-"
# What no model has a part in. Drawings of charts are found by their bytes: those of reference charts are not asked for.
_SHARED = ("benchmarks", "subsets", "context_variants", "references", "rubrics", "evidence/pages")


@dataclass(frozen=True)
class RatedModel:
    """A scripted model at a rate; None: it has none, and is as models.yaml has it."""

    model: ModelSpec
    rate: float | None

    @property
    def spec(self) -> ModelSpec:
        if self.rate is None:
            return self.model
        slug = f"{self.model.slug}-{self.rate:g}"
        return self.model.model_copy(update={"slug": slug, "parameters": {**self.model.parameters, "rate": self.rate}})

    def __str__(self) -> str:
        return self.model.slug if self.rate is None else f"{self.model.slug} at {self.rate:g}"


def at_rates(models: Sequence[ModelSpec], rates: Sequence[float]) -> list[RatedModel]:
    """Each of ``models`` at each rate; one without a rate once."""
    return [RatedModel(model, rate) for model in models for rate in (rates if "rate" in model.parameters else (None,))]


def calibrate(
    bench: Workbench,
    rated: Sequence[RatedModel],
    splits: Sequence[Split],
    announce: Callable[[RatedModel], None] = lambda _: None,
) -> list[ModelCalibration]:
    """One entry for each of ``rated``, under the model's own slug; instances of other splits are not among them.

    Programs are the same wherever a model is not hit: each is run once. Raises UpstreamError where contexts, references
    or rubrics are not there.
    """
    with _apart(bench) as folder:
        settings = bench.settings.model_copy(update={"storage": folder})
        with Workbench(settings, EachOnce(bench.runner)) as apart:
            found = []
            for one in rated:
                announce(one)
                found.append(_calibrated(apart, one, splits))
            return found


@contextmanager
def _apart(bench: Workbench) -> Iterator[Path]:
    """A storage that shares what no model has a part in with that of ``bench``."""
    storage = bench.settings.storage.resolve()
    remove_leftovers(storage / "scripted", _PREFIX)
    folder = storage / "scripted" / temporary_name(_PREFIX)
    with storage_errors(folder, "make"):
        (folder / "evidence").mkdir(parents=True)
        for name in _SHARED:
            if (storage / name).exists():  # a link to nothing could not be written through
                (folder / name).symlink_to(storage / name)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # links are taken away, what they lead to stays


def _calibrated(bench: Workbench, one: RatedModel, splits: Sequence[Split]) -> ModelCalibration:
    model = one.spec
    for split in splits:
        for summary in _scored(bench, model, split):
            if summary.errors:
                problem = summary.errors[0]
                raise UpstreamError(
                    f"{one} cannot be measured in {split.value} on {problem.uid}: {problem.message}",
                    remedy="deepchart demo makes the contexts, references and rubrics that it needs.",
                )
    (row,) = bench.calibration().run([model])
    instances = tuple(instance for instance in row.instances if instance.split in splits)
    return replace(row, model=one.model.slug, instances=instances)


def _scored(bench: Workbench, model: ModelSpec, split: Split) -> Iterator[StepSummary]:
    """The assets that calibration reads, in the order in which they read each other."""
    yield bench.predicted_states().run(split, model)
    for side in ("src", "der"):
        yield bench.fidelity(side).run(split, model)
    yield bench.diagnosis().run(split, model)
    yield bench.rendered_charts().run(split, model)
    yield bench.execution_rate().run(split, model)
    yield bench.visual_accuracy().run(split, model)
