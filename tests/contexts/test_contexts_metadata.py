"""What PDFs say of themselves: the shared ones, the mini benchmark's, and covers and titles made for a rule each."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from deepchart_dagster.benchmark.documents import DocumentFacts
from deepchart_dagster.benchmark.mini.documents import MiniDocument, document_scripts
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.metadata import FrontLine, FrontMatter, facts_of, read_metadata

pytestmark = pytest.mark.slow

PAPER = "Tides in a bathtub"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("10k_apple_2022", DocumentFacts(Domain.FINANCE, "Apple Inc., Form 10-K 2022", "Apple Inc.", (2022,))),
        (
            "10k_amazon_2019",
            DocumentFacts(Domain.FINANCE, "AMAZON.COM, INC., Form 10-K 2019", "AMAZON.COM, INC.", (2019,)),
        ),
        ("paper_moonlight", DocumentFacts(Domain.ACADEMIC, "MUON IS SCALABLE FOR LLM TRAINING")),
        ("report_rust_survey_2024", DocumentFacts(title="Rust Annual survey 2024 report")),
        ("scan_ocrmypdf_multipage", DocumentFacts()),
    ],
)
def test_the_shared_pdfs(shared: Path, name: str, expected: DocumentFacts) -> None:
    assert read_metadata(shared / f"pdfs/{name}.pdf") == expected


_MINI = {script.document.id: script for script in document_scripts()}
_SCANNED = "mini-tarn-valley-2024"


@pytest.mark.parametrize("document_id", sorted(_MINI.keys() - {_SCANNED}))
def test_every_document_of_the_mini_benchmark(tmp_path: Path, document_id: str) -> None:
    document: MiniDocument = _MINI[document_id].document
    pdf = tmp_path / "drawn.pdf"
    pdf.write_bytes(_MINI[document_id].draw())
    facts = read_metadata(pdf)
    assert facts.title == document.title
    assert facts.domain == (None if document.domain is Domain.ECOSYSTEM else document.domain)
    assert facts.fiscal_years == tuple(document.fiscal_years)
    assert (facts.company or "").startswith(document.company or "")


def test_of_a_filing_that_is_pictures_only_its_own_title_is_known(tmp_path: Path) -> None:
    pdf = tmp_path / "drawn.pdf"
    pdf.write_bytes(_MINI[_SCANNED].draw())
    assert read_metadata(pdf) == DocumentFacts(title="Tarn Valley Paper Company: Form 10-K 2024")


def _pdf(path: Path, lines: list[tuple[str, float]], title: str = "", references: bool = True) -> Path:
    """A page of lines with their sizes; the list of references stands on a second page."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for number, (text, size) in enumerate(lines):
            page.insert_text((50, 60 + 30 * number), text, fontsize=size)
        if references:
            pdf.new_page().insert_text((50, 60), "References")
        pdf.set_metadata({"title": title})
        pdf.save(path)
    return path


@pytest.mark.parametrize(
    "title", ["untitled", "Untitled document", "Microsoft Word - draft7", "tub_final_v3.pdf", "main tides.tex", "x", ""]
)
def test_a_title_that_is_none_gives_way_to_the_largest_type(tmp_path: Path, title: str) -> None:
    pdf = _pdf(tmp_path / "a.pdf", [("Preprint", 8), (PAPER, 17), ("A. Author", 10), ("Abstract", 11)], title)
    assert read_metadata(pdf) == DocumentFacts(Domain.ACADEMIC, PAPER)


def test_a_sensible_title_of_the_pdf_is_taken(tmp_path: Path) -> None:
    pdf = _pdf(tmp_path / "a.pdf", [("TIDES", 17), ("A B S T R A C T", 11)], "Tides of  a small sea")
    assert read_metadata(pdf) == DocumentFacts(Domain.ACADEMIC, "Tides of a small sea")


def test_an_abstract_without_references_is_no_paper(tmp_path: Path) -> None:
    pdf = _pdf(tmp_path / "a.pdf", [(PAPER, 17), ("Abstract", 11)], references=False)
    assert read_metadata(pdf).domain is None


def test_what_stands_along_the_margin_is_no_title(tmp_path: Path) -> None:
    path = _pdf(tmp_path / "a.pdf", [(PAPER, 17), ("Abstract", 11)])
    with pymupdf.open(path) as pdf:
        pdf[0].insert_text((30, 500), "stamp:2401.00001v1 of an archive", fontsize=24, rotate=90)
        pdf.save(tmp_path / "b.pdf")
    assert read_metadata(tmp_path / "b.pdf").title == PAPER


def _front(*lines: str, title: str = "") -> FrontMatter:
    return FrontMatter(title, tuple(FrontLine(text, 10.0, 1) for text in lines), has_references=False)


@pytest.mark.parametrize(
    ("lines", "company", "year", "form"),
    [
        (
            (
                "FORM 10-K/A",
                "For the fiscal year ended",
                "June 30, 2021",
                "THE LONG NAME",
                "COMPANY",
                "(Exact name of registrant)",
            ),
            "THE LONG NAME COMPANY",
            2021,
            "10-K",
        ),
        (
            ("Form 10-K405", "for the year ended 31 December 1999", "Acme, Inc.", "(Exact name of registrant as s"),
            "Acme, Inc.",
            1999,
            "10-K405",
        ),
        (
            ("FORM 20-F", "For the fiscal year ended March 31, 2020", "Acme plc (Exact name of Registrant)"),
            "Acme plc",
            2020,
            "20-F",
        ),
        (
            (
                "FORM 10-K",
                "For the fiscal year ended May 2, 2020",
                "BRAND AND",
                "SONS LTD",
                "___",
                "(Exact name of registrant)",
            ),
            "BRAND AND SONS LTD",
            2020,
            "10-K",
        ),
    ],
)
def test_covers(lines: tuple[str, ...], company: str, year: int, form: str) -> None:
    facts = facts_of(_front(*lines))
    assert (facts.domain, facts.fiscal_years) == (Domain.FINANCE, (year,))
    assert (facts.company, facts.title) == (company, f"{company}, Form {form} {year}")


def test_a_name_over_two_lines() -> None:
    cover = ("FORM 10-K", "For the fiscal year ended May 2, 2020", "Commission File No. 1-2", "BRAND AND", "SONS LTD")
    facts = facts_of(_front(*cover, "_____", "(Exact name of registrant as specified in its charter)"))
    assert facts.company == "BRAND AND SONS LTD"


def test_a_text_that_quotes_a_form_is_no_filing() -> None:
    quoting = _front("How to read a Form 10-K", "for the year ended December 31, 2020 and later")
    assert facts_of(quoting).domain is None
    assert facts_of(_front("Form 10-K", "what it is and who must send it in")).domain is None


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.7\nnothing")
    assert read_metadata(damaged).problem
    locked = tmp_path / "locked.pdf"
    with pymupdf.open() as pdf:
        pdf.new_page()
        pdf.save(locked, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    assert read_metadata(locked) == DocumentFacts(problem="it is encrypted")
