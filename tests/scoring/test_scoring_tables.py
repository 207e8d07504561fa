"""References as CSV, markdown and JSON: header cells are labels, every body cell that reads as a number counts."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.errors import BenchmarkFormatError, MissingInputError
from deepchart_dagster.scoring.tables import Side, read_reference


def csv_values(text: str) -> list[float] | None:
    return read_reference(text.encode(), ".csv", "src")


def markdown_values(text: str) -> list[float] | None:
    return read_reference(text.encode(), ".md", "src")


def json_reference(value: object, side: Side) -> list[float] | None:
    return read_reference(json.dumps(value).encode(), ".json", side)


def test_a_comma_between_cells_joins_nothing() -> None:
    assert csv_values("Year,Net Income\n2016,5953000000\n2017,5309000000\n") == [2016, 5953e6, 2017, 5309e6]


def test_csv_cells_are_read_as_a_csv_reader_reads_them() -> None:
    text = '\ufeff2015,"Name, long",Value\n\n1,"a ""quoted"", 7","1,234"\r\nnan,,"line\nbreak"\n"3",x,-2.5e-3\n'

    assert csv_values(text) == [1, 1234, 3, -0.0025]


def test_index_columns_and_header_rows_inside_the_body() -> None:
    assert csv_values("Unnamed: 0,a\n0,1.5\nYear,Total\n1,2.5\n") == [0, 1.5, 1, 2.5]


def test_tabs_part_cells_in_a_tsv() -> None:
    assert read_reference(b"a\tb\n1,000\t2\n", ".tsv", "src") == [1000, 2]


@pytest.mark.parametrize("text", ["", "\n\n", "Year,Value\n"])
def test_a_csv_without_a_body_has_no_values(text: str) -> None:
    assert csv_values(text) == []


def test_markdown_tables_of_a_file_all_count_and_the_text_around_them_does_not() -> None:
    text = """# Fig. 3, panel 2 of 4
In 2024 we saw 17 of them.

|   2015 | name \\| 5 |
|-------:|:---|
| 1.5    | nan |
| 1e-3   | **2.5** |

| group | n |
|---|---|
| a | 12 |
| b \\| 9 | `3` |
"""
    assert markdown_values(text) == [1.5, 0.001, 2.5, 12, 3]


def test_two_tables_without_a_line_between_them() -> None:
    assert markdown_values("| 1 | 2 |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |\n|---|---|\n| 7 | 8 |") == [3, 4, 7, 8]


def test_a_table_without_a_rule_has_its_header_first() -> None:
    assert markdown_values("| 2020 | b |\n| 1 | 2 |\n") == [1, 2]


def test_negative_numbers_are_no_rule() -> None:
    assert markdown_values("| a |\n|---|\n| - |\n| -5 |\n| --- |\n| 6 |") == [6]
    assert markdown_values("| a | b |\n|---|---|\n| - | -5 |\n") == [-5]


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.integers(min_value=-(10**12), max_value=10**12),
    st.sampled_from(["text", "a,b", 'say "x"', ""]),
)
frames = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(frames)
def test_csv_that_pandas_writes_reads_back(rows: list[list[object]]) -> None:
    text = pd.DataFrame(rows, dtype=object).to_csv(index=False)

    assert csv_values(text) == [float(cell) for row in rows for cell in row if not isinstance(cell, str)]


def test_nature_source_data_of_the_sample(shared: Path) -> None:
    folder = shared / "upstream-sample/references/academic"

    doses = read_reference(folder / "1/d_src.md", ".md", "src")
    assert doses is not None
    assert len(doses) == 12 * 6 - 4  # four cells are nan
    assert doses[:6] == [2.61617, 10.9128, 17.0236, 27.166, 29.3987, 24.7485]
    features = read_reference(folder / "176/d_src.md", ".md", "src")
    assert features is not None
    drawn = json.loads((folder / "176/d_der.json").read_text(encoding="utf-8"))
    assert sorted(features) == sorted(drawn["nsf_values"] + drawn["nsfc_values"])
    assert len(features) == 48


def test_finance_derived_data_is_one_side_of_the_file() -> None:
    value = {"scr_data": [{"Year": 2016, "Income": 10}], "der_data": [{"Year": 2016, "IGR": 0.5}]}

    assert json_reference(value, "der") == [2016, 0.5]
    assert json_reference(value, "src") == [2016, 10]


@pytest.mark.parametrize("value", [None, {"scr_data": [1], "der_data": None}, {"src_data": [1]}])
def test_null_is_no_reference(value: object) -> None:
    assert json_reference(value, "der") is None


def test_an_empty_reference_is_not_an_absent_one() -> None:
    assert json_reference({"der_data": []}, "der") == []
    assert json_reference([], "der") == []


def test_codes_and_pages_of_research_reports_do_not_count() -> None:
    source = {
        "report_code": "018",
        "query_id": "01",
        "source_page": 12,
        "records": [{"company": "A", "raised": 11.0, "source_page": 44}, {"company": "B", "raised": "1,200"}],
    }
    derived = {"status": "complete", "rank_limit": 15, "data": [{"label": "A", "value": 1.5}]}

    assert json_reference(source, "src") == [11.0, 1200.0]
    assert json_reference(derived, "der") == [1.5]


def test_academic_references_are_free_form() -> None:
    assert json_reference([1, {"a": [2, "3"]}], "der") == [1, 2, 3]
    assert json_reference({"means": {"a": 1.5}, "data": [2], "n": 12, "x_labels": ["0", "K5"]}, "der") == [
        1.5,
        2,
        12,
        0,
    ]


@pytest.mark.parametrize(
    ("data", "suffix", "message"),
    [
        (b"x", ".xlsx", r"has the suffix \.xlsx"),
        (b"x", "", r"has the suffix \(none\)"),
        (b"{", ".json", "no valid JSON"),
        (b"a\n\xff\n", ".csv", "not UTF-8"),
        (b'a\n"' + b"x" * 200_000 + b'"\n', ".csv", "line 2 is no CSV: field larger than field limit"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data: bytes, suffix: str, message: str) -> None:
    with pytest.raises(BenchmarkFormatError, match=message):
        read_reference(data, suffix, "src")


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"gone\.csv"):
        read_reference(tmp_path / "gone.csv", ".csv", "src")
    (tmp_path / "bad.json").write_text("[1,")
    with pytest.raises(BenchmarkFormatError, match=r"bad\.json"):
        read_reference(tmp_path / "bad.json", ".json", "src")
