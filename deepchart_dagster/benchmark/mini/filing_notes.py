"""The notes to the statements of a filing: what their tables show is computed from the company's books.

They are there to distract: amounts that look like those of the statements, for parts of the group, for other dates,
before a restatement, before a reserve. Totals agree with the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deepchart_dagster.benchmark.mini import filing_text as words
from deepchart_dagster.benchmark.mini.companies.books import Year
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.filing_tables import Figures, shared_out, split
from deepchart_dagster.benchmark.mini.statements import Line, flow_years

_QUARTERS = (22, 24, 25, 29)


@dataclass(frozen=True)
class Note:
    """``figures`` follow the text; a note without any is text alone."""

    title: str
    text: tuple[str, ...]
    figures: tuple[Figures, ...] = ()


def notes(company: Company, fiscal_year: int) -> list[Note]:
    """In the order of their numbers, which ``Company.notes`` refers to."""
    books = _Books(company, fiscal_year)
    return [
        Note("Accounting policies", words.POLICIES),
        Note("Revenue by region", (words.REGIONS,), (books.by_region(),)),
        Note("Revision of the prior year", (words.RESTATED,), (books.restated(),)),
        Note("Accounts receivable", (words.RECEIVABLES,), books.receivables()),
        Note("Inventories", (words.INVENTORIES,), (books.inventories(),)),
        Note("Property, plant and equipment", (words.PROPERTY,), (books.property(),)),
        Note("Goodwill and intangible assets", (words.INTANGIBLES,), books.intangibles()),
        Note("Accrued liabilities", (words.ACCRUED,), (books.accrued(),)),
        Note("Debt", (words.DEBT,), books.debt()),
        Note("Leases", (words.LEASES,), books.leases()),
        Note("Income taxes", (words.TAXES,), books.taxes()),
        Note("Retirement benefits", (words.RETIREMENT,), books.retirement()),
        Note("Stock-based compensation", (words.STOCK,), (books.stock(),)),
        Note("Amounts per share", (words.PER_SHARE,), (books.per_share(),)),
        Note("Capital stock", (words.CAPITAL,), (books.capital(),)),
        Note("Fair value", (words.FAIR_VALUE,), (books.fair_value(),)),
        Note("Hedges", (words.HEDGES,), (books.hedges(),)),
        Note("Commitments", (words.COMMITMENTS,), (books.commitments(),)),
        Note("Returns and warranties", (words.WARRANTIES,), (books.warranties(),)),
        Note("Segments", (words.SEGMENTS,), books.segments()),
        Note("Long-lived assets by region", (words.LONG_LIVED,), (books.long_lived(),)),
        Note("Legal proceedings and later events", words.LATER),
        Note("Quarterly information, unaudited", (words.QUARTERS,), books.quarters()),
    ]


@dataclass(frozen=True)
class _Books:
    company: Company
    fiscal_year: int

    @property
    def flows(self) -> list[Year]:
        return flow_years(self.company, self.fiscal_year)

    @property
    def ends(self) -> list[Year]:
        return self.flows[:2]

    def _by_year(self, lines: Sequence[Line], caption: str = "") -> Figures:
        """One column for each value of the lines, from the latest year back."""
        n_years = max(len(line.values) for line in lines)
        heads = tuple(str(self.fiscal_year - back) for back in range(n_years))
        return Figures(heads, tuple(lines), caption)

    def _flow(self, value: Callable[[Year], int]) -> list[int]:
        return [value(year) for year in self.flows]

    def _end(self, value: Callable[[Year], int]) -> list[int]:
        return [value(year) for year in self.ends]

    def _falling_due(self, total: int, caption: str) -> Figures:
        """A total by the fiscal years in which it is to be paid."""
        years = [str(self.fiscal_year + ahead) for ahead in range(1, 6)]
        shares = dict(zip([*years, "Thereafter"], (18, 17, 15, 14, 12, 24), strict=True))
        return Figures(("Amount",), tuple(shared_out([total], shares, "Total")), caption)

    def by_region(self) -> Figures:
        revenue = self._flow(lambda y: y.decisions.revenue)
        return self._by_year(shared_out(revenue, self.company.region_shares, "Total"))

    def restated(self) -> Figures:
        """The prior year before and after; the statements show it as restated."""
        year, outcome = self.flows[1], self.company.outcome
        moved = year.decisions.revenue // 240
        after = {
            self.company.revenue_label: (year.decisions.revenue, -moved),
            "Cost of sales": (year.decisions.cost_of_sales, -moved // 2),
            f"Net {outcome}": (year.net_income, moved // 2 - moved),
            "Accrued liabilities": (year.after.accrued, moved),
            "Total assets": (year.after.total_assets, moved // 2),
        }
        lines = [Line(label, (value - change, change, value)) for label, (value, change) in after.items()]
        return Figures(("As reported", "Change", "As restated"), tuple(lines), f"Fiscal {self.fiscal_year - 1}")

    def receivables(self) -> tuple[Figures, ...]:
        net = self._end(lambda y: y.after.receivables)
        allowance = [amount // 35 for amount in net]
        gross = [amount + kept for amount, kept in zip(net, allowance, strict=True)]
        added = [amount // 160 for amount in net]
        return (
            self._by_year(
                [
                    Line("Trade receivables", tuple(gross), dollar=True),
                    Line("Less allowance for credit losses", tuple(-kept for kept in allowance)),
                    Line("Net", tuple(net), "total", dollar=True),
                ]
            ),
            self._by_year(
                [
                    Line("Allowance, beginning of year", tuple(a - b for a, b in zip(allowance, added, strict=True))),
                    Line("Additions less write-offs", tuple(added)),
                    Line("Allowance, end of year", tuple(allowance), "total"),
                ]
            ),
        )

    def inventories(self) -> Figures:
        finished, raw = self.company.inventory_note
        shares = {"Finished goods": finished, "Raw materials and supplies": raw}
        return self._by_year(shared_out(self._end(lambda y: y.after.inventories), shares, "Inventories before reserve"))

    def property(self) -> Figures:
        plant = self._end(lambda y: y.after.plant)
        shares = {"Land": 11, "Buildings": 34, "Machinery and equipment": 55}
        gross = shared_out([2 * amount for amount in plant], shares, "At cost")
        return self._by_year(
            [
                *gross,
                Line("Less accumulated depreciation", tuple(-amount for amount in plant)),
                Line("Net", tuple(plant), "total", dollar=True),
            ]
        )

    def intangibles(self) -> tuple[Figures, ...]:
        both = self._end(lambda y: y.after.intangibles)
        shares = {f"Goodwill, {name}": share * 7 // 10 for name, share in self.company.segment_shares.items()}
        shares["Customer lists and patents"] = 0  # takes what is left
        expense = self.flows[0].decisions.amortization
        return (
            self._by_year(shared_out(both, shares, "Total")),
            self._falling_due(5 * expense, "Amortization of what is held now"),
        )

    def accrued(self) -> Figures:
        shares = {"Wages and bonuses": 41, "Rebates": 23, "Interest": 6, "Taxes other than income": 11, "Other": 19}
        return self._by_year(shared_out(self._end(lambda y: y.after.accrued), shares, "Total"))

    def debt(self) -> tuple[Figures, ...]:
        owed = self._end(lambda y: y.after.current_debt + y.after.long_term_debt)
        shares = {"Senior notes, 3.15%": 45, "Senior notes, 4.40%": 35, "Term loan, variable rate": 20}
        lines = [
            *shared_out(owed, shares, "Total debt"),
            Line("Less portion due within a year", tuple(self._end(lambda y: -y.after.current_debt))),
            Line("Due later", tuple(self._end(lambda y: y.after.long_term_debt)), "total", dollar=True),
        ]
        return self._by_year(lines), self._falling_due(owed[0], "Debt by the year in which it falls due")

    def leases(self) -> tuple[Figures, ...]:
        cost = self._flow(lambda y: y.decisions.selling // 18)
        shares = {"Operating leases": 81, "Short-term leases": 12, "Variable payments": 7}
        owed = 6 * cost[0]
        return self._by_year(shared_out(cost, shares, "Lease cost")), self._falling_due(owed, "Payments to be made")

    def taxes(self) -> tuple[Figures, ...]:
        shares = {"Federal": 74, "State": 17, "Foreign": 9}
        tax, pretax = self._flow(lambda y: y.decisions.tax), self._flow(lambda y: y.pretax_income)
        at_rate = [amount * 21 // 100 for amount in pretax]
        other = [owed - due for owed, due in zip(tax, at_rate, strict=True)]
        reconciled = [
            Line("At the federal rate of 21 percent", tuple(at_rate)),
            *shared_out(other, {"State taxes": 30, "Credits for research": 45, "Other, allowances": 25}, "Difference"),
            Line("As provided", tuple(tax), "total", dollar=True),
        ]
        provided = self._by_year(shared_out(tax, shares, "Income tax provision"))
        return provided, self._by_year(reconciled, "From the federal rate to the provision")

    def retirement(self) -> tuple[Figures, ...]:
        owed = self._end(lambda y: y.decisions.selling * 3 // 4)
        covered = [amount * 88 // 100 for amount in owed]
        cost = self._flow(lambda y: y.decisions.selling // 45)
        lines = [
            Line("Benefits owed, end of year", tuple(owed), dollar=True),
            Line("Assets of the plans, end of year", tuple(covered)),
            Line("Not covered", tuple(a - b for a, b in zip(owed, covered, strict=True)), "total"),
        ]
        shares = {"Service cost": 52, "Interest cost": 61, "Expected return on assets": -13}
        return self._by_year(lines), self._by_year(shared_out(cost, shares, "Net cost of the plans"))

    def stock(self) -> Figures:
        shares = self.company.shares_outstanding[self.fiscal_year]
        lines = [
            Line("Held, beginning of year", (shares // 31, 18.42)),
            Line("Granted", (shares // 160, 27.15)),
            Line("Exercised", (-(shares // 240), 14.86)),
            Line("Forfeited", (-(shares // 900), 22.07)),
        ]
        held = sum(int(line.values[0]) for line in lines)
        return Figures(("Options", "Price"), (*lines, Line("Held, end of year", (held, 20.31), "total")))

    def per_share(self) -> Figures:
        numbers = [self.company.shares_outstanding[self.fiscal_year - back] for back in range(len(self.flows))]
        diluted = [number + number // 60 for number in numbers]
        available = self._flow(lambda y: y.net_income)
        ratios = [round(amount / number, 2) for amount, number in zip(available, diluted, strict=True)]
        return self._by_year(
            [
                Line(f"{self.company.outcome.title()} for shareholders", tuple(available), dollar=True),
                Line("Shares, basic", tuple(numbers)),
                Line("Options and awards", tuple(a - b for a, b in zip(diluted, numbers, strict=True))),
                Line("Shares, if all options were used", tuple(diluted), "total"),
                Line("Per share, if all options were used", tuple(ratios), dollar=True),
            ]
        )

    def capital(self) -> Figures:
        year = self.flows[0]
        lines = [
            Line("Paid in, beginning of year", (year.before.paid_in_capital,)),
            Line("Stock-based compensation", (year.decisions.stock_compensation,)),
            Line("Issued", (year.decisions.shares_issued,)),
            Line("Bought back", (-year.decisions.repurchases,)),
            Line("Paid in, end of year", (year.after.paid_in_capital,), "total", dollar=True),
        ]
        return self._by_year(lines)

    def fair_value(self) -> Figures:
        cash = self.flows[0].after.cash
        kinds = {"Money market funds": 62, "Government notes": 38, "Commercial paper": 27, "Currency forwards": 3}
        amounts = {label: cash * share // 100 for label, share in kinds.items()}
        first = ("Money market funds", "Government notes")
        lines = [
            Line(label, (value, 0, value) if label in first else (0, value, value)) for label, value in amounts.items()
        ]
        return Figures(("Level 1", "Level 2", "Total"), tuple(lines))

    def hedges(self) -> Figures:
        revenue = self._end(lambda y: y.decisions.revenue // 9)
        shares = {"Euro": 48, "Canadian dollar": 22, "Yen": 18, "Other currencies": 12}
        return self._by_year(shared_out(revenue, shares, "Face value of forwards"))

    def commitments(self) -> Figures:
        return self._falling_due(self.flows[0].decisions.cost_of_sales // 6, "Purchases that are agreed on")

    def warranties(self) -> Figures:
        ends = self._flow(lambda y: y.decisions.revenue // 110)
        used = self._flow(lambda y: y.decisions.revenue // 140)
        added = self._flow(lambda y: y.decisions.revenue // 130)
        begun = [end - more + less for end, more, less in zip(ends, added, used, strict=True)]
        return self._by_year(
            [
                Line("Provision, beginning of year", tuple(begun)),
                Line("Added", tuple(added)),
                Line("Used", tuple(-amount for amount in used)),
                Line("Provision, end of year", tuple(ends), "total", dollar=True),
            ]
        )

    def segments(self) -> tuple[Figures, ...]:
        shares = self.company.segment_shares
        central = self._flow(lambda y: -(y.decisions.revenue // 50))
        operating = self._flow(lambda y: y.operating_income)
        of_segments = [own - cost for own, cost in zip(operating, central, strict=True)]
        earned = [
            *shared_out(of_segments, shares, "All segments"),
            Line("Corporate costs", tuple(central)),
            Line(f"Consolidated operating {self.company.outcome}", tuple(operating), "total", dollar=True),
        ]
        revenue = self._flow(lambda y: y.decisions.revenue)
        return (
            self._by_year(shared_out(revenue, shares, "Total"), "Revenue by segment"),
            self._by_year(earned, f"Operating {self.company.outcome} by segment"),
            self._of_segments(shares),
        )

    def _of_segments(self, shares: Mapping[str, int]) -> Figures:
        """Of one year, a column for each kind of amount."""
        year = self.flows[0]
        totals = (year.decisions.depreciation, year.decisions.capital_spending, year.after.total_assets)
        lines = shared_out(totals, shares, "Total")
        return Figures(("Depreciation", "Spending", "Assets"), tuple(lines), f"Of fiscal {self.fiscal_year}")

    def long_lived(self) -> Figures:
        plant = self._end(lambda y: y.after.plant)
        return self._by_year(shared_out(plant, self.company.region_shares, "Total"))

    def quarters(self) -> tuple[Figures, ...]:
        return tuple(self._quarters_of(back, year) for back, year in enumerate(self.ends))

    def _quarters_of(self, back: int, year: Year) -> Figures:
        amounts = {
            self.company.revenue_label: year.decisions.revenue,
            "Gross profit": year.gross_profit,
            f"Net {self.company.outcome}": year.net_income,
        }
        lines = tuple(Line(label, tuple(split(amount, _QUARTERS))) for label, amount in amounts.items())
        return Figures(("First", "Second", "Third", "Fourth"), lines, f"Quarters of fiscal {self.fiscal_year - back}")
