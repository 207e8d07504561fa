"""Documents as markdown, page by page, with tables and their provenance (paper, section 3.1)."""

from typing import TYPE_CHECKING

import dagster as dg

from assets.outcome import materialized, partition_checks
from assets.pools import OCR
from deepchart_dagster.partitions import documents
from deepchart_dagster.stage_versions import OCR_CONTEXT_VERSION
from resources import OcrEngineResource, StorageResource, open_workbench

if TYPE_CHECKING:
    from deepchart_dagster.artifacts.steps import StepSummary
    from deepchart_dagster.contexts.show import ContextDescription

_LOG_EVERY_S = 15.0
PAGES_READ = "every_page_read"
_LISTED = 20


@dg.asset(
    partitions_def=documents,
    group_name="documents",
    pool=OCR,
    code_version=OCR_CONTEXT_VERSION,
    deps=["raw_documents"],
    kinds={"markdown"},
    description="One document read into markdown with HTML tables; every page accounted for.",
    check_specs=[
        *partition_checks("ocr_contexts", documents),
        dg.AssetCheckSpec(
            PAGES_READ,
            asset="ocr_contexts",
            partitions_def=documents,
            description="Every page was read by some engine, and whole; one that was not is named with its reason.",
        ),
    ],
)
def ocr_contexts(
    context: dg.AssetExecutionContext, storage: StorageResource, ocr: OcrEngineResource
) -> dg.MaterializeResult:
    from deepchart_dagster.contexts.progress import listening, spaced
    from deepchart_dagster.contexts.show import describe

    with open_workbench(storage, ocr) as bench:
        document_id = context.partition_key
        with listening(spaced(context.log.info, _LOG_EVERY_S)):
            summary = bench.ocr_contexts().run(document_id)
        (work,) = bench.ocr_contexts().plan([document_id])
        if work.again is not None:
            context.log.warning(f"{document_id}: {work.again}.")
        domain = bench.documents.get(document_id).domain
        description = None if summary.n_error else describe(bench.artifacts, document_id, domain=domain)
        return materialized(
            summary,
            means=["n_pages", "n_numbers"],
            where=bench.artifacts.folder("ocr_contexts", (), document_id),
            checks=[_pages_read(summary, description)],
            metadata=_metadata(description) if description else {},
        )


def _pages_read(summary: "StepSummary", description: "ContextDescription | None") -> dg.AssetCheckResult:
    unread = description.summary.page_errors if description else {}
    damaged = description.summary.damaged if description else {}
    reasons = [f"* page {page}: {reason}" for page, reason in list(unread.items())[:_LISTED]]
    reasons += [
        f"* page {page} may lack a part, it is damaged: {what}" for page, what in list(damaged.items())[:_LISTED]
    ]
    return dg.AssetCheckResult(
        check_name=PAGES_READ,
        passed=summary.n_error == 0 and not unread and not damaged,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "n_page_errors": len(unread),
            "n_damaged": len(damaged),
            **({"page_errors": dg.MetadataValue.md("\n".join(reasons))} if reasons else {}),
        },
    )


def _metadata(description: "ContextDescription") -> dict[str, dg.MetadataValue]:
    """Engines, statements and quality of what was read, small: the event log keeps a copy of it."""
    quality, summary = description.quality, description.summary
    compared = quality.compared
    return {
        "pages_by_engine": dg.MetadataValue.json(quality.pages_by_engine),
        "engine": dg.MetadataValue.text(f"{summary.engine}: {summary.engine_version}"),
        **(
            {
                "statements": dg.MetadataValue.json(
                    {str(name): list(pages) for name, pages in summary.statements.items()}
                )
            }
            if any(summary.statements.values())
            else {}
        ),
        **(
            {"seconds_per_page": dg.MetadataValue.float(per_page)} if (per_page := description.seconds_per_page) else {}
        ),
        **({"pages_waiting": dg.MetadataValue.int(len(summary.waiting))} if summary.waiting else {}),
        "pages_compared_with_text_layer": dg.MetadataValue.int(compared.pages),
        **({"number_precision": dg.MetadataValue.float(compared.precision)} if compared.precision is not None else {}),
        **({"number_recall": dg.MetadataValue.float(compared.recall)} if compared.recall is not None else {}),
        "pages_with_differing_numbers": dg.MetadataValue.int(len(quality.differing)),
        "summary": dg.MetadataValue.md("\n".join(f"    {line}" for line in description.as_text().splitlines())),
    }
