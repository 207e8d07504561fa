"""A page as an engine read it: what a child process sends back and what the stages build on."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from deepchart_dagster.contexts.layout import PageLine
from deepchart_dagster.contexts.markup import TAG
from deepchart_dagster.contexts.model import EngineFailure, Page


@dataclass(frozen=True)
class PageReading:
    """One page. ``top_rows`` are the rows of its upper half as they stand, for finding titles.

    ``error`` is set, and ``lines`` empty, where the page could not be read. A page without lines and
    without error is blank. ``tried`` are the engines that failed on it, in order: an error of the page
    names all of them, with the last one as ``engine``.

    ``text_layer_numbers`` are the numbers of the page's own text, in its order, where another engine than
    text-layer read it and it has text of its own; None otherwise.

    ``damage`` is what is wrong with the content of a page that was read all the same: a part of it may be lost.
    """

    number: int
    engine: str
    seconds: float = 0.0
    lines: tuple[PageLine, ...] = ()
    top_rows: tuple[str, ...] = ()
    error: str | None = None
    tried: tuple[EngineFailure, ...] = ()
    text_layer_numbers: tuple[str, ...] | None = None
    damage: str | None = None

    @property
    def waits_for(self) -> str | None:
        """The engine that was to read it and could not be had: it is read again when that is there."""
        return next((failure.engine for failure in self.tried if failure.unavailable), None)

    @property
    def n_numbers(self) -> int:
        return sum(len(line.numbers) for line in self.lines)

    @property
    def markdown(self) -> str:
        return "\n\n".join(line.markdown for line in self.lines)

    @property
    def plain(self) -> str:
        """The text without mark-up, on one line."""
        return " ".join(TAG.sub(" ", self.markdown).split())

    def page(self) -> Page:
        return Page(
            number=self.number,
            engine=self.engine,
            markdown=self.markdown,
            n_numbers=self.n_numbers,
            seconds=round(self.seconds, 3),
            error=self.error,
            tried=self.tried,
            damage=self.damage,
        )


READING = TypeAdapter(PageReading)


@dataclass(frozen=True)
class Inspection:
    """What is known of a PDF before any page is read. ``repaired``: damaged, but its pages were found.

    ``warnings`` name what it carries besides pages and is not looked at: programs, files.
    """

    n_pages: int
    needs_password: bool
    repaired: bool
    error: str | None = None
    warnings: tuple[str, ...] = ()


INSPECTION = TypeAdapter(Inspection)
