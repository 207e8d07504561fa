"""Checking and reading documents: every page accounted for, every problem by name."""

from __future__ import annotations

import json
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import PROSE, SHARED, filing_pages, needs_shared, save_pdf
from contexts_room import Room

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts import engines
from deepchart_dagster.contexts.children import inspect_pdf
from deepchart_dagster.contexts.layout import lay_out
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.contexts.show import describe
from deepchart_dagster.contexts.words import Word
from deepchart_dagster.errors import ConfigurationError, UpstreamError, UsageError

no_rapidocr = pytest.mark.skipif(engines.rapidocr_installed(), reason="rapidocr is installed here")


def picture_of_text(page: pymupdf.Page, text: str) -> None:
    """Text as pixels only, over the whole page: a scan."""
    source = pymupdf.open()
    drawn = source.new_page(width=page.rect.width, height=page.rect.height)
    drawn.insert_text((60, 120), text, fontsize=24)
    page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=100))


def scanned(path: Path) -> Path:
    """Page 1 typed, page 2 a scan, page 3 blank, page 4 typed."""
    pdf = pymupdf.open()
    for number in range(1, 5):
        page = pdf.new_page()
        if number == 2:
            picture_of_text(page, "Total assets 352,755")
        elif number != 3:
            page.insert_text((60, 120), PROSE)
    pdf.save(str(path))
    return path


def test_a_filing_is_read_into_its_four_files(room: Room, tmp_path: Path) -> None:
    document, summary = room.read(save_pdf(tmp_path / "acme 2022.pdf", *filing_pages(2022)))
    assert document == "acme-2022"
    assert summary.results[0].value == {
        "n_pages": 6,
        "n_page_errors": 0,
        "n_numbers": summary.results[0].value["n_numbers"],
    }
    assert set(summary.results[0].files) == {
        "document.md",
        "pages.jsonl",
        "lines.jsonl",
        "summary.json",
        "quality.json",
    }
    folder = room.store.folder("ocr_contexts", (), document)
    markdown = (folder / "document.md").read_text().split("\n")
    for row in map(json.loads, (folder / "lines.jsonl").read_text().splitlines()):
        line = markdown[row["line"] - 1]
        assert line
        assert (row["kind"] == "page") == line.startswith("<!-- page ")
        for number in row["numbers"]:
            assert number["text"] in line
    assert [line for line in markdown if line.startswith("<!--")] == [f"<!-- page {n} -->" for n in range(1, 7)]


def test_a_registered_pdf_is_read_without_raw_documents(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)]), Domain.FINANCE)
    summary = room.ocr().run(document.id)
    assert (summary.n_ok, summary.results[0].value["n_pages"]) == (1, 1)
    assert room.store.read("raw_documents", (), document.id) is None


def test_a_pdf_whose_bytes_changed_is_not_read_without_raw_documents(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)]), Domain.FINANCE)
    room.documents.pdf(document.id).write_bytes(save_pdf(tmp_path / "b.pdf", [(50, 60, "Other.")]).read_bytes())
    summary = room.ocr().run(document.id)
    assert [error.kind for error in summary.errors] == ["DocumentError"]
    assert "no longer the file that was registered" in summary.errors[0].message


