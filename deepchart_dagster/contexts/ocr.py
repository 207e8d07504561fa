"""Documents: checked as they lie (raw_documents), then read into markdown (ocr_contexts; paper, 3.1).

Files of an ocr context:

    document.md     the pages in order, each after a line ``<!-- page N -->``; a table is one line of HTML
    pages.jsonl     Page for every page, read or not
    lines.jsonl     {"line", "page", "kind": "page|text|table|error", "box", "figure", "numbers": [{"text", "box"}…]}
                    for every line of document.md that is not empty; boxes in points; a number of a table that
                    goes on over a page break (contexts.joined) has a "page" of its own where that is another
    summary.json    DocumentSummary
    quality.json    contexts.quality
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, sha256_file
from deepchart_dagster.artifacts.files import write_json, write_json_lines, write_text
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import Document, DocumentStore
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.checkpoints import PageCheckpoints
from deepchart_dagster.contexts.children import inspect_pdf
from deepchart_dagster.contexts.document_pages import DocumentPages, add_again, changed_pdf
from deepchart_dagster.contexts.engines import EngineConfig, EngineIdentity, engine_identity
from deepchart_dagster.contexts.figures import FIGURES_VERSION
from deepchart_dagster.contexts.joined import joined
from deepchart_dagster.contexts.layout import LAYOUT_VERSION, NumberBox
from deepchart_dagster.contexts.model import StatementName
from deepchart_dagster.contexts.quality import QUALITY_NAME, measure, page_ranges, seconds_by_engine
from deepchart_dagster.contexts.reading import DEFAULT_OPTIONS, PdfReader, ReadingOptions
from deepchart_dagster.contexts.readings import Inspection, PageReading
from deepchart_dagster.contexts.statements import NO_STATEMENTS, STATEMENTS_VERSION, find_statements
from deepchart_dagster.errors import DeepChartError, DocumentError, StorageError, UpstreamError
from deepchart_dagster.settings import DEFAULTS
from deepchart_dagster.stage_versions import OCR_CONTEXT_VERSION, RAW_DOCUMENT_VERSION

RAW_DOCUMENTS = "raw_documents"
OCR_CONTEXTS = "ocr_contexts"


class DocumentSummary(BaseModel):
    """``summary.json``. Years are newest first; ``statement_years`` are those in each statement's headers.

    ``engine_failures`` counts for each engine the pages that it failed on, whether another one read them or not;
    ``waiting`` are the pages that an engine could not be had for, which are read again when it is there;
    ``damaged`` says what is wrong with the content of pages that were read all the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str
    engine: str
    engine_version: str
    n_pages: int
    n_numbers: int
    pages_by_engine: dict[str, int]
    page_errors: dict[int, str]
    engine_failures: dict[str, int] = {}
    waiting: tuple[int, ...] = ()
    damaged: dict[int, str] = {}
    statements: dict[StatementName, tuple[int, ...]]
    statement_years: dict[StatementName, tuple[int, ...]]
    fiscal_years: tuple[int, ...]
    unit: str | None


@dataclass(frozen=True)
class RawDocumentStage:
    """Each document's PDF: the bytes it was registered with, readable, not encrypted, of ``max_pages`` at most."""

    store: ArtifactStore
    documents: DocumentStore
    max_pages: int = DEFAULTS.max_pages

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
            inspection = await asyncio.to_thread(_inspected, document, pdf, self.max_pages)
            write_json(folder / "document.json", document.model_dump(mode="json"))
            return Outcome(
                value={
                    "n_pages": inspection.n_pages,
                    "bytes": document.bytes,
                    "repaired": inspection.repaired,
                    "warnings": list(inspection.warnings),
                }
            )

        return Work(uid=document.id, key=key, compute=compute)


