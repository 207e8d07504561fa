"""Annual report of Tarn Valley Paper, fiscal year 2024: all of it scans."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.tarn_valley import TARN_VALLEY
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.filing import draw_filing_copied
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-tarn-valley-2024",
    domain=Domain.FINANCE,
    title="Tarn Valley Paper Company, Form 10-K 2024",
    company="Tarn Valley Paper",
    fiscal_years=(2024,),
)


def draw() -> bytes:
    return draw_filing_copied(TARN_VALLEY, 2024)
