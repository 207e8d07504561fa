"""What the stages have in common that score a model's results on a split without asking a model themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Instance, Split
from deepchart_dagster.generation.asking import asked_instances
from deepchart_dagster.llm.registry import ModelSpec


@dataclass(frozen=True)
class ScoreStage(ABC):
    """Partition and scope: (split, model)."""

    store: ArtifactStore
    library: Library

    @property
    @abstractmethod
    def asset(self) -> str: ...

    @abstractmethod
    def work(self, instance: Instance, model: ModelSpec) -> Work:
        """What it takes to score this instance; blocked where its inputs cannot be named."""

    def plan(self, split: Split, model: ModelSpec) -> list[Work]:
        """One work for each instance of the split that ``model`` is asked about."""
        return [self.work(instance, model) for instance in asked_instances(self.library, split, model)]

    def run(self, split: Split, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        step = Step.own(self.asset, split.value, model.slug)
        return run_step(self.store, step, self.plan(split, model), progress=progress)


def scope_of(instance: Instance, model: ModelSpec) -> tuple[str, str]:
    """Where the results of ``model`` on this instance lie."""
    return instance.split.value, model.slug
