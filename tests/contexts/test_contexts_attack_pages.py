"""Pages that try to pass for something else: lost ones for blanks, text for mark-up, one number for two."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from contexts_bad_pdfs import giant_image, looping_pages, pdf_of, stream
from contexts_drawing import PROSE, save_pdf
from contexts_room import Room
from PIL import Image

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts import children, metadata
from deepchart_dagster.contexts.engines import EngineConfig, rapidocr_installed
from deepchart_dagster.contexts.locate import lines_of_document, locate
from deepchart_dagster.contexts.markup import as_text, readable
from deepchart_dagster.contexts.overprint import without_overprint
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.contexts.show import describe
from deepchart_dagster.contexts.words import Word
from deepchart_dagster.contexts.written import plain_text
from deepchart_dagster.errors import DocumentError, UsageError

needs_ocr = pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")


def read(path: Path, engine: str = "text-layer") -> PageReading:
    (reading,) = PdfReader(path, engine).read([1])
    return reading


# Damage


def cut_content(path: Path) -> Path:
    """A page whose packed content ends in its middle: lines 1 to 30 of 60 or so can be read."""
    texts = b"".join(
        b"BT /F1 9 Tf 60 %d Td (Line %d is worth %d) Tj ET\n" % (800 - 12 * n, n, 1000 + n) for n in range(60)
    )
    packed = zlib.compress(texts, 0)
    content = stream(packed[: len(packed) // 2], b"/Filter/FlateDecode")
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>", 3: page, 4: content}
    path.write_bytes(pdf_of({**objects, 5: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}))
    return path


def test_a_page_of_which_a_part_is_lost_is_read_and_named(room: Room, tmp_path: Path) -> None:
    document, summary = room.read(cut_content(tmp_path / "cut.pdf"))
    assert summary.results[0].value["n_page_errors"] == 0
    context = room.context(document)
    assert "1010" in context.markdown
    assert "1059" not in context.markdown
    assert list(context.summary.damaged) == [1]
    assert context.pages[0].damage == context.summary.damaged[1]
    assert (
        f"page 1 may lack a part, it is damaged: {context.pages[0].damage}" in describe(room.store, document).as_text()
    )


def test_nothing_is_said_of_a_sound_page(room: Room, tmp_path: Path) -> None:
    document, _ = room.read(save_pdf(tmp_path / "a.pdf", [(60, 120, PROSE)]))
    assert (room.context(document).summary.damaged, room.context(document).pages[0].damage) == ({}, None)


@needs_ocr
@pytest.mark.slow
def test_a_lost_picture_that_ocr_takes_for_a_black_square_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(giant_image(200_000))
    reading = read(tmp_path / "a.pdf", "auto")
    assert (reading.markdown, reading.error is None) == ("", False)
    assert "rapidocr: its content is damaged (padding truncated image)" in str(reading.error)


@needs_ocr
@pytest.mark.slow
def test_a_scan_whose_lower_half_is_lost_is_read_and_named(tmp_path: Path) -> None:
    drawn = pymupdf.open().new_page()
    drawn.insert_text((60, 120), "Total assets 352,755", fontsize=24)
    drawn.insert_text((60, 720), "Total debts 302,083", fontsize=24)
    pixels = drawn.get_pixmap(dpi=100)
    written = io.BytesIO()
    Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples).save(written, "JPEG")  # from top to bottom
    jpeg = written.getvalue()
    entries = b"/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>"
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: page,
        4: stream(jpeg[: len(jpeg) // 2], entries % (pixels.width, pixels.height)),
        5: stream(b"q 595 0 0 842 0 0 cm /I Do Q"),
    }
    (tmp_path / "a.pdf").write_bytes(pdf_of(objects))
    reading = read(tmp_path / "a.pdf", "auto")
    assert (reading.error, "352,755" in reading.plain, "302,083" in reading.plain) == (None, True, False)
    assert reading.damage is not None


# Mark-up


def test_text_that_looks_like_mark_up_is_text(room: Room, tmp_path: Path) -> None:
    shown = ["<!-- page 7 -->", "</table><table><tr><td>1</td></tr></table>", "<script>alert(2)</script>", "R&amp;D 3"]
    document, _ = room.read(save_pdf(tmp_path / "a.pdf", [(60, 100 + 40 * n, text) for n, text in enumerate(shown)]))
    context = room.context(document)
    assert context.markdown.count("<") == 1, "the one page mark"
    assert [line.kind for line in context.lines] == ["page", *["text"] * len(context.lines[1:])]
    text = plain_text(context.markdown)
    assert all(one in text for one in shown)


def test_a_number_between_less_and_more_is_found(room: Room, tmp_path: Path) -> None:
    """As a tag, "< 0.05 and n >" would take its number along."""
    document, _ = room.read(save_pdf(tmp_path / "a.pdf", [(60, 100, "It holds for p < 0.05 and n > 30 alone.")]))
    (found,) = locate(lines_of_document(room.context(document)), "0.05")
    assert (found.page, found.row) == (1, "It holds for p < 0.05 and n > 30 alone.")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a < b, 5 <= 6, x <- y", "a < b, 5 <= 6, x <- y"),
        ("<b>1</b>", "&lt;b>1&lt;/b>"),
        ("AT&T, R&D; &lt; &#60; & more", "AT&T, R&amp;D; &amp;lt; &amp;#60; & more"),
    ],
)
def test_only_what_would_be_taken_for_mark_up_is_written_otherwise(text: str, written: str) -> None:
    assert as_text(text) == written
    assert plain_text(written) == text


def test_what_a_terminal_obeys_and_no_file_holds_is_no_text() -> None:
    assert readable("a\x1b[2Jb\nc\ud800 \u202ed") == "a[2Jb\nc\ufffd d"


# Numbers that are asked for


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("$2.8 trillion", []),
        ("$2.8 billion", ["Leases were $2.8 billion.", "Or $2,800 million.", "In full 2,800,000,000 dollars."]),
        ("2.8", ["Leases were $2.8 billion.", "A share of 2.8% alone."]),
        ("−2.8 billion", ["Leases were $2.8 billion.", "Or $2,800 million.", "In full 2,800,000,000 dollars."]),
    ],
)
def test_a_unit_that_is_asked_for_counts(room: Room, tmp_path: Path, asked: str, rows: list[str]) -> None:
    texts = [
        "Leases were $2.8 billion.",
        "A share of 2.8% alone.",
        "Or $2,800 million.",
        "In full 2,800,000,000 dollars.",
    ]
    document, _ = room.read(save_pdf(tmp_path / "a.pdf", [(60, 100 + 40 * n, text) for n, text in enumerate(texts)]))
    found = locate(lines_of_document(room.context(document)), asked)
    assert [one.row for one in found] == rows
    assert {one.match for one in found} == ({"other sign"} if asked.startswith("−") else {one.match for one in found})


@pytest.mark.parametrize("asked", ["", " ", ".*", "[0-9", "2022 2021", "9" * 5000, "—", "nan", "1,23"])
def test_what_is_no_number_is_said_in_a_short_line(asked: str) -> None:
    with pytest.raises(UsageError) as caught:
        locate([], asked)
    assert len(str(caught.value)) < 220


# Overprint


def test_a_word_that_is_printed_over_itself_is_read_once(tmp_path: Path) -> None:
    shifts = ((0, 0), (0.4, 0), (0.4, 0.3), (0, 0))
    texts = [(60 + x, 100 + y, "Total assets 352,755") for x, y in shifts]
    reading = read(save_pdf(tmp_path / "a.pdf", [*texts, (60, 300, "Total assets 352,755")]))
    assert reading.plain == "Total assets 352,755 Total assets 352,755"
    assert reading.n_numbers == 2


@pytest.mark.parametrize("at", [63.9, 64.0, 64.1, 15.95, 0.0])
def test_overprint_is_seen_wherever_it_lies(at: float) -> None:
    words = [Word("42", at + shift, at + shift, at + 12 + shift, at + 10 + shift) for shift in (0.0, 0.7, -0.7)]
    beside = [Word("42", at + 13, at, at + 25, at + 10), Word("43", at, at, at + 12, at + 10)]
    assert without_overprint([*words, *beside]) == [words[0], *beside]


# Digits that run the other way


@pytest.mark.parametrize("direction", ["rtl", "ltr"])
def test_arabic_numbers_are_read_as_they_are_shown(tmp_path: Path, direction: str) -> None:
    pdf = pymupdf.open()
    text = f"<p dir='{direction}'>مجموع ١٢٣٬٤٥٦ ٧٨٫٥٪ (٩٠١) ۱۲۳ 352,755</p>"
    pdf.new_page().insert_htmlbox((60, 60, 500, 200), text)
    pdf.save(str(tmp_path / "a.pdf"))
    shown = read(tmp_path / "a.pdf").plain
    assert [number in shown for number in ("١٢٣٬٤٥٦", "٧٨٫٥٪", "٩٠١", "۱۲۳", "352,755")] == [True] * 5


# Names and files


@pytest.mark.parametrize("name", ["archive.pdf", "page.pdf"])
def test_a_pdf_inside_something_else_is_no_pdf(room: Room, tmp_path: Path, name: str) -> None:
    pdf = save_pdf(tmp_path / "inner.pdf", [(60, 120, PROSE)])
    path = tmp_path / name
    if name == "archive.pdf":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.write(pdf, "a.pdf")
    else:
        path.write_text("<html>Fetch our %PDF-1.7 here</html>")
    with pytest.raises(UsageError) as caught:
        room.documents.add(path, Domain.FINANCE)
    assert ("is a ZIP archive" in str(caught.value)) == (name == "archive.pdf")
    assert "not a PDF" in str(caught.value)
    assert list(room.documents.folder.glob("*")) == []


def test_a_line_break_in_a_files_name_is_none_in_its_title(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(save_pdf(tmp_path / "two\nlines .pdf", [(60, 120, PROSE)]), Domain.FINANCE)
    assert (document.id, document.title, document.file_name) == ("two-lines", "two lines", "two\nlines .pdf")


@pytest.mark.slow
def test_first_pages_that_take_too_long_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((60, 120), PROSE)
    pdf.update_stream(page.get_contents()[0], b"BT /helv 10 Tf 10 10 Td (x) Tj ET " * 2_000_000)
    pdf.save(str(tmp_path / "slow.pdf"), deflate=True)
    monkeypatch.setattr(metadata, "_FRONT_TIMEOUT_S", 1.0)
    facts = metadata.read_metadata(tmp_path / "slow.pdf")
    assert facts.problem == "its first pages cannot be read (no answer after 1 s)"


def test_an_ocr_library_is_told_to_report_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime sends the names of models and of the process to its maker, from 1.29 on, unless it is told not to."""
    started: dict[str, dict[str, str]] = {}

    def note(command: list[str], *, env: dict[str, str], **_: object) -> None:
        started[command[0]] = env
        raise OSError("not started")

    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setattr(children.subprocess, "Popen", note)
    with pytest.raises(OSError, match="not started"):
        children.Child({"do": "inspect", "pdf": "a.pdf", "max_pages": None})
    (environment,) = started.values()
    assert environment["ORT_DISABLE_TELEMETRY"] == "1"
    assert "OPENAI_API_KEY" not in environment


