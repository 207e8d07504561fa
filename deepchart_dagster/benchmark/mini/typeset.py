"""Drawing a document page by page with PyMuPDF, to the same bytes every time.

A ``Typesetter`` flows headings, paragraphs, tables and pictures down a page and starts the next one when
a block does not fit. Lengths are points, the origin is the page's top left corner. Only the fonts that
every PDF reader has are used, and nothing of the host or the hour gets into the file; another version of
PyMuPDF may write other bytes for the same pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from deepchart_dagster.benchmark.mini.canvas import BLACK, GREY, Align, Canvas, Color, broken

Style = Literal["normal", "heading", "total", "grand_total"]
SHADE: Color = (0.91, 0.94, 0.97)
# A date that says nothing: PyMuPDF leaves dates out where none is given, some readers then complain.
_NO_DATE = "D:20250101000000Z"
_PICTURE_DPI = 150


@dataclass(frozen=True)
class Look:
    """Page size, margins and fonts of a document; ``leading`` is the distance of text lines in font sizes.

    ``table_size`` is the font size of a filing's tables, ``rule`` the width of the lines in tables.
    """

    width: float = 612.0
    height: float = 792.0
    margin: float = 58.0
    size: float = 9.5
    font: str = "tiro"
    bold: str = "tibo"
    leading: float = 1.32
    table_size: float = 8.5
    rule: float = 0.5


@dataclass(frozen=True)
class Column:
    """``x`` is the left edge of a left column, the right edge of a right one, the middle of a centred one."""

    x: float
    align: Align = "left"


@dataclass(frozen=True)
class Row:
    """``cells`` go to the columns one by one; None draws nothing. ``indent`` shifts the first cell."""

    cells: tuple[str | None, ...]
    style: Style = "normal"
    indent: float = 0.0


@dataclass(frozen=True)
class Table:
    """``rules_from`` is the first column above which totals get their line; ``striped`` shades every other row."""

    columns: tuple[Column, ...]
    header: tuple[Row, ...]
    rows: tuple[Row, ...]
    rules_from: int = 1
    striped: bool = False
    size: float = 8.5


@dataclass(frozen=True)
class Area:
    """Where a picture may draw."""

    canvas: Canvas
    left: float
    top: float
    right: float
    bottom: float


@dataclass
class Typesetter:
    """The document that is being drawn and the place on its page. ``footer`` gets the page number."""

    look: Look
    title: str
    author: str
    footer: Callable[[int], str]
    y: float = 0.0
    _document: Any = field(init=False, repr=False)
    _canvas: Canvas = field(init=False, repr=False)

    def __post_init__(self) -> None:
        import pymupdf

        self._document = pymupdf.Document()  # type: ignore[no-untyped-call]
        self._begin_page()

    @property
    def right(self) -> float:
        return self.look.width - self.look.margin

    @property
    def page(self) -> int:
        """The number of the page that is being drawn, from 1."""
        return int(self._document.page_count)

    @property
    def _bottom(self) -> float:
        return self.look.height - self.look.margin - 14

    def new_page(self) -> None:
        self._canvas.finish()
        self._begin_page()

    def _begin_page(self) -> None:
        look = self.look
        self._canvas = Canvas(self._document, look.width, look.height)
        self.y = look.margin
        text = self.footer(self._document.page_count)
        if text:
            self.text(look.width / 2, look.height - look.margin * 0.55, text, size=8, align="center", color=GREY)

    def room(self, height: float) -> None:
        """Go on to the next page unless ``height`` more points fit on this one."""
        if self.y + height > self._bottom:
            self.new_page()

    def space(self, height: float) -> None:
        self.y += height

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float | None = None,
        bold: bool = False,
        align: Align = "left",
        color: Color = BLACK,
    ) -> None:
        """One line with its base line at ``y``."""
        font = self.look.bold if bold else self.look.font
        self._canvas.text((x, y), text, font=font, size=size or self.look.size, align=align, color=color)

    def heading(self, text: str, *, size: float = 12.0, align: Align = "left") -> None:
        self.room(size * 4)
        self.y += size * 1.5
        x = {"left": self.look.margin, "center": self.look.width / 2, "right": self.right}[align]
        self.text(x, self.y, text, size=size, bold=True, align=align)
        self.y += size * 0.6

    def line(self, text: str, *, size: float | None = None, align: Align = "left", bold: bool = False) -> None:
        """One line that is not broken."""
        size = size or self.look.size
        self.room(size * 2)
        self.y += size * 1.32
        x = {"left": self.look.margin, "center": self.look.width / 2, "right": self.right}[align]
        self.text(x, self.y, text, size=size, align=align, bold=bold)

    def paragraph(self, text: str, *, size: float | None = None) -> None:
        """Broken at spaces, ragged right, followed by half a line."""
        size = size or self.look.size
        width = self.right - self.look.margin
        for line in broken(text, self.look.font, size, width):
            self.room(size * self.look.leading)
            self.y += size * self.look.leading
            self.text(self.look.margin, self.y, line, size=size)
        self.y += size * 0.6

    def paragraphs(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.paragraph(text)

    def table(self, table: Table) -> None:
        """The header is drawn again on every page that the table goes on to."""
        step = table.size * 1.62
        self.room(step * (len(table.header) + 3))
        self._table_header(table, step)
        for index, row in enumerate(table.rows):
            if self.y + step > self._bottom:
                self.new_page()
                self._table_header(table, step)
            self._table_row(table, row, step, shaded=table.striped and index % 2 == 0)
        self.y += table.size

    def _table_header(self, table: Table, step: float) -> None:
        for row in table.header:
            self.y += step
            self._cells(table, row, bold=True)
        self.y += 3
        self._rule(self.look.margin, self.y)

    def _table_row(self, table: Table, row: Row, step: float, *, shaded: bool) -> None:
        if shaded:
            self._canvas.box(self.look.margin, self.y + 2.5, self.right, self.y + step + 2.5, SHADE)
        self.y += step
        if row.style in ("total", "grand_total"):
            start = table.columns[table.rules_from].x - (46 if table.columns[table.rules_from].align == "right" else 0)
            self._rule(start, self.y - table.size)
        self._cells(table, row, bold=row.style in ("heading", "grand_total"))

    def _cells(self, table: Table, row: Row, *, bold: bool) -> None:
        for position, (column, cell) in enumerate(zip(table.columns, row.cells, strict=False)):
            if cell:
                x = column.x + (row.indent if position == 0 else 0.0)
                self.text(x, self.y, cell, size=table.size, bold=bold, align=column.align)

    def _rule(self, start: float, y: float) -> None:
        self._canvas.line([(start, y), (self.right, y)], width=self.look.rule)

    def picture(self, height: float, draw: Callable[[Area], None], caption: str) -> None:
        """A drawing of the page's width with its caption below."""
        self.room(height + 50)
        draw(Area(self._canvas, self.look.margin, self.y + 6, self.right, self.y + height))
        self.y += height + 4
        self.paragraph(caption, size=self.look.size - 0.8)
        self.y += 4

    def raster(self, height: float, draw: Callable[[Area], None], caption: str) -> None:
        """The same, as a picture of pixels: nothing in it is text to a reader of the PDF."""
        self.room(height + 50)
        width = self.right - self.look.margin
        self._canvas.image(
            (self.look.margin, self.y + 6, self.right, self.y + height), drawn_apart(width, height - 6, draw)
        )
        self.y += height + 4
        self.paragraph(caption, size=self.look.size - 0.8)
        self.y += 4

    def raster_page(self, draw: Callable[[Area], None]) -> None:
        """A page of its own that is one picture, but for the page's foot."""
        self.new_page()
        look = self.look
        box = (look.margin / 2, look.margin / 2, look.width - look.margin / 2, look.height - look.margin)
        self._canvas.image(box, drawn_apart(box[2] - box[0], box[3] - box[1], draw))

    def pdf(self) -> bytes:
        """The whole document; nothing can be added to it after that."""
        self._canvas.finish()
        self._document.set_metadata(
            {"title": self.title, "author": self.author, "creationDate": _NO_DATE, "modDate": _NO_DATE}
        )
        return written(self._document)


def drawn_apart(width: float, height: float, draw: Callable[[Area], None]) -> bytes:
    """A drawing as a PNG, ``width`` × ``height`` points large."""
    import pymupdf

    with pymupdf.Document() as document:  # type: ignore[no-untyped-call]
        canvas = Canvas(document, width, height)
        draw(Area(canvas, 0.0, 0.0, width, height))
        canvas.finish()
        picture: bytes = document[0].get_pixmap(dpi=_PICTURE_DPI).tobytes("png")
    return picture


def written(document: Any) -> bytes:
    """The bytes of a PyMuPDF document, without anything of the hour in them."""
    data: bytes = document.tobytes(no_new_id=True, deflate=True, garbage=3)
    return data
