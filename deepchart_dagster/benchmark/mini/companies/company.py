"""What a filing says of a company beside its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.companies.books import Year


@dataclass(frozen=True)
class Company:
    """``segment_shares``: segment -> percent of revenue; ``regions`` likewise. ``income_title`` names the statement."""

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
