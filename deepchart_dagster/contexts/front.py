"""The first pages of a PDF as they are set, for reading what it is. Runs in the child process.

    {"title": the PDF's own title, "lines": [{"text", "size", "page"}…], "has_references": bool}

``lines`` are the upright lines of the first pages from top to bottom as the PDF holds them, ``size`` the largest
type of the line in points. ``has_references``: a line of some page is a heading of a list of references.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepchart_dagster.contexts.pdf import PdfDocument, PdfPage

_FRONT_PAGES = 3
# PyMuPDF: what text is made of (TEXTFLAGS_TEXT), without the pictures that "dict" would unpack.
_TEXT = 1 | 2 | 64 | 128
_MAX_LINES = 1000
_MAX_CHARACTERS = 2000
# References stand at the end of a text that appendices may follow.
_PAGES_SEARCHED = 120
_REFERENCES = ("references", "bibliography", "literature cited", "references and notes")


def front_matter(pdf: PdfDocument) -> dict[str, Any]:
    pages = range(min(len(pdf), _FRONT_PAGES))
    lines = [line for number in pages for line in _lines(pdf[number], number + 1)]
    return {
        "title": str((pdf.metadata or {}).get("title") or ""),
        "lines": lines[:_MAX_LINES],
        "has_references": any(_has_references(pdf[number]) for number in range(min(len(pdf), _PAGES_SEARCHED))),
    }


def _lines(page: PdfPage, number: int) -> Iterator[dict[str, Any]]:
    for block in page.get_text("dict", flags=_TEXT)["blocks"]:
        for line in block.get("lines", ()):
            text = " ".join("".join(span["text"] for span in line["spans"]).split())
            upright = line["dir"][0] > 0.9  # not the stamp that archives set along the margin
            if text and upright:
                size = max(span["size"] for span in line["spans"] if span["text"].strip())
                yield {"text": text[:_MAX_CHARACTERS], "size": round(size, 1), "page": number}


def _has_references(page: PdfPage) -> bool:
    return any(line.strip(" .:0123456789").lower() in _REFERENCES for line in page.get_text().splitlines())
