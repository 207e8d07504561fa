"""What ``deepchart contexts show`` says of a document."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.contexts.loaded import load_context
from deepchart_dagster.contexts.model import Page
from deepchart_dagster.contexts.ocr import DocumentSummary


@dataclass(frozen=True)
class ContextDescription:
    summary: DocumentSummary
    pages: tuple[Page, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """The summary, with ``pages``: number, engine, n_numbers, n_characters and error of each."""
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
        return described

    def as_text(self) -> str:
        summary = self.summary
        engines = ", ".join(f"{engine} {count}" for engine, count in summary.pages_by_engine.items())
        lines = [
            f"{summary.document_id}: {summary.n_pages} pages, {summary.n_numbers} numbers "
            f"(engine {summary.engine}: {summary.engine_version}; pages: {engines or 'none read'})"
        ]
        for name, pages in summary.statements.items():
            if pages:
                years = ", ".join(map(str, summary.statement_years[name])) or "years unknown"
                lines.append(f"  {name}: page {', '.join(map(str, pages))} ({years})")
        if summary.unit:
            lines.append(f"  values in {summary.unit}")
        lines += [f"  page {number} could not be read: {reason}" for number, reason in summary.page_errors.items()]
        widest = len(str(summary.n_pages))
        lines += [f"  page {page.number:>{widest}}  {page.engine:<10}  {page.n_numbers} numbers" for page in self.pages]
        return "\n".join(lines)


def describe(store: ArtifactStore, document_id: str) -> ContextDescription:
    """Raises UpstreamError where the document has not been read."""
    context = load_context(store, document_id)
    return ContextDescription(summary=context.summary, pages=context.pages)
