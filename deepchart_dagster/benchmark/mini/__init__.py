"""The built-in mini benchmark: queries of all three domains and all six splits, over invented PDFs.

    queries/<name>/     one query: query.json, stage1.py, stage2.py, data blocks, and recipe.yaml, which tells
                        the scripted models where to look (it is no part of the benchmark that is built)
    documents/<name>.py one PDF: what is registered of it, and how it is drawn
    companies/          the books behind the filings

A query's file names in query.json are relative to its folder. References are programs: ``stage1.py`` holds
D_src as literals and derives D_der; ``stage2.py`` draws, with J in place of ``__J__``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deepchart_dagster.benchmark.library import Library

BENCHMARK_NAME = "mini"


# Two queries of each domain: what `deepchart demo --quick` runs.
QUICK = (
    "academic-barley-roots",
    "academic-lichen-growth",
    "ecosystem-capital-efficiency",
    "ecosystem-rank-gap",
    "finance-halden-igr",
    "finance-marrow-ccc",
)


def build_mini(root: Path, *, quick: bool = False) -> int:
    """Draw the PDFs, register them, and add the benchmark to the library in ``root``; the number of PDFs written.

    ``quick``: the queries of QUICK alone, unless ``root`` holds the benchmark already; then it stays as it is.
    Writes nothing where all of it is there already. A document that an earlier version of this package drew
    otherwise is replaced. Raises StorageError where the storage cannot be written.
    """
    from deepchart_dagster.benchmark.library import Library
    from deepchart_dagster.benchmark.mini.build import register_documents
    from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries

    wanted = mini_queries()
    if quick and not _others_than_quick(Library(root)):
        wanted = tuple(query for query in wanted if query.uid in _quick_uids())
    written = register_documents(root, {name for query in wanted for name in query.document_ids})
    Library(root).add(BENCHMARK_NAME, wanted, QUERY_FOLDER)
    return written


def _quick_uids() -> set[str]:
    return {f"{BENCHMARK_NAME}/{name}" for name in QUICK}


def _others_than_quick(library: Library) -> bool:
    """Whether the library holds this benchmark with other queries than those of QUICK."""
    uids = {query.uid for query in library.queries() if query.benchmark == BENCHMARK_NAME}
    return not uids <= _quick_uids()
