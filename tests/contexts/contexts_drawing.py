"""Small PDFs drawn for tests, and reading a table back as row × column -> text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf
import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not (SHARED / "pdfs").is_dir(), reason="../shared/pdfs is not here")


@dataclass(frozen=True)
class ReadTable:
    """``rows`` in order: label and cells. ``columns``: text of the last header row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def value(self, label: str, column: str, nth: int = 0) -> str:
        """The cell of the ``nth`` row with that label, in the column whose header ends in ``column``."""
        found = [row for row in self.rows if row[0] == label]
        at = next(at for at, header in enumerate(self.columns) if header.endswith(column))
        return found[nth][at]


def tables_in(markdown: str) -> list[ReadTable]:
    return [_read(text) for text in re.findall(r"<table>.*?</table>", markdown)]


def _read(text: str) -> ReadTable:
    columns: tuple[str, ...] = ()
    rows = []
    for row in re.findall(r"<tr>(.*?)</tr>", text):
        kind = "th" if "<th" in row else "td"
        cells = tuple(html.unescape(cell) for cell in re.findall(rf"<{kind}[^>]*>(.*?)</{kind}>", row))
        if kind == "th":
            columns = cells
        else:
            rows.append(cells)
    return ReadTable(columns, tuple(rows))


def save_pdf(path: Path, *pages: Sequence[tuple[float, float, str]], **options: Any) -> Path:
    """A PDF with one page for each list of (x, baseline y, text), 10-point Helvetica."""
    pdf = pymupdf.open()
    for texts in pages:
        page = pdf.new_page(width=595, height=842)
        for x, y, text in texts:
            page.insert_text((x, y), text, fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    pdf.save(str(path), **options)
    return path


def statement(
    title: str, years: Sequence[int], rows: Sequence[tuple[str, Sequence[str]]], top: float = 60
) -> list[tuple[float, float, str]]:
    """Texts of a statement's page: title, unit, years over right-aligned values."""
    texts = [(200.0, top, title), (240.0, top + 14, "(In millions)")]
    edges = [340.0 + 90 * at for at in range(len(years))]
    texts += [(edge - 22, top + 40, str(year)) for edge, year in zip(edges, years, strict=True)]
    for at, (label, values) in enumerate(rows):
        y = top + 60 + 16 * at
        texts.append((50.0, y, label))
        texts += [(edge - _width(value), y, value) for edge, value in zip(edges, values, strict=False)]
    return texts


def _width(text: str) -> float:
    return float(pymupdf.get_text_length(text, fontsize=10)) - (3.3 if text.endswith(")") else 0.0)


BALANCE_SHEET = [
    ("Cash and cash equivalents", ("$ 120", "$ 100")),
    ("Accounts receivable", ("80", "75")),
    ("Total current assets", ("200", "175")),
    ("Total assets", ("$ 500", "$ 450")),
    ("Accounts payable", ("60", "50")),
    ("Total current liabilities", ("90", "85")),
    ("Total liabilities", ("290", "260")),
    ("Total shareholders’ equity", ("210", "190")),
    ("Total liabilities and shareholders’ equity", ("$ 500", "$ 450")),
]
INCOME_STATEMENT = [
    ("Net sales", ("$ 900", "$ 820", "$ 700")),
    ("Cost of sales", ("500", "470", "410")),
    ("Operating income", ("150", "120", "95")),
    ("Other income (expense), net", ("(7)", "3", "(2)")),
    ("Provision for income taxes", ("30", "25", "20")),
    ("Net income", ("$ 113", "$ 98", "$ 73")),
    ("Diluted earnings per share", ("$ 1.13", "$ 0.98", "$ 0.73")),
]
CASH_FLOW = [
    ("Net income", ("$ 113", "$ 98", "$ 73")),
    ("Depreciation and amortization", ("40", "38", "36")),
    ("Cash provided by operating activities", ("160", "140", "110")),
    ("Cash used in investing activities", ("(90)", "(70)", "(60)")),
    ("Cash used in financing activities", ("(50)", "(40)", "(30)")),
    ("Cash at end of year", ("$ 120", "$ 100", "$ 70")),
]
PROSE = "The company sells things and reports on what it sold in 2022 and in the years before that one."


def filing_pages(
    year: int, *, income: str = "CONSOLIDATED STATEMENTS OF OPERATIONS"
) -> list[list[tuple[float, float, str]]]:
    """Six pages: prose, an index that quotes the titles, the three statements, prose."""
    index = [
        (50.0, 60.0, "Index to consolidated financial statements"),
        (50.0, 90.0, "Consolidated Balance Sheets"),
        (500.0, 90.0, "4"),
        (50.0, 104.0, "Consolidated Statements of Cash Flows"),
        (500.0, 104.0, "5"),
    ]
    prose = [(50.0, 60.0 + 14 * at, PROSE) for at in range(20)]
    return [
        prose,
        index,
        statement(income, (year, year - 1, year - 2), INCOME_STATEMENT),
        statement("CONSOLIDATED BALANCE SHEETS", (year, year - 1), BALANCE_SHEET),
        statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", (year, year - 1, year - 2), CASH_FLOW),
        prose,
    ]
