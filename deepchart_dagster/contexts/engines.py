"""Engines that read the words of a page, behind one interface, and the choice between them per page.

    text-layer   the words that a born-digital page carries (PyMuPDF)
    rapidocr     PP-OCR models on onnxruntime, offline, for scans; needs the ``ocr`` extra
    auto         per page: the text layer where there is one, else OCR

``engine_identity`` says what a document's reading depends on, without importing any engine; readers are
made in the child process that reads (contexts.child). All engines give words with boxes to one layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from pydantic import JsonValue

from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word, clean_words, group_rows, is_value
from deepchart_dagster.errors import ConfigurationError

TEXT_LAYER = "text-layer"
RAPIDOCR = "rapidocr"
AUTO = "auto"
_LATER = ("paddleocr", "paddleocr-vl")
INSTALL_OCR = "Install the ocr extra: pip install 'deepchart-dagster[ocr]'."

# Bumped when an engine's use here changes what it reads (resolution, options, clean-up).
_TEXT_LAYER_USE = 2
_RAPIDOCR_USE = 1
_RAPIDOCR_DPI = 150
_POINTS_PER_INCH = 72
# PyMuPDF: spans without pictures (TEXT_PRESERVE_LIGATURES, _WHITESPACE, _MEDIABOX_CLIP), and the flag of a bold one.
_SPANS_ONLY = 1 | 2 | 64
_BOLD = 16

# Routing (design: contexts): a page with less text than this, or mostly pictures, is read by OCR.
_MIN_CHARACTERS = 50
_MIN_CHARACTERS_ON_PICTURE = 400
_PICTURE_SHARE = 0.6
_MAX_UNREADABLE_SHARE = 0.3
# Text set as outlines shows as many vector paths; a rule or a frame shows as few.
_OUTLINED_TEXT_PATHS = 20


class UnreadablePageError(Exception):
    """Why one page could not be read; it becomes the page's error."""


class PageReader(Protocol):
    """One engine, loaded. ``name`` is what pages and counts call it."""

    name: str

    def words(self, page: PdfPage) -> list[Word]:
        """Words with boxes in points, in any order. Raises UnreadablePageError."""
        ...


@dataclass(frozen=True)
class EngineIdentity:
    """``version`` is one line for people and records; ``parts`` are key parts."""

    name: str
    version: str
    parts: dict[str, JsonValue]


def engine_identity(name: str) -> EngineIdentity:
    """Raises ConfigurationError for an engine that is unknown, not installed, or not part of this version."""
    if name in _LATER:
        raise ConfigurationError(
            f"the OCR engine {name} is not part of this version.", remedy=f"Available now: {_available()}."
        )
    if name not in (TEXT_LAYER, RAPIDOCR, AUTO):
        raise ConfigurationError(f"there is no OCR engine {name!r}.", remedy=f"Available now: {_available()}.")
    if name == RAPIDOCR and not rapidocr_installed():
        raise ConfigurationError("the OCR engine rapidocr is not installed.", remedy=INSTALL_OCR)
    versions = {}
    if name in (TEXT_LAYER, AUTO):
        versions[TEXT_LAYER] = f"{_TEXT_LAYER_USE}+pymupdf-{version('pymupdf')}"
    if name in (RAPIDOCR, AUTO) and rapidocr_installed():
        versions[RAPIDOCR] = f"{_RAPIDOCR_USE}+rapidocr-{version('rapidocr')}+onnxruntime-{version('onnxruntime')}"
    text = ", ".join(f"{engine} {value}" for engine, value in versions.items())
    return EngineIdentity(name=name, version=text, parts={"engine": name, **versions})


def rapidocr_installed() -> bool:
    try:
        return bool(version("rapidocr") and version("onnxruntime"))
    except PackageNotFoundError:
        return False


def _available() -> str:
    if rapidocr_installed():
        return "auto, text-layer, rapidocr"
    return "auto and text-layer (rapidocr needs the ocr extra)"


def choose_reader(name: str) -> PageReader:
    """The reader for an engine that engine_identity accepts."""
    if name == TEXT_LAYER:
        return TextLayerReader()
    return RapidOcrReader() if name == RAPIDOCR else AutoReader()


