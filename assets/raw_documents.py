"""The PDFs as they were registered: the same bytes as on the day they came in, readable, not encrypted."""

import dagster as dg

from assets.outcome import materialized, no_errors_check
from deepchart_dagster.contexts.ocr import RAW_DOCUMENT_VERSION
from deepchart_dagster.partitions import documents
from resources import StorageResource, open_workbench


@dg.asset(
    partitions_def=documents,
    group_name="documents",
    code_version=RAW_DOCUMENT_VERSION,
    kinds={"pdf"},
    description="One registered PDF: its bytes checked against the hash it came in with, its pages counted.",
    check_specs=[no_errors_check("raw_documents", documents)],
)
def raw_documents(context: dg.AssetExecutionContext, storage: StorageResource) -> dg.MaterializeResult:
    with open_workbench(storage) as bench:
        summary = bench.raw_documents().run(context.partition_key)
        return materialized(
            summary,
            means=["n_pages", "bytes"],
            where=bench.artifacts.folder("raw_documents", (), context.partition_key),
        )
