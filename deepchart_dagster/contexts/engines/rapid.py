"""``rapidocr``: PP-OCR models on onnxruntime, all of it inside the wheels; and what OCR words need for clean-up."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal

from deepchart_dagster.contexts.engines.base import EngineUnavailableError, UnreadablePageError
from deepchart_dagster.contexts.engines.config import RAPIDOCR, EngineConfig
from deepchart_dagster.contexts.engines.dashes import with_dashes
from deepchart_dagster.contexts.engines.drawing import draw
from deepchart_dagster.contexts.leveling import leveled, skew
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word, clean_words, group_rows, is_value

# Steeper phrases stand upright or are no rows of a scan.
_STEEPEST = 0.08


class RapidOcrReader:
    """PP-OCR. The 180° classifier is off: it turns short numbers round without a word."""

    name: str = RAPIDOCR
    kind: Literal["words"] = "words"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._engine: Any = None

    def load(self) -> None:
        """Raises EngineUnavailableError."""
        if self._engine is not None:
            return
        params: dict[str, Any] = {"Global.use_cls": False, "Global.log_level": "error"}
        if self._config.cores is not None:
            params["EngineConfig.onnxruntime.intra_op_num_threads"] = self._config.cores
            params["EngineConfig.onnxruntime.inter_op_num_threads"] = 1
        try:
            rapidocr = import_module("rapidocr")  # an extra: not there for whoever checks types without it
            self._engine = rapidocr.RapidOCR(params=params)
        except Exception as error:  # a broken installation shows in many ways
            raise EngineUnavailableError(f"rapidocr cannot be loaded: {' '.join(str(error).split())}") from error

    def words(self, page: PdfPage) -> list[Word]:
        self.load()
        drawn = draw(page, self._config.dpi, self._config.max_pixels)
        try:
            found = self._engine(drawn.pixels)
        except Exception as error:  # for a strip of a page it has one of its own, without words
            height, width, _ = drawn.pixels.shape
            reason = " ".join(str(error).split()) or type(error).__name__
            raise UnreadablePageError(f"it fails on a picture of {width} × {height} pixels ({reason})") from error
        if found.boxes is None or found.txts is None:
            return []
        return with_dashes(ocr_words(found.boxes, found.txts, drawn.points_per_pixel), drawn)


def ocr_words(boxes: Sequence[Any], texts: Sequence[str], points_per_pixel: float) -> list[Word]:
    """Words in points from what PP-OCR found: polygons in pixels, each with its text."""
    words = [
        word
        for box, text in zip(boxes, texts, strict=True)
        for word in _words_of(text, _corners(box, points_per_pixel))
    ]
    return _dollar_signs(clean_words(words))


def _corners(box: Any, scale: float) -> list[tuple[float, float]]:
    return [(float(point[0]) * scale, float(point[1]) * scale) for point in box]


def _words_of(text: str, corners: list[tuple[float, float]]) -> list[Word]:
    """One word for each part between blanks. Where the phrase rises or falls, its words do with it."""
    (left, above), (right, above_right), _, (_, below) = corners
    rise = above_right - above
    if not 0 < abs(rise) < _STEEPEST * (right - left) or not text.split():
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return [Word(text, min(xs), min(ys), max(xs), max(ys))]
    words = []
    for part in re.finditer(r"\S+", text):
        first, last = part.start() / len(text), part.end() / len(text)
        down = rise * (first + last) / 2
        x0, x1 = left + first * (right - left), left + last * (right - left)
        words.append(Word(part.group(), x0, above + down, x1, below + down))
    return words


def _dollar_signs(words: list[Word]) -> list[Word]:
    """A lone ``S``, ``s`` or ``§`` left of a value is a dollar sign that was read wrong; one that was read as the end
    of the value to its left stands before the value to its right."""
    words = [part for word in words for part in _apart(word)]
    level = leveled(words, skew(words))
    place = {id(word): at for at, word in enumerate(level)}
    fixed = list(words)
    for row in group_rows(level):
        for word, after in itertools.pairwise(row):
            if word.text in ("S", "s", "§") and is_value(after.text):
                at = place[id(word)]
                fixed[at] = replace(words[at], text="$")
    return fixed


def _apart(word: Word) -> list[Word]:
    """``20.68$`` -> ``20.68``, ``$``."""
    value = word.text[:-1]
    if word.text[-1:] not in ("$", "§") or not is_value(value):
        return [word]
    end = word.x0 + (word.x1 - word.x0) * len(value) / len(word.text)
    return [replace(word, text=value, x1=end), replace(word, text="$", x0=end)]
