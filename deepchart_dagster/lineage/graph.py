"""The assets as the domain knows them: order, kind of partition, what each one reads.

Dagster's graph is made of the same names; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from deepchart_dagster.artifacts.steps import Step, Work
from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.errors import UsageError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.workbench import Workbench


class PartitionKind(StrEnum):
    DOCUMENT = "document"
    SPLIT = "split"
    MODEL_SPLIT = "model_split"
    MODEL_BACKEND = "model_backend"
    JUDGE = "judge"


@dataclass(frozen=True)
class AssetNode:
    """``shared``: results are stored once per query, and several splits ask for the same ones."""

    name: str
    kind: PartitionKind
    upstream: tuple[str, ...] = ()
    shared: bool = False


NODES: tuple[AssetNode, ...] = (
    AssetNode("raw_documents", PartitionKind.DOCUMENT),
    AssetNode("ocr_contexts", PartitionKind.DOCUMENT, ("raw_documents",)),
    AssetNode("context_variants", PartitionKind.SPLIT, ("ocr_contexts",)),
    AssetNode("references", PartitionKind.SPLIT, shared=True),
    AssetNode("rubrics", PartitionKind.SPLIT, ("references",), shared=True),
    AssetNode("predicted_states", PartitionKind.MODEL_SPLIT, ("context_variants",)),
    AssetNode("rendered_charts", PartitionKind.MODEL_SPLIT, ("predicted_states",)),
    AssetNode("source_fidelity", PartitionKind.MODEL_SPLIT, ("predicted_states", "references")),
    AssetNode("derived_fidelity", PartitionKind.MODEL_SPLIT, ("predicted_states", "references")),
    AssetNode("diagnosis", PartitionKind.MODEL_SPLIT, ("predicted_states", "references", "context_variants")),
    AssetNode("grounding", PartitionKind.MODEL_SPLIT, ("predicted_states", "context_variants")),
    AssetNode("drawn_fidelity", PartitionKind.MODEL_SPLIT, ("rendered_charts", "predicted_states", "references")),
    AssetNode("execution_rate", PartitionKind.MODEL_SPLIT, ("rendered_charts",)),
    AssetNode("visual_accuracy", PartitionKind.MODEL_SPLIT, ("rendered_charts", "rubrics")),
    AssetNode("backend_charts", PartitionKind.MODEL_BACKEND, ("references",)),
    AssetNode("backend_scores", PartitionKind.MODEL_BACKEND, ("backend_charts", "rubrics")),
    AssetNode("judge_verdicts", PartitionKind.JUDGE),
)
BY_NAME = {node.name: node for node in NODES}


def node(name: str) -> AssetNode:
    """Raises UsageError that lists the names there are."""
    try:
        return BY_NAME[name]
    except KeyError:
        raise UsageError(
            f"there is no asset {name!r} with partitions.", remedy=f"There are: {', '.join(BY_NAME)}."
        ) from None


@dataclass(frozen=True)
class PartitionKey:
    """One partition of one asset; the dimensions it does not have are None."""

    asset: str
    document: str | None = None
    split: Split | None = None
    model: str | None = None
    backend: Backend | None = None
    judge: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """As in the manifest's path: (document), (split), (split, model), (backend, model) or (judge)."""
        named = (
            self.document,
            self.split and self.split.value,
            self.backend and self.backend.value,
            self.model,
            self.judge,
        )
        return tuple(part for part in named if part)

    @property
    def step(self) -> Step:
        scope = () if self.document or node(self.asset).shared else self.parts
        return Step(asset=self.asset, partition=self.parts, scope=scope, shared=node(self.asset).shared)

    def __str__(self) -> str:
        return "|".join(self.parts)


def partition_keys(
    bench: Workbench, asset: AssetNode, models: Iterable[str], splits: Iterable[Split]
) -> list[PartitionKey]:
    """Every partition of ``asset`` for these models and splits (documents: all that are registered)."""
    if asset.kind is PartitionKind.DOCUMENT:
        return [PartitionKey(asset.name, document=document.id) for document in bench.documents.list()]
    if asset.kind is PartitionKind.SPLIT:
        return [PartitionKey(asset.name, split=split) for split in splits]
    if asset.kind is PartitionKind.JUDGE:
        return [PartitionKey(asset.name, judge=judge) for judge in bench.judges.judges]
    if asset.kind is PartitionKind.MODEL_BACKEND:
        return [PartitionKey(asset.name, backend=backend, model=model) for model in models for backend in Backend]
    return [PartitionKey(asset.name, split=split, model=model) for model in models for split in splits]


def plan(bench: Workbench, key: PartitionKey) -> list[Work]:
    """What the step of this partition would do: an input key per instance, nothing computed."""
    if key.document is not None:
        if key.asset == "raw_documents":
            return bench.raw_documents().plan([key.document])
        return bench.ocr_contexts().plan([key.document])
    if key.judge is not None:
        return bench.judge_study().plan(key.judge)
    if key.backend is not None and key.model is not None:
        return _plan_backend(bench, key.asset, key.backend, key.model)
    if key.split is None:
        raise UsageError(f"{key.asset}: name a split or a document.")
    if key.model is None:
        return _plan_split(bench, key.asset, key.split)
    return _plan_model_split(bench, key.asset, key.split, key.model)


class _ModelSplitStage(Protocol):
    def plan(self, split: Split, model: ModelSpec) -> list[Work]: ...


def _plan_split(bench: Workbench, asset: str, split: Split) -> list[Work]:
    if asset == "context_variants":
        return bench.context_variants().plan(split)
    if asset == "references":
        return bench.references().plan(split)
    return bench.rubrics().plan(split)


def _plan_backend(bench: Workbench, asset: str, backend: Backend, slug: str) -> list[Work]:
    if asset == "backend_charts":
        return bench.backend_charts().plan(backend, bench.model(slug))
    return bench.backend_scores().plan(backend, bench.model(slug))


def _plan_model_split(bench: Workbench, asset: str, split: Split, slug: str) -> list[Work]:
    model = bench.model(slug)
    if not bench.applicable(model, split):
        return []
    stages: dict[str, Callable[[], _ModelSplitStage]] = {
        "predicted_states": bench.predicted_states,
        "rendered_charts": bench.rendered_charts,
        "source_fidelity": lambda: bench.fidelity("src"),
        "derived_fidelity": lambda: bench.fidelity("der"),
        "diagnosis": bench.diagnosis,
        "grounding": bench.grounding,
        "drawn_fidelity": bench.drawn_fidelity,
        "execution_rate": bench.execution_rate,
        "visual_accuracy": bench.visual_accuracy,
    }
    return stages[asset]().plan(split, model)
