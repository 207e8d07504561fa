"""Pages that lie askew on their scan: the same tables as level ones, boxes where the words stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import CASH_FLOW, SHARED, needs_shared, save_pdf, statement, tables_in

from deepchart_dagster.contexts.layout import PageLine, lay_out
from deepchart_dagster.contexts.leveling import leveled, skew, tilted
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.contexts.words import Word, clean_words

WIDTH = 612.0
PAGES = [("10k_apple_2022", 32), ("10k_apple_2022", 36), ("10k_amazon_2019", 37), ("10k_amazon_2019", 40)]
askew = pytest.mark.parametrize("degrees", [-1.5, -0.5, 0.3, 1.0, 1.5])


def words_on(file: str, page: int) -> list[Word]:
    with pymupdf.open(str(SHARED / "pdfs" / f"{file}.pdf")) as pdf:
        return clean_words([Word(word[4], *word[:4]) for word in pdf[page - 1].get_text("words")])


def turned(words: Sequence[Word], degrees: float) -> list[Word]:
    """Words about their middles, which are turned about the middle of the page."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    found = []
    for word in words:
        x, y = (word.x0 + word.x1) / 2 - 306, word.middle - 396
        across, down = 306 + x * cosine - y * sine, 396 + x * sine + y * cosine
        width, height = (word.x1 - word.x0) / 2, word.height / 2
        found.append(replace(word, x0=across - width, x1=across + width, y0=down - height, y1=down + height))
    return found


def laid_out_askew(words: Sequence[Word]) -> list[PageLine]:
    slope = skew(words)
    return tilted(lay_out(leveled(words, slope), WIDTH), slope)


@needs_shared
@askew
@pytest.mark.parametrize(("file", "page"), PAGES)
def test_a_statement_askew_is_the_same_table(file: str, page: int, degrees: float) -> None:
    words = words_on(file, page)
    (level,) = tables_in("\n".join(line.markdown for line in lay_out(words, WIDTH)))
    (found,) = tables_in("\n".join(line.markdown for line in laid_out_askew(turned(words, degrees))))
    assert found == level


@needs_shared
@askew
def test_boxes_of_numbers_stay_where_they_stand_on_the_page(degrees: float) -> None:
    words = turned(words_on("10k_apple_2022", 36), degrees)
    assert skew(words) == pytest.approx(math.tan(math.radians(degrees)), abs=0.0006)
    (table,) = [line for line in laid_out_askew(words) if line.is_table]
    at = {word.text: word for word in words}
    for text in ("104,038", "80,674", "2,865"):
        (box,) = [number.box for number in table.numbers if number.text == text][:1]
        expected = at.get(text) or at[f"${text}"]
        assert (box[1] + box[3]) / 2 == pytest.approx(expected.middle, abs=0.3)
        assert box[2] == pytest.approx(expected.x1, abs=0.3)


@needs_shared
@pytest.mark.parametrize(("file", "page"), PAGES)
def test_a_level_page_is_left_as_it_is(file: str, page: int) -> None:
    assert skew(words_on(file, page)) == 0.0


def test_few_words_tell_no_slope() -> None:
    stair = [Word("word", 50 + 40 * at, 100 + at, 80 + 40 * at, 110 + at) for at in range(8)]
    assert skew(stair) == 0.0
    assert skew([]) == 0.0
    assert leveled(stair, 0.0) == stair


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [1.0, -0.7])
def test_a_scan_that_is_askew_and_noisy_gives_the_same_table(tmp_path: Path, degrees: float) -> None:
    pytest.importorskip("rapidocr")
    years = (2022, 2021, 2020)
    drawn = save_pdf(tmp_path / "drawn.pdf", statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", years, CASH_FLOW))
    with pymupdf.open(drawn) as pdf, pymupdf.open() as scan:
        pixels = pdf[0].get_pixmap(matrix=pymupdf.Matrix(2, 2).prerotate(degrees), alpha=False)
        scan.new_page(width=pixels.width / 2, height=pixels.height / 2).insert_image(
            pymupdf.Rect(0, 0, pixels.width / 2, pixels.height / 2), stream=pixels.tobytes("jpeg", jpg_quality=40)
        )
        scan.save(str(tmp_path / "scan.pdf"))
    (reading,) = PdfReader(tmp_path / "scan.pdf", "rapidocr", options=ReadingOptions(workers=1)).read([1])
    assert reading.error is None
    (table,) = tables_in(reading.markdown)
    assert [header[-4:] for header in table.columns[1:]] == ["2022", "2021", "2020"]
    assert [(row[0], *(cell.replace(" ", "") for cell in row[1:])) for row in table.rows] == [
        (label, *(value.replace(" ", "") for value in values)) for label, values in CASH_FLOW
    ]