def test_an_encrypted_pdf_is_that_documents_error_and_reading_says_so(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(
        tmp_path / "locked.pdf",
        [(50, 60, PROSE)],
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="secret",
        owner_pw="secret",
    )
    document = room.documents.add(pdf, Domain.FINANCE)
    checked = room.raw.run(document.id)
    assert checked.errors[0].kind == "DocumentError"
    assert "locked (locked.pdf) is encrypted. Remove its password." in checked.errors[0].message
    assert "is encrypted" in room.ocr().run(document.id).errors[0].message


def test_a_pdf_that_needs_no_password_to_be_read_is_read(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "owned.pdf", [(50, 60, PROSE)], encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner")
    _, summary = room.read(pdf)
    assert summary.n_ok == 1


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n" + b"\x00\xff not a PDF after all " * 40,
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj "
        b"trailer<</Root 1 0 R>>\n%%EOF\n",
    ],
    ids=["rubbish", "no pages"],
)
def test_a_damaged_pdf_and_one_without_pages(room: Room, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.pdf").write_bytes(content)
    document = room.documents.add(tmp_path / "broken.pdf", Domain.FINANCE)
    checked = room.raw.run(document.id)
    assert checked.errors[0].kind == "DocumentError"
    assert "broken (broken.pdf) is damaged" in checked.errors[0].message
    assert "deepchart documents add" in checked.errors[0].message


def test_a_pdf_whose_end_is_cut_off_is_repaired_and_says_so(room: Room, tmp_path: Path) -> None:
    whole = save_pdf(tmp_path / "whole.pdf", *[[(50, 60, f"{PROSE} {n}")] for n in range(3)]).read_bytes()
    (tmp_path / "cut.pdf").write_bytes(whole[: whole.rindex(b"xref")])
    document = room.documents.add(tmp_path / "cut.pdf", Domain.FINANCE)
    assert room.raw.run(document.id).results[0].value["repaired"] is True


def test_bytes_that_changed_in_storage_are_noticed(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)]), Domain.FINANCE)
    path = room.documents.pdf(document.id)
    path.write_bytes(path.read_bytes() + b"\n")
    assert "no longer the file that was registered" in room.raw.run(document.id).errors[0].message


def test_a_page_whose_content_is_damaged_is_no_blank_page(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(3):
        pdf.new_page().insert_text((60, 120), PROSE)
    pdf.update_stream(pdf[1].get_contents()[0], b"BT /F9 12 Tf (lost) Tj ET <</Broken", compress=False)
    pdf.save(str(tmp_path / "a.pdf"))
    first, second, third = PdfReader(pdf=tmp_path / "a.pdf", engine="text-layer").read([1, 2, 3])
    assert (first.error, third.error) == (None, None)
    assert second.error is not None or second.markdown, "a damaged page may not pass for a blank one"


@no_rapidocr
def test_a_scanned_page_without_ocr_is_an_error_of_that_page_only(room: Room, tmp_path: Path) -> None:
    document, summary = room.read(scanned(tmp_path / "mixed.pdf"), engine="auto")
    assert summary.results[0].value["n_page_errors"] == 1
    context = room.context(document)
    assert list(context.summary.page_errors) == [2]
    assert ".venv/bin/python -m uv pip install -c requirements.lock -e '.[ocr]'." in context.summary.page_errors[2]
    assert context.summary.pages_by_engine == {"text-layer": 3}
    assert [(page.number, bool(page.markdown), bool(page.error)) for page in context.pages] == [
        (1, True, False),
        (2, False, True),
        (3, False, False),
        (4, True, False),
    ]
    assert "<!-- page 2 could not be read: " in context.markdown
    text = describe(room.store, document).as_text()
    assert "page 2 could not be read" in text


@no_rapidocr
def test_a_document_of_scans_only_is_in_error(room: Room, tmp_path: Path) -> None:
    pdf = pymupdf.open()
    picture_of_text(pdf.new_page(), "Scan")
    pdf.save(str(tmp_path / "scan.pdf"))
    _, summary = room.read(tmp_path / "scan.pdf", engine="auto")
    assert summary.errors[0].kind == "DocumentError"
    assert "no page of scan could be read" in summary.errors[0].message


def test_the_text_layer_alone_passes_no_scanned_page_in_silence(room: Room, tmp_path: Path) -> None:
    document, summary = room.read(scanned(tmp_path / "mixed.pdf"), engine="text-layer")
    assert summary.results[0].value["n_page_errors"] == 1
    page = room.context(document).pages[1]
    assert page.error is not None
    assert "the text layer has 0 characters" in page.error
    assert "Use the engine auto" in page.error


@pytest.mark.skipif(not engines.rapidocr_installed(), reason="needs the ocr extra")
@pytest.mark.slow
def test_a_scanned_page_is_read_by_ocr(room: Room, tmp_path: Path) -> None:
    document, _ = room.read(scanned(tmp_path / "mixed.pdf"), engine="auto")
    context = room.context(document)
    assert context.summary.pages_by_engine == {"rapidocr": 1, "text-layer": 3}
    assert "352,755" in context.pages[1].markdown


@pytest.mark.parametrize("engine", ["paddleocr", "paddleocr-vl"])
def test_an_engine_without_models_is_refused_with_how_to_get_them(room: Room, tmp_path: Path, engine: str) -> None:
    document = room.documents.add(save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)]), Domain.FINANCE)
    with pytest.raises(ConfigurationError, match=rf"{engine} has no models\. .*DEEPCHART_"):
        room.ocr(engine).plan([document.id])


