"""Report pages as image chunks (paper, B.1; the grid is ours, contexts.mosaic), drawn in a child process.

What a chunk shows is put into the evidence store under the hash of its bytes: scripted models see a
picture only through that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import storage_errors, write_json_lines
from deepchart_dagster.contexts import mosaic
from deepchart_dagster.contexts.children import ChildFailedError, run_child
from deepchart_dagster.contexts.model import ImageChunk
from deepchart_dagster.contexts.pictures import FINGERPRINT_VERSION
from deepchart_dagster.errors import DocumentError


@dataclass(frozen=True)
class Report:
    """A PDF to be shown as pictures; ``page_texts`` is what was read of its pages: number -> markdown."""

    document_id: str
    pdf: Path
    n_pages: int
    page_texts: Mapping[int, str]


def chunk_identity() -> dict[str, JsonValue]:
    """Everything besides the PDF that a chunk's bytes depend on: key parts."""
    return {
        "mosaic": mosaic.MOSAIC_VERSION,
        "pages_a_chunk": mosaic.PAGES_A_CHUNK,
        "dpi": mosaic.DPI,
        "fit": [mosaic.MAX_WIDTH, mosaic.MAX_HEIGHT],
        "jpeg_quality": mosaic.JPEG_QUALITY,
        "fingerprints": FINGERPRINT_VERSION,
        "pymupdf": version("pymupdf"),
        "pillow": version("pillow"),
    }


def page_groups(n_pages: int) -> list[range]:
    """Consecutive pages, eight a chunk, the last chunk with what is left."""
    step = mosaic.PAGES_A_CHUNK
    return [range(first, min(first + step, n_pages + 1)) for first in range(1, n_pages + 1, step)]


def draw_chunks(report: Report, folder: Path, evidence: EvidenceStore, *, first_index: int = 1) -> list[ImageChunk]:
    """Draw the report's chunks into ``folder``/chunks. Raises DocumentError naming the pages that would not."""
    groups = page_groups(report.n_pages)
    with storage_errors(folder, "write"):
        (folder / "chunks").mkdir(parents=True, exist_ok=True)
    names = [f"chunks/{first_index + at:03d}.jpg" for at in range(len(groups))]
    drawings = _draw(report, folder, groups, names)
    chunks = []
    for at, (pages, name, drawing) in enumerate(zip(groups, names, drawings, strict=True)):
        sha256 = sha256_bytes((folder / name).read_bytes())
        pictures = f"pictures/{first_index + at:03d}.jsonl"
        write_json_lines(folder / pictures, drawing.pictures)
        chunks.append(
            ImageChunk(
                index=first_index + at,
                document_id=report.document_id,
                first_page=pages[0],
                last_page=pages[-1],
                path=name,
                sha256=sha256,
                width=drawing.width,
                height=drawing.height,
                pictures=pictures,
            )
        )
        evidence.put("pages", sha256, _evidence(report, pages))
    return chunks


@dataclass(frozen=True)
class _Drawing:
    """What a child says of a chunk: its size in pixels, and fingerprints of the pictures on its pages."""

    width: int
    height: int
    pictures: list[dict[str, JsonValue]]


_DRAWING = TypeAdapter(_Drawing)


def _draw(report: Report, folder: Path, groups: Sequence[range], names: Sequence[str]) -> list[_Drawing]:
    tasks = [{"pages": list(pages), "path": str(folder / name)} for pages, name in zip(groups, names, strict=True)]
    drawings: list[_Drawing] = []
    try:
        for answer in run_child({"do": "chunks", "pdf": str(report.pdf), "chunks": tasks}):
            drawings.append(_DRAWING.validate_python(answer))
    except ChildFailedError as failure:
        pages = groups[failure.n_done] if failure.n_done < len(groups) else groups[-1]
        raise DocumentError(
            f"pages {pages[0]}–{pages[-1]} of {report.document_id} cannot be drawn: {failure.reason}.",
            remedy="Repair or replace the PDF, or try again if the machine was busy.",
        ) from failure
    return drawings


def _evidence(report: Report, pages: Sequence[int]) -> JsonValue:
    return {
        "document_id": report.document_id,
        "pages": [{"number": number, "markdown": report.page_texts.get(number, "")} for number in pages],
    }
