"""PyMuPDF as the room uses it. Only child processes load it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

# PyMuPDF carries no types of its own.
PdfPage: TypeAlias = Any
PdfDocument: TypeAlias = Any

_POINTS_PER_INCH = 72
_MUPDF_CODE = re.compile(r"^code=\d+: ")

# PyMuPDF 2 loads these on import when they are there, and with them onnxruntime and numpy: 2 to 4 seconds and
# 200 MB for every child, for a layout analysis that is not used here.
_UNUSED = ("pymupdf.layout", "pymupdf4llm")


def load_mupdf() -> Any:
    """The ``pymupdf`` module without its optional companions, quiet about what it repairs."""
    for name in _UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    mupdf = import_module("pymupdf")
    mupdf.TOOLS.mupdf_display_errors(False)
    return mupdf


def pixmap_of(page: PdfPage, dpi: float) -> Any:
    """The page in colours on white. MuPDF takes whole numbers of dots an inch alone, and a page may be miles wide."""
    if dpi >= 1:
        return page.get_pixmap(dpi=int(dpi), alpha=False)
    scale = dpi / _POINTS_PER_INCH
    return page.get_pixmap(matrix=load_mupdf().Matrix(scale, scale), alpha=False)


def in_words(error: BaseException) -> str:
    """MuPDF begins with the number of its error, and names a file that whoever asked names as well."""
    said = " ".join(_MUPDF_CODE.sub("", str(error).strip()).split())
    return "it is no PDF inside" if said.startswith("Failed to open file") else said or type(error).__name__


@contextmanager
def displayed(pdf: PdfDocument, number: int) -> Iterator[PdfPage]:
    """Page ``number`` (from 1) as a reader sees it: MuPDF gives the boxes of a turned page as if it were not.

    A turned page is drawn, turned, onto an unturned page of a document of its own.
    """
    page = pdf[number - 1]
    turn = page.rotation
    if not turn:
        yield page
        return
    width, height = page.rect.width, page.rect.height
    page.set_rotation(0)  # else its crop box is taken for that of the turned page
    try:
        with load_mupdf().open() as copy:
            upright = copy.new_page(width=width, height=height)
            upright.show_pdf_page(upright.rect, pdf, number - 1, rotate=-turn, keep_proportion=False)
            yield upright
    finally:
        page.set_rotation(turn)
