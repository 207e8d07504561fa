"""Rows and signs from word boxes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.contexts.words import Word, clean_words, group_rows, is_value, numbers_in, row_of


def word(text: str, x0: float, y: float = 100, x1: float | None = None) -> Word:
    return Word(text, x0, y, x1 if x1 is not None else x0 + 5 * len(text), y + 10)


@pytest.mark.parametrize(
    "text",
    [
        "1,234",
        "(1,234)",
        "$1,234",
        "$(1,234)",
        "16.2%",
        "(3.1)%",
        "—",
        "-",
        "$—",
        "2.81B",
        "1.5e-3",
        "54.7±0.2",
        "3,549 (a)",
        "N/A",
        ".5",
        "2022",
        "−12",
    ],
)
def test_values(text: str) -> None:
    assert is_value(text)


@pytest.mark.parametrize("text", ["31,", "Note", "2.", "1,23", "A4", "(a)", "COVID-19", "", "24,2022,"])
def test_what_is_no_value(text: str) -> None:
    assert not is_value(text)


def test_signs_that_stand_apart_are_joined_to_their_number() -> None:

    row = row_of(
        [
            word("Net", 10),
            word("loss", 28),
            word("$", 200),
            word("(", 240, x1=243),
            word("334", 244),
            word(")", 260),
            word("16.2", 300),
            word("%", 325),
        ]
    )
    assert [segment.text for segment in row.segments] == ["Net loss", "$(334)", "16.2%"]
    assert row.segments[1].x0 == 244  # the box is the number's own


def test_no_break_spaces_are_blanks_and_a_box_of_two_values_is_divided() -> None:
    cleaned = clean_words([Word("23,646\u00a0$", 100, 0, 180, 10), word("\u00a0", 300)])
    assert [found.text for found in cleaned] == ["23,646", "$"]
    assert cleaned[0].x1 == pytest.approx(160)
    assert cleaned[1].x0 == pytest.approx(170)


def test_neighbouring_values_are_cells_and_words_are_a_phrase() -> None:
    row = row_of([word("Total", 10), word("assets", 38), word("(334)", 200), word("258", 232)])
    assert [segment.text for segment in row.segments] == ["Total assets", "(334)", "258"]


def test_a_bullet_belongs_to_its_text() -> None:
    row = row_of([word("•", 10), word("First", 40), word("item", 68)])
    assert [segment.text for segment in row.segments] == ["• First item"]


def test_lines_half_a_height_apart_are_rows_of_their_own() -> None:
    rows = group_rows([word("above", 10, 100), word("beside", 60, 104), word("below", 10, 110)])
    assert [row_of(row).text for row in rows] == ["above beside", "below"]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=8))
def test_numbers_are_found_as_written(numbers: list[int]) -> None:
    written = [f"{number:,}" for number in numbers]
    assert numbers_in(" and (".join(written) + ").") == written
