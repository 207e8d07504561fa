"""Tables over a page break: one table, one header, and every number on the page where it is printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import (
    BALANCE_SHEET,
    PROSE,
    SHARED,
    ReadTable,
    filing_pages,
    needs_shared,
    save_pdf,
    statement,
    tables_in,
)
from contexts_room import Room

from deepchart_dagster.benchmark.model import ContextVariant, Domain, Query, Split
from deepchart_dagster.contexts.joined import joined
from deepchart_dagster.contexts.loaded import read_context
from deepchart_dagster.contexts.locate import lines_of_document, locate
from deepchart_dagster.contexts.provenance import read_origins
from deepchart_dagster.contexts.reading import PdfReader

pytestmark = pytest.mark.slow

Texts = list[tuple[float, float, str]]

# The font of the drawings has no curly apostrophe.
ROWS = [(label.replace("’", "'"), values) for label, values in BALANCE_SHEET]
ASSETS = [*ROWS[:4], *((f"Other asset {at}", (f"{at}11", f"{at}12")) for at in range(1, 8))]
CLAIMS = [*ROWS[4:], *((f"Other claim {at}", (f"{at}21", f"{at}22")) for at in range(1, 8))]
TITLE = "CONSOLIDATED BALANCE SHEETS"


def in_two(second: Texts) -> list[Texts]:
    """A filing whose balance sheet begins on page 4 and goes on with ``second`` on page 5."""
    pages = filing_pages(2022)
    pages[3:4] = [[*statement(TITLE, (2022, 2021), ASSETS), (290.0, 800.0, "31")], [*second, (290.0, 800.0, "32")]]
    return pages


def without_header(texts: Texts) -> Texts:
    return [text for text in texts if text[2] not in ("2022", "2021")]


def only_rows(texts: Texts) -> Texts:
    return [text for text in without_header(texts) if text[2] not in (TITLE, "(In millions)")]


def balance_sheets(room: Room, tmp_path: Path, second: Texts) -> list[ReadTable]:
    room.read(save_pdf(tmp_path / "acme.pdf", *in_two(second)))
    return [
        table
        for line in room.context("acme").lines
        if line.kind == "table" and line.page in (4, 5)
        for table in tables_in(line.text)
    ]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(statement(f"{TITLE} (Continued)", (2022, 2021), CLAIMS), id="header repeated"),
        pytest.param(without_header(statement(f"{TITLE} - continued", (2022, 2021), CLAIMS)), id="title repeated"),
        pytest.param(only_rows(statement(TITLE, (2022, 2021), CLAIMS)), id="rows only"),
    ],
)
def test_a_statement_over_two_pages_is_one_table_with_one_header(room: Room, tmp_path: Path, second: Texts) -> None:
    (table,) = balance_sheets(room, tmp_path, second)
    assert table.columns == ("", "2022", "2021")
    assert [row[0] for row in table.rows] == [label for label, _ in (*ASSETS, *CLAIMS)]
    assert table.value("Total assets", "2021") == "$450"
    assert table.value("Other claim 3", "2022") == "321"
    summary = room.context("acme").summary
    assert summary.statements["balance_sheet"] == (4, 5)
    assert summary.statement_years["balance_sheet"] == (2022, 2021)
    assert summary.unit == "millions"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(statement("SCHEDULE OF CLAIMS", (2022, 2021), CLAIMS), id="another title"),
        pytest.param(statement(TITLE, (2020, 2019), CLAIMS), id="other years"),
        pytest.param(
            statement(TITLE, (2022, 2021, 2020), [(label, (*values, "7")) for label, values in CLAIMS]),
            id="another column",
        ),
        pytest.param([(50.0, 40.0, PROSE), *only_rows(statement(TITLE, (2022, 2021), CLAIMS))], id="prose in between"),
        pytest.param(
            [(x - 60 if x > 300 else x, y, text) for x, y, text in only_rows(statement(TITLE, (2022, 2021), CLAIMS))],
            id="columns elsewhere",
        ),
    ],
)
def test_what_is_another_table_stays_one(room: Room, tmp_path: Path, second: Texts) -> None:
    first, other = balance_sheets(room, tmp_path, second)
    assert [row[0] for row in first.rows] == [label for label, _ in ASSETS]
    assert [row[0] for row in other.rows] == [label for label, _ in CLAIMS]


def test_a_table_over_three_pages_is_one(room: Room, tmp_path: Path) -> None:
    parts = [
        [*statement(f"LIST OF SITES{'' if part == 0 else ' (continued)'}", (2022, 2021), rows_of(part)), footer(part)]
        for part in range(3)
    ]
    room.read(save_pdf(tmp_path / "sites.pdf", *parts), Domain.ECOSYSTEM)
    (line,) = [line for line in room.context("sites").lines if line.kind == "table"]
    (table,) = tables_in(line.text)
    assert [row[0] for row in table.rows] == [label for part in range(3) for label, _ in rows_of(part)]
    assert {number.page for number in line.numbers} == {1, 2, 3}
    pages = room.context("sites").pages
    assert [page.markdown.count("<table>") for page in pages] == [1, 1, 1], "each page as it was read"


def rows_of(part: int) -> list[tuple[str, Sequence[str]]]:
    return [(f"Site {part}{at}", (f"{part}{at}5", f"{part}{at}6")) for at in range(1, 9)]


def footer(part: int) -> tuple[float, float, str]:
    return (260.0, 800.0, f"Acme | 2022 Report | {part + 11}")


def test_every_number_of_a_joined_table_is_on_the_page_where_it_is_printed(room: Room, tmp_path: Path) -> None:
    balance_sheets(room, tmp_path, statement(f"{TITLE} (Continued)", (2022, 2021), CLAIMS))
    (place,) = locate(lines_of_document(room.context("acme")), "321")
    assert (place.page, place.row) == (5, "Other claim 3 | 321 | 322")
    (line,) = [line for line in room.context("acme").lines if line.kind == "table" and line.page == 4]
    with pymupdf.open(room.documents.pdf("acme")) as pdf:
        for number in line.numbers:
            assert number.page
            assert number.box
            assert number.text in pdf[number.page - 1].get_textbox(pymupdf.Rect(number.box))
    rows = [
        json.loads(row)
        for row in (room.store.folder("ocr_contexts", (), "acme") / "lines.jsonl").read_text().splitlines()
    ]
    pages = {number.get("page") for row in rows if row["kind"] == "table" for number in row["numbers"]}
    assert pages == {None, 5}, "only a number on another page than its line says so"


def test_a_context_shows_a_joined_statement_once_and_whole(room: Room, tmp_path: Path) -> None:
    balance_sheets(room, tmp_path, statement(f"{TITLE} (Continued)", (2022, 2021), CLAIMS))
    asked = Query.model_validate(
        {
            "uid": "q",
            "benchmark": "b",
            "domain": "finance",
            "chart_purpose": "A chart",
            "variants": [ContextVariant.NORMAL],
            "document_ids": ["acme"],
            "evidence_hint": {"statements": ["balance_sheet"]},
        }
    )
    room.library.add("b", [asked], tmp_path)
    room.variants.run(Split.FINANCE_NORMAL)
    folder = room.store.folder("context_variants", (Split.FINANCE_NORMAL.value,), "q")
    (file,) = read_context(folder).files
    (table,) = tables_in((folder / file.path).read_text())
    assert [row[0] for row in table.rows] == [label for label, _ in (*ASSETS, *CLAIMS)]
    assert file.provenance
    pages = [number.page for origin in read_origins(folder / file.provenance) for number in origin.numbers]
    assert {4, 5} <= set(pages)


@needs_shared
def test_a_filings_exhibits_over_three_pages_are_one_table_with_whole_rows() -> None:
    readings = PdfReader(SHARED / "pdfs" / "10k_apple_2022.pdf", "text-layer").read([58, 59, 60])
    first, second, third = joined(readings)
    (exhibits,) = [
        line for line in (*first, *second, *third) if line.is_table and "Exhibit Description" in line.markdown
    ]
    assert exhibits in first
    assert exhibits.markdown.count("Exhibit Description") == 1
    assert {number.page for number in exhibits.numbers} == {None, 59, 60}
    labels = [row[0] for row in tables_in(exhibits.markdown)[0].rows]
    assert labels[:4] == ["3.1", "3.2", "4.1**", "4.2"]
    assert labels[-2:] == ["101**", "104**"]
    assert "" not in labels
