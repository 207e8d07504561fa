"""The records of the benchmarks in the storage: what every split is made of."""

import dagster as dg

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.benchmark.model import Split
from resources import BenchmarkResource, StorageResource, open_workbench

HAS_QUERIES = "has_queries"


@dg.asset(
    group_name="benchmark",
    code_version="1",
    kinds={"json"},
    description="All selected queries, as imported or built in: intents, documents, references, variants.",
    check_specs=[
        dg.AssetCheckSpec(HAS_QUERIES, asset="benchmark_queries", description="At least one query is there to work on.")
    ],
)
def benchmark_queries(storage: StorageResource, benchmark: BenchmarkResource) -> dg.MaterializeResult:
    with open_workbench(storage, benchmark) as bench:
        queries = bench.library.queries()
        instances = {split.value: len(bench.library.instances(split)) for split in Split}
        return dg.MaterializeResult(
            metadata={
                "n_queries": len(queries),
                "benchmarks": dg.MetadataValue.json(sorted({query.benchmark for query in queries})),
                **{f"n_{split.replace('-', '_')}": count for split, count in instances.items()},
                "folder": dg.MetadataValue.path(str(bench.settings.storage / "benchmarks")),
            },
            data_version=dg.DataVersion(content_hash([query.model_dump(mode="json") for query in queries])),
            check_results=[dg.AssetCheckResult(check_name=HAS_QUERIES, passed=bool(queries))],
        )
