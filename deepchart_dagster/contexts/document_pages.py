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

        A page that waits for an engine (PageReading.waits_for) is asked of it again.
        ``stop`` ends it at once, with what is read so far kept. Raises DocumentError where the PDF changes
        meanwhile (then nothing is kept), where no child starts and where no page could be read.
        """
        numbers = range(1, self.n_pages + 1)
        source = _Source(self.reader.pdf, self.document)
        try:
            source.check_bytes()
            self._read(numbers, source, progress, stop)
        except DocumentError:
            if source.has_changed:
                self.checkpoints.remove()
            raise
        readings = list(self.checkpoints.readings(numbers)) if not stop.is_set() else []
        if readings and all(reading.error for reading in readings):
            self.checkpoints.remove()
            raise DocumentError(f"no page of {self.document.id} could be read; page 1: {readings[0].error}")
        return readings

    def _read(self, numbers: Sequence[int], source: _Source, progress: Progress | None, stop: threading.Event) -> None:
        kept = self.checkpoints.resume(self.n_pages)
        waiting = self.checkpoints.waiting(kept)
        kept -= waiting.keys()
        counter = PageCounter(self.document.id, self.n_pages, len(kept), progress)

        def keep(reading: PageReading) -> None:
            source.check()
            self.checkpoints.keep(reading)
            counter.count()

        self.reader.read_each([number for number in numbers if number not in kept], keep, stop, waiting)
        source.check()


class _Source:
    """The PDF as it was when its hash was that of the document."""

    def __init__(self, pdf: Path, document: Document) -> None:
        self._pdf = pdf
        self._document = document
        self._state = self._look()
        self.has_changed = False

    def check_bytes(self) -> None:
        """Raises DocumentError for other bytes than the document's."""
        with storage_errors(self._pdf, "read"):
            self.has_changed = sha256_file(self._pdf) != self._document.sha256
        if self.has_changed:
            raise changed_pdf(self._pdf, self._document)

    def check(self) -> None:
        """Raises DocumentError where the file is another one than at first, by its size, time and place."""
        if self._look() != self._state:
            self.has_changed = True
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
        f"{pdf} is no longer the file that was registered (its hash differs).", remedy=add_again(document)
    )


def add_again(document: Document) -> str:
    name = document.id
    return f"Put another in its place: deepchart documents remove {name}, deepchart documents add FILE.pdf --id {name}."


def read_again(document: Document) -> str:
    return f"Leave it alone, or add the PDF again; then run deepchart contexts build --document {document.id}."
