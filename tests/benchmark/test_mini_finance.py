"""The filings of the mini benchmark and the queries about them: what they cover, what could be taken for evidence."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from deepchart_dagster.benchmark.mini import filing
from deepchart_dagster.benchmark.mini.catalogue import folder_of, mini_queries
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.companies.halden import HALDEN
from deepchart_dagster.benchmark.mini.companies.marrow import MARROW
from deepchart_dagster.benchmark.mini.companies.quillon import QUILLON
from deepchart_dagster.benchmark.mini.companies.tarn_valley import TARN_VALLEY
from deepchart_dagster.benchmark.mini.documents import tarn_valley_2024
from deepchart_dagster.benchmark.mini.statements import balance_lines, cash_flow_lines, income_lines
from deepchart_dagster.benchmark.model import Domain

QUERIES = {query.uid.removeprefix("mini/"): query for query in mini_queries() if query.domain is Domain.FINANCE}
COMPANIES = (HALDEN, MARROW, QUILLON, TARN_VALLEY)
DISTRACTING = (
    "As reported",  # the prior year, before it was restated
    "Quarters of fiscal",
    "Revenue by segment",
    "CONDENSED BALANCE SHEETS (PARENT COMPANY ONLY)",
    "Selected data",
)


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """Company -> the pages of its latest filing, those included that are scans in the benchmark."""
    return {company.short: [page.get_text() for page in _drawn(company)] for company in COMPANIES}


def _drawn(company: Company) -> Any:
    draw = filing.draw_brief_filing if company is TARN_VALLEY else filing.draw_filing
    return pymupdf.open(stream=draw(company, max(company.years)))


def state(name: str) -> Any:
    """What the reference program of stage 1 would write."""
    source = (folder_of(QUERIES[name]) / "stage1.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(source.split("\nPath(sys.argv[1])")[0], names)
    return names["SRC"], names["DER"]


def test_each_indicator_of_the_paper_is_asked_for(shared: Path) -> None:
    with (shared / "paper" / "tables" / "query_types.csv").open(encoding="utf-8") as stream:
        indicators = {row["query_type"] for row in csv.DictReader(stream) if row["domain"] == "finance"}
    assert len(indicators) == 16
    assert {query.indicator for query in QUERIES.values()} == indicators
    assert all(query.indicator == query.query_type for query in QUERIES.values())


def test_companies_years_and_kinds_of_charts_differ() -> None:
    companies = Counter(query.company for query in QUERIES.values())
    assert len(companies) == len(COMPANIES)
    assert min(companies.values()) >= 3
    assert len({query.years for query in QUERIES.values()}) >= 4
    assert {query.chart_family for query in QUERIES.values()} == {"Bar Chart", "Line Chart"}
    assert len({query.chart_type for query in QUERIES.values()}) >= 10


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_reference_states_formula_unit_and_source(name: str) -> None:
    about = (folder_of(QUERIES[name]) / "stage1.py").read_text(encoding="utf-8").split('"""')[1]
    unit = next(company.unit for company in COMPANIES if f" {company.short} " in f" {about} ")
    assert f"in {unit}" in " ".join(about.split())
    assert "Source: " in about
    assert "=" in about or "tests" in about


def values(company: Company) -> Iterator[float]:
    for year in company.years:
        for lines in (income_lines, balance_lines, cash_flow_lines):
            if year - company.flow_years + 1 in company.years:
                yield from (abs(value) for line in lines(company, year) for value in line.values)


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_source_values_are_those_of_the_books(name: str) -> None:
    company = next(company for company in COMPANIES if company.short.split()[0] in str(QUERIES[name].company))
    known = set(values(company))
    source, _ = state(name)
    assert {abs(value) for rows in source.values() for value in rows.values()} <= known


def test_filings_distract(texts: dict[str, list[str]]) -> None:
    for short, pages in texts.items():
        whole = "\n".join(pages)
        assert [words for words in DISTRACTING if words not in whole] == [], short
    assert "\nNote\n" in "\n".join(texts["Tarn Valley"]), "a column of references to the notes"


def test_units_differ(texts: dict[str, list[str]]) -> None:
    for company in COMPANIES:
        whole = "\n".join(texts[company.short])
        assert f"(In {company.unit}, except par value)" in whole
        other = {"thousands": "millions", "millions": "thousands"}[company.unit]
        assert not re.search(rf"\(in {other}\b", whole, re.IGNORECASE), company.short
    assert {company.unit for company in COMPANIES} == {"thousands", "millions"}


def test_statements_and_a_list_go_over_a_page_break(texts: dict[str, list[str]]) -> None:
    pages = texts["Quillon"]
    for title, first, last in (
        ("CONSOLIDATED BALANCE SHEETS", "Cash and cash equivalents", "Total liabilities"),
        ("CONSOLIDATED STATEMENTS OF CASH FLOWS", "Capital expenditures", "Cash and cash equivalents, end of year"),
    ):
        (begins,) = (at for at, text in enumerate(pages) if title in text.split("\n"))
        here, next_page = pages[begins].split("\n"), pages[begins + 1].split("\n")
        assert (first in here, last in here, last in next_page) == (True, False, True)
    sites = [at for at, text in enumerate(pages) if text.startswith("Site\n") or "\nSite\n" in text]
    assert len(sites) > 1


