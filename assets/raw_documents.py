"""The PDFs as they were registered: the same bytes as on the day they came in, readable, not encrypted."""

from typing import TYPE_CHECKING

import dagster as dg

from assets.outcome import materialized, partition_checks
from deepchart_dagster.partitions import documents
from deepchart_dagster.stage_versions import RAW_DOCUMENT_VERSION
from resources import StorageResource, open_workbench

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.steps import StepSummary
    from deepchart_dagster.benchmark.documents import Document


@dg.asset(
    partitions_def=documents,
    group_name="documents",
    code_version=RAW_DOCUMENT_VERSION,
    kinds={"pdf"},
    description="One registered PDF: its bytes checked against the hash it came in with, its pages counted.",
    check_specs=partition_checks("raw_documents", documents),
)
def raw_documents(context: dg.AssetExecutionContext, storage: StorageResource) -> dg.MaterializeResult:
    with open_workbench(storage) as bench:
        summary = bench.raw_documents().run(context.partition_key)
        return materialized(
            summary,
            where=bench.artifacts.folder("raw_documents", (), context.partition_key),
            metadata=_metadata(summary, bench.documents.get(context.partition_key)),
        )


def _metadata(summary: "StepSummary", document: "Document") -> dict[str, dg.MetadataValue]:
    value = summary.results[0].value if summary.results else {}  # an error has its own words
    warnings = value.get("warnings")
    metadata: dict[str, dg.MetadataValue] = {
        "title": dg.MetadataValue.text(document.title),
        "domain": dg.MetadataValue.text(document.domain.value),
        "bytes": dg.MetadataValue.int(document.bytes),
        "repaired": dg.MetadataValue.bool(bool(value.get("repaired"))),
        "warnings": dg.MetadataValue.json(warnings if isinstance(warnings, list) else []),
        "read_or_given": dg.MetadataValue.json(dict(document.origins)),
    }
    if isinstance(n_pages := value.get("n_pages"), int):
        metadata["pages"] = dg.MetadataValue.int(n_pages)
    if document.company:
        metadata["company"] = dg.MetadataValue.text(document.company)
    if document.fiscal_years:
        metadata["fiscal_years"] = dg.MetadataValue.json(list(document.fiscal_years))
    return metadata
