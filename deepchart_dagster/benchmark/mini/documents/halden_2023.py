"""Annual report of Halden Instruments, fiscal year 2023."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.halden import HALDEN
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.filing import draw_filing
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-halden-2023",
    domain=Domain.FINANCE,
    title="Halden Instruments Corporation, Form 10-K 2023",
    company="Halden Instruments",
    fiscal_years=(2023,),
)


def draw() -> bytes:
    return draw_filing(HALDEN, 2023)
