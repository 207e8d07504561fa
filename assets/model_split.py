"""The body that all assets by model × split share: one stage run, its rows exported, the step reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

import dagster as dg

from assets.outcome import bounded_check, materialized, progress_log, tag_cost, try_again
from deepchart_dagster.partitions import ModelSplit

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.steps import Progress, StepSummary
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.llm.registry import ModelSpec
    from deepchart_dagster.workbench import Workbench


class ModelSplitStage(Protocol):
    def run(self, split: Split, model: ModelSpec, progress: Progress | None = None) -> StepSummary: ...


def materialized_model_split(
    context: dg.AssetExecutionContext,
    bench: Workbench,
    stage: ModelSplitStage,
    *,
    means: Iterable[str] = (),
    bounded: Mapping[str, str] | None = None,
) -> dg.MaterializeResult:
    """``bounded``: name of a check -> the entry of ``value`` that must lie in 0…1."""
    key = ModelSplit.of(context)
    model = bench.model(key.model)
    summary = stage.run(key.split, model, progress=progress_log(context))
    _export_rows(bench, summary.asset, key)
    tag_cost(context, summary)
    try_again(context, summary)
    return materialized(
        summary,
        means=means,
        where=bench.settings.storage.joinpath(summary.asset, *summary.partition),
        checks=[bounded_check(name, summary, metric) for name, metric in (bounded or {}).items()],
        metadata={"scripted": dg.MetadataValue.bool(model.scripted)},
    )


def _export_rows(bench: Workbench, asset: str, key: ModelSplit) -> None:
    """The partition's Parquet file, from which the metrics store is built."""
    from deepchart_dagster.metrics.rows import export_partition

    export_partition(bench.artifacts, bench.library, bench.models, asset, (key.split.value, key.model))