def _inspected(document: Document, pdf: Path, max_pages: int) -> Inspection:
    """Raises DocumentError for bytes that changed and for a PDF whose pages cannot be had."""
    again = add_again(document)
    name = f"{document.id} ({document.file_name})"
    if sha256_file(pdf) != document.sha256:
        raise changed_pdf(pdf, document)
    inspection = inspect_pdf(pdf, max_pages=max_pages)
    if inspection.needs_password:
        raise DocumentError(f"{name} is encrypted.", remedy=f"Remove its password. {again}")
    if inspection.error is not None or inspection.n_pages == 0:
        reason = (inspection.error or "it has no pages").rstrip(".")
        raise DocumentError(f"{name} is damaged: {reason}.", remedy=again)
    if inspection.n_pages > max_pages:
        raise DocumentError(
            f"{name} has {inspection.n_pages} pages, {max_pages} at most are read.",
            remedy="Split it and add the parts, or set DEEPCHART_MAX_PAGES higher.",
        )
    return inspection


@dataclass(frozen=True)
class OcrContextStage:
    """Each document as markdown with tables, every page accounted for.

    ``plan`` raises ConfigurationError for an ``engine`` that cannot be had; ``options`` change no reading.
    """

    store: ArtifactStore
    documents: DocumentStore
    engine: EngineConfig | str = "auto"
    options: ReadingOptions = DEFAULT_OPTIONS
    max_pages: int = DEFAULTS.max_pages

    def plan(self, document_ids: Sequence[str], progress: Progress | None = None) -> list[Work]:
        identity = engine_identity(self.engine)
        return [self._work(document_id, identity, progress) for document_id in document_ids]

    def run(self, document_id: str, progress: Progress | None = None) -> StepSummary:
        """``progress`` counts pages, those of an interrupted run with them."""
        step = Step(asset=OCR_CONTEXTS, partition=(document_id,), scope=())
        (work,) = self.plan([document_id], progress)
        summary = run_step(self.store, step, [work])
        if not summary.n_error and _waiting_of(summary.results[0]) is None:
            self._checkpoints(document_id, work.key).remove()
        return summary

    def _checkpoints(self, document_id: str, key: InputKey) -> PageCheckpoints:
        return PageCheckpoints.of(self.store.root / OCR_CONTEXTS, document_id, key.digest)

    def _work(self, document_id: str, identity: EngineIdentity, progress: Progress | None) -> Work:
        document = self.documents.get(document_id)
        key = InputKey.of(
            version=OCR_CONTEXT_VERSION,
            layout=LAYOUT_VERSION,
            statements=STATEMENTS_VERSION if document.domain is Domain.FINANCE else None,
            figures=FIGURES_VERSION if _has_figures(document) else None,
            document=document.sha256,
            **identity.parts,
        )
        n_pages, blocked = self._raw(document)
        if blocked is not None:
            return Work(uid=document.id, key=key, blocked=blocked)

        checkpoints = self._checkpoints(document.id, key)

        async def compute(folder: Path) -> Outcome:
            stop = threading.Event()
            try:
                pages = await asyncio.to_thread(self._pages, document, n_pages, checkpoints)
                readings = await asyncio.to_thread(pages.read, progress, stop)
            except asyncio.CancelledError:
                stop.set()  # the thread is waited for: it ends its children and itself
                raise
            return await in_thread(_written, document, identity, readings, folder)

        return Work(uid=document.id, key=key, compute=compute, again=self._again(document, key))

    def _again(self, document: Document, key: InputKey) -> str | None:
        """Why what is stored under ``key`` is to be read again: pages of it wait for an engine."""
        try:
            stored = self.store.read(OCR_CONTEXTS, (), document.id)
        except StorageError:
            return None  # damaged: it is made again anyway
        return _waiting_of(stored) if stored and stored.input_key == key.digest else None

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

    def _pages(self, document: Document, n_pages: int | None, checkpoints: PageCheckpoints) -> DocumentPages:
        pdf = self.documents.pdf(document.id)
        # A registered document can be read on its own: what raw_documents would have checked is checked here.
        n_pages = n_pages or _inspected(document, pdf, self.max_pages).n_pages
        reader = PdfReader(pdf=pdf, engine=self.engine, figures=_has_figures(document), options=self.options)
        return DocumentPages(document, n_pages, reader, checkpoints)


