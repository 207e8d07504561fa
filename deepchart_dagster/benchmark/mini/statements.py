"""The lines of the three statements, and how amounts are printed. Columns go from the latest year back."""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.typeset import Row, Style


@dataclass(frozen=True)
class Line:
    """One line of a statement: a label alone, or with a value for each column."""

    label: str
    values: tuple[int | float, ...] = ()
    style: Style = "normal"
    dollar: bool = False
    indent: float = 8.0


def income_lines(company: Company, fiscal_year: int) -> list[Line]:
    """Three fiscal years."""
    years = [company.years[fiscal_year - back] for back in range(3)]
    shares = [company.shares_outstanding[fiscal_year - back] for back in range(3)]
    per_share = tuple(round(y.net_income / n, 2) for y, n in zip(years, shares, strict=True))
    return [
        Line(company.revenue_label, tuple(y.decisions.revenue for y in years), dollar=True, indent=0),
        Line("Cost of sales", tuple(y.decisions.cost_of_sales for y in years), indent=0),
        Line("Gross profit", tuple(y.gross_profit for y in years), "total", indent=0),
        Line("Operating expenses:", style="heading", indent=0),
        Line("Research and development", tuple(y.decisions.research for y in years)),
        Line("Selling, general and administrative", tuple(y.decisions.selling for y in years)),
        Line("Amortization of intangible assets", tuple(y.decisions.amortization for y in years)),
        Line("Total operating expenses", tuple(y.operating_expenses for y in years), "total"),
        Line("Operating income", tuple(y.operating_income for y in years), indent=0),
        Line("Interest expense, net", tuple(-y.decisions.interest for y in years), indent=0),
        Line("Income before income taxes", tuple(y.pretax_income for y in years), "total", indent=0),
        Line("Provision for income taxes", tuple(y.decisions.tax for y in years), indent=0),
        Line("Net income", tuple(y.net_income for y in years), "grand_total", dollar=True, indent=0),
        Line("Earnings per share, basic", per_share, dollar=True, indent=0),
        Line("Weighted average shares outstanding", tuple(shares), indent=0),
    ]


def balance_lines(company: Company, fiscal_year: int) -> list[Line]:
    """The ends of two fiscal years."""
    ends = [company.years[fiscal_year - back].after for back in range(2)]
    return [
        Line("ASSETS", style="heading", indent=0),
        Line("Current assets:", indent=0),
        Line("Cash and cash equivalents", tuple(end.cash for end in ends), dollar=True),
        Line("Accounts receivable, net", tuple(end.receivables for end in ends)),
        Line("Inventories", tuple(end.inventories for end in ends)),
        Line("Other current assets", tuple(end.other_current for end in ends)),
        Line("Total current assets", tuple(end.current_assets for end in ends), "total"),
        Line("Property, plant and equipment, net", tuple(end.plant for end in ends), indent=0),
        Line("Goodwill and intangible assets, net", tuple(end.intangibles for end in ends), indent=0),
        Line("Total assets", tuple(end.total_assets for end in ends), "grand_total", dollar=True, indent=0),
        Line("LIABILITIES AND SHAREHOLDERS’ EQUITY", style="heading", indent=0),
        Line("Current liabilities:", indent=0),
        Line("Accounts payable", tuple(end.payables for end in ends), dollar=True),
        Line("Accrued liabilities", tuple(end.accrued for end in ends)),
        Line("Current portion of long-term debt", tuple(end.current_debt for end in ends)),
        Line("Total current liabilities", tuple(end.current_liabilities for end in ends), "total"),
        Line("Long-term debt", tuple(end.long_term_debt for end in ends), indent=0),
        Line("Total liabilities", tuple(end.total_liabilities for end in ends), "total", indent=0),
        Line("Shareholders’ equity:", indent=0),
        Line("Common stock and additional paid-in capital", tuple(end.paid_in_capital for end in ends)),
        Line("Retained earnings", tuple(end.retained_earnings for end in ends)),
        Line("Total shareholders’ equity", tuple(end.equity for end in ends), "total", indent=0),
        Line(
            "Total liabilities and shareholders’ equity",
            tuple(end.total_liabilities + end.equity for end in ends),
            "grand_total",
            dollar=True,
            indent=0,
        ),
    ]


def cash_flow_lines(company: Company, fiscal_year: int) -> list[Line]:
    """Three fiscal years."""
    years = [company.years[fiscal_year - back] for back in range(3)]
    flows = [year.working_capital_flows for year in years]
    return [
        Line("Operating activities:", style="heading", indent=0),
        Line("Net income", tuple(y.net_income for y in years), dollar=True),
        Line("Depreciation", tuple(y.decisions.depreciation for y in years)),
        Line("Amortization of intangible assets", tuple(y.decisions.amortization for y in years)),
        Line("Stock-based compensation", tuple(y.decisions.stock_compensation for y in years)),
        *(Line(label, tuple(flow[label] for flow in flows), indent=16) for label in flows[0]),
        Line("Net cash provided by operating activities", tuple(y.operating_cash for y in years), "total"),
        Line("Investing activities:", style="heading", indent=0),
        Line("Capital expenditures", tuple(-y.decisions.capital_spending for y in years)),
        Line("Acquisitions, net of cash acquired", tuple(-y.decisions.acquisitions for y in years)),
        Line("Net cash used in investing activities", tuple(y.investing_cash for y in years), "total"),
        Line("Financing activities:", style="heading", indent=0),
        Line("Proceeds from issuance of debt", tuple(y.decisions.debt_issued for y in years)),
        Line("Repayments of debt", tuple(-y.decisions.debt_repaid for y in years)),
        Line("Dividends paid", tuple(-y.decisions.dividends for y in years)),
        Line("Repurchases of common stock", tuple(-y.decisions.repurchases for y in years)),
        Line(
            "Net cash provided by (used in) financing activities",
            tuple(y.financing_cash for y in years),
            "total",
        ),
        Line("Net change in cash and cash equivalents", tuple(y.change_in_cash for y in years), indent=0),
        Line("Cash and cash equivalents, beginning of year", tuple(y.before.cash for y in years), indent=0),
        Line(
            "Cash and cash equivalents, end of year",
            tuple(y.after.cash for y in years),
            "grand_total",
            dollar=True,
            indent=0,
        ),
    ]


def statement_row(line: Line) -> Row:
    cells: list[str | None] = [line.label]
    for value in line.values:
        cells += ["$" if line.dollar else None, _money(value)]
    return Row(tuple(cells), style=line.style, indent=line.indent)


def _money(value: int | float) -> str:
    if value == 0:
        return "—"
    shown = f"{abs(value):,}" if isinstance(value, int) else f"{abs(value):,.2f}"
    return f"({shown})" if value < 0 else shown
