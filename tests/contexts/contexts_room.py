"""A storage root with its stores, and reading a document into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.loaded import OcrContext, load_context
from deepchart_dagster.contexts.ocr import OcrContextStage, RawDocumentStage
from deepchart_dagster.contexts.reading import ReadingOptions
from deepchart_dagster.contexts.variants import ContextVariantStage


@dataclass(frozen=True)
class Room:
    """Everything of one storage root."""

    root: Path

    @property
    def store(self) -> ArtifactStore:
        return ArtifactStore(self.root)

    @property
    def documents(self) -> DocumentStore:
        return DocumentStore(self.root)

    @property
    def library(self) -> Library:
        return Library(self.root)

    @property
    def evidence(self) -> EvidenceStore:
        return EvidenceStore(self.root)

    @property
    def raw(self) -> RawDocumentStage:
        return RawDocumentStage(self.store, self.documents)

    @property
    def variants(self) -> ContextVariantStage:
        return ContextVariantStage(self.store, self.library, self.documents, self.evidence)

    def ocr(self, engine: str = "text-layer") -> OcrContextStage:
        return OcrContextStage(self.store, self.documents, engine=engine, options=ReadingOptions(workers=2))

    def read(self, pdf: Path, domain: Domain = Domain.FINANCE, engine: str = "text-layer") -> tuple[str, StepSummary]:
        """Register, check and read a PDF."""
        document = self.documents.add(pdf, domain)
        self.raw.run(document.id)
        return document.id, self.ocr(engine).run(document.id)

    def context(self, document_id: str) -> OcrContext:
        return load_context(self.store, document_id)
