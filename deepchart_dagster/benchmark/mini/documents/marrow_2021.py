"""Annual report of Marrow Bay Foods, fiscal year 2021."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.marrow import MARROW
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.filing import draw_filing
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-marrow-2021",
    domain=Domain.FINANCE,
    title="Marrow Bay Foods, Inc., Form 10-K 2021",
    company="Marrow Bay Foods",
    fiscal_years=(2021,),
)


def draw() -> bytes:
    return draw_filing(MARROW, 2021)
