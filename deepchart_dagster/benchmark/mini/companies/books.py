"""A company's books: a few decisions a year in, three statements that agree with each other out.

Amounts are whole numbers in the unit that the company reports in, millions or thousands of US dollars. Cash is
what the cash flow statement leaves, retained earnings what income and dividends leave; that total assets equal
liabilities and equity is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Decisions:
    """One fiscal year as it was planned and ran. ``securities`` is what is held of them at the year's end."""

    revenue: int
    cost_of_sales: int
    research: int
    selling: int
    depreciation: int
    amortization: int
    interest: int
    tax: int
    stock_compensation: int
    capital_spending: int
    acquisitions: int
    debt_issued: int
    debt_repaid: int
    dividends: int
    repurchases: int
    receivables: int
    inventories: int
    other_current: int
    payables: int
    accrued: int
    current_debt: int
    securities: int = 0
    shares_issued: int = 0


@dataclass(frozen=True)
class Position:
    """What a balance sheet shows at a year's end."""

    cash: int
    receivables: int
    inventories: int
    other_current: int
    plant: int
    intangibles: int
    payables: int
    accrued: int
    current_debt: int
    long_term_debt: int
    paid_in_capital: int
    retained_earnings: int
    securities: int = 0

    @property
    def current_assets(self) -> int:
        return self.cash + self.securities + self.receivables + self.inventories + self.other_current

    @property
    def total_assets(self) -> int:
        return self.current_assets + self.plant + self.intangibles

    @property
    def current_liabilities(self) -> int:
        return self.payables + self.accrued + self.current_debt

    @property
    def total_liabilities(self) -> int:
        return self.current_liabilities + self.long_term_debt

    @property
    def equity(self) -> int:
        return self.paid_in_capital + self.retained_earnings


@dataclass(frozen=True)
class Year:
    """A fiscal year: what was decided, the position before and after."""

    decisions: Decisions
    before: Position
    after: Position

    @property
    def gross_profit(self) -> int:
        return self.decisions.revenue - self.decisions.cost_of_sales

    @property
    def operating_expenses(self) -> int:
        return self.decisions.research + self.decisions.selling + self.decisions.amortization

    @property
    def operating_income(self) -> int:
        return self.gross_profit - self.operating_expenses

    @property
    def pretax_income(self) -> int:
        return self.operating_income - self.decisions.interest

    @property
    def net_income(self) -> int:
        return self.pretax_income - self.decisions.tax

    @property
    def working_capital_flows(self) -> dict[str, int]:
        """Label -> effect on cash; a rise of an asset takes cash, a rise of a liability gives it."""
        before, after = self.before, self.after
        return {
            "Accounts receivable": before.receivables - after.receivables,
            "Inventories": before.inventories - after.inventories,
            "Other current assets": before.other_current - after.other_current,
            "Accounts payable": after.payables - before.payables,
            "Accrued liabilities": after.accrued - before.accrued,
        }

    @property
    def operating_cash(self) -> int:
        d = self.decisions
        non_cash = d.depreciation + d.amortization + d.stock_compensation
        return self.net_income + non_cash + sum(self.working_capital_flows.values())

    @property
    def securities_bought(self) -> int:
        """Less what was sold or fell due."""
        return self.after.securities - self.before.securities

    @property
    def investing_cash(self) -> int:
        return -self.decisions.capital_spending - self.decisions.acquisitions - self.securities_bought

    @property
    def financing_cash(self) -> int:
        d = self.decisions
        return d.debt_issued - d.debt_repaid + d.shares_issued - d.dividends - d.repurchases

    @property
    def change_in_cash(self) -> int:
        return self.operating_cash + self.investing_cash + self.financing_cash


def keep_books(opening: Position, decisions: Mapping[int, Decisions]) -> dict[int, Year]:
    """Fiscal year -> Year, in order. Raises ValueError for books that do not balance."""
    years: dict[int, Year] = {}
    position = opening
    for number in sorted(decisions):
        years[number] = _close(decisions[number], position)
        position = years[number].after
        if position.total_assets != position.total_liabilities + position.equity:
            raise ValueError(f"the books of {number} do not balance")
    return years


def _close(d: Decisions, before: Position) -> Year:
    draft = Year(decisions=d, before=before, after=_position(d, before, cash=0, net_income=0))
    after = _position(d, before, cash=before.cash + draft.change_in_cash, net_income=draft.net_income)
    return Year(decisions=d, before=before, after=after)


def _position(d: Decisions, before: Position, *, cash: int, net_income: int) -> Position:
    debt = before.current_debt + before.long_term_debt + d.debt_issued - d.debt_repaid
    return Position(
        cash=cash,
        receivables=d.receivables,
        inventories=d.inventories,
        other_current=d.other_current,
        plant=before.plant + d.capital_spending - d.depreciation,
        intangibles=before.intangibles + d.acquisitions - d.amortization,
        payables=d.payables,
        accrued=d.accrued,
        current_debt=d.current_debt,
        long_term_debt=debt - d.current_debt,
        paid_in_capital=before.paid_in_capital + d.shares_issued + d.stock_compensation - d.repurchases,
        retained_earnings=before.retained_earnings + net_income - d.dividends,
        securities=d.securities,
    )
