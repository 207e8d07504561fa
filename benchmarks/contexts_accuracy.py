"""How right the statements of two real filings come out, against their six pages typed by hand.

    python benchmarks/contexts_accuracy.py [--engine text-layer] [--scan] [--turn 1.0] [--noise 40]

The truth (benchmarks/statements/) was typed while looking at the printed pages: every row that has a value, with its
label, its years and its signed values; a dash is nil. A row is whole when label, years and values are as typed, in the
table that our reading gives; a number is right when it stands in the row of its label, under its year. ``--scan`` reads
pictures of the pages (150 DPI) instead, ``--turn`` degrees askew and as JPEG of quality ``--noise``. The last line of
stdout is one JSON object.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from deepchart_dagster.contexts.pdf import load_mupdf
from deepchart_dagster.contexts.reading import PdfReader

TRUTH = Path(__file__).parent / "statements"
PDFS = Path(__file__).resolve().parents[2] / "shared" / "pdfs"
NIL = "—"
_NO_VALUE = ("", NIL)
_SCAN_DPI = 150
_POINTS_PER_INCH = 72
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Row:
    """A row of a statement: ``values`` by year, each a number or NIL."""

    label: str
    values: tuple[tuple[str, Decimal | str], ...]


@dataclass(frozen=True)
class StatementPage:
    """One typed page; ``page`` is physical, from 1."""

    file: str
    page: int
    statement: str
    rows: tuple[Row, ...]


@dataclass
class Accuracy:
    """Counts over pages; ``wrong`` tells what was expected where it was not found."""

    rows: int = 0
    rows_whole: int = 0
    numbers: int = 0
    numbers_right: int = 0
    nils: int = 0
    nils_read: int = 0
    wrong: list[str] = field(default_factory=list)

    def record(self) -> dict[str, float | int | list[str]]:
        return {
            "rows": self.rows,
            "share_rows_whole": round(self.rows_whole / self.rows, 4),
            "numbers": self.numbers,
            "share_numbers_right": round(self.numbers_right / self.numbers, 4),
            "nils": self.nils,
            "nils_read_as_dash": self.nils_read,
            "wrong": self.wrong,
        }


def typed_pages() -> list[StatementPage]:
    return [_typed(path) for path in sorted(TRUTH.glob("*.csv"))]


def _typed(path: Path) -> StatementPage:
    file, page, statement = path.stem.rsplit("-", 2)
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter="|", quoting=csv.QUOTE_NONE)
    typed = tuple(Row(row[0], tuple(zip(header[1:], map(_typed_value, row[1:]), strict=True))) for row in rows)
    return StatementPage(file, int(page), statement, typed)


def _typed_value(text: str) -> Decimal | str:
    return NIL if text == NIL else Decimal(text)


def rows_read(markdown: str) -> list[Row]:
    """The rows of all tables of a page: values under the column whose header names a year."""
    return [row for table in re.findall(r"<table>.*?</table>", markdown) for row in _rows_of(table)]


def _rows_of(table: str) -> list[Row]:
    years: dict[int, str] = {}
    rows = []
    for line in re.findall(r"<tr>(.*?)</tr>", table):
        cells = [html.unescape(cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line)]
        if "<th" in line:
            years = {at: found[-1] for at, cell in enumerate(cells) if (found := _YEAR.findall(cell))} or years
        else:
            values = tuple((year, _value(cells[at]) if at < len(cells) else "") for at, year in years.items())
            rows.append(Row(cells[0], values))
    return rows


def _value(cell: str) -> Decimal | str:
    """``$(1,234)`` -> -1234; a cell without a number as it stands."""
    plain = re.sub(r"[\s$,]", "", cell)
    negative = plain.startswith("(") and plain.endswith(")")
    try:
        number = Decimal(plain.strip("()"))
    except InvalidOperation:
        return NIL if plain in (NIL, "–", "-") else cell
    return -number if negative else number


def compare(typed: StatementPage, read: Sequence[Row], into: Accuracy) -> None:
    """Rows of one label are taken in their order (a statement has two rows ``Basic``)."""
    found = {
        _plain(row.label): [each for each in read if _plain(each.label) == _plain(row.label)] for row in typed.rows
    }
    seen: Counter[str] = Counter()
    for row in typed.rows:
        label = _plain(row.label)
        same = found[label]
        match = same[seen[label]] if seen[label] < len(same) else None
        seen[label] += 1
        _compare_row(typed, row, dict(match.values) if match else {}, into)


def _compare_row(typed: StatementPage, row: Row, read: dict[str, Decimal | str], into: Accuracy) -> None:
    whole = bool(read)
    for year, value in row.values:
        got = read.get(year, "")
        if value == NIL:
            into.nils += 1
            into.nils_read += got == NIL
            whole = whole and got in _NO_VALUE
        else:
            into.numbers += 1
            into.numbers_right += got == value
            whole = whole and got == value
    into.rows += 1
    into.rows_whole += whole
    if not whole:
        into.wrong.append(f"{typed.file} page {typed.page}: {row.label[:60]}: {read or 'no such row'}")


def _plain(label: str) -> str:
    """Letters and digits: what an engine makes of blanks, commas and quotation marks in a label is not judged here."""
    return re.sub(r"[^0-9a-z]", "", label.lower())


def scan(pdf: Path, pages: Sequence[int], into: Path, *, turn: float = 0.0, quality: int = 0) -> Path:
    """The pages as pictures in a PDF without text; ``turn`` in degrees, ``quality`` of the JPEG (0: no loss)."""
    mupdf = load_mupdf()
    zoom = _SCAN_DPI / _POINTS_PER_INCH
    with mupdf.open(str(pdf)) as source, mupdf.open() as scanned:
        for number in pages:
            page = source[number - 1]
            pixels = page.get_pixmap(matrix=mupdf.Matrix(zoom, zoom).prerotate(turn), alpha=False)
            picture = pixels.tobytes("jpeg", jpg_quality=quality) if quality else pixels.tobytes("png")
            width, height = (side / zoom for side in (pixels.width, pixels.height))
            scanned.new_page(width=width, height=height).insert_image((0, 0, width, height), stream=picture)
        scanned.save(str(into))
    return into


def measure(engine: str, *, scanned: bool = False, turn: float = 0.0, quality: int = 0) -> Accuracy:
    """Reads the six pages with ``engine``, from the filings or from pictures of their pages."""
    accuracy = Accuracy()
    pages = typed_pages()
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted({page.file for page in pages}):
            typed = [page for page in pages if page.file == file]
            pdf, numbers = PDFS / f"{file}.pdf", [page.page for page in typed]
            if scanned:
                pdf = scan(pdf, numbers, Path(folder) / f"{file}.pdf", turn=turn, quality=quality)
                numbers = list(range(1, len(typed) + 1))
            for page, reading in zip(typed, PdfReader(pdf, engine).read(numbers), strict=True):
                compare(page, rows_read(reading.page().markdown), accuracy)
    return accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="text-layer")
    parser.add_argument("--scan", action="store_true")
    parser.add_argument("--turn", type=float, default=0.0)
    parser.add_argument("--noise", type=int, default=0)
    given = parser.parse_args()
    accuracy = measure(given.engine, scanned=given.scan, turn=given.turn, quality=given.noise)
    for line in accuracy.wrong:
        print(line, file=sys.stderr)
    print(json.dumps(accuracy.record(), ensure_ascii=False))


if __name__ == "__main__":
    main()
