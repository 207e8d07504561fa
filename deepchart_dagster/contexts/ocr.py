"""Documents: checked as they lie (raw_documents), then read into markdown (ocr_contexts; paper, 3.1).

Files of an ocr context:

    document.md     the pages in order, each after a line ``<!-- page N -->``; a table is one line of HTML
    pages.jsonl     Page for every page, read or not
    lines.jsonl     {"line", "page", "kind": "page|text|table|error", "box", "figure", "numbers": [{"text", "box"}…]}
                    for every line of document.md that is not empty; boxes in points
    summary.json    DocumentSummary
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, sha256_file
from deepchart_dagster.artifacts.files import write_json, write_json_lines, write_text
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import Document, DocumentStore
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.children import ITEM_TIMEOUT_S, inspect_pdf
from deepchart_dagster.contexts.engines import EngineIdentity, engine_identity
from deepchart_dagster.contexts.layout import LAYOUT_VERSION
from deepchart_dagster.contexts.model import StatementName
from deepchart_dagster.contexts.reading import PdfReader
from deepchart_dagster.contexts.readings import Inspection, PageReading
from deepchart_dagster.contexts.statements import NO_STATEMENTS, STATEMENTS_VERSION, find_statements
from deepchart_dagster.errors import DeepChartError, DocumentError, UpstreamError

RAW_DOCUMENT_VERSION = "1"
OCR_CONTEXT_VERSION = "1"
MAX_PAGES = 3000

RAW_DOCUMENTS = "raw_documents"
OCR_CONTEXTS = "ocr_contexts"


class DocumentSummary(BaseModel):
    """``summary.json``. Years are newest first; ``statement_years`` are those in each statement's headers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str
    engine: str
    engine_version: str
    n_pages: int
    n_numbers: int
    pages_by_engine: dict[str, int]
    page_errors: dict[int, str]
    statements: dict[StatementName, tuple[int, ...]]
    statement_years: dict[StatementName, tuple[int, ...]]
    fiscal_years: tuple[int, ...]
    unit: str | None


@dataclass(frozen=True)
class RawDocumentStage:
    """Each document's PDF: the bytes it was registered with, readable, not encrypted, not too long."""

    store: ArtifactStore
    documents: DocumentStore

    def plan(self, document_ids: Sequence[str]) -> list[Work]:
        return [self._work(document_id) for document_id in document_ids]

    def run(self, document_id: str, progress: Progress | None = None) -> StepSummary:
        step = Step(asset=RAW_DOCUMENTS, partition=(document_id,), scope=())
        return run_step(self.store, step, self.plan([document_id]), progress=progress)

    def _work(self, document_id: str) -> Work:
        document = self.documents.get(document_id)
        key = InputKey.of(version=RAW_DOCUMENT_VERSION, document=document.model_dump(mode="json"))

        async def compute(folder: Path) -> Outcome:
            pdf = self.documents.pdf(document.id)
            inspection = await asyncio.to_thread(_inspected, document, pdf)
            write_json(folder / "document.json", document.model_dump(mode="json"))
            return Outcome(
                value={"n_pages": inspection.n_pages, "bytes": document.bytes, "repaired": inspection.repaired}
            )

        return Work(uid=document.id, key=key, compute=compute)


def _inspected(document: Document, pdf: Path) -> Inspection:
    """Raises DocumentError for bytes that changed and for a PDF whose pages cannot be had."""
    again = f"Delete {pdf.parent} and add the PDF again: deepchart documents add FILE.pdf --id {document.id}."
    if sha256_file(pdf) != document.sha256:
        raise DocumentError(f"{pdf} is no longer the file that was registered (its hash differs).", remedy=again)
    inspection = inspect_pdf(pdf)
    if inspection.needs_password:
        raise DocumentError(
            f"{document.id} ({document.file_name}) is encrypted.", remedy=f"Remove its password. {again}"
        )
    if inspection.error is not None or inspection.n_pages == 0:
        reason = (inspection.error or "it has no pages").rstrip(".")
        raise DocumentError(f"{document.id} ({document.file_name}) is damaged: {reason}.", remedy=again)
    if inspection.n_pages > MAX_PAGES:
        raise DocumentError(
            f"{document.id} ({document.file_name}) has {inspection.n_pages} pages, {MAX_PAGES} at most are read.",
            remedy="Split it and add the parts.",
        )
    return inspection


