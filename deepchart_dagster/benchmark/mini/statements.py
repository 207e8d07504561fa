"""The lines of the three statements, and how amounts are printed. Columns go from the latest year back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.companies.books import Position, Year
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.typeset import Row, Style

Values = tuple[int | float, ...]


@dataclass(frozen=True)
class Line:
    """One line of a statement: a label alone, or with a value for each column."""

    label: str
    values: Values = ()
    style: Style = "normal"
    dollar: bool = False
    indent: float = 8.0


def income_lines(company: Company, fiscal_year: int) -> list[Line]:
    years, outcome = flow_years(company, fiscal_year), company.outcome
    shares = [company.shares_outstanding[fiscal_year - back] for back in range(len(years))]
    per_share = tuple(round(y.net_income / n, 2) for y, n in zip(years, shares, strict=True))

    def each(value: Callable[[Year], int]) -> Values:
        return tuple(map(value, years))

    return [
        Line(company.revenue_label, each(lambda y: y.decisions.revenue), dollar=True, indent=0),
        Line("Cost of sales", each(lambda y: y.decisions.cost_of_sales), indent=0),
        Line("Gross profit", each(lambda y: y.gross_profit), "total", indent=0),
        Line("Operating expenses:", style="heading", indent=0),
        Line("Research and development", each(lambda y: y.decisions.research)),
        Line("Selling, general and administrative", each(lambda y: y.decisions.selling)),
        Line("Amortization of intangible assets", each(lambda y: y.decisions.amortization)),
        Line("Total operating expenses", each(lambda y: y.operating_expenses), "total"),
        Line(f"Operating {outcome}", each(lambda y: y.operating_income), indent=0),
        Line("Interest expense, net", each(lambda y: -y.decisions.interest), indent=0),
        Line(f"{outcome.title()} before income taxes", each(lambda y: y.pretax_income), "total", indent=0),
        Line("Provision for income taxes", each(lambda y: y.decisions.tax), indent=0),
        Line(f"Net {outcome}", each(lambda y: y.net_income), "grand_total", dollar=True, indent=0),
        Line(f"{_per_share(company)} per share, basic", per_share, dollar=True, indent=0),
        Line("Weighted average shares outstanding", tuple(shares), indent=0),
    ]


def balance_lines(company: Company, fiscal_year: int) -> list[Line]:
    """The ends of two fiscal years."""
    ends = [company.years[fiscal_year - back].after for back in range(2)]
    earned = "Accumulated deficit" if company.outcome == "loss" else "Retained earnings"

    def each(value: Callable[[Position], int]) -> Values:
        return tuple(map(value, ends))

    return [
        Line("ASSETS", style="heading", indent=0),
        Line("Current assets:", indent=0),
        Line("Cash and cash equivalents", each(lambda end: end.cash), dollar=True),
        *_unless_nil([Line("Marketable securities", each(lambda end: end.securities))]),
        Line("Accounts receivable, net", each(lambda end: end.receivables)),
        Line("Inventories", each(lambda end: end.inventories)),
        Line("Other current assets", each(lambda end: end.other_current)),
        Line("Total current assets", each(lambda end: end.current_assets), "total"),
        Line("Property, plant and equipment, net", each(lambda end: end.plant), indent=0),
        Line("Goodwill and intangible assets, net", each(lambda end: end.intangibles), indent=0),
        Line("Total assets", each(lambda end: end.total_assets), "grand_total", dollar=True, indent=0),
        Line("LIABILITIES AND SHAREHOLDERS’ EQUITY", style="heading", indent=0),
        Line("Current liabilities:", indent=0),
        Line("Accounts payable", each(lambda end: end.payables), dollar=True),
        Line("Accrued liabilities", each(lambda end: end.accrued)),
        Line("Current portion of long-term debt", each(lambda end: end.current_debt)),
        Line("Total current liabilities", each(lambda end: end.current_liabilities), "total"),
        Line("Long-term debt", each(lambda end: end.long_term_debt), indent=0),
        Line("Total liabilities", each(lambda end: end.total_liabilities), "total", indent=0),
        Line("Shareholders’ equity:", indent=0),
        Line("Common stock and additional paid-in capital", each(lambda end: end.paid_in_capital)),
        Line(earned, each(lambda end: end.retained_earnings)),
        Line("Total shareholders’ equity", each(lambda end: end.equity), "total", indent=0),
        Line(
            "Total liabilities and shareholders’ equity",
            each(lambda end: end.total_liabilities + end.equity),
            "grand_total",
            dollar=True,
            indent=0,
        ),
    ]


def cash_flow_lines(company: Company, fiscal_year: int) -> list[Line]:
    years = flow_years(company, fiscal_year)
    flows = [year.working_capital_flows for year in years]
    operating = "used in" if company.outcome == "loss" else "provided by"
    investing = "used in" if all(year.investing_cash <= 0 for year in years) else "provided by (used in)"

    def each(value: Callable[[Year], int]) -> Values:
        return tuple(map(value, years))

    invested = [
        Line("Capital expenditures", each(lambda y: -y.decisions.capital_spending)),
        Line("Marketable securities bought, net of those sold", each(lambda y: -y.securities_bought)),
        Line("Acquisitions, net of cash acquired", each(lambda y: -y.decisions.acquisitions)),
    ]
    financed = [
        Line("Proceeds from issuance of debt", each(lambda y: y.decisions.debt_issued)),
        Line("Repayments of debt", each(lambda y: -y.decisions.debt_repaid)),
        Line("Proceeds from issuance of common stock", each(lambda y: y.decisions.shares_issued)),
        Line("Dividends paid", each(lambda y: -y.decisions.dividends)),
        Line("Repurchases of common stock", each(lambda y: -y.decisions.repurchases)),
    ]
    return [
        Line("Operating activities:", style="heading", indent=0),
        Line(f"Net {company.outcome}", each(lambda y: y.net_income), dollar=True),
        Line("Depreciation", each(lambda y: y.decisions.depreciation)),
        Line("Amortization of intangible assets", each(lambda y: y.decisions.amortization)),
        Line("Stock-based compensation", each(lambda y: y.decisions.stock_compensation)),
        *(Line(label, tuple(flow[label] for flow in flows), indent=16) for label in flows[0]),
        Line(f"Net cash {operating} operating activities", each(lambda y: y.operating_cash), "total"),
        Line("Investing activities:", style="heading", indent=0),
        *_unless_nil(invested),
        Line(f"Net cash {investing} investing activities", each(lambda y: y.investing_cash), "total"),
        Line("Financing activities:", style="heading", indent=0),
        *_unless_nil(financed),
        Line("Net cash provided by (used in) financing activities", each(lambda y: y.financing_cash), "total"),
        Line("Net change in cash and cash equivalents", each(lambda y: y.change_in_cash), indent=0),
        Line("Cash and cash equivalents, beginning of year", each(lambda y: y.before.cash), indent=0),
        Line(
            "Cash and cash equivalents, end of year",
            each(lambda y: y.after.cash),
            "grand_total",
            dollar=True,
            indent=0,
        ),
    ]


def flow_years(company: Company, fiscal_year: int) -> list[Year]:
    """The years that the statements of income and cash flows of a filing show, the latest first."""
    return [company.years[fiscal_year - back] for back in range(company.flow_years)]


def _per_share(company: Company) -> str:
    return "Loss" if company.outcome == "loss" else "Earnings"


def _unless_nil(lines: Iterable[Line]) -> Iterable[Line]:
    """A statement has no line for what did not happen in any of its years."""
    return (line for line in lines if any(line.values))


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
