"""Raw PDFs, registered once by the hash of their bytes.

    <root>/documents/<id>/source.pdf       the bytes as they came, never changed
    <root>/documents/<id>/document.json    Document

The same bytes have one document: adding them again returns it. An id is given by the caller or made from
the file's name; two different files never share one. Nothing is kept of a file that is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from deepchart_dagster.artifacts.canonical import in_unicode, sha256_bytes
from deepchart_dagster.artifacts.files import (
    is_slug,
    new_folder,
    remove_leftovers,
    storage_errors,
    unreadable,
    write_bytes,
    write_json,
)
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.errors import DamagedFile, MissingInputError, UsageError

_PDF_NAME = "source.pdf"
_RECORD_NAME = "document.json"
# A PDF may carry a few bytes of wrapping (a mail header, a byte order mark) before its header.
_HEADER_WINDOW = 1024
_MAX_DEFAULT_ID = 80


class Document(BaseModel):
    """One registered PDF. ``bytes`` is its size; ``file_name`` the name it was first added under."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    sha256: str
    domain: Domain
    title: str
    company: str | None = None
    fiscal_years: tuple[int, ...] = ()
    file_name: str
    bytes: int


@dataclass(frozen=True)
class _Given:
    """What the caller says of a PDF."""

    path: Path
    domain: Domain
    document_id: str | None
    title: str | None
    company: str | None
    fiscal_years: tuple[int, ...]


@dataclass(frozen=True)
class DocumentStore:
    """The documents of one storage root. Holds no state."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "documents"

    def add(
        self,
        path: Path,
        domain: Domain,
        *,
        document_id: str | None = None,
        title: str | None = None,
        company: str | None = None,
        fiscal_years: Sequence[int] = (),
    ) -> Document:
        """Register the PDF at ``path``; bytes that are known already return (and complete) their document.

        Raises UsageError for what is no PDF, for an id that cannot be one or that other bytes have, and
        for known bytes asked for under another id or domain; StorageError where nothing can be written.
        """
        data = _read_pdf(path)
        if document_id is not None and not is_slug(document_id):
            raise UsageError(
                f"{document_id!r} cannot be a document id.",
                remedy="Use up to 100 letters, digits, '.', '_' and '-', beginning with a letter or digit.",
            )
        title, company = (text and in_unicode(text) for text in (title, company))
        given = _Given(path, domain, document_id, title, company, tuple(fiscal_years))
        digest = sha256_bytes(data)
        with self._writing():
            known = next((document for document in self.list() if document.sha256 == digest), None)
            return self._complete(known, given) if known else self._register(given, data, digest)

    def get(self, document_id: str) -> Document:
        """Raises UsageError for an id that is not registered, DamagedFile for a record that cannot be read."""
        record = self.folder / document_id / _RECORD_NAME
        if not is_slug(document_id) or not record.exists():
            raise UsageError(
                f"no document {document_id!r} is registered ({self._known_ids()}).",
                remedy="Add it: deepchart documents add FILE.pdf --domain D --id ID.",
            )
        return _load(record)

    def list(self) -> list[Document]:
        """All documents, sorted by id. Raises DamagedFile for a record that cannot be read."""
        return [_load(record) for record in self.records()]

    def records(self) -> Sequence[Path]:
        """Where each document is written down, sorted by id, readable or not."""
        return sorted(self.folder.glob(f"[!.]*/{_RECORD_NAME}"))

    def pdf(self, document_id: str) -> Path:
        """The stored PDF. Raises MissingInputError where the file is gone."""
        path = self.folder / self.get(document_id).id / _PDF_NAME
        if not path.is_file():
            raise MissingInputError(
                f"{path} is missing, though the document {document_id} is registered.",
                remedy=f"Delete {path.parent} and add the PDF again.",
            )
        return path

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with storage_errors(self.folder, "write"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".lock"):
                remove_leftovers(self.folder)  # of a killed one
                yield

    def _register(self, given: _Given, data: bytes, digest: str) -> Document:
        document = Document(
            id=given.document_id or self._free_id(given.path, digest),
            sha256=digest,
            domain=given.domain,
            title=given.title or in_unicode(given.path.stem),
            company=given.company,
            fiscal_years=given.fiscal_years,
            file_name=in_unicode(given.path.name),
            bytes=len(data),
        )
        if (self.folder / document.id).exists():
            raise UsageError(
                f"{given.path}: the id {document.id} belongs to another file.", remedy="Choose another one with --id."
            )
        with new_folder(self.folder / document.id) as folder:
            write_bytes(folder / _PDF_NAME, data)
            write_json(folder / _RECORD_NAME, document.model_dump(mode="json"))
        return document

    def _complete(self, known: Document, given: _Given) -> Document:
        """``known`` with what was not known of it before."""
        if given.document_id not in (None, known.id):
            raise UsageError(
                f"{given.path} is registered already, as {known.id}.",
                remedy=f"Use that id instead of {given.document_id}.",
            )
        if given.domain is not known.domain:
            raise UsageError(
                f"{given.path} is registered already, as {known.id} of the {known.domain.value} domain.",
                remedy=f"Delete {self.folder / known.id} first if it belongs to {given.domain.value}.",
            )
        completed = known.model_copy(
            update={
                "title": given.title or known.title,
                "company": given.company or known.company,
                "fiscal_years": given.fiscal_years or known.fiscal_years,
            }
        )
        if completed != known:
            write_json(self.folder / known.id / _RECORD_NAME, completed.model_dump(mode="json"))
        return completed

    def _free_id(self, path: Path, digest: str) -> str:
        """A slug of the file's name; where another file has it, with the beginning of the hash."""
        slug = _slug(path.stem)
        return slug if not (self.folder / slug).exists() else f"{slug}-{digest[:8]}"

    def _known_ids(self) -> str:
        ids = [document.id for document in self.list()]
        more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
        return "known: " + ", ".join(ids[:5]) + more if ids else "none is"


def _read_pdf(path: Path) -> bytes:
    """The file's bytes. Raises UsageError for what is no PDF or cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"{path}: there is no such file.", remedy="Check the path.") from error
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a folder.", remedy="Name the PDF files in it.") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.", remedy="Give this user read permission.") from error
    if not data:
        raise UsageError(f"{path} is empty.", remedy="Fetch the PDF again.")
    if b"%PDF-" not in data[:_HEADER_WINDOW]:
        raise UsageError(
            f"{path} is not a PDF (no %PDF- header in its first {_HEADER_WINDOW} bytes).",
            remedy="Give the PDF itself, not a web page or an archive that leads to it.",
        )
    return data


def _load(record: Path) -> Document:
    remedy = f"Delete {record.parent} and add the PDF again."
    try:
        document = Document.model_validate_json(record.read_bytes())
    except ValidationError as error:
        raise DamagedFile(f"{record} is damaged ({error.errors()[0]['msg']}).", remedy=remedy) from error
    except OSError as error:
        raise unreadable(record, error, remedy=remedy) from error
    if document.id != record.parent.name:  # ids name folders: one that leads elsewhere is not followed
        raise DamagedFile(f"{record} names another document, {document.id!r}.", remedy=remedy)
    return document


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-_").lower()
    return slug[:_MAX_DEFAULT_ID] or "document"
