"""An ocr context as it lies in storage, read back for the variants and for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.contexts.model import ModelContext, Page
from deepchart_dagster.contexts.ocr import OCR_CONTEXTS, RAW_DOCUMENTS, DocumentSummary
from deepchart_dagster.contexts.provenance import Box, PlacedNumber, box_of, numbers_of
from deepchart_dagster.contexts.quality import QUALITY_NAME, Quality
from deepchart_dagster.errors import DamagedFile, UpstreamError


@dataclass(frozen=True)
class ContextLine:
    """A line of document.md that is not empty. ``kind``: page (a mark), text, table or error.

    ``box`` is on ``page``; a number of a table that goes on over the next page may stand there.
    """

    number: int
    page: int
    kind: str
    text: str
    figure: int | None
    box: Box | None
    numbers: tuple[PlacedNumber, ...] = ()


@dataclass(frozen=True)
class OcrContext:
    summary: DocumentSummary
    pages: tuple[Page, ...]
    lines: tuple[ContextLine, ...]
    markdown: str
    quality: Quality

    @property
    def document_id(self) -> str:
        return self.summary.document_id


def ocr_result(store: ArtifactStore, document_id: str) -> InstanceResult:
    """The stored result of reading a document. Raises UpstreamError where there is none to build on."""
    result = store.read(OCR_CONTEXTS, (), document_id)
    if result is not None and not result.is_error:
        return result
    build = f"deepchart contexts build --document {document_id}."
    if result is not None and result.problem is not None:
        # The problem says itself what to do about it.
        raise UpstreamError(f"the document {document_id} has not been read: {result.problem.message}")
    raw = store.read(RAW_DOCUMENTS, (), document_id)
    if raw is not None and raw.problem is not None:
        raise UpstreamError(
            f"the last build of the document {document_id} failed: {raw.problem.message}", remedy=f"Then run {build}"
        )
    raise UpstreamError(f"the document {document_id} has not been read yet.", remedy=f"Run {build}")


def load_context(store: ArtifactStore, document_id: str) -> OcrContext:
    """Raises UpstreamError where the document has not been read, DamagedFile where a file is damaged."""
    ocr_result(store, document_id)
    folder = store.folder(OCR_CONTEXTS, (), document_id)
    try:
        return _load(folder)
    except (OSError, ValueError, KeyError, IndexError, ValidationError) as error:
        raise DamagedFile(
            f"the context of {document_id} in {folder} is damaged ({type(error).__name__}).",
            remedy=f"Delete that folder and run deepchart contexts build --document {document_id}.",
        ) from error


def _load(folder: Path) -> OcrContext:
    markdown = (folder / "document.md").read_text(encoding="utf-8")
    texts = markdown.split("\n")
    rows = json_rows(folder / "lines.jsonl")
    return OcrContext(
        summary=DocumentSummary.model_validate_json((folder / "summary.json").read_text(encoding="utf-8")),
        pages=tuple(Page.model_validate(row) for row in json_rows(folder / "pages.jsonl")),
        lines=tuple(
            ContextLine(
                number=row["line"],
                page=row["page"],
                kind=row["kind"],
                text=texts[row["line"] - 1],
                figure=row["figure"],
                box=box_of(row["box"]),
                numbers=numbers_of(row),
            )
            for row in rows
        ),
        markdown=markdown,
        quality=Quality.model_validate_json((folder / QUALITY_NAME).read_bytes()),
    )


def json_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSON lines file. Not splitlines: a page may hold U+2028, which ends no line here."""
    return [json.loads(row) for row in path.read_text(encoding="utf-8").split("\n") if row]


def read_context(folder: Path) -> ModelContext:
    """An instance's context variant. Raises DamagedFile."""
    with damaged_context(folder):
        return ModelContext.model_validate_json((folder / "context.json").read_bytes())


@contextmanager
def damaged_context(folder: Path) -> Iterator[None]:
    """Whatever cannot be read of a context variant becomes one DamagedFile with its folder."""
    try:
        yield
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise DamagedFile(
            f"the context in {folder} is damaged ({type(error).__name__}).",
            remedy="Delete that folder and materialise context_variants again.",
        ) from error
