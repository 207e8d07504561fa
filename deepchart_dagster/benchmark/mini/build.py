"""Drawing the mini benchmark's PDFs into a storage root."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.files import storage_errors, write_bytes
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.mini.documents import MiniDocument, document_scripts


def register_documents(root: Path) -> int:
    """Draw every document and register it, unless the same bytes are registered under its id already.

    The number of those that were registered now.
    """
    store = DocumentStore(root)
    known = {document.id: document.sha256 for document in store.list()}
    written = 0
    for script in document_scripts():
        document, pdf = script.document, script.draw()
        if known.get(document.id) != sha256_bytes(pdf):
            _register(store, document, pdf, replaces=document.id in known)
            written += 1
    return written


def _register(store: DocumentStore, document: MiniDocument, pdf: bytes, *, replaces: bool) -> None:
    if replaces:  # drawn by another version of this package
        with storage_errors(store.folder / document.id, "replace"):
            shutil.rmtree(store.folder / document.id)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{document.id}.pdf"
        write_bytes(path, pdf)
        store.add(
            path,
            document.domain,
            document_id=document.id,
            title=document.title,
            company=document.company,
            fiscal_years=document.fiscal_years,
        )
