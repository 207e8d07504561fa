"""Where a number stands: page, box and the row around it, for every occurrence in a document or a context."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import JsonValue

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_bytes
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.contexts.children import ChildFailedError, run_child
from deepchart_dagster.contexts.loaded import OcrContext, damaged_context, load_context
from deepchart_dagster.contexts.model import ImageChunk, ModelContext
from deepchart_dagster.contexts.provenance import Box, Origin, PlacedNumber, read_origins
from deepchart_dagster.contexts.words import NUMBER
from deepchart_dagster.contexts.written import (
    MIN_DIGITS_ROUNDED,
    WrittenNumber,
    number_of,
    plain_text,
    stated_scales,
    written_numbers,
)
from deepchart_dagster.errors import DocumentError, UpstreamError, UsageError

Match = Literal["same writing", "same value", "in the table's unit", "other sign"]
_ROW = re.compile(r"<tr\b.*?</tr>", re.IGNORECASE | re.DOTALL)
_CELL = re.compile(r"<t([dh])\b([^>]*)>(.*?)</t[dh]>", re.IGNORECASE | re.DOTALL)
_SPAN = re.compile(r"\bcolspan\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_ROWSPAN = re.compile(r"<t[dh]\b[^>]*\browspan\b", re.IGNORECASE)
_UNIT_OF_TABLE = re.compile(r"\bin (?:thousands|millions|billions|trillions)\b", re.IGNORECASE)
_SHOWN_AROUND = 80
_ASK_FOR = 'Ask for one number in English writing, like "99,803", "(1,234)" or "0.5%".'
# Two values of the same decimal digits are equal floats; this forgives sums and nothing else.
_EQUAL = 1e-12
# 99803000000 is a reference's writing of what a filing has as 99,803 in millions; 5,000 is none of "5" in thousands.
_IN_FULL = 1e6


@dataclass(frozen=True)
class Occurrence:
    """One place where the number stands.

    ``row`` is the table's row, cells divided by " | ", or the text around it; ``column`` the headers above the
    number, from top to bottom, None where it stands in no table or below no header; ``writing`` the number as it
    stands there; ``place`` the file (and line) of the text it was found in. ``page`` and ``box`` are None where
    nobody knows them: in a text that the benchmark ships, on a page of a report that was read anew since it was
    shown as a picture, or never.
    """

    document_id: str
    page: int | None
    box: Box | None
    writing: str
    match: Match
    row: str
    place: str
    column: str | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "document_id": self.document_id,
            "page": self.page,
            "box": list(self.box) if self.box else None,
            "writing": self.writing,
            "match": self.match,
            "row": self.row,
            "column": self.column,
            "place": self.place,
        }

    def as_text(self) -> str:
        page = f"page {self.page}" if self.page is not None else "page unknown"
        box = f", box {' '.join(f'{side:g}' for side in self.box)}" if self.box else ""
        other = "" if self.match == "same writing" else f" [{self.match}: {self.writing}]"
        column = f"\n    column: {self.column}" if self.column else ""
        return f"{self.document_id} {page}{box}{other}\n    {self.row}{column}"


@dataclass(frozen=True)
class TextLine:
    """A line of a text and where it comes from."""

    text: str
    origin: Origin
    place: str


def locate(lines: Iterable[TextLine], asked: str) -> list[Occurrence]:
    """Every occurrence of a number: first those written as asked, then other writings, then those of the other sign.

    A number with a unit ("$2.8 billion") is found in that unit, in another one, or written out; and in a table whose
    page states a unit ("in millions"), where it may be rounded as it is asked for (99,803 for "99.8 billion"). There a
    number written out in full (99803000000) is found as well.
    Raises UsageError where ``asked`` is no number.
    """
    number = number_of(asked)
    if number is None:
        shown = asked if len(asked) <= _SHOWN_AROUND else f"{asked[:_SHOWN_AROUND]}…"
        raise UsageError(f"{shown!r} is no number.", remedy=_ASK_FOR)
    sought, units = _Sought(asked.strip(), number), _StatedUnits()
    shown_lines = (line for line in lines if line.origin.kind != "page")
    found = [one for line in shown_lines for one in _in_line(line, sought, units.read(line))]
    return sorted(found, key=lambda one: get_args(Match).index(one.match))


@dataclass(frozen=True)
class _Sought:
    """What is asked for, as it was typed and as a number."""

    asked: str
    number: WrittenNumber

    def match(self, number: WrittenNumber, units: frozenset[float]) -> Match | None:
        """``units`` are those in which a number without one of its own may be."""
        scaled = self.number.scale is not None  # else a unit behind the number found is not asked about
        value, wanted = (one.value * (one.scale or 1.0) if scaled else one.value for one in (number, self.number))
        if _equal(value, wanted):
            same: Match = "same writing" if self.asked in (number.text, number.writing) else "same value"
        elif number.scale is None and not number.percent and any(self._is_meant(value * unit) for unit in units):
            same = "in the table's unit"
        else:
            return None
        return "other sign" if value != wanted and (value < 0) != (wanted < 0) else same

    def _is_meant(self, value: float) -> bool:
        """The very value (of a number asked for without a unit only where that is written out in full); with a unit
        also rounded as it is asked for, where digits enough tell it from others."""
        number = self.number
        if number.scale is None:
            return abs(number.value) >= _IN_FULL and _equal(value, number.value)
        wanted, half = number.value * number.scale, 0.5 * 10.0**-number.decimals * number.scale
        is_near = number.n_digits >= MIN_DIGITS_ROUNDED and abs(abs(value) - abs(wanted)) <= half
        return is_near or _equal(value, wanted)


def _equal(value: float, wanted: float) -> bool:
    """But for the sign."""
    return abs(abs(value) - abs(wanted)) <= _EQUAL * abs(wanted)


class _StatedUnits:
    """The units that pages state for their tables, read from top to bottom."""

    def __init__(self) -> None:
        self._stated: dict[tuple[str, int | None], frozenset[float]] = {}

    def read(self, line: TextLine) -> frozenset[float]:
        """Those of a table; none for text, where a unit stands behind its number."""
        page = (line.origin.document_id, line.origin.page)
        known = self._stated.get(page, frozenset())
        if stated := _UNIT_OF_TABLE.findall(line.text):
            known = self._stated[page] = known | stated_scales(" ".join(stated))
        return known if line.text.startswith("<table") else frozenset()


def _in_line(line: TextLine, sought: _Sought, units: frozenset[float]) -> Iterator[Occurrence]:
    is_table = line.text.startswith("<table")
    headers = None if not is_table or _ROWSPAN.search(line.text) else _Headers()
    places = _Places(line.origin.numbers)
    for row in _ROW.findall(line.text) if is_table else [line.text]:
        cells = [_Cell(tag.lower(), span, body) for tag, span, body in _CELL.findall(row)] if is_table else []
        if headers:
            headers.read(cells)
        text = plain_text(row)
        for number in written_numbers(text):
            placed = places.take(text, number)
            if (match := sought.match(number, units)) is not None:
                yield Occurrence(
                    document_id=line.origin.document_id,
                    page=placed.page if placed else line.origin.page,
                    box=placed.box if placed else line.origin.box,
                    writing=number.writing,
                    match=match,
                    row=" | ".join(cell.text.strip() for cell in cells) if cells else _around(text, number),
                    place=line.place,
                    column=headers.above(cells, number.start) if headers else None,
                )


@dataclass(frozen=True)
class _Cell:
    """``tag`` is "d" or "h"; ``attributes`` and ``body`` as they are written."""

    tag: str
    attributes: str
    body: str

    @property
    def text(self) -> str:
        return plain_text(self.body)

    @property
    def n_columns(self) -> int:
        found = _SPAN.search(self.attributes)
        return max(1, int(found.group(1))) if found else 1


class _Headers:
    """The header rows above the row of a table that is being read. A header below values begins anew.

    Cells over several rows are not followed: a table that has some is not asked.
    """

    def __init__(self) -> None:
        self._rows: list[dict[int, str]] = []
        self._open = True

    def read(self, cells: Sequence[_Cell]) -> None:
        is_header = bool(cells) and all(cell.tag == "h" for cell in cells)
        if is_header and not self._open:
            self._rows = []
        self._open = is_header
        if is_header:
            self._rows.append({at: " ".join(cell.text.split()) for cell, at in _by_column(cells)})

    def above(self, cells: Sequence[_Cell], start: int) -> str | None:
        """The headers over the cell that the character ``start`` of the row's text stands in."""
        if self._open:
            return None  # a header has none
        column, end = None, 0
        for cell, at in _by_column(cells, spans=False):
            end += len(cell.text) + 1  # plain_text sets cells apart by one blank
            if start < end:
                column = at
                break
        over = [row[column] for row in self._rows if column is not None and row.get(column)]
        return " / ".join(dict.fromkeys(over)) or None


