"""What every engine is to its callers: a reader of words, or of finished blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word

if TYPE_CHECKING:
    from deepchart_dagster.contexts.layout import PageLine

INSTALL_OCR = "Install the project's ocr extra: .venv/bin/python -m uv pip install -c requirements.lock -e '.[ocr]'."


class UnreadablePageError(Exception):
    """Why one page could not be read; it becomes the page's error."""


class EngineUnavailableError(UnreadablePageError):
    """An engine that is configured and does not work for any page: its server is down, a package is broken."""


class NoEngineLeft(Exception):
    """Every engine of the ladder has failed on this page."""


class WordReader(Protocol):
    """An engine that gives words, which the layout makes lines of. ``name`` is what pages and counts call it."""

    name: str

    @property
    def kind(self) -> Literal["words"]: ...

    def load(self) -> None:
        """Its models, once; reading loads them where this was not called. Raises EngineUnavailableError."""
        ...

    def words(self, page: PdfPage) -> list[Word]:
        """Words with boxes in points, in any order. Raises UnreadablePageError."""
        ...


class BlockReader(Protocol):
    """An engine that reads structure itself and gives finished lines."""

    name: str

    @property
    def kind(self) -> Literal["blocks"]: ...

    def load(self) -> None:
        """Its models, once; reading loads them where this was not called. Raises EngineUnavailableError."""
        ...

    def blocks(self, page: PdfPage) -> list[PageLine]:
        """Lines in reading order, boxes in points. Raises UnreadablePageError."""
        ...


EngineReader: TypeAlias = WordReader | BlockReader


class PageReader(Protocol):
    """The engine for each page: ``route(page)`` is the one that is to read it (a fixed engine is its own route).

    ``name`` is the engine of the last page routed.
    """

    name: str

    def route(self, page: PdfPage) -> EngineReader:
        """Raises UnreadablePageError where no engine here can read such a page."""
        ...
