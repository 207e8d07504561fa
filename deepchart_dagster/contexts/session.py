"""The pages of one PDF as a child process reads them: asked for one at a time, each answered for.

The parent asks with {"page": n, "without": [engine…], "down": {engine: reason}}: engines that failed on the page
before, and those that failed another page because they could not be had, which are not asked again. Answers:

    {"at": engine}                        the engine that is about to work, where it is another one than was said
                                          before (text-layer, until anything is said); a crash after it is its own
    {"reading": text, "cpu": s, "unavailable": bool}
                                          the page, read, blank or in error, as JSON of its own (readings.READING);
                                          s: processor seconds; unavailable: the engine could not be had, which is no
                                          fault of the page
    {"none_left": reason}                 no engine is left for the page
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deepchart_dagster.contexts.digits import with_digits_in_order
from deepchart_dagster.contexts.engines import (
    TEXT_LAYER,
    EngineConfig,
    EngineReader,
    EngineUnavailableError,
    NoEngineLeft,
    PageReader,
    UnreadablePageError,
    choose_reader,
)
from deepchart_dagster.contexts.engines.text_layer import text_of
from deepchart_dagster.contexts.figures import figure_regions, lay_out_with_figures
from deepchart_dagster.contexts.layout import PageLine, lay_out_rows
from deepchart_dagster.contexts.leveling import leveled, skew, tilted
from deepchart_dagster.contexts.markup import as_text
from deepchart_dagster.contexts.overprint import without_overprint
from deepchart_dagster.contexts.pdf import PdfDocument, PdfPage, displayed, in_words, load_mupdf
from deepchart_dagster.contexts.readings import READING, PageReading
from deepchart_dagster.contexts.words import Word, clean_words, group_rows, joined_signs, numbers_in

_TOP_SHARE = 0.5
_TOP_ROWS = 16
_SHOWN_CHARACTERS = 160

_mupdf = load_mupdf()


@dataclass
class ReadingSession:
    """An open PDF and the engines that its pages have needed so far."""

    pdf: PdfDocument
    engine: EngineConfig
    figures: bool
    _readers: dict[frozenset[str], PageReader] = field(default_factory=dict)

    def prepare(self) -> None:
        """Load the first engine, so that one that cannot be had is no page's fault."""
        self._reader(frozenset())

    def answers(self, asked: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for question in asked:
            yield from self._page(int(question["page"]), frozenset(question["without"]), question["down"])

    def _page(self, number: int, without: frozenset[str], down: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        try:
            reader = self._reader(without)
        except NoEngineLeft as error:
            yield {"none_left": in_words(error)}
            return
        attempt = _Attempt(number, reader.name)
        unavailable = False
        said: str = TEXT_LAYER
        try:
            _refuse_lost_page(self.pdf, number)
            with displayed(self.pdf, number) as page:
                if reader.name != said:  # looking at a page can end a process as well
                    said = reader.name
                    yield {"at": said}
                _forget_warnings(number)
                engine = reader.route(page)
                attempt.engine = engine.name
                if reason := down.get(engine.name):
                    raise EngineUnavailableError(reason)
                if engine.name != said:
                    yield {"at": engine.name}
                reading = self._reading(page, attempt, engine)
        except Exception as error:  # noqa: BLE001 - whatever a library raises for a page is that page's error
            reading = attempt.error(in_words(error))
            unavailable = isinstance(error, EngineUnavailableError)
        yield {
            "reading": READING.dump_json(reading).decode(),
            "cpu": time.process_time() - attempt.begun_cpu,
            "unavailable": unavailable,
        }

    def _reader(self, without: frozenset[str]) -> PageReader:
        if without not in self._readers:
            self._readers[without] = choose_reader(self.engine, without=without)
        return self._readers[without]

    def _reading(self, page: PdfPage, attempt: _Attempt, engine: EngineReader) -> PageReading:
        words: list[Word] = []
        if engine.kind == "blocks":
            lines = engine.blocks(page)
            top_rows = _top_lines(lines, _TOP_SHARE * page.rect.height)
        else:
            words = clean_words(engine.words(page))
            if engine.name == TEXT_LAYER:
                words = with_digits_in_order(without_overprint(words))
            slope = 0.0 if engine.name == TEXT_LAYER else skew(words)
            words = leveled(words, slope)
            rows = group_rows([word for word in words if not word.turn])
            lines = [_marked_up(line) for line in tilted(self._laid_out(page, words, rows), slope)]
            top_rows = _top_rows(rows, _TOP_SHARE * page.rect.height)
        damage = _damage()
        if damage and not any(character.isalnum() for line in lines for character in line.markdown):
            # It looks blank, or like a black square, only because MuPDF could not read its content.
            raise UnreadablePageError(f"its content is damaged ({damage})")
        return PageReading(
            number=attempt.number,
            engine=engine.name,
            seconds=attempt.seconds,
            lines=tuple(lines),
            top_rows=top_rows,
            text_layer_numbers=None if engine.name == TEXT_LAYER else _text_layer_numbers(page),
            damage=damage,
        )

    def _laid_out(self, page: PdfPage, words: list[Word], rows: list[list[Word]]) -> list[PageLine]:
        """``rows`` are the upright ones of ``words``."""
        if self.figures:
            return lay_out_with_figures(words, page.rect.width, figure_regions(page))
        return lay_out_rows(rows, [word for word in words if word.turn], page.rect.width)


@dataclass
class _Attempt:
    """At one page; ``engine`` is the one at work."""

    number: int
    engine: str
    begun: float = field(default_factory=time.monotonic)
    begun_cpu: float = field(default_factory=time.process_time)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def error(self, reason: str) -> PageReading:
        return PageReading(self.number, self.engine, self.seconds, error=reason)


def _marked_up(line: PageLine) -> PageLine:
    """A table is HTML already; in any other line nothing is."""
    return line if line.is_table else replace(line, markdown=as_text(line.markdown))


def _top_rows(rows: list[list[Word]], half: float) -> tuple[str, ...]:
    top = [row for row in rows[:_TOP_ROWS] if row[0].middle < half]
    return tuple(" ".join(word.text for word in joined_signs(row)) for row in top)


def _top_lines(lines: list[PageLine], half: float) -> tuple[str, ...]:
    return tuple(line.markdown for line in lines if not line.is_table and line.box[1] < half)[:_TOP_ROWS]


def _forget_warnings(number: int) -> None:
    """MuPDF leaves out a warning that repeats the one before: another one between them makes this page's heard."""
    _mupdf.mupdf.fz_warn(f"page {number}")
    _mupdf.TOOLS.reset_mupdf_warnings()


def _refuse_lost_page(pdf: PdfDocument, number: int) -> None:
    """A page that the tree of pages names and the file has lost would pass for a blank one."""
    xref = pdf.page_xref(number - 1)
    if xref >= pdf.xref_length() or pdf.xref_object(xref, compressed=True) == "null":
        raise UnreadablePageError("it is missing from the file, which is damaged")


def _damage() -> str | None:
    """What MuPDF said of the page's content, the last of it; it says nothing of a sound page."""
    warnings = _mupdf.TOOLS.mupdf_warnings(reset=True).splitlines()
    said = [line for line in warnings if not line.startswith("...")]  # "... repeated 2 times..."
    return " ".join(said[-1].split())[:_SHOWN_CHARACTERS] if said else None


def _text_layer_numbers(page: PdfPage) -> tuple[str, ...] | None:
    """Numbers of the page's own text, in the order in which it holds them; None where it holds no text."""
    words = [Word(text, x0, y0, x1, y1) for x0, y0, x1, y1, text, *_ in text_of(page).extractWORDS()]
    return tuple(number for word in words for number in numbers_in(word.text)) if words else None
