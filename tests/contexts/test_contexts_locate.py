"""What locate says of a number: the row and the headers above it, in tables of any make, best match first."""

from __future__ import annotations

import pytest

from deepchart_dagster.contexts.locate import Occurrence, TextLine, locate
from deepchart_dagster.contexts.provenance import Origin
from deepchart_dagster.errors import UsageError


def places(asked: str, *texts: str) -> list[Occurrence]:
    return locate(
        [TextLine(text, Origin(at, "text", "acme", 1), f"line {at}") for at, text in enumerate(texts, 1)], asked
    )


def table(*rows: str) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


INCOME = table(
    '<th></th><th colspan="2">Years ended</th><th>Change</th>',
    "<th></th><th>2022</th><th>2021</th><th></th>",
    "<td>Research &amp; development</td><td>26,251</td><td>21,914</td><td>20%</td>",
    "<td>Paid to 3 &lt; 5 banks</td><td>(7)</td><td>26,251</td><td>—</td>",
    "<th></th><th>Shares</th><th>Price</th><th></th>",
    "<td>Bought</td><td>411</td><td>$150.00</td><td></td>",
)


def test_the_headers_above_a_number_are_its_columns() -> None:
    first, second = places("26,251", INCOME)
    assert (first.row, first.column) == ("Research & development | 26,251 | 21,914 | 20%", "Years ended / 2022")
    assert second.column == "Years ended / 2021"
    assert [one.column for one in places("20", INCOME)] == ["Change"]
    assert first.as_text() == (
        "acme page 1\n    Research & development | 26,251 | 21,914 | 20%\n    column: Years ended / 2022"
    )
    assert first.as_json()["column"] == "Years ended / 2022"


def test_a_header_below_values_begins_anew() -> None:
    assert [one.column for one in places("411", INCOME)] == ["Shares"]
    assert [one.column for one in places("150", INCOME)] == ["Price"]


def test_headers_and_labels_have_no_column() -> None:
    assert [(one.row, one.column) for one in places("2022", INCOME)] == [(" | 2022 | 2021 | ", None)]
    assert [one.column for one in places("3", INCOME)] == [None]
    assert [one.column for one in places("26,251", "Research cost 26,251 in 2022.")] == [None]


def test_a_table_with_cells_over_several_rows_is_not_guessed_at() -> None:
    spanned = table('<th rowspan="2">Item</th><th>2022</th>', "<td>5,111</td>")
    assert [(one.row, one.column) for one in places("5111", spanned)] == [("5,111", None)]


def test_those_written_as_asked_come_first() -> None:
    found = places("14%", "iPhone 14", "down (14)%", "grew 14% in 2022")
    assert [(one.place, one.match) for one in found] == [
        ("line 3", "same writing"),
        ("line 1", "same value"),
        ("line 2", "other sign"),
    ]


NET_INCOME = table("<td>Net income</td><td>99,803</td><td>(94,680)</td><td>99.8%</td>")


@pytest.mark.parametrize(
    ("asked", "writings", "match"),
    [
        ("$99.8 billion", ["99,803"], "in the table's unit"),
        ("99,803 million", ["99,803"], "in the table's unit"),
        ("99803000000", ["99,803"], "in the table's unit"),  # as a reference has it
        ("-94,680,000,000", ["(94,680)"], "in the table's unit"),
        ("99800000000", [], ""),
        ("99.9 billion", [], ""),
        ("95 billion", [], ""),  # two digits are no rounding of anything
        ("94.7 billion", ["(94,680)"], "other sign"),
        ("99.8", ["99.8%"], "same writing"),
    ],
)
def test_a_unit_that_is_asked_for_is_that_of_a_table_whose_page_states_one(
    asked: str, writings: list[str], match: str
) -> None:
    found = places(asked, "(In millions, except per-share amounts)", NET_INCOME, "Page 99,803")
    assert [one.writing for one in found] == writings
    assert {one.match for one in found} == ({match} if match else set())


def test_a_unit_is_that_of_its_page_alone() -> None:
    pages = ["In millions", NET_INCOME], ["No unit here", NET_INCOME], [table("<td>In thousands</td><td>5,111</td>")]
    lines = [TextLine(text, Origin(1, "text", "acme", n), "") for n, page in enumerate(pages, 1) for text in page]
    assert [(one.page, one.writing) for one in locate(lines, "99.8 billion")] == [(1, "99,803")]
    assert [(one.page, one.writing) for one in locate(lines, "5.11 million")] == [(3, "5,111")]


@pytest.mark.parametrize("asked", ["1.234.567", "3,45", "12,4 %", "net income", ""])
def test_another_writing_of_numbers_is_refused_with_the_one_that_is_read(asked: str) -> None:
    with pytest.raises(UsageError, match=r'is no number\. Ask for one number in English writing, like "99,803"'):
        places(asked, INCOME)