@no_rapidocr
def test_rapidocr_without_the_extra_names_the_extra() -> None:
    with pytest.raises(ConfigurationError, match=r"rapidocr is not installed.*deepchart-dagster\[ocr\]"):
        engines.engine_identity("rapidocr")


def test_an_unknown_engine_and_document(room: Room) -> None:
    with pytest.raises(ConfigurationError, match="no OCR engine 'tesseract'"):
        engines.engine_identity("tesseract")
    with pytest.raises(UsageError, match="no document 'nothing'"):
        room.ocr().plan(["nothing"])
    with pytest.raises(UpstreamError, match="nothing has not been read yet"):
        describe(room.store, "nothing")


def test_the_key_names_the_bytes_and_the_engine_and_not_the_title(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)])
    room.read(pdf)
    (before,) = room.ocr().plan(["a"])
    room.documents.add(pdf, Domain.FINANCE, title="Another title")
    assert room.ocr().plan(["a"])[0].key == before.key
    assert room.ocr("auto").plan(["a"])[0].key != before.key
    assert room.ocr().run("a").n_reused == 1


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_that_pages_error(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page().insert_text((60, 120), PROSE)
    page = pdf.new_page()
    for _ in range(3):
        page.insert_text((60, 120), PROSE)
    slow = b"q " + b"BT /helv 10 Tf 10 10 Td (x) Tj ET " * 2_000_000 + b" Q"
    pdf.update_stream(page.get_contents()[0], slow)
    pdf.new_page().insert_text((60, 120), PROSE)
    pdf.save(str(tmp_path / "slow.pdf"), deflate=True)
    readings = PdfReader(
        pdf=tmp_path / "slow.pdf", engine="text-layer", options=ReadingOptions(page_timeout_s=1.0)
    ).read([1, 2, 3])
    assert [reading.number for reading in readings] == [1, 2, 3]
    assert [reading.error for reading in readings] == [None, "no answer after 1 s", None]


def test_a_child_that_cannot_start_is_the_documents_error_not_every_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepchart_dagster.contexts import children
    from deepchart_dagster.errors import DocumentError

    pdf = save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)])
    monkeypatch.setattr(children.sys, "executable", "/bin/false")
    with pytest.raises(DocumentError, match=r"pages cannot be read with text-layer.*deepchart doctor"):
        PdfReader(pdf=pdf, engine="text-layer").read([1])


def test_two_columns_of_prose_are_read_one_after_the_other() -> None:
    def line(x: float, y: float, text: str) -> list[Word]:
        return [Word(part, x + 40 * at, y, x + 40 * at + 36, y + 10) for at, part in enumerate(text.split())]

    words = line(60, 40, "The title runs over the whole width of this page here")
    for row in range(12):
        words += line(50, 80 + 12 * row, f"left text goes down here L{row}")
        words += line(310, 80 + 12 * row, f"right text goes down here R{row}")
    text = " ".join(found.markdown for found in lay_out(words, 600))
    order = [text.index(f"L{row}") for row in range(12)] + [text.index(f"R{row}") for row in range(12)]
    assert order == sorted(order)


@needs_shared
@pytest.mark.slow
def test_a_paper_and_a_report_are_read_page_by_page(room: Room) -> None:
    paper = SHARED / "pdfs" / "paper_moonlight.pdf"
    readings = PdfReader(pdf=paper, engine="auto", figures=True).read([9, 10])
    assert inspect_pdf(paper).n_pages == 19
    assert "<td>MMLU</td><td>54.7</td><td>65.6</td><td>58.3</td><td>70.0</td>" in readings[0].markdown
    assert any(line.figure for line in readings[1].lines)