def _by_column(cells: Sequence[_Cell], *, spans: bool = True) -> Iterator[tuple[_Cell, int]]:
    """Each cell with each column that it covers, or with its first one alone."""
    first = 0
    for cell in cells:
        for column in range(first, first + (cell.n_columns if spans else 1)):
            yield cell, column
        first += cell.n_columns


class _Places:
    """The stored numbers of a line, handed out in the order in which the text has them."""

    def __init__(self, numbers: Sequence[PlacedNumber]) -> None:
        self._waiting: dict[str, list[PlacedNumber]] = {}
        for number in numbers:
            self._waiting.setdefault(number.text, []).append(number)

    def take(self, text: str, number: WrittenNumber) -> PlacedNumber | None:
        """None where the line's engine gave the number no box of its own."""
        bare = NUMBER.search(text, number.start, number.end)
        waiting = self._waiting.get(bare.group().rstrip(",") if bare else number.text)
        return waiting.pop(0) if waiting else None


def _around(text: str, number: WrittenNumber) -> str:
    first, last = max(0, number.start - _SHOWN_AROUND), number.end + _SHOWN_AROUND
    cut_before, cut_behind = "…" if first else "", "…" if last < len(text) else ""
    return f"{cut_before}{' '.join(text[first:last].split())}{cut_behind}"


