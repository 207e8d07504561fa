"""What an instance is scored against: D_src, D_der and the reference chart (paper, section 3.2)."""

import dagster as dg

from assets.outcome import materialized, partition_checks, progress_log, try_again
from assets.pools import CHARTS
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.partitions import splits
from deepchart_dagster.stage_versions import REFERENCE_VERSION
from resources import BenchmarkResource, SandboxResource, StorageResource, open_workbench

COMPLETE = "references_complete"


@dg.asset(
    partitions_def=splits,
    group_name="references",
    pool=CHARTS,
    code_version=REFERENCE_VERSION,
    deps=["benchmark_queries"],
    kinds={"python"},
    description="Reference data and chart of every query: copied from the benchmark, or made by its programs.",
    check_specs=[
        *partition_checks("references", splits),
        dg.AssetCheckSpec(
            COMPLETE,
            asset="references",
            partitions_def=splits,
            description="Every reference file that a record names is there.",
        ),
    ],
)
def references(
    context: dg.AssetExecutionContext, storage: StorageResource, benchmark: BenchmarkResource, sandbox: SandboxResource
) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark, sandbox) as bench:
        summary = bench.references().run(Split(context.partition_key), progress=progress_log(context))
        try_again(context, summary)
        missing = {result.uid: lacking for result in summary.results if (lacking := result.value.get("missing"))}
        return materialized(
            summary,
            means=["n_source", "n_derived"],
            where=bench.settings.storage / "references",
            checks=[
                dg.AssetCheckResult(
                    check_name=COMPLETE,
                    passed=not missing,
                    severity=dg.AssetCheckSeverity.WARN,
                    metadata={"missing": dg.MetadataValue.json(missing)},
                )
            ],
        )
