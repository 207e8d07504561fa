"""PyMuPDF as the room uses it. Only child processes load it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, TypeAlias

# PyMuPDF carries no types of its own.
PdfPage: TypeAlias = Any
PdfDocument: TypeAlias = Any

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