# Lines to look through


def lines_of_document(context: OcrContext) -> Iterator[TextLine]:
    for line in context.lines:
        origin = Origin(line.number, line.kind, context.document_id, line.page, line.box, line.numbers)
        yield TextLine(line.text, origin, f"document.md line {line.number}")


def lines_of_instance(
    context: ModelContext, folder: Path, evidence: EvidenceStore, store: ArtifactStore
) -> Iterator[TextLine]:
    """Lines of the context's texts, and of what was read of the pages that its pictures show.

    Raises DamagedFile for a text or a provenance file that cannot be read.
    """
    for file in context.files:
        with damaged_context(folder):
            texts = (folder / file.path).read_text(encoding="utf-8").split("\n")
            origins = read_origins(folder / file.provenance) if file.provenance else []
            placed = [(texts[origin.line - 1], origin) for origin in origins]
        for text, origin in placed:
            yield TextLine(text, origin, f"{origin.file or file.path} line {origin.line}")
    documents = {name: _as_read(store, name) for name in dict.fromkeys(chunk.document_id for chunk in context.chunks)}
    for chunk in context.chunks:
        yield from _lines_of_chunk(chunk, evidence, documents[chunk.document_id])


def _as_read(store: ArtifactStore, document_id: str) -> OcrContext | None:
    try:
        return load_context(store, document_id)
    except UpstreamError:
        return None  # a report that only the benchmark knows


def _lines_of_chunk(chunk: ImageChunk, evidence: EvidenceStore, read: OcrContext | None) -> Iterator[TextLine]:
    """With their boxes where the report is as it was read when the chunk was drawn, else by page alone."""
    shown = pages_of_chunk(chunk, evidence)
    pages = {page.number: page.markdown for page in read.pages} if read else {}
    if read and all(pages.get(number) == markdown for number, markdown in shown.items()):
        for line in read.lines:
            if line.page in shown and line.kind != "page":
                origin = Origin(line.number, line.kind, chunk.document_id, line.page, line.box, line.numbers)
                yield TextLine(line.text, origin, f"{chunk.path} page {line.page}")
        return
    for number, markdown in shown.items():
        for text in markdown.split("\n"):
            if text.strip():
                yield TextLine(text, Origin(0, "text", chunk.document_id, number), f"{chunk.path} page {number}")


def pages_of_chunk(chunk: ImageChunk, evidence: EvidenceStore) -> Mapping[int, str]:
    """What was read of the pages that a picture shows: page -> markdown. Raises DamagedFile."""
    known = evidence.get("pages", chunk.sha256)
    pages = known.get("pages") if isinstance(known, dict) else None
    if not isinstance(pages, list):
        return {}
    return {int(str(page["number"])): str(page["markdown"]) for page in pages if isinstance(page, dict)}


def draw_place(pdf: Path, place: Occurrence, picture: Path) -> None:
    """The page of ``place`` as PNG with a frame round it. Raises UsageError where the place is no page, DocumentError
    where the page cannot be drawn, StorageError where the file cannot be written."""
    if place.page is None or place.box is None:
        raise UsageError(
            f"nobody knows where on a page of {place.document_id} that stands ({place.place}).",
            remedy="Only what was read from a registered PDF has a place: deepchart documents list.",
        )
    with tempfile.TemporaryDirectory() as folder:
        drawing = Path(folder) / "page.png"
        task = {"do": "mark", "pdf": str(pdf), "page": place.page, "box": list(place.box), "path": str(drawing)}
        try:
            list(run_child(task))
        except ChildFailedError as failure:
            raise DocumentError(
                f"page {place.page} of {place.document_id} cannot be drawn: {failure.reason}.",
                remedy="Repair or replace the PDF, or try again if the machine was busy.",
            ) from failure
        write_bytes(picture, drawing.read_bytes())
