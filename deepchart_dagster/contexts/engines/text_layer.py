"""``text-layer``: the words that a born-digital page carries, and whether a page has such words at all."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from deepchart_dagster.contexts.engines.base import UnreadablePageError
from deepchart_dagster.contexts.engines.config import TEXT_LAYER
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word

# PyMuPDF: what its words are made of (TEXTFLAGS_WORDS: ligatures, blanks, within the page, glyphs without a
# character by their number), which leaves out pictures; and the flag of a bold span.
_WORDS = 1 | 2 | 64 | 128
_BOLD = 16
# Where a page keeps its text page: it goes with the page.
_TEXT = "_deepchart_text"

# Routing (design: contexts): a page with less text than this, or mostly pictures, is read by OCR.
_MIN_CHARACTERS = 50
_MIN_CHARACTERS_ON_PICTURE = 400
_PICTURE_SHARE = 0.6
_MAX_UNREADABLE_SHARE = 0.3
# What a font without a map to characters leaves: its glyphs' numbers, controls, private and unassigned characters.
_CID = re.compile(r"\(cid:\d+\)")
_NO_TEXT = frozenset({"Cc", "Co", "Cn"})
# Languages in Latin letters have 35 to 50 % vowels; letters shifted by a wrong map have about 10 %.
_MIN_LETTERS = 100
_MIN_VOWEL_SHARE = 0.2
# Text set as outlines shows as many vector paths; a rule or a frame shows as few.
_OUTLINED_TEXT_PATHS = 20

# x0, y0, x1, y1
Box: TypeAlias = tuple[float, float, float, float]


class TextLayerReader:
    """Words that the PDF itself holds, with those that are bold (headings often are no more) or turned."""

    name: str = TEXT_LAYER
    kind: Literal["words"] = "words"

    def __init__(self, *, last_resort: bool = False) -> None:
        self._advice = "" if last_resort else ". Use the engine auto."

    def load(self) -> None:
        """Nothing to load."""

    def words(self, page: PdfPage) -> list[Word]:
        text = text_of(page)
        words = [Word(text, x0, y0, x1, y1) for x0, y0, x1, y1, text, *_ in text.extractWORDS()]
        if not words and (reason := ocr_reason(page)):
            raise UnreadablePageError(f"{reason}, and the engine text-layer reads nothing else{self._advice}")
        blocks: list[dict[str, Any]] = text.extractDICT()["blocks"]
        lines = [line for block in blocks for line in block.get("lines", ())]
        bold = [span["bbox"] for line in lines for span in line["spans"] if span["flags"] & _BOLD]
        turned = [(line["bbox"], _turn(line["dir"])) for line in lines if _turn(line["dir"])]
        return [_as_set(word, bold, turned) for word in words]


def text_of(page: PdfPage) -> Any:
    """PyMuPDF's text page, once for all who ask: most of the time of reading goes into it."""
    if not hasattr(page, _TEXT):
        setattr(page, _TEXT, page.get_textpage(flags=_WORDS))
    return getattr(page, _TEXT)


def _as_set(word: Word, bold: list[Box], turned: list[tuple[Box, int]]) -> Word:
    x, y = (word.x0 + word.x1) / 2, word.middle
    is_bold = any(y0 <= y <= y1 and x0 <= x <= x1 for x0, y0, x1, y1 in bold)
    turn = next((turn for (x0, y0, x1, y1), turn in turned if y0 <= y <= y1 and x0 <= x <= x1), 0)
    return replace(word, bold=is_bold, turn=turn) if is_bold or turn else word


def _turn(direction: tuple[float, float]) -> int:
    """From the direction in which a line is written: (1, 0) is upright, y grows downwards."""
    cosine, sine = direction
    if abs(cosine) > abs(sine):
        return 0
    return 90 if sine < 0 else -90


def ocr_reason(page: PdfPage) -> str | None:
    """Why a page needs OCR, or None where its text layer will do (a blank page has nothing to read)."""
    text = "".join(text_of(page).extractText().split())
    if len(text) >= _MIN_CHARACTERS_ON_PICTURE:  # whatever pictures there are: looking for them costs as much again
        return _broken(text)
    pictures = _picture_share(page)
    if len(text) < _MIN_CHARACTERS and (pictures or len(page.get_drawings()) >= _OUTLINED_TEXT_PATHS):
        return f"the text layer has {len(text)} characters"
    if pictures > _PICTURE_SHARE and len(text) < _MIN_CHARACTERS_ON_PICTURE:
        return f"pictures cover {pictures:.0%} of it and the text layer has {len(text)} characters"
    return _broken(text)


def _broken(text: str) -> str | None:
    """Why the characters of a text layer are not those that the page shows, or None."""
    unreadable = len(_CID.findall(text)) + text.count("\ufffd")
    unreadable += sum(n for character, n in Counter(text).items() if unicodedata.category(character) in _NO_TEXT)
    shown = len(_CID.sub("c", text))
    if unreadable > _MAX_UNREADABLE_SHARE * max(1, shown):
        return f"{unreadable} of the {shown} characters of the text layer stand for nothing"
    letters = {character: n for character, n in Counter(text.lower()).items() if character.isalpha()}
    latin = sum(n for letter, n in letters.items() if letter.isascii())
    vowels = sum(letters.get(letter, 0) for letter in "aeiouy")
    if latin >= _MIN_LETTERS and latin > 0.5 * sum(letters.values()) and vowels < _MIN_VOWEL_SHARE * latin:
        return f"the words of the text layer are in no language ({vowels} vowels among {latin} letters)"
    return None


def _picture_share(page: PdfPage) -> float:
    """Area of the pictures on the page as a share of the page (overlaps count twice, at most 1)."""
    whole = page.rect.get_area()
    area = sum(page.rect.intersect(image["bbox"]).get_area() for image in page.get_image_info())
    return min(1.0, area / whole) if whole else 0.0
