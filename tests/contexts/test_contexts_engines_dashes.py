"""Dashes for nil that PP-OCR leaves out, found as strokes in the drawing of a page."""

from __future__ import annotations

from typing import Any

import pytest
from contexts_drawing import tables_in

from deepchart_dagster.contexts.engines.dashes import with_dashes
from deepchart_dagster.contexts.engines.drawing import draw
from deepchart_dagster.contexts.layout import lay_out
from deepchart_dagster.contexts.pdf import load_mupdf
from deepchart_dagster.contexts.words import Word

pymupdf = load_mupdf()
ROWS = [
    ("Operating leases", "—", "25,141"),
    ("Goodwill", "14,548", "14,754"),
    ("Long-term debt - other", "—", "—"),
    ("Interest rate", "1.09%", "—%"),
    ("Total assets", "162,648", "225,248"),
]


def page_of() -> Any:
    """A balance sheet with a rule above its total, a shaded row, and a list whose items begin with dashes."""
    page = pymupdf.open().new_page(width=595, height=842)
    page.draw_rect((50, 190, 520, 206), color=None, fill=(0.8, 0.93, 1.0))
    page.insert_text((372, 150), "2018", fontsize=10)
    page.insert_text((472, 150), "2019", fontsize=10)
    for at, (label, *values) in enumerate(ROWS):
        y = 170 + 16 * at
        page.insert_text((60, y), label, fontsize=10)
        for edge, value in zip((400, 500), values, strict=True):
            _insert_right(page, edge, y, value)
    for edge in (400, 500):
        page.draw_line((edge - 40, 222), (edge, 222), width=0.7)
    _insert_right(page, 300, 250, "—")
    page.insert_text((300.5, 250), "500 authorized", fontsize=10)
    for at in range(2):
        _insert_right(page, 70, 300 + 16 * at, "—")
        page.insert_text((76, 300 + 16 * at), "an item of a list", fontsize=10)
    return page


def _insert_right(page: Any, edge: float, y: float, text: str) -> None:
    """Helvetica's own dash is as wide as the type is high."""
    x = edge - sum(10.0 if letter == "—" else pymupdf.get_text_length(letter, fontsize=10) for letter in text)
    for letter in text:
        if letter == "—":
            page.draw_line((x + 0.5, y - 3.2), (x + 9.5, y - 3.2), width=0.8)
            x += 10
        else:
            page.insert_text((x, y), letter, fontsize=10)
            x += pymupdf.get_text_length(letter, fontsize=10)


def read_by_ocr(page: Any) -> list[Word]:
    """The words of the page as PP-OCR gives them: without the strokes, and the sign of ``—%`` in a box of both."""
    return [Word(text, x0 - 10 * (text == "%"), y0, x1, y1) for x0, y0, x1, y1, text, *_ in page.get_text("words")]


@pytest.mark.parametrize("dpi", [120, 150, 200])
def test_cells_with_a_dash_are_no_empty_cells(dpi: int) -> None:
    page = page_of()
    words = with_dashes(read_by_ocr(page), draw(page, dpi, 16_000_000))
    (table,) = tables_in("\n".join(line.markdown for line in lay_out(words, 595)))
    assert table.columns == ("", "2018", "2019")
    assert table.rows == tuple(ROWS)


def test_rules_and_dashes_before_text_are_no_nil() -> None:
    page = page_of()
    words = read_by_ocr(page)
    added = [word for word in with_dashes(words, draw(page, 150, 16_000_000)) if word.text == "—"]
    assert sorted((round(word.center), round(word.middle)) for word in added) == [
        (395, 167), (395, 199), (486, 215), (495, 199),
    ]  # fmt: skip


def test_a_page_without_values_is_left_as_it_is() -> None:
    page = pymupdf.open().new_page(width=595, height=842)
    page.insert_text((60, 100), "some words of a page that has not one value on it at all", fontsize=10)
    page.draw_line((400, 97), (409, 97), width=0.8)
    words = read_by_ocr(page)
    assert with_dashes(words, draw(page, 150, 16_000_000)) == words