@dataclass(frozen=True)
class OcrContextStage:
    """Each document as markdown with tables, every page accounted for.

    ``engine`` is auto, text-layer or rapidocr. ``workers`` children read at once; a page may take
    ``page_timeout_s`` seconds. ``plan`` raises ConfigurationError for an engine that cannot be had.
    """

    store: ArtifactStore
    documents: DocumentStore
    engine: str = "auto"
    workers: int = 1
    page_timeout_s: float = ITEM_TIMEOUT_S

    def plan(self, document_ids: Sequence[str], progress: Progress | None = None) -> list[Work]:
        identity = engine_identity(self.engine)
        return [self._work(document_id, identity, progress) for document_id in document_ids]

    def run(self, document_id: str, progress: Progress | None = None) -> StepSummary:
        """``progress`` counts pages."""
        step = Step(asset=OCR_CONTEXTS, partition=(document_id,), scope=())
        return run_step(self.store, step, self.plan([document_id], progress))

    def _work(self, document_id: str, identity: EngineIdentity, progress: Progress | None) -> Work:
        document = self.documents.get(document_id)
        key = InputKey.of(
            version=OCR_CONTEXT_VERSION,
            layout=LAYOUT_VERSION,
            statements=STATEMENTS_VERSION if document.domain is Domain.FINANCE else None,
            figures=_has_figures(document),
            document=document.sha256,
            **identity.parts,
        )
        n_pages, blocked = self._raw(document)
        if blocked is not None:
            return Work(uid=document.id, key=key, blocked=blocked)

        async def compute(folder: Path) -> Outcome:
            return await asyncio.to_thread(self._read, document, n_pages, identity, folder, progress)

        return Work(uid=document.id, key=key, compute=compute)

    def _raw(self, document: Document) -> tuple[int | None, DeepChartError | None]:
        """Page count from raw_documents (None: not made), or why the PDF is not to be read."""
        raw = self.store.read(RAW_DOCUMENTS, (), document.id)
        if raw is None:
            return None, None
        if raw.is_error:
            reason = raw.problem.message if raw.problem else "no reason was kept."
            return None, UpstreamError(
                f"{document.id} has no checked PDF (raw_documents): {reason}",
                remedy=f"Then run deepchart contexts build --document {document.id}.",
            )
        return int(str(raw.value["n_pages"])), None

    def _read(
        self, document: Document, n_pages: int | None, identity: EngineIdentity, folder: Path, progress: Progress | None
    ) -> Outcome:
        pdf = self.documents.pdf(document.id)
        # A registered document can be read on its own: what raw_documents would have checked is checked here.
        n_pages = n_pages or _inspected(document, pdf).n_pages
        reader = PdfReader(
            pdf=pdf,
            engine=self.engine,
            figures=_has_figures(document),
            workers=self.workers,
            page_timeout_s=self.page_timeout_s,
        )
        readings = reader.read(range(1, n_pages + 1), _page_counter(progress, n_pages))
        if all(reading.error for reading in readings):
            raise DocumentError(f"no page of {document.id} could be read; page 1: {readings[0].error}")
        summary = _summary(document, identity, readings)
        _write_context(folder, readings, summary)
        return Outcome(
            value={
                "n_pages": summary.n_pages,
                "n_page_errors": len(summary.page_errors),
                "n_numbers": summary.n_numbers,
            },
            observations={"page_seconds": round(sum(reading.seconds for reading in readings), 3)},
        )


def _has_figures(document: Document) -> bool:
    """Papers and reports; in filings, rules and shaded rows of tables would pass for figures."""
    return document.domain is not Domain.FINANCE


def _page_counter(progress: Progress | None, n_pages: int) -> Callable[[PageReading], None]:
    lock = threading.Lock()
    done = 0

    def count(_: PageReading) -> None:
        nonlocal done
        with lock:
            done += 1
            if progress:
                progress(done, n_pages)

    return count


def _summary(document: Document, identity: EngineIdentity, readings: Sequence[PageReading]) -> DocumentSummary:
    found = find_statements(readings) if document.domain is Domain.FINANCE else None
    statements = found or NO_STATEMENTS
    return DocumentSummary(
        document_id=document.id,
        engine=identity.name,
        engine_version=identity.version,
        n_pages=len(readings),
        n_numbers=sum(reading.n_numbers for reading in readings),
        pages_by_engine=dict(sorted(Counter(reading.engine for reading in readings if reading.error is None).items())),
        page_errors={reading.number: reading.error for reading in readings if reading.error is not None},
        statements=statements.pages,
        statement_years=statements.years,
        fiscal_years=statements.fiscal_years,
        unit=statements.unit,
    )


def _write_context(folder: Path, readings: Sequence[PageReading], summary: DocumentSummary) -> None:
    markdown: list[str] = []
    lines: list[JsonValue] = []

    def add(text: str, **facts: JsonValue) -> None:
        lines.append({"line": len(markdown) + 1, **facts})
        markdown.extend((text, ""))

    for reading in readings:
        number = reading.number
        add(f"<!-- page {number} -->", page=number, kind="page", box=None, figure=None, numbers=[])
        if reading.error is not None:
            note = f"<!-- page {number} could not be read: {reading.error.replace('--', '- -')} -->"
            add(note, page=number, kind="error", box=None, figure=None, numbers=[])
        for line in reading.lines:
            add(
                line.markdown,
                page=number,
                kind="table" if line.is_table else "text",
                box=list(line.box),
                figure=line.figure,
                numbers=[{"text": found.text, "box": list(found.box)} for found in line.numbers],
            )
    write_text(folder / "document.md", "\n".join(markdown))
    write_json_lines(folder / "pages.jsonl", [_page_row(reading) for reading in readings])
    write_json_lines(folder / "lines.jsonl", lines)
    write_json(folder / "summary.json", summary.model_dump(mode="json"))


def _page_row(reading: PageReading) -> JsonValue:
    """A page without its seconds: the same reading twice gives the same bytes."""
    row: JsonValue = reading.page().model_copy(update={"seconds": 0.0}).model_dump(mode="json")
    return row
