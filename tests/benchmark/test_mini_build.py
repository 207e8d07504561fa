"""The mini benchmark: the same bytes every time, what it covers, and what building it leaves in a storage."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.benchmark.mini.catalogue import mini_queries
from deepchart_dagster.benchmark.mini.companies.books import Decisions, Position, keep_books
from deepchart_dagster.benchmark.mini.documents import document_scripts
from deepchart_dagster.benchmark.model import Domain, Modality, Split
from deepchart_dagster.errors import StorageError

BASE_FONTS = {"Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold"}
# Domains differ in how long a document has to be (issues 2 and 6).
FEWEST_PAGES = {Domain.FINANCE: 40, Domain.ACADEMIC: 8, Domain.ECOSYSTEM: 40}

HASHES = """
from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.benchmark.mini.documents import document_scripts
for script in document_scripts():
    print(script.document.id, sha256_bytes(script.draw()))
"""


@pytest.fixture(scope="module")
def drawn() -> dict[str, bytes]:
    return {script.document.id: script.draw() for script in document_scripts()}


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("storage")
    build_mini(root)
    return root


def opened(pdf: bytes) -> Any:
    return pymupdf.open(stream=pdf)


def test_another_process_draws_the_same_bytes(drawn: dict[str, bytes]) -> None:
    environment = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LANG": "C"}
    done = subprocess.run([sys.executable, "-c", HASHES], capture_output=True, text=True, env=environment, check=True)
    assert dict(line.split() for line in done.stdout.splitlines()) == {
        name: sha256_bytes(pdf) for name, pdf in drawn.items()
    }


def test_documents_are_long_enough_and_use_built_in_fonts_only(drawn: dict[str, bytes]) -> None:
    for script in document_scripts():
        with opened(drawn[script.document.id]) as pdf:
            assert pdf.page_count >= FEWEST_PAGES[script.document.domain], script.document.id
            assert {font[3] for page in pdf for font in page.get_fonts()} <= BASE_FONTS
            assert pdf.metadata["creationDate"] == "D:20250101000000Z"
            assert not pdf.metadata["producer"]


def test_no_text_runs_off_a_page_or_over_other_text(drawn: dict[str, bytes]) -> None:
    for name, pdf in drawn.items():
        with opened(pdf) as document:
            for page in document:
                words = page.get_text("words")
                if not words:  # a scan
                    continue
                x0, y0, x1, y1 = np.array([word[:4] for word in words]).T
                assert x0.min() >= 0
                assert y0.min() >= 0
                assert x1.max() <= page.rect.width
                assert y1.max() <= page.rect.height
                wide = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0)
                high = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
                shared = np.clip(wide, 0, None) * np.clip(high, 0, None)
                np.fill_diagonal(shared, 0)
                # the boxes of neighbouring lines touch; letters that collide share half of a box
                assert not (shared > ((x1 - x0) * (y1 - y0))[:, None] / 2).any(), (name, page.number + 1)


def test_characters_beyond_ascii_are_what_was_written(drawn: dict[str, bytes]) -> None:
    with opened(drawn["mini-halden-2022"]) as pdf:
        assert "Total liabilities and shareholders’ equity" in titled(pdf, "CONSOLIDATED BALANCE SHEETS")
        assert "—" in titled(pdf, "CONSOLIDATED STATEMENTS OF CASH FLOWS")  # nil
    with opened(drawn["mini-deeptech-report"]) as pdf:
        assert "Linköping" in pdf[4].get_text()


def titled(pdf: Any, title: str) -> list[str]:
    """The lines of the only page that has ``title`` as a line of its own."""
    (lines,) = (lines for page in pdf if title in (lines := page.get_text().split("\n")))
    return lines


def years(lines: list[str]) -> list[str]:
    return [line for line in lines if re.fullmatch(r"20\d\d", line)]


def test_a_filing_shows_three_years_of_income_and_two_of_balances(drawn: dict[str, bytes]) -> None:
    with opened(drawn["mini-marrow-2023"]) as pdf:
        income = titled(pdf, "CONSOLIDATED STATEMENTS OF INCOME")
        balance = titled(pdf, "CONSOLIDATED BALANCE SHEETS")
        cash = titled(pdf, "CONSOLIDATED STATEMENTS OF CASH FLOWS")
    assert years(income) == ["2023", "2022", "2021"]
    assert years(balance) == ["2023", "2022"]
    assert years(cash) == ["2023", "2022", "2021"]
    assert "(In millions)" in cash
    assert "$" in cash, "the sign stands apart from its number"


def test_queries_cover_all_six_splits() -> None:
    queries = mini_queries()
    assert Counter(query.domain for query in queries) >= Counter(dict.fromkeys(Domain, 2))
    assert Counter(split for query in queries for split in query.splits) >= Counter(dict.fromkeys(Split, 2))
    known = {script.document.id: script.document.domain for script in document_scripts()}
    for query in queries:
        assert {known[name] for name in query.document_ids} == {query.domain}
        assert (query.modality is Modality.MULTIMODAL) == (query.domain is Domain.ECOSYSTEM)


def test_labels_are_those_of_the_paper(shared: Path) -> None:
    def labels(table: str, column: str) -> set[tuple[str, str]]:
        with (shared / "paper" / "tables" / table).open(encoding="utf-8") as stream:
            return {(row["domain"], row[column]) for row in csv.DictReader(stream)}

    kinds, families = labels("query_types.csv", "query_type"), labels("chart_families.csv", "chart_family")
    for query in mini_queries():
        assert (query.domain.value, query.query_type) in kinds
        assert (query.domain.value, query.chart_family) in families


def test_building_registers_documents_and_queries(storage: Path, drawn: dict[str, bytes]) -> None:
    documents = DocumentStore(storage)
    assert {document.id: document.sha256 for document in documents.list()} == {
        name: sha256_bytes(pdf) for name, pdf in drawn.items()
    }
    filing = documents.get("mini-halden-2023")
    assert (filing.company, filing.fiscal_years) == ("Halden Instruments", (2023,))
    library = Library(storage)
    assert [query.uid for query in library.queries()] == [query.uid for query in mini_queries()]
    for query in library.queries():
        assert library.file(query, str(query.references.stage1)).is_file()
        assert "__J__" in library.file(query, str(query.references.stage2_python)).read_text(encoding="utf-8")


def test_recipes_are_no_part_of_what_is_built(storage: Path) -> None:
    assert not list(storage.rglob("recipe*"))


def test_building_again_writes_nothing(storage: Path) -> None:
    def state() -> dict[str, int]:
        files = (path for path in storage.rglob("*") if path.is_file() and path.name != ".lock")
        return {str(path): path.stat().st_mtime_ns for path in files}

    before = state()
    build_mini(storage)
    assert state() == before


def test_a_document_of_another_version_is_replaced(tmp_path: Path, drawn: dict[str, bytes]) -> None:
    old = tmp_path / "old.pdf"
    old.write_bytes(b"%PDF-1.4\nan older drawing\n%%EOF")
    store = DocumentStore(tmp_path / "storage")
    store.add(old, Domain.ECOSYSTEM, document_id="mini-deeptech-report")
    build_mini(tmp_path / "storage", quick=True)
    assert store.pdf("mini-deeptech-report").read_bytes() == drawn["mini-deeptech-report"]


def test_a_storage_that_is_a_file_is_said_to_be_one(tmp_path: Path) -> None:
    place = tmp_path / "storage"
    place.write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot write"):
        build_mini(place)


def test_the_package_loads_without_what_draws() -> None:
    code = "import sys, deepchart_dagster.benchmark.mini.build; sys.exit('pymupdf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_books_follow_the_rules_of_bookkeeping() -> None:
    opening = Position(
        cash=10, receivables=5, inventories=5, other_current=0, plant=50, intangibles=10, payables=4, accrued=1,
        current_debt=5, long_term_debt=20, paid_in_capital=30, retained_earnings=20,
    )  # fmt: skip
    year = Decisions(
        revenue=100, cost_of_sales=60, research=5, selling=10, depreciation=6, amortization=1, interest=2, tax=4,
        stock_compensation=1, capital_spending=8, acquisitions=0, debt_issued=3, debt_repaid=5, dividends=7,
        repurchases=2, receivables=9, inventories=4, other_current=1, payables=6, accrued=2, current_debt=4,
    )  # fmt: skip
    closed = keep_books(opening, {2020: year})[2020]
    assert closed.net_income == 100 - 60 - 5 - 10 - 1 - 2 - 4  # 18
    assert closed.operating_cash == 18 + 6 + 1 + 1 - 4 + 1 - 1 + 2 + 1  # 25
    assert closed.after.cash == 10 + 25 - 8 + 3 - 5 - 7 - 2  # 16
    assert closed.after.retained_earnings == 20 + 18 - 7
    assert closed.after.long_term_debt == 25 + 3 - 5 - 4
    assert closed.after.total_assets == closed.after.total_liabilities + closed.after.equity == 91


def test_books_that_begin_unbalanced_are_refused() -> None:
    opening = Position(
        cash=11, receivables=0, inventories=0, other_current=0, plant=0, intangibles=0, payables=0, accrued=0,
        current_debt=0, long_term_debt=0, paid_in_capital=10, retained_earnings=0,
    )  # fmt: skip
    nothing = Decisions(*([0] * 21))
    with pytest.raises(ValueError, match="2020 do not balance"):
        keep_books(opening, {2020: nothing})
