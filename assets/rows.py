"""Score rows of a partition into their Parquet file, from which the metrics store is built."""

from __future__ import annotations

from deepchart_dagster.partitions import ModelSplit
from deepchart_dagster.workbench import Workbench


def export_rows(bench: Workbench, asset: str, key: ModelSplit) -> None:
    from deepchart_dagster.metrics.rows import export_partition

    export_partition(bench.artifacts, bench.library, bench.models, asset, (key.split.value, key.model))
