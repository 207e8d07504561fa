"""A folder into which PDFs are put, and from which they are registered.

    <root>/inbox/*.pdf                     domain as read from the PDF
    <root>/inbox/<domain>/*.pdf            domain as the folder says: finance, academic, ecosystem
    <root>/inbox/registered/…              what is registered, moved there after its bytes were stored
    <root>/inbox/refused.json              [{file, reason, state}] of what stays because it cannot be taken

A file that changes between two looks shortly after one another is left for the next time. One that was refused is not
opened again before its size or time changes (a bomb would cost every look its time-out). Nothing is deleted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.artifacts.files import storage_errors, write_json
from deepchart_dagster.benchmark.documents import DocumentFacts, DocumentStore, Registration
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.metadata import metadata_of_readable
from deepchart_dagster.errors import UsageError

# Size and time of change (nanoseconds); None where it is gone.
FileState: TypeAlias = tuple[int, int] | None

QUIET_S = 1.0
_REGISTERED = "registered"
_REFUSED = "refused.json"
_DOMAINS = {domain.value: domain for domain in Domain}


@dataclass(frozen=True)
class RefusedFile:
    """``file`` as it lies below the inbox; ``state``: its size and time (nanoseconds) when it was refused."""

    file: str
    reason: str
    state: FileState


_RECORD = TypeAdapter(list[RefusedFile])


@dataclass(frozen=True)
class InboxLook:
    """What came of one look; ``waiting`` are the files that were still being written."""

    registered: tuple[Registration, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    waiting: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "registered": [one.document.model_dump(mode="json") for one in self.registered],
            "known": sorted({one.document.id for one in self.registered if one.was_known}),
            "refused": [{"file": one.file, "reason": one.reason} for one in self.refused],
            "waiting": list(self.waiting),
        }

    def in_words(self) -> str:
        counts = (len(self.registered), len(self.refused), len(self.waiting))
        return "{} registered, {} refused, {} still being written.".format(*counts)


@dataclass(frozen=True)
class Inbox:
    """The inbox of the storage that ``documents`` lie in. ``quiet_s``: how long a file must stay as it is."""

    documents: DocumentStore
    quiet_s: float = QUIET_S

    @property
    def folder(self) -> Path:
        return self.documents.root / "inbox"

    def look(self) -> InboxLook:
        """Register what lies there and is complete. Raises StorageError where the storage cannot be used."""
        with storage_errors(self.folder, "use"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".lock"):  # one look at a time: command and sensor
                return self._look()

    def _look(self) -> InboxLook:
        kept = {one.file: one for one in self._read_refused()}
        before: dict[Path, FileState] = {}
        refused: list[RefusedFile] = []
        for path in self._files():
            state, known = _state(path), kept.get(self._name(path))
            if known and known.state == state:
                refused.append(known)
            else:
                before[path] = state
        if before:
            time.sleep(self.quiet_s)
        registered: list[Registration] = []
        waiting: list[str] = []
        for path, state in before.items():
            if _state(path) != state:
                waiting.append(self._name(path))
                continue
            try:
                registered.append(self._register(path))
            except UsageError as error:
                reason = in_unicode(str(error).removeprefix(f"{path}: "))
                refused.append(RefusedFile(self._name(path), reason, state))
                continue
            if _state(path) == state:  # what came meanwhile under this name is the next look's
                self._move_away(path, registered[-1])
        self._write_refused(refused)
        return InboxLook(tuple(registered), tuple(refused), tuple(waiting))

    def _files(self) -> Iterator[Path]:
        folders = [path for path in self.folder.iterdir() if path.is_dir() and path.name != _REGISTERED]
        for folder in (self.folder, *sorted(folders)):
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() == ".pdf" and not path.name.startswith("."):
                    yield path

    def _register(self, path: Path) -> Registration:
        """Raises UsageError for what cannot be taken."""
        domain = None
        if path.parent != self.folder:
            domain = _DOMAINS.get(path.parent.name)
            if domain is None:
                raise UsageError(
                    f"the folder {path.parent.name} names no domain.", remedy=f"Name it {' or '.join(_DOMAINS)}."
                )
        folders = ", ".join(f"inbox/{name}/" for name in _DOMAINS)
        return self.documents.register(
            path,
            DocumentFacts(domain=domain),
            reader=metadata_of_readable,
            domain_from=f"Put it into the folder of its domain: {folders}.",
        )

    def _move_away(self, path: Path, registration: Registration) -> None:
        """Below ``registered``, under its own name or, where another file has that, with its hash."""
        wanted = self.folder / _REGISTERED / path.relative_to(self.folder)
        wanted.parent.mkdir(parents=True, exist_ok=True)
        mark = registration.document.sha256[:8]
        others = (f"-{mark}" if number == 1 else f"-{mark}-{number}" for number in count(1))
        places = (wanted.with_name(f"{path.stem}{other}{path.suffix}") for other in chain([""], others))
        place = next(place for place in places if not os.path.lexists(place))
        path.rename(place)

    def _read_refused(self) -> list[RefusedFile]:
        """Those of the last look; none where its record is not one of ours: then everything is looked at."""
        try:
            return _RECORD.validate_json((self.folder / _REFUSED).read_bytes())
        except (FileNotFoundError, ValidationError):
            return []

    def _write_refused(self, refused: list[RefusedFile]) -> None:
        record = self.folder / _REFUSED
        if refused:
            write_json(record, _RECORD.dump_python(refused, mode="json"))
        else:
            record.unlink(missing_ok=True)

    def _name(self, path: Path) -> str:
        return in_unicode(str(path.relative_to(self.folder)))


def _state(path: Path) -> FileState:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
