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

BENCHMARK_NAME = "mini"


def build_mini(root: Path) -> int:
    """Draw the PDFs, register them, and add the benchmark to the library in ``root``; the number of PDFs written.

    Writes nothing where all of it is there already. A document that an earlier version of this package drew
    otherwise is replaced. Raises StorageError where the storage cannot be written.
    """
    from deepchart_dagster.benchmark.library import Library
    from deepchart_dagster.benchmark.mini.build import register_documents
    from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries

    written = register_documents(root)
    Library(root).add(BENCHMARK_NAME, mini_queries(), QUERY_FOLDER)
    return written
