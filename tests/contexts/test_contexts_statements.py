"""Finding the three statements jointly, on filings drawn for the purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from contexts_drawing import (
    BALANCE_SHEET,
    CASH_FLOW,
    INCOME_STATEMENT,
    PROSE,
    filing_pages,
    save_pdf,
    statement,
)

from deepchart_dagster.contexts.reading import PdfReader
from deepchart_dagster.contexts.statements import Statements, find_statements

Texts = list[tuple[float, float, str]]


def found_in(tmp_path: Path, pages: list[Texts]) -> Statements:
    pdf = save_pdf(tmp_path / "filing.pdf", *pages)
    return find_statements(PdfReader(pdf=pdf, engine="text-layer").read(range(1, len(pages) + 1)))


def test_the_three_statements_and_not_the_index_that_quotes_them(tmp_path: Path) -> None:
    found = found_in(tmp_path, filing_pages(2022))
    assert found.pages == {"balance_sheet": (4,), "income_statement": (3,), "cash_flow": (5,)}
    assert found.years == {
        "balance_sheet": (2022, 2021),
        "income_statement": (2022, 2021, 2020),
        "cash_flow": (2022, 2021, 2020),
    }
    assert (found.fiscal_years, found.unit) == ((2022, 2021, 2020), "millions")


@pytest.mark.parametrize(
    "title",
    [
        "CONSOLIDATED STATEMENTS OF INCOME",
        "Statements of Consolidated Earnings",
        "Income Statements",
        "CONSOLIDATED STATEMENTS OF OPERATIONS AND COMPREHENSIVE LOSS",
        "CONSOLIDATED STATEMENTS\u00a0OF\u00a0EARNINGS",
        "Consolidated Sta tements of Inc ome",
    ],
)
def test_names_of_the_income_statement_vary(tmp_path: Path, title: str) -> None:
    assert found_in(tmp_path, filing_pages(2022, income=title)).pages["income_statement"] == (3,)


def test_parent_only_statements_at_the_end_are_passed_over(tmp_path: Path) -> None:
    parent: Texts = [(50.0, 46.0, "Parent company only")]
    pages = filing_pages(2022)
    pages += [[(50.0, 60.0 + 14 * at, PROSE) for at in range(30)]] * 2
    pages += [
        parent + statement("BALANCE SHEETS", (2022, 2021), BALANCE_SHEET),
        parent + statement("STATEMENTS OF OPERATIONS", (2022, 2021, 2020), INCOME_STATEMENT),
        parent + statement("STATEMENTS OF CASH FLOWS", (2022, 2021, 2020), CASH_FLOW),
    ]
    assert found_in(tmp_path, pages).pages == {"balance_sheet": (4,), "income_statement": (3,), "cash_flow": (5,)}


def test_a_balance_sheet_over_two_pages_has_both(tmp_path: Path) -> None:
    more = [(f"Other asset {letter}", (f"{n}1", f"{n}2")) for n, letter in enumerate("ABCDEFGH", start=1)]
    assets = statement("CONSOLIDATED BALANCE SHEETS", (2022, 2021), [*BALANCE_SHEET[:4], *more])
    liabilities = statement("CONSOLIDATED BALANCE SHEETS (continued)", (2022, 2021), [*BALANCE_SHEET[4:], *more])
    pages = filing_pages(2022)
    pages[3:4] = [assets, liabilities]
    found = found_in(tmp_path, pages)
    assert found.pages == {"balance_sheet": (4, 5), "income_statement": (3,), "cash_flow": (6,)}


def test_a_document_without_statements_has_none(tmp_path: Path) -> None:
    found = found_in(tmp_path, [[(50.0, 60.0 + 14 * at, PROSE) for at in range(20)]])
    assert found.pages == {"balance_sheet": (), "income_statement": (), "cash_flow": ()}
    assert (found.fiscal_years, found.unit) == ((), None)
