"""Raw PDFs, registered once by the hash of their bytes.

    <root>/documents/<id>/source.pdf       the bytes as they came, never changed
    <root>/documents/<id>/document.json    Document

The same bytes have one document: adding them again returns it. An id is given by the caller or made from
the file's name; two different files never share one. A file is copied once, in blocks, and hashed on the way; one
that changes meanwhile is refused. Nothing is kept of a file that is refused.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.artifacts.files import (
    is_slug,
    new_folder,
    remove_leftovers,
    storage_errors,
    temporary_name,
    unreadable,
    write_json,
)
from deepchart_dagster.benchmark.copying import Copied, copied_pdf
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.errors import DamagedFile, MissingInputError, UsageError

_PDF_NAME = "source.pdf"
_RECORD_NAME = "document.json"
_MAX_DEFAULT_ID = 80

_DOMAIN_FROM = f"Say it with --domain ({', '.join(domain.value for domain in Domain)})."

Origin: TypeAlias = Literal["given", "read", "file name"]


class Document(BaseModel):
    """One registered PDF. ``bytes`` is its size; ``file_name`` the name it was first added under.

    ``origins`` says of domain, title, company and fiscal_years whether a person gave it, it was read from the PDF,
    or (a title) it is the file's name; what is not known has none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    sha256: str
    domain: Domain
    title: str
    company: str | None = None
    fiscal_years: tuple[int, ...] = ()
    file_name: str
    bytes: int
    origins: dict[str, Origin] = {}


@dataclass(frozen=True)
class DocumentFacts:
    """What is said of a PDF, by a person or by the PDF. ``problem``: why it says nothing of itself."""

    domain: Domain | None = None
    title: str | None = None
    company: str | None = None
    fiscal_years: tuple[int, ...] = ()
    problem: str | None = None

    def stated(self) -> dict[str, object]:
        """The fields of Document that it has a value for."""
        values = {
            "domain": self.domain,
            "title": self.title and in_unicode(self.title),
            "company": self.company and in_unicode(self.company),
            "fiscal_years": self.fiscal_years,
        }
        return {name: value for name, value in values.items() if value}


NOTHING = DocumentFacts()


@dataclass(frozen=True)
class Registration:
    """``before`` is the document as it was where the same bytes were registered already, under its id."""

    document: Document
    before: Document | None = None

    @property
    def was_known(self) -> bool:
        return self.before is not None

    @property
    def changed(self) -> tuple[str, ...]:
        """The fields that now have another value than before."""
        names = ("domain", "title", "company", "fiscal_years")
        before = self.before
        return tuple(name for name in names if before and getattr(before, name) != getattr(self.document, name))


