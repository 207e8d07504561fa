"""Annual report of Quillon Therapeutics, fiscal year 2022."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.quillon import QUILLON
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.filing import draw_filing
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-quillon-2022",
    domain=Domain.FINANCE,
    title="Quillon Therapeutics, Inc., Form 10-K 2022",
    company="Quillon Therapeutics",
    fiscal_years=(2022,),
)


def draw() -> bytes:
    return draw_filing(QUILLON, 2022)
