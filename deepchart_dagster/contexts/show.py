"""What ``deepchart contexts show`` says of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.loaded import load_context, ocr_result
from deepchart_dagster.contexts.model import Page
from deepchart_dagster.contexts.ocr import DocumentSummary
from deepchart_dagster.contexts.quality import Quality, page_ranges, plural


@dataclass(frozen=True)
class ContextDescription:
    """``page_seconds``: of reading all pages, one after the other; None where it was not measured. ``is_filing``: its
    statements were looked for."""

    summary: DocumentSummary
    pages: tuple[Page, ...]
    quality: Quality
    page_seconds: float | None
    is_filing: bool = False

    def as_json(self) -> dict[str, JsonValue]:
        """The summary, with ``pages`` (number, engine, n_numbers, n_characters and error of each) and ``quality``."""
        described: dict[str, JsonValue] = self.summary.model_dump(mode="json")
        described["pages"] = [
            {
                "number": page.number,
                "engine": page.engine,
                "n_numbers": page.n_numbers,
                "n_characters": len(page.markdown),
                "error": page.error,
            }
            for page in self.pages
        ]
        described["quality"] = self.quality.model_dump(mode="json")
        described["seconds_per_page"] = self.seconds_per_page
        return described

    @property
    def seconds_per_page(self) -> float | None:
        return None if self.page_seconds is None or not self.pages else round(self.page_seconds / len(self.pages), 3)

    def as_text(self, *, every_page: bool = False) -> str:
        """Ranges of pages by engine; ``every_page``: a line for each."""
        summary = self.summary
        seconds = f", {self.seconds_per_page:g} s a page" if self.seconds_per_page is not None else ""
        lines = [
            f"{summary.document_id}: {plural(summary.n_pages, 'page')}, {plural(summary.n_numbers, 'number')} "
            f"(engine {summary.engine}: {summary.engine_version}{seconds})",
            *self._statements(),
            *self._engines(),
            *([f"  {quality}"] if (quality := self.quality.as_text()) else []),
            *(f"  page {number} could not be read: {reason}" for number, reason in summary.page_errors.items()),
            *(f"  page {number} may lack a part, it is damaged: {what}" for number, what in summary.damaged.items()),
        ]
        widest = len(str(summary.n_pages))
        if every_page:
            for page in self.pages:
                lines.append(f"  page {page.number:>{widest}}  {page.engine:<12}  {plural(page.n_numbers, 'number')}")
        return "\n".join(lines)

    def _statements(self) -> Iterator[str]:
        summary = self.summary
        for name, pages in summary.statements.items():
            if pages:
                years = ", ".join(map(str, summary.statement_years[name])) or "years unknown"
                yield f"  {name}: page {page_ranges(pages)} ({years})"
            elif self.is_filing:
                yield f"  {name}: not found"
        if summary.unit:
            yield f"  values in {summary.unit}"

    def _engines(self) -> Iterator[str]:
        for engine in self.summary.pages_by_engine:
            pages = [page for page in self.pages if page.engine == engine and page.error is None]
            numbers = sum(page.n_numbers for page in pages)
            where = page_ranges([page.number for page in pages])
            yield f"  {engine}: {plural(len(pages), 'page')} ({where}), {plural(numbers, 'number')}"
        failed: dict[tuple[str, str], list[int]] = {}
        for failure in self.quality.fallbacks:
            failed.setdefault((failure.engine, failure.reason), []).append(failure.page)
        for (engine, reason), numbers_of_pages in failed.items():
            yield f"  {engine} failed on page {page_ranges(numbers_of_pages)}: {reason}"
        if self.summary.waiting:
            pages_waiting = page_ranges(self.summary.waiting)
            yield f"  page {pages_waiting}: the next contexts build asks that engine again"


def describe(store: ArtifactStore, document_id: str, *, domain: Domain | None = None) -> ContextDescription:
    """Raises UpstreamError where the document has not been read. ``domain``: its own, where it is known."""
    context = load_context(store, document_id)
    seconds = ocr_result(store, document_id).observations.get("page_seconds")
    return ContextDescription(
        summary=context.summary,
        pages=context.pages,
        quality=context.quality,
        page_seconds=float(seconds) if isinstance(seconds, int | float) else None,
        is_filing=domain is Domain.FINANCE,
    )