@dataclass(frozen=True)
class _Request:
    path: Path
    document_id: str | None
    given: DocumentFacts
    reader: Callable[[Path], DocumentFacts] | None = field(repr=False)


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
        """Register the PDF at ``path`` with what is given, as ``register`` does."""
        given = DocumentFacts(domain, title, company, tuple(fiscal_years))
        return self.register(path, given, document_id=document_id).document

    def register(
        self,
        path: Path,
        given: DocumentFacts = NOTHING,
        *,
        document_id: str | None = None,
        reader: Callable[[Path], DocumentFacts] | None = None,
        domain_from: str = _DOMAIN_FROM,
    ) -> Registration:
        """Register the PDF at ``path``; bytes that are known already return (and complete) their document.

        ``reader`` is asked for what is not given, with the copy in the storage; ``domain_from`` says how a person
        gives a domain that neither tells.
        Raises UsageError for what is no PDF, changes while it is copied or tells no domain, for an id that
        cannot be one or that other bytes have, and for known bytes asked for under another id or domain;
        StorageError where nothing can be written.
        """
        if document_id is not None and not is_slug(document_id):
            raise UsageError(
                f"{document_id!r} cannot be a document id.",
                remedy="Use up to 100 letters, digits, '.', '_' and '-', beginning with a letter or digit.",
            )
        request = _Request(path, document_id, given, reader)
        with copied_pdf(path, self.folder) as copied:
            if known := self._known(copied):
                return self._completed(known, request)
            facts = reader(copied.path) if reader else NOTHING
            domain = given.domain or facts.domain
            if domain is None:
                raise _no_domain(path, facts, domain_from)
            with self._writing():
                if known := self._known(copied):  # another process was faster
                    return self._complete(known, request)
                return Registration(self._register(request, copied, facts, domain))

    def change(self, document_id: str, given: DocumentFacts) -> Document:
        """The document with what is given in place of what was known of it. Raises UsageError for an unknown id."""
        with self._writing():
            return self._update(self.get(document_id), given)

    def remove(self, document_id: str) -> Document:
        """Forget a document and delete its copy of the PDF; what was read of it stays. Raises UsageError for an
        unknown id, StorageError where it cannot be deleted."""
        with self._writing():
            document = self.get(document_id)
            doomed = self.folder / temporary_name()
            (self.folder / document.id).rename(doomed)  # at once: half a document is none
            shutil.rmtree(doomed)
        return document

    def get(self, document_id: str) -> Document:
        """Raises UsageError for an id that is not registered, DamagedFile for a record that cannot be read."""
        record = self.folder / document_id / _RECORD_NAME
        if not is_slug(document_id) or not record.exists():
            raise UsageError(
                f"no document {document_id!r} is registered ({self._known_ids()}).",
                remedy="Add it: deepchart documents add FILE.pdf --id ID.",
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

    def _known(self, copied: Copied) -> Document | None:
        return next((document for document in self.list() if document.sha256 == copied.sha256), None)

    def _register(self, request: _Request, copied: Copied, facts: DocumentFacts, domain: Domain) -> Document:
        path, given, read = request.path, request.given.stated(), facts.stated()
        values: Mapping[str, object] = {"title": in_unicode(" ".join(path.stem.split())), **read, **given}
        document = Document.model_validate(
            {
                **values,
                "domain": domain,
                "id": request.document_id or self._free_id(path, copied.sha256),
                "sha256": copied.sha256,
                "file_name": in_unicode(path.name),
                "bytes": copied.n_bytes,
                "origins": {"title": "file name", **dict.fromkeys(read, "read"), **dict.fromkeys(given, "given")},
            }
        )
        if (self.folder / document.id).exists():
            raise UsageError(
                f"{path}: the id {document.id} belongs to another file.", remedy="Choose another one with --id."
            )
        with new_folder(self.folder / document.id) as folder:
            with storage_errors(self.folder, "write"):
                copied.path.rename(folder / _PDF_NAME)
            write_json(folder / _RECORD_NAME, document.model_dump(mode="json"))
        return document

    def _completed(self, known: Document, request: _Request) -> Registration:
        with self._writing():
            return self._complete(self.get(known.id), request)

    def _complete(self, known: Document, request: _Request) -> Registration:
        """``known`` with what is given in place of what was known of it before."""
        path, given = request.path, request.given
        if request.document_id not in (None, known.id):
            raise UsageError(
                f"{path} is registered already, as {known.id}.",
                remedy=f"Use that id instead of {request.document_id}.",
            )
        if given.domain not in (None, known.domain):
            raise UsageError(
                f"{path} is registered already, as {known.id} of the {known.domain.value} domain.",
                remedy=f"If that is wrong: deepchart documents set {known.id} --domain {given.domain}.",
            )
        return Registration(self._update(known, given), before=known)

    def _update(self, known: Document, given: DocumentFacts) -> Document:
        stated = given.stated()
        changed = {name: value for name, value in stated.items() if value != getattr(known, name)}
        if not changed:
            return known
        origins: dict[str, Origin] = {**known.origins, **dict.fromkeys(changed, "given")}
        updated = known.model_copy(update={**changed, "origins": origins})
        write_json(self.folder / known.id / _RECORD_NAME, updated.model_dump(mode="json"))
        return updated

    def _free_id(self, path: Path, digest: str) -> str:
        """A slug of the file's name; where another file has it, with the beginning of the hash."""
        slug = _slug(path.stem)
        return slug if not (self.folder / slug).exists() else f"{slug}-{digest[:8]}"

    def _known_ids(self) -> str:
        ids = [document.id for document in self.list()]
        more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
        return "known: " + ", ".join(ids[:5]) + more if ids else "none is"


def _no_domain(path: Path, facts: DocumentFacts, remedy: str) -> UsageError:
    if facts.problem:  # a domain alone would not make it one that can be read
        remedy = f"Give one that can be read. {remedy}"
    why = facts.problem or "neither the cover of a 10-K nor a paper's abstract and references were found"
    return UsageError(f"{path}: its domain cannot be told ({why}).", remedy=remedy)


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
