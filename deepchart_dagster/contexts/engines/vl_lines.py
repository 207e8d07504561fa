"""Blocks of paddleocr-vl -> lines of markdown with the boxes of their numbers.

A block is a label, a box and text: markdown or plain text with tables in it (contexts.engines.vl_tables). The model
gives no boxes of words. Where the page has a text layer, a number gets the box of the word that shows it there;
elsewhere, and for numbers that the model made up, its block's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepchart_dagster.contexts.engines.vl_tables import TAG, pieces
from deepchart_dagster.contexts.layout import NumberBox, PageLine
from deepchart_dagster.contexts.words import Word, numbers_in

Box = tuple[float, float, float, float]

_TITLES = frozenset({"doc_title", "paragraph_title"})
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
    return [line for piece, is_table in pieces(block.text) for line in ([piece] if is_table else _text(block, piece))]


def _text(block: Block, text: str) -> list[str]:
    shown = [paragraph for part in _paragraphs(block, text) if (paragraph := _one_line(part))]
    if block.label in _TITLES:
        return [f"## {title.lstrip('# ')}" for title in shown if title.lstrip("# ")]
    return shown


def _paragraphs(block: Block, text: str) -> list[str]:
    """A page read as one block (no layout model) comes line by line; a paragraph's own breaks mean nothing."""
    plain = TAG.sub(" ", text)
    return plain.split("\n") if block.label == "ocr" else re.split(r"\n\s*\n", plain)


def _one_line(text: str) -> str:
    return html.escape(html.unescape(" ".join(text.split())), quote=False)


def _line(markdown: str, block: Block, boxes: _NumberBoxes) -> PageLine:
    is_table = markdown.startswith("<table>")
    text = html.unescape(TAG.sub(" ", markdown))
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
