"""A document's pages, read to the end across interruptions: what is there already is not read again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.files import storage_errors
from deepchart_dagster.artifacts.steps import Progress
from deepchart_dagster.benchmark.documents import Document
from deepchart_dagster.contexts.checkpoints import PageCheckpoints
from deepchart_dagster.contexts.progress import PageCounter
from deepchart_dagster.contexts.reading import PdfReader
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.errors import DocumentError


@dataclass(frozen=True)
class DocumentPages:
    """All pages of ``document``, read by ``reader`` and kept by ``checkpoints`` until its context is written."""

    document: Document
    n_pages: int
    reader: PdfReader
    checkpoints: PageCheckpoints

    def read(self, progress: Progress | None, stop: threading.Event) -> list[PageReading]:
        """One reading for each page, in order; ``progress`` counts those of an interrupted run as done.

        ``stop`` ends it at once, with what is read so far kept. Raises DocumentError where the PDF changes
        meanwhile, where no child starts and where no page could be read; then nothing is kept.
        """
        numbers = range(1, self.n_pages + 1)
        try:
            self._read(numbers, progress, stop)
            readings = list(self.checkpoints.readings(numbers)) if not stop.is_set() else []
            if readings and all(reading.error for reading in readings):
                raise DocumentError(f"no page of {self.document.id} could be read; page 1: {readings[0].error}")
        except DocumentError:
            self.checkpoints.remove()
            raise
        return readings

    def _read(self, numbers: Sequence[int], progress: Progress | None, stop: threading.Event) -> None:
        source = _Source(self.reader.pdf, self.document)
        kept = self.checkpoints.resume(self.n_pages)
        counter = PageCounter(self.document.id, self.n_pages, len(kept), progress)

        def keep(reading: PageReading) -> None:
            source.check()
            self.checkpoints.keep(reading)
            counter.count()

        self.reader.read_each([number for number in numbers if number not in kept], keep, stop)
        source.check()


class _Source:
    """The PDF as it was when its hash was that of the document. Raises DocumentError for other bytes."""

    def __init__(self, pdf: Path, document: Document) -> None:
        self._pdf = pdf
        self._document = document
        self._state = self._look()
        with storage_errors(pdf, "read"):
            if sha256_file(pdf) != document.sha256:
                raise changed_pdf(pdf, document)

    def check(self) -> None:
        if self._look() != self._state:
            raise DocumentError(
                f"{self._pdf} changed while it was read; nothing of it is kept.", remedy=read_again(self._document)
            )

    def _look(self) -> tuple[int, int, int]:
        try:
            found = self._pdf.stat()
        except FileNotFoundError:
            return (0, 0, 0)
        return (found.st_size, found.st_mtime_ns, found.st_ino)


def changed_pdf(pdf: Path, document: Document) -> DocumentError:
    return DocumentError(
        f"{pdf} is no longer the file that was registered (its hash differs).", remedy=add_again(pdf, document)
    )


def add_again(pdf: Path, document: Document) -> str:
    return f"Delete {pdf.parent} and add the PDF again: deepchart documents add FILE.pdf --id {document.id}."


def read_again(document: Document) -> str:
    return f"Leave it alone, or add the PDF again; then run deepchart contexts build --document {document.id}."