class TextLayerReader:
    """Words that the PDF itself holds, with those that are bold (headings often are no more) or turned."""

    name = TEXT_LAYER

    def words(self, page: PdfPage) -> list[Word]:
        words = [Word(text, x0, y0, x1, y1) for x0, y0, x1, y1, text, *_ in page.get_text("words")]
        if not words and (reason := ocr_reason(page)):
            raise UnreadablePageError(f"{reason}, and the engine text-layer reads nothing else. Use the engine auto.")
        blocks: list[dict[str, Any]] = page.get_text("dict", flags=_SPANS_ONLY)["blocks"]
        lines = [line for block in blocks for line in block.get("lines", ())]
        bold = [span["bbox"] for line in lines for span in line["spans"] if span["flags"] & _BOLD]
        turned = [(line["bbox"], _turn(line["dir"])) for line in lines if _turn(line["dir"])]
        return [
            replace(
                word,
                bold=any(_is_inside(word, box) for box in bold),
                turn=next((turn for box, turn in turned if _is_inside(word, box)), 0),
            )
            for word in words
        ]


def _turn(direction: tuple[float, float]) -> int:
    """From the direction in which a line is written: (1, 0) is upright, y grows downwards."""
    cosine, sine = direction
    if abs(cosine) > abs(sine):
        return 0
    return 90 if sine < 0 else -90


def _is_inside(word: Word, box: tuple[float, float, float, float]) -> bool:
    x0, y0, x1, y1 = box
    return x0 <= (word.x0 + word.x1) / 2 <= x1 and y0 <= word.middle <= y1


class RapidOcrReader:
    """PP-OCR. The 180° classifier is off: it turns short numbers round without a word."""

    name = RAPIDOCR

    def __init__(self) -> None:
        rapidocr = import_module("rapidocr")  # an extra: not there for whoever checks types without it
        self._engine = rapidocr.RapidOCR(params={"Global.use_cls": False, "Global.log_level": "error"})

    def words(self, page: PdfPage) -> list[Word]:
        import numpy as np

        pixmap = page.get_pixmap(dpi=_RAPIDOCR_DPI, alpha=False)
        pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
        found = self._engine(pixels[:, :, ::-1])
        if found.boxes is None or found.txts is None:
            return []
        scale = _POINTS_PER_INCH / _RAPIDOCR_DPI
        words = [_ocr_word(box, text, scale) for box, text in zip(found.boxes, found.txts, strict=True)]
        return _dollar_signs(clean_words(words))


def _ocr_word(box: Any, text: str, scale: float) -> Word:
    xs, ys = [float(point[0]) * scale for point in box], [float(point[1]) * scale for point in box]
    return Word(text, min(xs), min(ys), max(xs), max(ys))


def _dollar_signs(words: list[Word]) -> list[Word]:
    """A lone ``S`` left of a value is a dollar sign that was read wrong."""
    fixed: list[Word] = []
    for row in group_rows(words):
        for word, after in zip(row, [*row[1:], None], strict=True):
            sign = word.text == "S" and after is not None and is_value(after.text)
            fixed.append(replace(word, text="$") if sign else word)
    return fixed


class AutoReader:
    """Per page: the text layer, or OCR for a page whose text is in its pictures."""

    def __init__(self) -> None:
        self.name = TEXT_LAYER
        self._text = TextLayerReader()
        self._ocr: RapidOcrReader | None = None

    def words(self, page: PdfPage) -> list[Word]:
        reason = ocr_reason(page)
        self.name = RAPIDOCR if reason else TEXT_LAYER
        if reason is None:
            return self._text.words(page)
        if not rapidocr_installed():
            raise UnreadablePageError(f"{reason}, and no OCR engine is installed. {INSTALL_OCR}")
        self._ocr = self._ocr or RapidOcrReader()
        return self._ocr.words(page)


def ocr_reason(page: PdfPage) -> str | None:
    """Why a page needs OCR, or None where its text layer will do (a blank page has nothing to read)."""
    text = "".join(page.get_text().split())
    pictures = _picture_share(page)
    if len(text) < _MIN_CHARACTERS and (pictures or len(page.get_drawings()) >= _OUTLINED_TEXT_PATHS):
        return f"the text layer has {len(text)} characters"
    if pictures > _PICTURE_SHARE and len(text) < _MIN_CHARACTERS_ON_PICTURE:
        return f"pictures cover {pictures:.0%} of it and the text layer has {len(text)} characters"
    unreadable = sum(character == "\ufffd" or "\ue000" <= character <= "\uf8ff" for character in text)
    if unreadable > _MAX_UNREADABLE_SHARE * max(1, len(text)):
        return f"{unreadable} of the {len(text)} characters of the text layer stand for nothing"
    return None


def _picture_share(page: PdfPage) -> float:
    """Area of the pictures on the page as a share of the page (overlaps count twice, at most 1)."""
    whole = page.rect.get_area()
    area = sum(page.rect.intersect(image["bbox"]).get_area() for image in page.get_image_info())
    return min(1.0, area / whole) if whole else 0.0
