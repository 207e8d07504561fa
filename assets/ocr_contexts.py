"""Documents as markdown, page by page, with tables and their provenance (paper, section 3.1)."""

import dagster as dg

from assets.outcome import materialized, no_errors_check
from deepchart_dagster.contexts.ocr import OCR_CONTEXT_VERSION
from deepchart_dagster.partitions import documents
from resources import OcrEngineResource, StorageResource, open_workbench

PAGES_READ = "every_page_read"


@dg.asset(
    partitions_def=documents,
    group_name="documents",
    code_version=OCR_CONTEXT_VERSION,
    deps=["raw_documents"],
    kinds={"markdown"},
    description="One document read into markdown with HTML tables; every page accounted for.",
    check_specs=[
        no_errors_check("ocr_contexts", documents),
        dg.AssetCheckSpec(
            PAGES_READ,
            asset="ocr_contexts",
            partitions_def=documents,
            description="Every page was read by some engine; a page that was not is named with its reason.",
        ),
    ],
)
def ocr_contexts(
    context: dg.AssetExecutionContext, storage: StorageResource, ocr: OcrEngineResource
) -> dg.MaterializeResult:
    with open_workbench(storage, ocr) as bench:
        summary = bench.ocr_contexts().run(context.partition_key)
        facts = summary.results[0].value if summary.results else {}
        unread = int(str(facts.get("n_page_errors", 0)))
        return materialized(
            summary,
            means=["n_pages", "n_numbers"],
            where=bench.artifacts.folder("ocr_contexts", (), context.partition_key),
            checks=[
                dg.AssetCheckResult(
                    check_name=PAGES_READ,
                    passed=summary.n_error == 0 and unread == 0,
                    severity=dg.AssetCheckSeverity.WARN,
                    metadata={"n_page_errors": unread},
                )
            ],
        )
