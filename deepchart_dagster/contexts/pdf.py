"""The types of PyMuPDF that the room speaks of. Only child processes import PyMuPDF itself."""

from __future__ import annotations

from typing import Any, TypeAlias

# PyMuPDF carries no types of its own.
PdfPage: TypeAlias = Any
PdfDocument: TypeAlias = Any
