"""Drawing the mini benchmark's PDFs into a storage root."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash, sha256_bytes
from deepchart_dagster.artifacts.files import storage_errors, write_bytes, write_json
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.mini.documents import MiniDocument, document_scripts

_NOTE = Path("scripted") / "mini-drawn.json"
_LIBRARIES = ("pymupdf", "pillow", "numpy")


def register_documents(root: Path, ids: Collection[str]) -> int:
    """Draw the documents ``ids`` and register them, unless the same bytes are registered under their ids already.

    Drawing takes seconds, so what was drawn by which files is noted; nothing is drawn where these are the same and the
    documents are registered as they were. The number of those that were registered now.
    """
    store = DocumentStore(root)
    known = {document.id: document.sha256 for document in store.list()}
    noted = _read_note(root)
    if all(name in noted and noted[name] == known.get(name) for name in ids):
        return 0
    drawn, written = dict(noted), 0
    for script in document_scripts():
        if script.document.id not in ids:
            continue
        document, pdf = script.document, script.draw()
        drawn[document.id] = sha256_bytes(pdf)
        if known.get(document.id) != drawn[document.id]:
            _register(store, document, pdf, replaces=document.id in known)
            written += 1
    write_json(root / _NOTE, {"drawn_by": drawing_hash(), "documents": drawn})
    return written


def _read_note(root: Path) -> dict[str, str]:
    """Document -> hash of its bytes as the present files of this package draw it, as far as that is noted."""
    try:
        note = json.loads((root / _NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(note["documents"]) if note.get("drawn_by") == drawing_hash() else {}


@cache
def drawing_hash() -> str:
    """Of everything that the documents' bytes depend on: the files of this package, and the libraries that draw."""
    package = Path(__file__).resolve().parent
    files = sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    hashes: JsonValue = [[str(path.relative_to(package)), sha256_bytes(path.read_bytes())] for path in files]
    versions: JsonValue = [[name, version(name)] for name in _LIBRARIES]
    return content_hash([hashes, versions])


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
