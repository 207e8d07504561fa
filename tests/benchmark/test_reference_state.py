"""A reference's two sides as a model gets them that is to draw them."""

from __future__ import annotations

import pytest

from deepchart_dagster.benchmark.reference_state import reference_content
from deepchart_dagster.errors import BenchmarkFormatError


def test_json_is_handed_over_as_it_stands() -> None:
    assert reference_content(b'[{"year": 2022, "growth": 0.5}]', ".json", "der", name="d") == [
        {"year": 2022, "growth": 0.5}
    ]


def test_of_a_file_with_both_sides_the_asked_one() -> None:
    both = b'{"scr_data": [1], "der_data": {"a": 2}}'
    assert reference_content(both, ".json", "der", name="d") == {"a": 2}
    assert reference_content(both, ".json", "src", name="d") == [1]
    assert reference_content(b'{"src_data": [1]}', ".json", "der", name="d") is None
    assert reference_content(b"null", ".json", "der", name="d") is None


def test_a_csv_is_records_with_numbers() -> None:
    text = b'Fiscal Year,Net Income,Note,\n2016,"5,953.5",as filed,\n2017,,N/A,7\n'
    assert reference_content(text, ".csv", "src", name="d") == [
        {"Fiscal Year": 2016, "Net Income": 5953.5, "Note": "as filed", "column 4": None},
        {"Fiscal Year": 2017, "Net Income": None, "Note": "N/A", "column 4": 7},
    ]


def test_columns_of_one_name_hide_nothing_and_long_rows_lose_nothing() -> None:
    assert reference_content(b"a,a\n1,2,3\n", ".csv", "src", name="d") == [{"a": 1, "a (2)": 2, "column 3": 3}]


def test_markdown_tables_are_records_one_list_each() -> None:
    one = "text\n| group | mean |\n|---|---|\n| A | 1e-3 |\n"
    assert reference_content(one.encode(), ".md", "src", name="d") == [{"group": "A", "mean": 0.001}]
    two = one + "\n| x |\n|---|\n| 2 |\n"
    assert reference_content(two.encode(), ".md", "src", name="d") == [[{"group": "A", "mean": 0.001}], [{"x": 2}]]


@pytest.mark.parametrize(("data", "suffix"), [(b"{", ".json"), (b"\xff", ".csv"), (b"x", ".xlsx")])
def test_what_cannot_be_read_is_named(data: bytes, suffix: str) -> None:
    with pytest.raises(BenchmarkFormatError, match="q1 d_src"):
        reference_content(data, suffix, "src", name="q1 d_src")
