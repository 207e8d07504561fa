"""Context variants: what a model may be given for each instance of a split (paper, 3.1).

Where the benchmark ships context files, those files; for queries about registered documents, text or
pictures built from what was read of them. ``context.json`` lists the files and chunks and says in its
notes why each document is there; ``provenance/`` says of every line where it comes from.

    finance     normal: the statements' tables; long: 20 lines more around each; ultra-long: whole filings
    academic    normal: the data of the chart; long: the paper's text with the data in the chart's place
    ecosystem   the report's pages as image chunks
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, sha256_file
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_bytes, write_json
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Instance, Query, Split
from deepchart_dagster.contexts import chunks as chunking
from deepchart_dagster.contexts import filings, papers, tokens
from deepchart_dagster.contexts.children import inspect_pdf
from deepchart_dagster.contexts.drafts import DataBlock, Draft
from deepchart_dagster.contexts.loaded import OcrContext, load_context, ocr_result
from deepchart_dagster.contexts.model import ImageChunk, ModelContext, StatementName
from deepchart_dagster.contexts.provenance import shipped_origins
from deepchart_dagster.errors import BenchmarkFormatError, DeepChartError, DocumentError, MissingInputError
from deepchart_dagster.stage_versions import CONTEXT_VARIANT_VERSION

CONTEXT_VARIANTS = "context_variants"

_SPOKEN: dict[StatementName, str] = {
    "balance_sheet": "Balance sheet",
    "income_statement": "Income statement",
    "cash_flow": "Cash flow statement",
}


@dataclass
class _LastReport:
    """The chunks drawn last: queries about one report follow each other and show the same pictures."""

    sha256: str = ""
    chunks: list[ImageChunk] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class ContextVariantStage:
    """Contexts of every instance of a split; an instance whose inputs are missing is blocked by name."""

    store: ArtifactStore
    library: Library
    documents: DocumentStore
    evidence: EvidenceStore

    def plan(self, split: Split) -> list[Work]:
        last = _LastReport()
        return [self._work(instance, last) for instance in self.library.instances(split)]

    def run(self, split: Split, progress: Progress | None = None) -> StepSummary:
        step = Step.own(CONTEXT_VARIANTS, split.value)
        return run_step(self.store, step, self.plan(split), progress=progress)

    def _work(self, instance: Instance, last: _LastReport) -> Work:
        query, split = instance.query, instance.split
        parts: dict[str, object] = {
            "version": CONTEXT_VARIANT_VERSION,
            "split": split.value,
            "documents": list(query.document_ids),
        }
        try:
            parts.update(self._inputs(query, split))
        except DeepChartError as error:
            return Work(uid=query.uid, key=InputKey.of(**parts), blocked=error)

        async def compute(folder: Path) -> Outcome:
            return await in_thread(self._build, query, split, folder, last)

        return Work(uid=query.uid, key=InputKey.of(**parts), compute=compute)

    # What a context depends on

    def _inputs(self, query: Query, split: Split) -> dict[str, JsonValue]:
        """Key parts. Raises what blocks the instance: a missing file, a document that has not been read."""
        shipped = query.context_files.get(split.variant, ())
        if split is Split.ECOSYSTEM:
            return {**self._report_inputs(query, shipped), "chunks": chunking.chunk_identity()}
        if shipped:
            return {"files": [[name, sha256] for name, sha256 in self._hashed(query, shipped)]}
        inputs: dict[str, JsonValue] = {"ocr": self._read_documents(query)}
        if split.domain is Domain.FINANCE:
            inputs["years"] = list(query.years)
            inputs["statements"] = list(filings.needed_statements(query))
        else:
            inputs["figure"] = [_hint(query, "figure"), str(query.evidence_hint.get("caption", ""))]
            inputs["data"] = sha256_file(self.library.file(query, _hint(query, "data")))
        return inputs

    def _hashed(self, query: Query, names: Sequence[str]) -> list[tuple[str, str]]:
        """Every named file with its hash. Raises MissingInputError: the first missing one and how many more."""
        missing: list[MissingInputError] = []
        found: list[tuple[str, str]] = []
        for name in names:
            try:
                found.append((name, sha256_file(self.library.file(query, name))))
            except MissingInputError as error:
                missing.append(error)
        if missing:
            more = f" ({len(missing) - 1} more of its {len(names)} context files are missing.)" if missing[1:] else ""
            raise MissingInputError(f"{missing[0].message}{more}", remedy=missing[0].remedy)
        return found

    def _read_documents(self, query: Query) -> JsonValue:
        """document -> [title, hash of what was read of it]."""
        if not query.document_ids:
            raise BenchmarkFormatError(
                f"{query.uid}: neither context files nor documents are named.",
                remedy="Name document_ids or context_files in its record.",
            )
        return {
            name: [self.documents.get(name).title, ocr_result(self.store, name).output_hash]
            for name in query.document_ids
        }

    def _report_inputs(self, query: Query, shipped: Sequence[str]) -> dict[str, JsonValue]:
        if shipped:
            pdf = self._shipped_pdf(query, shipped)
            known = self._registered(pdf)
            return {"pdf": sha256_file(pdf), "ocr": self._ocr_hash(known) if known else None}
        read = self._read_documents(query)
        return {"pdf": [self.documents.get(name).sha256 for name in query.document_ids], "ocr": read}

    def _shipped_pdf(self, query: Query, shipped: Sequence[str]) -> Path:
        for name in shipped:
            if name.lower().endswith(".pdf"):
                return self.library.file(query, name)
        raise MissingInputError(
            f"{query.uid}: its record names no PDF ({', '.join(shipped)}).",
            remedy="Add the report's PDF to the record's context files.",
        )

    def _registered(self, pdf: Path) -> str | None:
        """The document that these bytes are registered as, if they are."""
        sha256 = sha256_file(pdf)
        return next((document.id for document in self.documents.list() if document.sha256 == sha256), None)

    def _ocr_hash(self, document_id: str) -> str:
        return ocr_result(self.store, document_id).output_hash

    # Building

    def _build(self, query: Query, split: Split, folder: Path, last: _LastReport) -> Outcome:
        draft = Draft(folder)
        shipped = query.context_files.get(split.variant, ())
        if split is Split.ECOSYSTEM:
            self._add_report(query, shipped, draft, last)
        elif shipped:
            self._add_shipped(query, split, shipped, draft)
        elif split.domain is Domain.FINANCE:
            self._add_filings(query, split.variant, draft)
        else:
            self._add_paper(query, split.variant, draft)
        context = ModelContext(
            uid=query.uid,
            split=split.value,
            modality=split.modality,
            files=tuple(draft.files),
            chunks=tuple(draft.chunks),
            notes=tuple(draft.notes),
        )
        write_json(folder / "context.json", context.model_dump(mode="json"))
        texts = ((folder / file.path).read_text(encoding="utf-8") for file in draft.files)
        return Outcome(
            value={
                "n_files": len(draft.files),
                "n_chunks": len(draft.chunks),
                "n_tokens": sum(tokens.count(text) for text in texts),
            }
        )

    def _add_shipped(self, query: Query, split: Split, names: Sequence[str], draft: Draft) -> None:
        for name in names:
            path = self.library.file(query, name)
            try:
                text = path.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise DocumentError(f"{query.uid}: {name} is not UTF-8 text.", remedy="Convert it.") from error
            source = _source_of(name, query, split.variant)
            title = f"{source}: {PurePosixPath(name).stem.replace('_', ' ')}"
            draft.add_text(name, source, title, text, shipped_origins(text, source, name))
        draft.notes.append(f"{len(names)} context files as the benchmark ships them")

    def _add_filings(self, query: Query, variant: ContextVariant, draft: Draft) -> None:
        contexts = {name: load_context(self.store, name) for name in query.document_ids}
        selection = filings.select_filings(query, contexts)
        draft.notes += selection.notes
        for name in selection.document_ids:
            self._add_filing(contexts[name], filings.needed_statements(query), variant, draft)

    def _add_filing(
        self, filing: OcrContext, names: Sequence[StatementName], variant: ContextVariant, draft: Draft
    ) -> None:
        document_id = filing.document_id
        title = self.documents.get(document_id).title
        if variant is ContextVariant.ULTRA_LONG:
            draft.add_lines(f"{document_id}/{document_id}.md", document_id, title, filing.lines)
            return
        if variant is ContextVariant.LONG:
            draft.add_lines(f"{document_id}/context.md", document_id, title, filings.lines_around(filing, names))
            return
        for name in names:
            lines = filings.statement_lines(filing, name)
            if lines:
                draft.add_lines(f"{document_id}/{name}.md", document_id, f"{title}: {_SPOKEN[name]}", lines)
            else:
                draft.notes.append(f"{document_id}: no {name} was found in it")

    def _add_paper(self, query: Query, variant: ContextVariant, draft: Draft) -> None:
        paper = load_context(self.store, query.document_ids[0])
        document_id, title = paper.document_id, self.documents.get(paper.document_id).title
        figure, caption = papers.Figure.named(_hint(query, "figure")), str(query.evidence_hint.get("caption", ""))
        file = _hint(query, "data")
        block = self.library.file(query, file).read_text(encoding="utf-8-sig")
        if variant is ContextVariant.NORMAL:
            place = papers.find_figure(paper, figure, caption)
            data = DataBlock(block.rstrip("\n"), file, place.page if place else None, place.box if place else None)
            name = f"{document_id}/figure-{str(figure).replace(' ', '-')}-data.md"
            draft.add_lines(name, document_id, f"{title}: data of figure {figure}", [data])
            draft.notes.append(f"{document_id}: the experimental data of figure {figure}")
            return
        text = papers.with_data_block(paper, figure, block.strip(), file, caption)
        draft.add_lines(f"{document_id}/{document_id}.md", document_id, title, text.parts)
        draft.notes.append(text.note)

    def _add_report(self, query: Query, shipped: Sequence[str], draft: Draft, last: _LastReport) -> None:
        for report in self._reports(query, shipped):
            drawn = self._drawn(report, draft.folder, last, offset=len(draft.chunks))
            draft.chunks += drawn
            pages = f"{report.n_pages} pages in {len(drawn)} chunks"
            draft.notes.append(f"{report.document_id}: {pages}")
        texts = [name for name in shipped if not name.lower().endswith(".pdf")]
        draft.notes += [f"{name}: not shown, the split is native pages (paper, 3.1)" for name in texts]

    def _reports(self, query: Query, shipped: Sequence[str]) -> list[chunking.Report]:
        if not shipped:
            return [self._report(name, self.documents.pdf(name)) for name in query.document_ids]
        pdf = self._shipped_pdf(query, shipped)
        known = self._registered(pdf)
        return [self._report(known, pdf) if known else _unread_report(pdf)]

    def _report(self, document_id: str, pdf: Path) -> chunking.Report:
        pages = load_context(self.store, document_id).pages
        texts = {page.number: page.markdown for page in pages}
        return chunking.Report(document_id=document_id, pdf=pdf, n_pages=len(pages), page_texts=texts)

    def _drawn(self, report: chunking.Report, folder: Path, last: _LastReport, offset: int) -> list[ImageChunk]:
        sha256 = sha256_file(report.pdf)
        if last.sha256 != sha256 or offset:
            drawn = chunking.draw_chunks(report, folder, self.evidence, first_index=offset + 1)
            last.sha256 = "" if offset else sha256
            last.chunks = drawn
            names = [name for chunk in drawn for name in (chunk.path, chunk.pictures) if name]
            last.files = {name: (folder / name).read_bytes() for name in names}
            return drawn
        for name, content in last.files.items():
            write_bytes(folder / name, content)
        return last.chunks


def _unread_report(pdf: Path) -> chunking.Report:
    """A PDF that only the benchmark knows: its pictures are shown, what stands on them was never read."""
    inspection = inspect_pdf(pdf)
    if inspection.error or inspection.needs_password or not inspection.n_pages:
        reason = inspection.error or ("it is encrypted" if inspection.needs_password else "it has no pages")
        raise DocumentError(f"{pdf} cannot be shown: {reason}.", remedy="Replace the PDF and import again.")
    return chunking.Report(document_id=pdf.stem, pdf=pdf, n_pages=inspection.n_pages, page_texts={})


def _source_of(name: str, query: Query, variant: ContextVariant) -> str:
    """The filing (or paper) that a shipped file belongs to: its folder, or the record's document."""
    parent = PurePosixPath(name).parent.name
    if parent and parent not in (variant.value, variant.value.replace("-", "_")):
        return parent
    return query.document_ids[0] if query.document_ids else PurePosixPath(name).stem


def _hint(query: Query, name: str) -> str:
    value = query.evidence_hint.get(name)
    if not isinstance(value, str):
        raise BenchmarkFormatError(
            f"{query.uid}: evidence_hint.{name} is missing.", remedy="The layout is in docs/benchmark-layout.md."
        )
    return value
