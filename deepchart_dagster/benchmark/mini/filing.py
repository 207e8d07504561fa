"""An annual report (Form 10-K) of one company and fiscal year: the three statements among other pages.

Income and cash flow cover three fiscal years, the balance sheet two. Amounts are in millions of dollars and
say so in the header; ``$`` stands apart from its number and negatives stand in parentheses. Other tables
show figures that look alike: discussion, segments, quarters, notes, the parent company alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepchart_dagster.benchmark.mini import filing_text as words
from deepchart_dagster.benchmark.mini.companies.books import Year
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.statements import (
    Line,
    balance_lines,
    cash_flow_lines,
    income_lines,
    statement_row,
)
from deepchart_dagster.benchmark.mini.typeset import Column, Look, Row, Table, Typesetter

_COLUMN_WIDTH = 74.0
_QUARTERS = (22, 24, 25, 29)


def draw_filing(company: Company, fiscal_year: int) -> bytes:
    """The PDF of the report for ``fiscal_year``; needs the books of that year and the two before."""
    return _Filing(company, fiscal_year).draw()


class _Filing:
    def __init__(self, company: Company, fiscal_year: int) -> None:
        self.company = company
        self.fiscal_year = fiscal_year
        self.three = [company.years[year] for year in range(fiscal_year, fiscal_year - 3, -1)]
        self.two = self.three[:2]
        self.sheet = Typesetter(
            look=Look(),
            title=f"{company.name}: Form 10-K {fiscal_year}",
            author=company.name,
            footer=lambda page: f"{company.name} | {fiscal_year} Form 10-K | {page}" if page > 1 else "",
        )

    def draw(self) -> bytes:
        self._cover()
        self._contents()
        self._narrative()
        self._discussion()
        self._auditor()
        self._statements()
        self._equity()
        self._notes()
        self._parent_only()
        self._signatures()
        return self.sheet.pdf()

    # front matter

    def _cover(self) -> None:
        sheet, company = self.sheet, self.company
        sheet.space(60)
        sheet.line("ANNUAL REPORT ON FORM 10-K", size=17, align="center", bold=True)
        sheet.space(14)
        sheet.line(f"for the fiscal year ended {company.year_end}, {self.fiscal_year}", size=11, align="center")
        sheet.space(50)
        sheet.line(company.name, size=20, align="center", bold=True)
        sheet.space(8)
        sheet.line(f"incorporated in {company.state}; principal offices in {company.city}", align="center")
        sheet.space(60)
        shares = company.shares_outstanding[self.fiscal_year]
        sheet.paragraph(words.COVER.format(name=company.name, shares=shares, next_year=self.fiscal_year + 1))

    def _contents(self) -> None:
        self.sheet.new_page()
        self.sheet.heading("Table of contents")
        rows = tuple(Row((item, title)) for item, title in words.ITEMS)
        left = self.sheet.look.margin
        self.sheet.table(Table(columns=(Column(left), Column(left + 70)), header=(), rows=rows, size=10))
        self.sheet.paragraph(words.FORWARD_LOOKING.format(short=self.company.short))

    def _narrative(self) -> None:
        sheet, company = self.sheet, self.company
        for heading, paragraphs in (
            ("Item 1. Business", (*company.business, words.PEOPLE.format(short=company.short))),
            ("Item 1A. Risk factors", (words.RISKS, *company.risks, *words.GENERAL_RISKS)),
            ("Item 2. Properties", words.PROPERTIES),
        ):
            sheet.new_page()
            sheet.heading(heading)
            sheet.paragraphs([text.format(short=company.short) for text in paragraphs])

    def _discussion(self) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.heading("Item 7. Management's discussion and analysis")
        sheet.paragraphs(self.company.outlook)
        self._figures(
            "Selected results (in millions, except percentages)",
            self.three,
            [
                Line(self.company.revenue_label, tuple(year.decisions.revenue for year in self.three)),
                Line("Gross profit", tuple(year.gross_profit for year in self.three)),
                Line("Gross margin, percent", tuple(_percent(y.gross_profit, y.decisions.revenue) for y in self.three)),
                Line("Operating margin, percent", tuple(self._operating_margin(year) for year in self.three)),
            ],
        )
        sheet.paragraphs([text.format(short=self.company.short) for text in words.DISCUSSION])
        sheet.new_page()
        sheet.heading("Liquidity and capital resources")
        sheet.paragraphs([text.format(short=self.company.short) for text in words.LIQUIDITY])
        self._figures(
            "Sources and uses of cash (in millions)",
            self.two,
            [
                Line("Free cash flow", tuple(y.operating_cash - y.decisions.capital_spending for y in self.two)),
                Line("Debt less cash", tuple(_net_debt(year) for year in self.two)),
                Line("Unused credit lines", (750, 750)),
            ],
        )
        sheet.heading("Item 7A. Market risk", size=11)
        sheet.paragraphs(words.MARKET_RISK)

    def _operating_margin(self, year: Year) -> float:
        return _percent(year.operating_income, year.decisions.revenue)

    def _auditor(self) -> None:
        self.sheet.new_page()
        self.sheet.heading("Item 8. Financial statements and supplementary data")
        self.sheet.heading("Report of the independent auditors", size=11)
        self.sheet.paragraphs([text.format(name=self.company.name, year=self.fiscal_year) for text in words.AUDITOR])

    # the three statements

    def _statements(self) -> None:
        company, year = self.company, self.fiscal_year
        income_unit = "(In millions, except per share amounts)"
        self._statement(company.income_title, income_unit, 3, income_lines(company, year))
        balance_unit = "(In millions, except par value)"
        self._statement("CONSOLIDATED BALANCE SHEETS", balance_unit, 2, balance_lines(company, year))
        cash_flow_title = "CONSOLIDATED STATEMENTS OF CASH FLOWS"
        self._statement(cash_flow_title, "(In millions)", 3, cash_flow_lines(company, year))

    def _statement(self, title: str, unit: str, n_years: int, lines: Sequence[Line]) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.line(self.company.name, size=11, align="center", bold=True)
        sheet.line(title, size=11, align="center", bold=True)
        sheet.line(unit, align="center")
        sheet.space(8)
        span = "December 31," if n_years == 2 else f"Years ended {self.company.year_end},"
        sheet.table(self._money_table(n_years, lines, span=span))
        sheet.paragraph("The accompanying notes are an integral part of these statements.", size=8)

    def _figures(self, caption: str, years: Sequence[Year], lines: Sequence[Line]) -> None:
        self.sheet.line(caption, bold=True)
        self.sheet.table(self._money_table(len(years), lines))

    def _money_table(self, n_years: int, lines: Sequence[Line], *, span: str | None = None) -> Table:
        numbers = [str(self.fiscal_year - back) for back in range(n_years)]
        return self._table(numbers, lines, span=span)

    def _table(self, heads: Sequence[str], lines: Sequence[Line], *, span: str | None = None) -> Table:
        left, right = self.sheet.look.margin, self.sheet.right - 6
        edges = [right - _COLUMN_WIDTH * (len(heads) - 1 - index) for index in range(len(heads))]
        columns = [Column(left)]
        for edge in edges:  # a narrow column for the dollar sign, then the number
            columns += [Column(edge - 44), Column(edge, "right")]
        header = [Row((None, *_spread(heads)))]
        if span:
            middle = Column((edges[0] + edges[-1]) / 2 - 12, "center")
            columns.append(middle)
            header.insert(0, Row((*[None] * (len(columns) - 1), span)))
        rows = tuple(statement_row(line) for line in lines)
        return Table(columns=tuple(columns), header=tuple(header), rows=rows)

    # notes and schedules

    def _equity(self) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.heading("Consolidated statements of shareholders’ equity (in millions)", size=11)
        for back, year in enumerate(self.three):
            number = self.fiscal_year - back
            lines = [
                Line(f"Balance, beginning of {number}", (year.before.paid_in_capital, year.before.retained_earnings)),
                Line("Net income", (0, year.net_income)),
                Line("Dividends declared", (0, -year.decisions.dividends)),
                Line("Stock-based compensation", (year.decisions.stock_compensation, 0)),
                Line("Shares repurchased", (-year.decisions.repurchases, 0)),
                Line(f"Balance, end of {number}", (year.after.paid_in_capital, year.after.retained_earnings), "total"),
            ]
            sheet.table(self._table(("Paid-in capital", "Retained"), lines))

    def _notes(self) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.heading("Notes to consolidated financial statements")
        sheet.heading("1. Accounting policies", size=11)
        sheet.paragraphs([text.format(short=self.company.short) for text in words.POLICIES])
        self._note("2. Revenue by region (in millions)", words.REGIONS, self.three, self._shares_of_revenue("region"))
        self._note("3. Inventories (in millions)", words.INVENTORIES, self.two, self._inventory_lines(), new_page=False)
        self._note("4. Property (in millions)", words.PROPERTY, self.two, self._property_lines())
        self._note("5. Debt (in millions)", words.DEBT, self.two, self._debt_lines(), new_page=False)
        self._note("6. Income taxes (in millions)", words.TAXES, self.three, self._tax_lines())
        self._note("7. Segments (in millions)", words.SEGMENTS, self.three, self._segment_lines())
        self._quarters()

    def _note(
        self, heading: str, text: str, years: Sequence[Year], lines: Sequence[Line], *, new_page: bool = True
    ) -> None:
        if new_page:
            self.sheet.new_page()
        self.sheet.heading(heading, size=11)
        self.sheet.paragraph(text.format(short=self.company.short))
        self.sheet.table(self._money_table(len(years), lines))

    def _shares_of_revenue(self, by: str) -> list[Line]:
        shares = self.company.region_shares if by == "region" else self.company.segment_shares
        columns = [_split(year.decisions.revenue, tuple(shares.values())) for year in self.three]
        lines = [Line(name, tuple(column[i] for column in columns)) for i, name in enumerate(shares)]
        return [*lines, Line("Total", tuple(year.decisions.revenue for year in self.three), "total", dollar=True)]

    def _inventory_lines(self) -> list[Line]:
        columns = [_split(year.after.inventories, self.company.inventory_note) for year in self.two]
        return [
            Line("Finished goods", tuple(column[0] for column in columns)),
            Line("Raw materials and supplies", tuple(column[1] for column in columns)),
            Line("Inventories before reserve", tuple(sum(column) for column in columns), "total"),
        ]

    def _property_lines(self) -> list[Line]:
        gross = [_split(year.after.plant * 2, (11, 34, 55)) for year in self.two]
        return [
            Line("Land", tuple(column[0] for column in gross)),
            Line("Buildings", tuple(column[1] for column in gross)),
            Line("Machinery and equipment", tuple(column[2] for column in gross)),
            Line("Less accumulated depreciation", tuple(-year.after.plant for year in self.two)),
            Line("Net", tuple(year.after.plant for year in self.two), "total", dollar=True),
        ]

    def _debt_lines(self) -> list[Line]:
        totals = [year.after.current_debt + year.after.long_term_debt for year in self.two]
        columns = [_split(total, (45, 35, 20)) for total in totals]
        labels = ("Senior notes, 3.15%", "Senior notes, 4.40%", "Term loan, variable rate")
        lines = [Line(label, tuple(column[i] for column in columns)) for i, label in enumerate(labels)]
        return [*lines, Line("Total debt", tuple(totals), "total", dollar=True)]

    def _tax_lines(self) -> list[Line]:
        columns = [_split(year.decisions.tax, (74, 17, 9)) for year in self.three]
        labels = ("Federal", "State", "Foreign")
        lines = [Line(label, tuple(column[i] for column in columns)) for i, label in enumerate(labels)]
        return [*lines, Line("Income tax provision", tuple(y.decisions.tax for y in self.three), "total", dollar=True)]

    def _segment_lines(self) -> list[Line]:
        shares = tuple(self.company.segment_shares.values())
        profit = [_split(year.operating_income + 96, shares) for year in self.three]
        lines = [Line("Segment revenue:", style="heading", indent=0), *self._shares_of_revenue("segment")]
        lines.append(Line("Segment operating income:", style="heading", indent=0))
        names = self.company.segment_shares
        lines += [Line(name, tuple(column[i] for column in profit)) for i, name in enumerate(names)]
        lines.append(Line("Corporate costs", (-96, -96, -96)))
        total = tuple(year.operating_income for year in self.three)
        return [*lines, Line("Consolidated operating income", total, "total", dollar=True)]

    def _quarters(self) -> None:
        year = self.three[0]
        self.sheet.heading("8. Quarterly information, unaudited (in millions)", size=11)
        self.sheet.paragraph(words.QUARTERS)
        lines = [
            Line(self.company.revenue_label, tuple(_split(year.decisions.revenue, _QUARTERS))),
            Line("Gross profit", tuple(_split(year.gross_profit, _QUARTERS))),
            Line("Net income", tuple(_split(year.net_income, _QUARTERS)), "total", dollar=True),
        ]
        self.sheet.table(self._table(("First", "Second", "Third", "Fourth"), lines))

    def _parent_only(self) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.heading("Schedule I. Condensed financial information of the parent company", size=11)
        sheet.paragraph(words.PARENT.format(short=self.company.short))
        sheet.line("CONDENSED BALANCE SHEETS (PARENT COMPANY ONLY)", bold=True)
        sheet.line("(In millions)")
        ends = [year.after for year in self.two]
        cash = [end.cash // 4 for end in ends]
        debt = [end.long_term_debt for end in ends]
        holdings = [end.equity + owed - own for end, owed, own in zip(ends, debt, cash, strict=True)]
        totals = tuple(own + held for own, held in zip(cash, holdings, strict=True))
        lines = [
            Line("Cash and cash equivalents", tuple(cash), dollar=True),
            Line("Investments in subsidiaries", tuple(holdings)),
            Line("Total assets", totals, "total", dollar=True),
            Line("Long-term debt", tuple(debt)),
            Line("Total shareholders’ equity", tuple(end.equity for end in ends)),
            Line("Total liabilities and shareholders’ equity", totals, "total", dollar=True),
        ]
        sheet.table(self._money_table(2, lines))
        sheet.line("CONDENSED STATEMENTS OF INCOME (PARENT COMPANY ONLY)", bold=True)
        sheet.line("(In millions)")
        lines = [
            Line("Dividends from subsidiaries", tuple(y.decisions.dividends + 25 for y in self.three), dollar=True),
            Line("Corporate expenses", tuple(-y.decisions.interest - 9 for y in self.three)),
            Line("Net income of the parent alone", tuple(_parent_income(y) for y in self.three), "total", dollar=True),
        ]
        sheet.table(self._money_table(3, lines))

    def _signatures(self) -> None:
        self.sheet.new_page()
        self.sheet.heading("Item 15. Exhibits")
        self.sheet.paragraphs(words.EXHIBITS)
        self.sheet.heading("Signatures")
        name, year = self.company.name, self.fiscal_year + 1
        self.sheet.paragraph(words.SIGNATURES.format(name=name, year=year))


def _spread(heads: Sequence[str]) -> list[str | None]:
    """Each head over its number, nothing over the dollar column."""
    return [cell for head in heads for cell in (None, head)]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)


def _net_debt(year: Year) -> int:
    return year.after.current_debt + year.after.long_term_debt - year.after.cash


def _parent_income(year: Year) -> int:
    return year.decisions.dividends + 25 - year.decisions.interest - 9


def _split(total: int, shares: tuple[int, ...]) -> list[int]:
    """``total`` in whole parts by percent; the last part takes what rounding leaves."""
    parts = [total * share // 100 for share in shares[:-1]]
    return [*parts, total - sum(parts)]