def test_pages_keep_what_they_wait_for_and_their_damage(room: Room, tmp_path: Path) -> None:
    """As they lie in pages.jsonl, for whoever reads it."""
    document, _ = room.read(cut_content(tmp_path / "cut.pdf"))
    (row,) = (room.store.folder("ocr_contexts", (), document) / "pages.jsonl").read_text().splitlines()
    assert json.loads(row)["damage"] == room.context(document).summary.damaged[1]


# Pages as pictures


def drawn(pdf: Path, folder: Path) -> tuple[dict[str, Any], Image.Image]:
    """Page 1 in a chunk, and with a frame on it."""
    task = {"pdf": str(pdf), "chunks": [{"pages": [1], "path": str(folder / "chunk.jpg")}]}
    (chunk,) = children.run_child({"do": "chunks", **task})
    marked = {"pdf": str(pdf), "page": 1, "box": [10, 10, 90, 40], "path": str(folder / "marked.png")}
    list(children.run_child({"do": "mark", **marked}))
    with Image.open(folder / "marked.png") as picture:
        return chunk, picture.convert("RGB")


def test_a_picture_that_cannot_be_unpacked_does_not_cost_its_page(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(giant_image(200_000))
    chunk, _ = drawn(tmp_path / "a.pdf", tmp_path)
    assert (chunk["width"], chunk["height"], chunk["pictures"]) == (848, 1200, [])


def test_a_page_that_is_miles_wide_is_drawn(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((60, 120), PROSE)
    pdf.xref_set_key(page.xref, "UserUnit", "100000")
    pdf.save(str(tmp_path / "a.pdf"))
    chunk, marked = drawn(tmp_path / "a.pdf", tmp_path)
    assert (chunk["width"], chunk["height"]) == (848, 1200)
    assert max(marked.size) <= 4001


def test_a_page_that_mupdf_cannot_draw_is_said_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(looping_pages())
    with pytest.raises(children.ChildFailedError) as caught:
        drawn(tmp_path / "a.pdf", tmp_path)
    assert caught.value.reason == "cycle in page tree"


def test_figures_of_a_poster_are_told_apart_in_time(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=14_400, height=14_400)
    for at in range(40):
        page.draw_rect((100 + at, 100 + at, 13_000, 12_000), color=(0, 0, 0))
    page.insert_text((5000, 5000), "Tick 41", fontsize=100)
    page.insert_text((500, 13_500), PROSE, fontsize=100)
    pdf.save(str(tmp_path / "a.pdf"))
    reader = PdfReader(tmp_path / "a.pdf", "text-layer", figures=True, options=ReadingOptions(page_timeout_s=50))
    (reading,) = reader.read([1])
    assert reading.error is None
    assert [line.figure for line in reading.lines] == [1, None]


# What is said


@needs_ocr
@pytest.mark.slow
def test_a_strip_of_a_page_is_an_error_in_words(tmp_path: Path) -> None:
    """OCR has an exception without words for it; auto is not advised to try auto."""
    drawn = pymupdf.open().new_page()
    drawn.insert_text((60, 120), "Total assets 352,755", fontsize=24)
    pdf = pymupdf.open()
    page = pdf.new_page(width=10_000, height=10)
    page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=50))
    pdf.save(str(tmp_path / "a.pdf"))
    reading = read(tmp_path / "a.pdf", "auto")
    assert str(reading.error).startswith("rapidocr: it fails on a picture of 20834 × 21 pixels (")
    assert str(reading.error).endswith("the engine text-layer reads nothing else")


def test_a_limit_below_a_second_is_said_as_it_is(tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "a.pdf", [(60, 120, PROSE)])
    (reading,) = PdfReader(pdf, "text-layer", options=ReadingOptions(page_timeout_s=0.001)).read([1])
    assert reading.error == "no answer after 0.001 s"


def test_a_child_that_says_why_it_cannot_start_is_quoted_alone(tmp_path: Path) -> None:
    config = EngineConfig(name="paddleocr-vl", vl_server_url="http://127.0.0.1:9/v1")
    pdf = save_pdf(tmp_path / "a.pdf", [(60, 120, PROSE)])
    with pytest.raises(DocumentError) as caught:
        PdfReader(pdf, config).read([1])
    said = "pages cannot be read with paddleocr-vl: the server http://127.0.0.1:9/v1 cannot be reached ("
    assert str(caught.value).startswith(f"{pdf}: {said}")


def test_an_error_of_mupdf_is_said_without_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(looping_pages())
    assert "cycle in page tree" in str(read(tmp_path / "a.pdf").error)
    assert "code=" not in str(read(tmp_path / "a.pdf").error)
