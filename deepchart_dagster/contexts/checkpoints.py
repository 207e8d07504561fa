"""Readings of a document's finished pages, kept while the others are read: a kill loses only the pages in flight.

    <root>/ocr_contexts/_checkpoints/<document>/<key>/<page>.json    PageReading

``key`` is the input key of the document's context: it names the bytes of the PDF, the engine and everything else
that a reading depends on. Readings under another key are never used. All of it goes when the context is written and
no page of it waits for an engine that could not be had (PageReading.waits_for).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from deepchart_dagster.artifacts.files import remove_leftovers, storage_errors, write_bytes
from deepchart_dagster.contexts.readings import READING, PageReading
from deepchart_dagster.errors import DamagedFile

_FOLDER = "_checkpoints"


@dataclass(frozen=True)
class PageCheckpoints:
    """Those of one document under one key. ``folder`` holds them and, beside it, what other keys left."""

    folder: Path

    @classmethod
    def of(cls, asset_folder: Path, document_id: str, key: str) -> PageCheckpoints:
        return cls(asset_folder / _FOLDER / document_id / key)

    def resume(self, n_pages: int) -> set[int]:
        """Pages from 1 to ``n_pages`` that need not be read again; what cannot be used is removed.

        A page in error is read again: whatever interrupted the reading may have been its cause.
        """
        with storage_errors(self.folder, "write"):
            self.folder.mkdir(parents=True, exist_ok=True)
            for other in self.folder.parent.iterdir():
                if other != self.folder:
                    shutil.rmtree(other, ignore_errors=True)
            remove_leftovers(self.folder)
        return {number for number in range(1, n_pages + 1) if self._is_kept(number)}

    def waiting(self, numbers: Iterable[int]) -> dict[int, PageReading]:
        """Those of ``numbers`` that wait for an engine, as another one read them."""
        readings = map(self._load, numbers)
        return {reading.number: reading for reading in readings if reading.waits_for}

    def _is_kept(self, number: int) -> bool:
        path = self._path(number)
        if not path.exists():
            return False
        try:
            usable = self._load(number).error is None
        except DamagedFile:  # a machine that went down while it was written
            usable = False
        if not usable:
            path.unlink(missing_ok=True)
        return usable

    def keep(self, reading: PageReading) -> None:
        """Raises StorageError. Not synced: what a loss of power leaves half written is read again."""
        write_bytes(self._path(reading.number), READING.dump_json(reading), sync=False)

    def readings(self, numbers: Sequence[int]) -> Iterator[PageReading]:
        """In the order of ``numbers``, one in memory at a time. Raises DamagedFile for one that is not there."""
        for number in numbers:
            yield self._load(number)

    def _load(self, number: int) -> PageReading:
        path = self._path(number)
        try:
            reading = READING.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise DamagedFile(
                f"the reading of page {number} in {path} is gone or damaged.", remedy="Run this again."
            ) from error
        if reading.number != number:
            raise DamagedFile(f"{path} holds another page, {reading.number}.", remedy="Run this again.")
        return reading

    def remove(self) -> None:
        """With the folders above it that are empty then."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in (self.folder.parent, self.folder.parent.parent):
            try:
                folder.rmdir()
            except OSError:  # another document is being read
                return

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.json"
