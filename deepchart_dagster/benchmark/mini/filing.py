"""An annual report (Form 10-K) of one company and fiscal year: the three statements among forty other pages.

The balance sheet covers two fiscal years, income and cash flows two or three. Amounts are in thousands or millions of
dollars and say so in the header; ``$`` stands apart from its number and negatives stand in parentheses. Other tables
show figures that look alike: selected data, discussion, quarters, notes, the parent company alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepchart_dagster.benchmark.mini import filing_text as words
from deepchart_dagster.benchmark.mini.companies.books import Year
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.filing_notes import notes
from deepchart_dagster.benchmark.mini.filing_tables import Figures, money_table, percent, split
from deepchart_dagster.benchmark.mini.scans import scanned
from deepchart_dagster.benchmark.mini.statements import (
    Line,
    balance_lines,
    cash_flow_lines,
    flow_years,
    income_lines,
)
from deepchart_dagster.benchmark.mini.typeset import Column, Row, Table, Typesetter

_QUARTERS = (23, 24, 26, 27)
_MOST_SELECTED = 5
_COPY_SIZE = 0.75


def draw_filing(company: Company, fiscal_year: int) -> bytes:
    """The PDF of the report for ``fiscal_year``; needs the books of the years that its statements show."""
    return _Filing(company, fiscal_year).draw()


def draw_brief_filing(company: Company, fiscal_year: int) -> bytes:
    """The same report with the first sentence of each section and the first table of each note.

    Sections without tables follow one another on a page.
    """
    return _Filing(company, fiscal_year, brief=True).draw()


def draw_filing_copied(company: Company, fiscal_year: int) -> bytes:
    """A brief report as reduced copies of what was printed: every page is a scan.

    Brief and reduced, since text recognition takes time by the letter and by the pixel.
    """
    return scanned(draw_brief_filing(company, fiscal_year), size=_COPY_SIZE)


class _Filing:
    def __init__(self, company: Company, fiscal_year: int, *, brief: bool = False) -> None:
        self.company = company
        self.fiscal_year = fiscal_year
        self.brief = brief
        self.flows = flow_years(company, fiscal_year)
        self.two = self.flows[:2]
        self.sheet = Typesetter(
            look=company.look,
            title=f"{company.name}: Form 10-K {fiscal_year}",
            author=company.name,
            footer=self._foot,
        )

    def _foot(self, page: int) -> str:
        if page == 1:
            return ""
        return f"{page}" if self.brief else f"{self.company.name} | {self.fiscal_year} Form 10-K | {page}"

    def draw(self) -> bytes:
        self._cover()
        self._contents()
        self._narrative()
        self._properties()
        self._market()
        self._selected()
        self._discussion()
        self._auditor()
        self._statements()
        self._equity()
        self._notes()
        self._other_items()
        self._parent_only()
        self._valuation()
        self._signatures()
        return self.sheet.pdf()

    # words and tables of every page

    def _spoken(self, text: str) -> str:
        company = self.company
        facts = {"name": company.name, "short": company.short, "unit": company.unit, "year_end": company.year_end}
        return text.format(**facts, year=self.fiscal_year)

    def _section(self, heading: str, texts: Sequence[str] = (), *, new_page: bool = True, size: float = 12.0) -> None:
        if new_page:
            self.sheet.new_page()
        self.sheet.heading(heading, size=size)
        self._paragraphs(texts)

    def _words(self, heading: str, texts: Sequence[str]) -> None:
        """A section without tables."""
        self._section(heading, texts, new_page=not self.brief)

    def _paragraphs(self, texts: Sequence[str]) -> None:
        if self.brief:
            texts = [_first_sentence(text) for text in texts[:1]]
        self.sheet.paragraphs([self._spoken(text) for text in texts])

    def _figures(self, figures: Figures) -> None:
        if figures.caption:
            self.sheet.line(figures.caption, bold=True)
        self.sheet.table(money_table(self.sheet.look, figures))

    def _years(self, n_years: int) -> tuple[str, ...]:
        return tuple(str(self.fiscal_year - back) for back in range(n_years))

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
        shares, unit = f"{company.shares_outstanding[self.fiscal_year]:,}", company.unit.removesuffix("s")
        sheet.paragraph(words.COVER.format(name=company.name, shares=shares, unit=unit, next_year=self.fiscal_year + 1))

    def _contents(self) -> None:
        self._section("Table of contents")
        rows = tuple(Row((item, title)) for item, title in words.ITEMS)
        left = self.sheet.look.margin
        self.sheet.table(Table(columns=(Column(left), Column(left + 90)), header=(), rows=rows, size=10))
        self._paragraphs((words.FORWARD_LOOKING,))

    def _narrative(self) -> None:
        self._section("Item 1. Business", (*self.company.business, words.PEOPLE))
        self._words("Item 1A. Risk factors", (words.RISKS, *self.company.risks, *words.GENERAL_RISKS))
        self._words("Item 1C. Cybersecurity", words.CYBERSECURITY)

    def _properties(self) -> None:
        self._words("Item 2. Properties", (*words.PROPERTIES, words.SITES))
        if not self.brief:
            self._sites()
        self._words("Item 3. Legal proceedings", words.LEGAL)

    def _sites(self) -> None:
        """A list that goes on over a page break."""
        left = self.sheet.look.margin
        columns = (Column(left), Column(left + 150), Column(left + 250), Column(self.sheet.right - 6, "right"))
        rows = []
        for at, town in enumerate(words.TOWNS * 2):
            use = words.USES[(at * 3 + len(self.company.short)) % len(words.USES)]
            floor = 20 + (at * 37 + self.fiscal_year + len(self.company.name)) % 240
            rows.append(Row((town, use, "Rented" if at % 3 else "Owned", str(floor))))
        header = (Row(("Site", "Use", "Held as", "Floor")),)
        self.sheet.table(Table(columns, header, tuple(rows), size=self.sheet.look.table_size))

    def _market(self) -> None:
        self._section("Item 5. Market for the shares", words.MARKET)
        quarters = ("First quarter", "Second quarter", "Third quarter", "Fourth quarter")
        for back in range(1 if self.brief else 2):
            lines = []
            for at, name in enumerate(quarters):
                high = 18 + (self.fiscal_year - back + 7 * at) % 11 + 0.25 * at
                lines.append(Line(name, (round(high + 1.37, 2), round(high - 2.81, 2))))
            self._figures(Figures(("High", "Low"), tuple(lines), f"Price of a share, fiscal {self.fiscal_year - back}"))
        bought = split(self.two[0].decisions.repurchases, _QUARTERS)
        lines = [Line(name, (amount,)) for name, amount in zip(quarters, bought, strict=True)]
        self._figures(Figures(("Spent",), tuple(lines), f"Shares bought back (in {self.company.unit} of dollars)"))

    def _selected(self) -> None:
        """As many years as there are books for: more than the statements show, and not as the statements show them."""
        self._section("Item 6. Selected financial data", words.SELECTED)
        numbers = [year for year in sorted(self.company.years, reverse=True) if year <= self.fiscal_year]
        numbers = numbers[:_MOST_SELECTED]
        years = [self.company.years[number] for number in numbers]
        rows = {
            self.company.revenue_label: [_first_reported(at, y.decisions.revenue) for at, y in enumerate(years)],
            f"Net {self.company.outcome}": [_first_reported(at, y.net_income) for at, y in enumerate(years)],
            "Total assets": [_first_reported(at, y.after.total_assets) for at, y in enumerate(years)],
            "Long-term debt": [y.after.long_term_debt for y in years],
            "Employees": [200 + y.decisions.selling % 4_000 for y in years],
        }
        lines = tuple(Line(label, tuple(values)) for label, values in rows.items())
        self._figures(Figures(tuple(map(str, numbers)), lines, f"Selected data (in {self.company.unit})"))

    # discussion

    def _discussion(self) -> None:
        unit, n_years = self.company.unit, len(self.flows)
        self._section("Item 7. Management's discussion and analysis", self.company.outlook)
        results = (
            Line(self.company.revenue_label, tuple(year.decisions.revenue for year in self.flows)),
            Line("Gross profit", tuple(year.gross_profit for year in self.flows)),
            Line("Gross margin, percent", tuple(percent(y.gross_profit, y.decisions.revenue) for y in self.flows)),
            Line("Operating margin, percent", tuple(_operating_margin(year) for year in self.flows)),
        )
        self._figures(Figures(self._years(n_years), results, f"Selected results (in {unit}, except percentages)"))
        self._paragraphs(words.DISCUSSION)
        self._changes()
        self._section("Liquidity and capital resources", words.LIQUIDITY)
        cash = (
            Line("Free cash flow", tuple(y.operating_cash - y.decisions.capital_spending for y in self.two)),
            Line("Debt less cash", tuple(_net_debt(year) for year in self.two)),
            Line("Unused credit lines", tuple(_credit_line(year) for year in self.two)),
        )
        self._figures(Figures(self._years(2), cash, f"Sources and uses of cash (in {unit})"))
        self._obligations()
        self._words("Critical accounting estimates", words.ESTIMATES)
        self._words("Item 7A. Market risk", words.MARKET_RISK)

    def _changes(self) -> None:
        unit = self.company.unit
        self._section("Results by line", (*words.RESULTS, *words.CHANGES))
        before = _results(self.two[1])
        lines = tuple(
            Line(label, (now, before[label], now - before[label], percent(now - before[label], abs(before[label]))))
            for label, now in _results(self.two[0]).items()
        )
        heads = (*self._years(2), "Change", "Percent")
        self._figures(Figures(heads, lines, f"Results (in {unit}, except percentages)"))
        if not self.brief:
            self._quarters_of_results()

    def _quarters_of_results(self) -> None:
        unit, quarters = self.company.unit, ("First", "Second", "Third", "Fourth")
        for label, total in _results(self.two[0]).items():
            parts = tuple(
                Line(name, tuple(split(total * share // 100, _QUARTERS)))
                for name, share in self.company.segment_shares.items()
            )
            self._figures(Figures(quarters, parts, f"{label} by quarter (in {unit})"))

    def _obligations(self) -> None:
        self._section("Contractual obligations", words.OBLIGATIONS)
        year = self.two[0]
        totals = {
            "Debt": year.after.current_debt + year.after.long_term_debt,
            "Interest": 4 * year.decisions.interest,
            "Leases": year.decisions.selling // 3,
            "Purchases": year.decisions.cost_of_sales // 6,
        }
        lines = tuple(Line(label, (total, *split(total, (18, 33, 27, 22)))) for label, total in totals.items())
        heads = ("Total", "1 year", "2–3 years", "4–5 years", "Later")
        self._figures(Figures(heads, lines, f"Payments that fall due (in {self.company.unit})"))

    def _auditor(self) -> None:
        self._section("Item 8. Financial statements and supplementary data")
        self._section("Report of the independent auditors", words.AUDITOR, new_page=False, size=11)

    # the three statements

    def _statements(self) -> None:
        company, year, unit = self.company, self.fiscal_year, f"In {self.company.unit}"
        ended = f"Years ended {company.year_end},"
        self._statement(company.income_title, f"({unit}, except per share amounts)", ended, income_lines(company, year))
        at_end = f"{company.year_end},"
        title = "CONSOLIDATED BALANCE SHEETS"
        self._statement(title, f"({unit}, except par value)", at_end, balance_lines(company, year))
        self._statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", f"({unit})", ended, cash_flow_lines(company, year))

    def _statement(self, title: str, unit: str, span: str, lines: Sequence[Line]) -> None:
        sheet = self.sheet
        sheet.new_page()
        sheet.line(self.company.name, size=11, align="center", bold=True)
        sheet.line(title, size=11, align="center", bold=True)
        sheet.line(unit, align="center")
        sheet.space(8)
        years = self._years(max(len(line.values) for line in lines))
        sheet.table(money_table(sheet.look, Figures(years, tuple(lines), span=span), self.company.notes))
        sheet.paragraph("The accompanying notes are an integral part of these statements.", size=8)

    # notes and schedules

    def _equity(self) -> None:
        title = f"Consolidated statements of shareholders’ equity (in {self.company.unit})"
        self._section(title, size=11)
        for back, year in enumerate(self.flows):
            number, opened, closed = self.fiscal_year - back, year.before, year.after
            lines = (
                Line(f"Balance, beginning of {number}", (opened.paid_in_capital, opened.retained_earnings)),
                Line(f"Net {self.company.outcome}", (0, year.net_income)),
                Line("Dividends declared", (0, -year.decisions.dividends)),
                Line("Shares issued", (year.decisions.shares_issued, 0)),
                Line("Stock-based compensation", (year.decisions.stock_compensation, 0)),
                Line("Shares repurchased", (-year.decisions.repurchases, 0)),
                Line(f"Balance, end of {number}", (closed.paid_in_capital, closed.retained_earnings), "total"),
            )
            self._figures(Figures(("Paid-in capital", "Retained"), lines))

    def _notes(self) -> None:
        self._section("Notes to consolidated financial statements")
        for number, note in enumerate(notes(self.company, self.fiscal_year), start=1):
            unit = f" (in {self.company.unit})" if note.figures else ""
            self._section(f"{number}. {note.title}{unit}", note.text, new_page=number > 1, size=11)
            for figures in note.figures[:1] if self.brief else note.figures:
                self._figures(figures)

    def _other_items(self) -> None:
        self._section("Item 9A. Controls and procedures", words.CONTROLS)
        self._words("Items 10 to 14. Board, pay, owners and fees", words.GOVERNANCE)

    def _parent_only(self) -> None:
        unit, outcome = self.company.unit, self.company.outcome
        self._section("Schedule I. Condensed financial information of the parent company", (words.PARENT,), size=11)
        ends = [year.after for year in self.two]
        cash = [end.cash // 4 for end in ends]
        debt = [end.long_term_debt for end in ends]
        holdings = [end.equity + owed - own for end, owed, own in zip(ends, debt, cash, strict=True)]
        totals = tuple(own + held for own, held in zip(cash, holdings, strict=True))
        balances = (
            Line("Cash and cash equivalents", tuple(cash), dollar=True),
            Line("Investments in subsidiaries", tuple(holdings)),
            Line("Total assets", totals, "total", dollar=True),
            Line("Long-term debt", tuple(debt)),
            Line("Total shareholders’ equity", tuple(end.equity for end in ends)),
            Line("Total liabilities and shareholders’ equity", totals, "total", dollar=True),
        )
        self.sheet.line("CONDENSED BALANCE SHEETS (PARENT COMPANY ONLY)", bold=True)
        self._figures(Figures(self._years(2), balances, f"(In {unit})"))
        received = tuple(y.decisions.dividends + y.decisions.interest for y in self.flows)
        spent = tuple(-y.decisions.interest - y.decisions.selling // 90 for y in self.flows)
        left = tuple(got + cost for got, cost in zip(received, spent, strict=True))
        income = (
            Line("Dividends from subsidiaries", received, dollar=True),
            Line("Corporate expenses", spent),
            Line(f"Net {outcome} of the parent alone", left, "total", dollar=True),
        )
        self.sheet.line("CONDENSED STATEMENTS OF INCOME (PARENT COMPANY ONLY)", bold=True)
        self._figures(Figures(self._years(len(self.flows)), income, f"(In {unit})"))

    def _valuation(self) -> None:
        self._section(f"Schedule II. Valuation accounts (in {self.company.unit})", (words.VALUATION,), size=11)
        accounts = (("Allowance for credit losses", 35), ("Reserve for slow stocks", 48), ("Rebates", 21))
        for label, part in accounts[:1] if self.brief else accounts:
            lines = []
            for back, year in enumerate(self.flows):
                opened, closed = year.before.receivables // part, year.after.receivables // part
                added = year.decisions.revenue // (part * 12)
                values = (opened, added, closed - opened - added, closed)
                lines.append(Line(f"Fiscal {self.fiscal_year - back}", values))
            self._figures(Figures(("Beginning", "Added", "Used", "End"), tuple(lines), label))

    def _signatures(self) -> None:
        self._section("Item 15. Exhibits", words.EXHIBITS)
        self._section("Signatures", new_page=False)
        signed = words.SIGNATURES.format(name=self.company.name, year=self._signed_in)
        self.sheet.paragraph(signed)

    @property
    def _signed_in(self) -> int:
        """Two months after the fiscal year, which is the calendar year of all but some companies."""
        return self.fiscal_year + (self.company.year_end == "December 31")


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".") + "."


def _results(year: Year) -> dict[str, int]:
    return {
        "Cost of sales": year.decisions.cost_of_sales,
        "Research and development": year.decisions.research,
        "Selling, general and administrative": year.decisions.selling,
    }


def _first_reported(years_ago: int, amount: int) -> int:
    """What had been reported before the prior year was revised; the latest two years agree with the statements."""
    return amount if years_ago < 2 else amount - amount // 330


def _operating_margin(year: Year) -> float:
    return percent(year.operating_income, year.decisions.revenue)


def _net_debt(year: Year) -> int:
    return year.after.current_debt + year.after.long_term_debt - year.after.cash


def _credit_line(year: Year) -> int:
    return year.before.total_assets // 100 * 12
