"""What a model may read, for every instance of a split (paper, section 3.1)."""

import dagster as dg

from assets.outcome import materialized, partition_checks, progress_log
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.partitions import splits
from deepchart_dagster.stage_versions import CONTEXT_VARIANT_VERSION
from resources import BenchmarkResource, StorageResource, open_workbench


@dg.asset(
    partitions_def=splits,
    group_name="contexts",
    code_version=CONTEXT_VARIANT_VERSION,
    # Which documents a split reads is not known to Dagster: all of them, and real staleness from our own keys.
    deps=["benchmark_queries", dg.AssetDep("ocr_contexts", partition_mapping=dg.AllPartitionMapping())],
    kinds={"markdown"},
    description="Context files or image chunks of every instance of a split, with the document each comes from.",
    check_specs=partition_checks("context_variants", splits),
)
def context_variants(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark) as bench:
        summary = bench.context_variants().run(Split(context.partition_key), progress=progress_log(context))
        return materialized(
            summary,
            means=["n_tokens", "n_files", "n_chunks"],
            where=bench.settings.storage / "context_variants" / context.partition_key,
        )