def test_restated_amounts_are_those_of_the_statements(texts: dict[str, list[str]]) -> None:
    year = HALDEN.years[2023]
    (page,) = (text for text in texts["Halden"] if "As reported" in text)
    reported = year.decisions.revenue + year.decisions.revenue // 240
    assert f"{year.decisions.revenue:,}" in page
    assert f"{reported:,}" in page


def test_selected_data_of_earlier_years_are_not_those_of_the_statements(texts: dict[str, list[str]]) -> None:
    (page,) = (text for text in texts["Halden"] if "Selected data (in millions)" in text)
    assert f"{HALDEN.years[2023].decisions.revenue:,}" in page
    assert f"{HALDEN.years[2021].decisions.revenue:,}" not in page


def test_every_page_of_one_filing_is_a_scan() -> None:
    pdf: Any = pymupdf.open(stream=tarn_valley_2024.draw())
    written = _drawn(TARN_VALLEY)
    assert len(pdf) == len(written) >= 40
    for page, printed in zip(pdf, written, strict=True):
        assert not page.get_text().strip()
        assert page.rect.width == pytest.approx(0.75 * printed.rect.width)
        (image,) = page.get_images()
        picture = pdf.extract_image(image[0])
        assert (picture["ext"], picture["width"]) == ("jpeg", 952)  # 8.5 inches, reduced, at 150 pixels
    titles = ("STATEMENTS OF EARNINGS", "BALANCE SHEETS", "STATEMENTS OF CASH FLOWS")
    assert [any(title in page.get_text() for page in written) for title in titles] == [True] * 3


# The derived values by hand, of one year each.


def test_dupont_return_on_capital_and_value_added_by_hand() -> None:
    # Halden 2024: net income 677, sales 4876, assets 6976, operating income 914, tax 176 of 853
    _, dupont = state("finance-halden-dupont")
    assert dupont["2024"]["Return on equity (%)"] == pytest.approx(100 * 677 / 4426)
    nopat = 914 * (1 - 176 / 853)
    _, returns = state("finance-halden-roic")
    assert returns["2024"]["NOPAT"] == pytest.approx(nopat)
    assert returns["2024"]["Invested capital"] == 4426 + 1610 - 1881  # equity, debt, cash
    _, added = state("finance-halden-eva")
    assert added["2024"]["EVA"] == pytest.approx(nopat - 0.085 * (4001 + 1460))  # equity and debt of 2023


def test_points_of_piotroski_by_hand() -> None:
    """2022: income, cash flow, and cash above income; debt, current ratio, shares; neither margin nor turnover."""
    _, scores = state("finance-halden-piotroski")
    assert scores["2022"] == {"Profitability": 3, "Leverage and liquidity": 3, "Efficiency": 0, "F-Score": 6}
    assert scores["2024"]["F-Score"] == 8


def test_marrow_by_hand() -> None:
    _, ebitda = state("finance-marrow-ebitda")
    assert ebitda["2023"]["EBITDA"] == 763 + 214 + 103 + 341 + 62
    _, quality = state("finance-marrow-income-quality")
    assert quality["2022"]["Quality of income ratio"] == pytest.approx(786 / 635)
    _, altman = state("finance-marrow-altman")
    ratios = altman["2020"]
    parts = (ratios[f"X{number}"] * weight for number, weight in enumerate((0.717, 0.847, 3.107, 0.42, 0.998), start=1))
    assert ratios["Z"] == pytest.approx(sum(parts))
    assert ratios["X5"] == pytest.approx(8954 / 7831)
    _, invested = state("finance-marrow-reinvestment")
    # 412 spent and 186 bought, less 311 and 58; working capital of 2021: 874 + 1148 + 118 - 1021 - 423
    assert invested["2021"]["Net capital expenditures"] == 412 + 186 - 311 - 58
    assert invested["2021"]["Change in working capital"] == 696 - (806 + 1017 + 109 - 964 - 402)


def test_quillon_by_hand() -> None:
    _, runway = state("finance-quillon-runway")
    assert runway["2024"]["Runway (months)"] == pytest.approx(12 * (55603 + 31425) / (45308 + 2876))
    _, left = state("finance-quillon-net-net")
    assert left["2024"]["NNWC"] == 55603 + 31425 + 0.75 * 9876 + 0.5 * 7143 - (145478 - 94890)
    _, days = state("finance-quillon-defensive-interval")
    spent = 8113 + (58726 + 27341 + 1265) - 3987 - 1265 - 10538
    assert days["2023"]["DIR (days)"] == pytest.approx(365 * (60832 + 39680 + 8392) / spent)


def test_tarn_valley_by_hand() -> None:
    _, sloan = state("finance-tarn-valley-sloan")
    assert sloan["2024"]["Sloan ratio (%)"] == pytest.approx(100 * (26168 - 64037 + 27385) / 467292)
    _, growth = state("finance-tarn-valley-sustainable-growth")
    assert growth["2024"]["SGR (%)"] == pytest.approx(100 * (26168 - 9742) / 275339)
    _, spread = state("finance-tarn-valley-earnings-quality")
    assert spread["2024"]["Spread (%)"] == pytest.approx(100 * (64037 - 26168) / ((447039 + 467292) / 2))
