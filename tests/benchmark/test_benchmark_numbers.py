"""Numeric leaves by the paper's narrow rule, and the wide reading beside it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.benchmark.numbers import narrow_number, numeric_leaves, unread_numbers, wide_number

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_values_count_and_names_do_not() -> None:
    state = {"2016": {"revenue": 3, "note": "none"}, "rows": [[1.5, True, None], {"a": "3,717", "b": False}]}

    assert numeric_leaves(state) == [3.0, 1.5, 3717.0]


@pytest.mark.parametrize("scalar", [None, True, False, "", "N/A", math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_what_never_counts(scalar: object) -> None:
    assert numeric_leaves([scalar, 7]) == [7.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3,717", 3717.0),
        (" 42 ", 42.0),
        ("\u00a042\n", 42.0),
        ("-1.5e-3", -0.0015),
        ("+5", 5.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("018", 18.0),
        ("1,234,567.25", 1234567.25),
        ("1,23,45,678", 12345678.0),
        ("-0", 0.0),
    ],
)
def test_strings_that_count(text: str, value: float) -> None:
    assert narrow_number(text) == value


@pytest.mark.parametrize(
    "text",
    ["nan", "inf", "-Infinity", "1e999", "2,17", "12,34", ",5", "1,234,", "0x1F", "1 234", "1e5e5", "--1", "2016-2024"],
)
def test_strings_that_are_no_number_to_the_paper(text: str) -> None:
    assert narrow_number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\u22125", -5.0),
        ("\u2212 5.5", -5.5),
        ("$5,309", 5309.0),
        ("US$ 5.3", 5.3),
        ("€1 234", 1234.0),
        ("12.5%", 12.5),
        ("(1,234)", -1234.0),
        ("($7)", -7.0),
        ("1_000", 1000.0),
        ("1\u202f000", 1000.0),
        ("1'000'000", 1e6),
        ("１２．５", 12.5),
        ("٤٢", 42.0),
        ("४२", 42.0),
        ("5 days", 5.0),
        ("3.2bn", 3.2),
    ],
)
def test_what_only_a_person_reads(text: str, value: float) -> None:
    assert narrow_number(text) is None
    assert wide_number(text) == value
    assert unread_numbers({"a": [text, "3", 4]}) == [value]


@pytest.mark.parametrize("text", ["", "-", "()", "N/A", "2016-2024", "five", "12 of 20", "2,17", "nan", "9" * 5000])
def test_what_is_no_number_to_anybody(text: str) -> None:
    assert wide_number(text) is None


@given(finite)
def test_every_float_reads_back_from_its_text(number: float) -> None:
    assert narrow_number(repr(number)) == number
    assert numeric_leaves(json.loads(json.dumps({"x": number}))) == [number]


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_every_integer_reads_back_with_and_without_separators(number: int) -> None:
    assert narrow_number(f"{number:,}") == number
    assert narrow_number(str(number)) == number


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    for read in (narrow_number(text), wide_number(text)):
        assert read is None or math.isfinite(read)


@given(
    st.recursive(
        st.one_of(finite, st.none(), st.booleans()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_leaves_equal_a_plain_recursive_walk(value: object) -> None:
    def walk(item: object) -> list[float]:
        if isinstance(item, dict):
            return [number for child in item.values() for number in walk(child)]
        if isinstance(item, list):
            return [number for child in item for number in walk(child)]
        return [item] if isinstance(item, float) else []

    assert numeric_leaves(value) == walk(value)


def test_nesting_has_no_limit_once_it_is_read() -> None:
    value: object = [1]
    for _ in range(100_000):
        value = [value]

    assert numeric_leaves(value) == [1.0]


def test_a_string_of_two_million_digits_is_no_number() -> None:
    assert numeric_leaves(["9" * 2_000_000, "1," + "234," * 400_000, "0" * 2_000_000]) == [0.0]
