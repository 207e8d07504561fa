"""Numbers as texts write them, and whether one can stand for a value of a reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.contexts.written import NumberIndex, number_of, plain_text, stated_scales, written_numbers


@pytest.mark.parametrize(
    ("text", "writing", "value"),
    [
        ("99,803", "99,803", 99803.0),
        ("Net loss $ (1,234)", "$ (1,234)", -1234.0),
        ("down −8.5% on", "−8.5%", -8.5),
        ("years 2016-2024", "2016", 2016.0),
        ("COVID-19", "19", 19.0),
        ("about $1.5 billion", "$1.5 billion", 1.5),
        ("1.2e-05", "1.2e-05", 1.2e-05),
        ("(see 2019 report)", "2019", 2019.0),
        ("-7", "-7", -7.0),
    ],
)
def test_a_number_is_read_with_what_stands_around_it(text: str, writing: str, value: float) -> None:
    number = next(written_numbers(text))
    assert (number.writing, number.value) == (writing, value)


def test_a_range_has_two_numbers_and_no_minus() -> None:
    assert [number.value for number in written_numbers("2016-2024")] == [2016.0, 2024.0]


def test_a_list_is_no_number() -> None:
    assert list(written_numbers("notes 2,17")) == []


@given(st.integers(-(10**12), 10**12))
def test_every_writing_of_a_number_has_its_value(value: int) -> None:
    brackets = f"({abs(value):,})" if value < 0 else f"{value:,}"
    for writing in (str(value), brackets, f"{value:,}"):
        number = number_of(writing)
        assert number is not None
        assert number.value == float(value)


@given(st.text(max_size=60))
def test_no_text_is_too_strange_to_read(text: str) -> None:
    for number in written_numbers(text):
        assert text[number.start : number.end].replace("−", "-") == number.text


def test_cells_of_a_table_are_set_apart() -> None:
    assert plain_text("<table><tr><td>Sales &amp; more</td><td>1</td><td>2</td></tr></table>").split() == [
        *("Sales", "&", "more", "1", "2")
    ]


def test_units_that_a_text_states() -> None:
    assert stated_scales("(In millions, except number of shares, in thousands)") == {1e6, 1e3}
    assert stated_scales("nothing of the kind") == frozenset()


@pytest.mark.parametrize(
    ("value", "how"),
    [
        (5953e6, "in millions"),  # dollars in the reference, millions in the filing
        (5953.0, "as written"),
        (5.953, "in millions"),  # the reference in billions
        (7716e6, "in millions, other sign"),  # a payment, in brackets there
        (0.1234, "percent, rounded"),
        (12.3, "as written"),
        (0.0, "as a dash"),
        (11.0, "as written"),
        (5954e6, None),
        (5953e3, "in millions"),
        (0.13, None),
    ],
)
def test_a_value_is_found_in_the_units_that_are_stated(value: float, how: str | None) -> None:
    index = NumberIndex(["(in millions)", "Net sales 5,953 —", "a rate of 12.3%", "dividends (7,716)", "raised $11M"])
    found = index.find(value)
    assert (found.how if found else None) == how


def test_a_unit_that_is_not_stated_is_not_supposed() -> None:
    assert NumberIndex(["Net sales 5,953"]).find(5953e6) is None


def test_two_digits_are_no_rounding_of_anything() -> None:
    index = NumberIndex(["12%"])
    assert index.find(0.1234) is None
