"""Blocks of paddleocr-vl -> lines of markdown with the boxes of their numbers.

A block is a label, a box and text: HTML for a table, markdown or plain text otherwise. The model gives no boxes of
words. Where the page has a text layer, a number gets the box of the word that shows it there; elsewhere, and for
numbers that the model made up, its block's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from deepchart_dagster.contexts.layout import NumberBox, PageLine
from deepchart_dagster.contexts.words import Word, numbers_in

Box = tuple[float, float, float, float]

_TITLES = frozenset({"doc_title", "paragraph_title"})
# A tag with attributes that HTML knows: "a <b 5 and c> 7" is none.
_ATTRIBUTE = r"\s+[a-zA-Z][\w:-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))?"
_TAG = re.compile(rf"</?[a-zA-Z][\w:-]*(?:{_ATTRIBUTE})*\s*/?>")
_NO_TAG = re.compile(rf"(?!{_TAG.pattern})<")
_CELL = re.compile(r"<t[hdr][\s>]", re.IGNORECASE)
# A table cell that claims to span more than this is garbage.
_MAX_SPAN = 64
_SLACK = 3.0


@dataclass(frozen=True)
class Block:
    """``box`` in points. ``label`` is one of PP-DocLayout's, or the prompt's where no layout model was used."""

    label: str
    text: str
    box: Box


def lines_of(blocks: Iterable[Block], words: Sequence[Word]) -> list[PageLine]:
    """Lines in the blocks' order. ``words`` are those of the page's text layer, if it has one."""
    boxes = _NumberBoxes(words)
    return [_line(markdown, block, boxes) for block in blocks for markdown in _markdown(block)]


def _markdown(block: Block) -> list[str]:
    table = table_html(block.text)
    if table is not None:
        return [table]
    paragraphs = [_one_line(part) for part in _paragraphs(block)]
    shown = [paragraph for paragraph in paragraphs if paragraph]
    if block.label in _TITLES:
        return [f"## {text.lstrip('# ')}" for text in shown if text.lstrip("# ")]
    return shown


def _paragraphs(block: Block) -> list[str]:
    """A page read as one block (no layout model) comes line by line; a paragraph's own breaks mean nothing."""
    text = _TAG.sub(" ", block.text)
    return text.split("\n") if block.label == "ocr" else re.split(r"\n\s*\n", text)


def _one_line(text: str) -> str:
    return html.escape(html.unescape(" ".join(text.split())), quote=False)


def _line(markdown: str, block: Block, boxes: _NumberBoxes) -> PageLine:
    is_table = markdown.startswith("<table>")
    text = html.unescape(_TAG.sub(" ", markdown))
    numbers = tuple(NumberBox(number, boxes.take(number, block.box)) for number in numbers_in(text))
    return PageLine(markdown=markdown, numbers=numbers, box=_rounded(block.box), is_table=is_table)


class _NumberBoxes:
    """Boxes of the text layer's numbers, each given once, in reading order within a block."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._left: dict[str, list[Word]] = {}
        for word in words:
            for number in numbers_in(word.text):
                self._left.setdefault(number, []).append(word)

    def take(self, number: str, block: Box) -> Box:
        candidates = self._left.get(number, [])
        for word in candidates:
            if _holds(block, word):
                candidates.remove(word)
                return word.box
        return _rounded(block)


def _holds(box: Box, word: Word) -> bool:
    x0, y0, x1, y1 = box
    across = x0 - _SLACK <= (word.x0 + word.x1) / 2 <= x1 + _SLACK
    return across and y0 - _SLACK <= word.middle <= y1 + _SLACK


def _rounded(box: Box) -> Box:
    x0, y0, x1, y1 = (round(value, 1) for value in box)
    return (x0, y0, x1, y1)


# Tables


def table_html(text: str) -> str | None:
    """The table in ``text`` as one line of plain HTML (table, tr, th, td, spans), or None where there is no cell.

    Unclosed cells and rows are closed, everything else that the model may have written is dropped.
    """
    if not _CELL.search(text):
        return None
    reader = _TableReader()
    reader.feed(_NO_TAG.sub("&lt;", text))
    reader.close()
    rows = [row for row in reader.rows if row]
    if not any(cell.text for row in rows for cell in row):
        return None
    shown = ("".join(_cell_html(cell) for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in shown)}</table>"


@dataclass
class _Cell:
    tag: str
    spans: dict[str, int]
    text: str = ""


def _cell_html(cell: _Cell) -> str:
    spans = "".join(f' {name}="{count}"' for name, count in cell.spans.items())
    return f"<{cell.tag}{spans}>{html.escape(' '.join(cell.text.split()), quote=False)}</{cell.tag}>"


class _TableReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[_Cell]] = []
        self._open: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
            self._open = None
        elif tag in ("td", "th"):
            if not self.rows:
                self.rows.append([])
            self._open = _Cell(tag, _spans(attrs))
            self.rows[-1].append(self._open)
        elif tag == "br" and self._open:
            self._open.text += " "

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open.text += data
        elif data.strip():  # text between cells: it is on the page, so it stays
            self.rows.append([_Cell("td", {}, data)])


def _spans(attrs: list[tuple[str, str | None]]) -> dict[str, int]:
    wanted = {name: value for name, value in attrs if name in ("colspan", "rowspan") and value is not None}
    counts = {name: int(value) for name, value in wanted.items() if value.isascii() and value.isdigit()}
    return {name: count for name, count in counts.items() if 1 < count <= _MAX_SPAN}