def _written(document: Document, identity: EngineIdentity, readings: Sequence[PageReading], folder: Path) -> Outcome:
    summary = _summary(document, identity, readings)
    _write_context(folder, readings, summary)
    return Outcome(
        value={
            "n_pages": summary.n_pages,
            "n_page_errors": len(summary.page_errors),
            "n_numbers": summary.n_numbers,
            **({"waiting": _waiting(readings)} if summary.waiting else {}),
        },
        observations={
            "page_seconds": round(sum(reading.seconds for reading in readings), 3),
            "engines": {name: asdict(spent) for name, spent in seconds_by_engine(readings).items()},
        },
    )


def _has_figures(document: Document) -> bool:
    """Papers and reports; in filings, rules and shaded rows of tables would pass for figures."""
    return document.domain is not Domain.FINANCE


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
        engine_failures=_engine_failures(readings),
        waiting=tuple(reading.number for reading in readings if reading.waits_for),
        damaged={reading.number: reading.damage for reading in readings if reading.damage is not None},
        statements=statements.pages,
        statement_years=statements.years,
        fiscal_years=statements.fiscal_years,
        unit=statements.unit,
    )


def _engine_failures(readings: Sequence[PageReading]) -> dict[str, int]:
    failed = Counter(engine for reading in readings for engine in {failure.engine for failure in reading.tried})
    return dict(sorted(failed.items()))


def _waiting(readings: Sequence[PageReading]) -> dict[str, JsonValue]:
    """Of the pages that wait for an engine: their numbers, and what is said of the first."""
    waiting = [reading for reading in readings if reading.waits_for]
    first = next(failure for failure in waiting[0].tried if failure.unavailable)
    pages: list[JsonValue] = [reading.number for reading in waiting]
    return {"pages": pages, "engine": first.engine, "reason": first.reason}


def _waiting_of(result: InstanceResult) -> str | None:
    """In words, which pages of a stored context wait for which engine; None where none does."""
    waiting = result.value.get("waiting")
    if not isinstance(waiting, dict) or not isinstance(waiting["pages"], list):
        return None
    pages = [int(str(page)) for page in waiting["pages"]]
    were = "page {} was" if len(pages) == 1 else "pages {} were"
    return (
        f"{were.format(page_ranges(pages))} read without {waiting['engine']} ({waiting['reason']}); "
        "the next run asks it again"
    )


def _write_context(folder: Path, readings: Sequence[PageReading], summary: DocumentSummary) -> None:
    markdown: list[str] = []
    lines: list[JsonValue] = []

    def add(text: str, **facts: JsonValue) -> None:
        lines.append({"line": len(markdown) + 1, **facts})
        markdown.extend((text, ""))

    for reading, lines_of_page in zip(readings, joined(readings), strict=True):
        number = reading.number
        add(f"<!-- page {number} -->", page=number, kind="page", box=None, figure=None, numbers=[])
        if reading.error is not None:
            note = f"<!-- page {number} could not be read: {reading.error.replace('--', '- -')} -->"
            add(note, page=number, kind="error", box=None, figure=None, numbers=[])
        for line in lines_of_page:
            add(
                line.markdown,
                page=number,
                kind="table" if line.is_table else "text",
                box=list(line.box),
                figure=line.figure,
                numbers=[_number_row(found) for found in line.numbers],
            )
    write_text(folder / "document.md", "\n".join(markdown))
    write_json_lines(folder / "pages.jsonl", [_page_row(reading) for reading in readings])
    write_json_lines(folder / "lines.jsonl", lines)
    write_json(folder / "summary.json", summary.model_dump(mode="json"))
    write_json(folder / QUALITY_NAME, measure(readings).model_dump(mode="json"))


def _number_row(number: NumberBox) -> dict[str, JsonValue]:
    elsewhere: dict[str, JsonValue] = {} if number.page is None else {"page": number.page}
    return {"text": number.text, "box": list(number.box), **elsewhere}


def _page_row(reading: PageReading) -> JsonValue:
    """A page without its seconds: the same reading twice gives the same bytes."""
    row: JsonValue = reading.page().model_copy(update={"seconds": 0.0}).model_dump(mode="json")
    return row
