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

pytestmark = pytest.mark.slow

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


def test_parent_only_statements_stand_in_for_none_of_the_group(tmp_path: Path) -> None:
    """A filing whose own balance sheet could not be read: not found is right, the parent's is another one."""
    parent: Texts = [(50.0, 46.0, "Condensed financial information of the registrant")]
    pages = [page for at, page in enumerate(filing_pages(2022), start=1) if (at,) != THREE["balance_sheet"]]
    pages.append(parent + statement("BALANCE SHEETS", (2022, 2021), BALANCE_SHEET))
    assert found_in(tmp_path, pages).pages["balance_sheet"] == ()


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


def replaced(pages: list[Texts], old: str, new: str) -> list[Texts]:
    return [[(x, y, new if text == old else text) for x, y, text in page] for page in pages]


THREE = {"balance_sheet": (4,), "income_statement": (3,), "cash_flow": (5,)}


@pytest.mark.parametrize(
    ("balance", "income", "cash"),
    [
        ("Consolidated Balance Shee t", "Consolidated State ments of Income", "Consolidated Statements of Cash Flo ws"),
        (
            "STATEMENTS OF FINANCIAL POSITION",
            "STATEMENTS OF CONSOLIDATED INCOME",
            "CONSOLIDATED CASH FLOWS STATEMENTS",
        ),
        ("Consolidated Statement of Financial Condition", "Consolidated Earnings Statement", "Cash Flow Statement"),
        ("CONSOLIDATED BALANCE SHEETS", "CONSOLIDATED STATEMENTS OF (LOSS) INCOME", "STATEMENT OF CASH FLOWS"),
        ("Group balance sheet", "Consolidated Profit and Loss Statement", "Statements of Consolidated Cash Flow"),
    ],
)
def test_titles_vary_and_may_be_cut_in_mid_word(tmp_path: Path, balance: str, income: str, cash: str) -> None:
    pages = filing_pages(2022, income=income)
    pages = replaced(pages, "CONSOLIDATED BALANCE SHEETS", balance)
    pages = replaced(pages, "CONSOLIDATED STATEMENTS OF CASH FLOWS", cash)
    found = found_in(tmp_path, pages)
    assert found.pages == THREE
    assert found.years["balance_sheet"] == (2022, 2021)


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ("(In thousands, except per share data)", "thousands"),
        ("(Dollars in millions, except per share amounts)", "millions"),
        ("(Amounts in thousands of U.S. dollars)", "thousands"),
        ("(in billions)", "billions"),
        ("(In millions of dollars)", "millions"),
        ("(In millions, except number of shares, which are reflected in thousands)", "millions"),
        ("($ in millions)", "millions"),
        ("(Thousands of dollars)", "thousands"),
        ("Millions of U.S. dollars", "millions"),
        ("($000s omitted)", "thousands"),
        ("(In dollars)", None),
    ],
)
def test_the_unit_is_that_of_the_statements_header(tmp_path: Path, written: str, unit: str | None) -> None:
    assert found_in(tmp_path, replaced(filing_pages(2022), "(In millions)", written)).unit == unit


def test_restated_statements_are_passed_over(tmp_path: Path) -> None:
    pages = filing_pages(2022)
    pages += [
        [(220.0, 46.0, "As restated"), *page]
        for page in (
            statement("CONSOLIDATED BALANCE SHEETS", (2021, 2020), BALANCE_SHEET),
            statement("CONSOLIDATED STATEMENTS OF OPERATIONS", (2021, 2020, 2019), INCOME_STATEMENT),
            statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", (2021, 2020, 2019), CASH_FLOW),
        )
    ]
    found = found_in(tmp_path, pages)
    assert found.pages == THREE
    assert found.fiscal_years == (2022, 2021, 2020)


def test_restated_and_parent_only_statements_that_come_first_are_passed_over(tmp_path: Path) -> None:
    group = filing_pages(2022)
    ahead = [
        [(170.0, 46.0, "Condensed financial information of the registrant"), *page]
        for page in (
            statement("BALANCE SHEETS", (2022, 2021), BALANCE_SHEET),
            statement("STATEMENTS OF OPERATIONS", (2022, 2021, 2020), INCOME_STATEMENT),
            statement("STATEMENTS OF CASH FLOWS", (2022, 2021, 2020), CASH_FLOW),
        )
    ]
    prose: Texts = [(50.0, 60.0 + 14 * at, PROSE) for at in range(30)]
    found = found_in(tmp_path, [*ahead, prose, prose, *group])
    assert found.pages == {name: (page + 5,) for name, (page,) in THREE.items()}


def test_notes_and_an_index_with_numbers_that_quote_the_titles_are_no_statements(tmp_path: Path) -> None:
    rows = [(f"Consolidated Balance Sheets, total assets, item {at}", (f"{at}01", f"{at}02")) for at in range(1, 12)]
    index = statement("INDEX TO CONSOLIDATED FINANCIAL STATEMENTS AND BALANCE SHEETS", (2022, 2021), rows)
    note = statement("Note 12 - Supplement to the Consolidated Statements of Cash Flows", (2022, 2021), CASH_FLOW[:4])
    pages = filing_pages(2022)
    found = found_in(tmp_path, [index, *pages, note])
    assert found.pages == {name: (page + 1,) for name, (page,) in THREE.items()}


@pytest.mark.parametrize("title", ["CONSOLIDATED STATEMENTS OF CASH FLOWS (Continued)", None])
def test_a_cash_flow_statement_over_two_pages_has_both_and_its_years(tmp_path: Path, title: str | None) -> None:
    more = [(f"Other change {at}", (f"{at}1", f"({at}2)", f"{at}3")) for at in range(1, 8)]
    first = statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", (2022, 2021, 2020), [*CASH_FLOW[:3], *more])
    second = statement(title or "", (2022, 2021, 2020), [*CASH_FLOW[3:], *more])
    if title is None:
        second = [text for text in second if text[2] not in ("", "(In millions)", "2022", "2021", "2020")]
    pages = filing_pages(2022)
    pages[4:5] = [first, second]
    found = found_in(tmp_path, pages)
    assert found.pages == {**THREE, "cash_flow": (5, 6)}
    assert found.years["cash_flow"] == (2022, 2021, 2020)


def test_a_balance_sheet_over_three_pages_has_all(tmp_path: Path) -> None:
    more = [(f"Other item {at}", (f"{at}1", f"{at}2")) for at in range(1, 10)]
    parts = [[*BALANCE_SHEET[:4], *more], [*BALANCE_SHEET[4:7], *more], [*BALANCE_SHEET[7:], *more]]
    pages = filing_pages(2022)
    pages[3:4] = [statement("CONSOLIDATED BALANCE SHEETS", (2022, 2021), part) for part in parts]
    found = found_in(tmp_path, pages)
    assert found.pages == {"balance_sheet": (4, 5, 6), "income_statement": (3,), "cash_flow": (7,)}


def test_years_in_a_unit_or_a_date_of_adoption_are_no_fiscal_years(tmp_path: Path) -> None:
    pages = filing_pages(2022)
    pages[3].append((50.0, 74.0, "Adopted in 2015"))
    assert found_in(tmp_path, pages).years["balance_sheet"] == (2022, 2021)
