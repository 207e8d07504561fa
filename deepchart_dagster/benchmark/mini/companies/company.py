"""What a filing says of a company beside its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deepchart_dagster.benchmark.mini.companies.books import Year
from deepchart_dagster.benchmark.mini.typeset import Look


@dataclass(frozen=True)
class Company:
    """``segment_shares``: segment -> percent of revenue; ``regions`` likewise. ``income_title`` names the statement.

    ``unit`` is that of all amounts and of the shares. ``flow_years`` are the fiscal years that statements of income
    and cash flows show; a balance sheet shows two. ``outcome`` is what the bottom line is called, income or loss.
    ``notes``: a line of a statement -> the note that a column of the statement refers to; without any there is no
    such column.
    """

    name: str
    short: str
    state: str
    city: str
    year_end: str
    income_title: str
    revenue_label: str
    inventory_note: tuple[int, int]
    segment_shares: Mapping[str, int]
    region_shares: Mapping[str, int]
    shares_outstanding: Mapping[int, int]
    business: tuple[str, ...]
    risks: tuple[str, ...]
    outlook: tuple[str, ...]
    years: Mapping[int, Year]
    unit: Literal["millions", "thousands"] = "millions"
    flow_years: int = 3
    outcome: Literal["income", "loss"] = "income"
    notes: Mapping[str, str] = field(default_factory=dict)
    look: Look = field(default_factory=Look)
