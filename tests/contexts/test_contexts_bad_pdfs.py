"""PDFs that are wrong or strange, each with its clear line; what can be read of them is read."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from contexts_bad_pdfs import bomb, giant_image, looping_pages, many_pages, with_extras
from contexts_drawing import PROSE, save_pdf
from contexts_room import Room

from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.children import inspect_pdf
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.contexts.readings import PageReading

pytestmark = pytest.mark.slow


def checked(room: Room, path: Path) -> StepSummary:
    return room.raw.run(room.documents.add(path, Domain.FINANCE).id)


def complaint(room: Room, path: Path) -> str:
    """The one line about a document that cannot be read; reading it says the same reason."""
    (error,) = checked(room, path).errors
    assert error.kind == "DocumentError"
    (read,) = room.ocr().run(path.stem).errors
    assert error.message.split(". ")[0] in read.message
    return error.message


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def read(path: Path, pages: int, **options: float) -> list[PageReading]:
    return PdfReader(path, "text-layer", options=ReadingOptions(**options)).read(range(1, pages + 1))  # type: ignore[arg-type]


def test_a_user_password(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(
        tmp_path / "locked.pdf",
        [(50, 60, PROSE)],
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="secret",
        owner_pw="other",
    )
    assert complaint(room, pdf).startswith("locked (locked.pdf) is encrypted. Remove its password.")


def test_an_owner_password_alone_does_not_keep_it_from_being_read(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "owned.pdf", [(50, 60, PROSE)], encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="x")
    _, summary = room.read(pdf)
    assert (summary.n_ok, PROSE in room.context("owned").markdown) == (1, True)


def test_truncated_in_the_middle(room: Room, tmp_path: Path) -> None:
    """What stands before the cut is read; a page whose content is behind it is an error of that page."""
    whole = save_pdf(tmp_path / "whole.pdf", *[[(50, 60, f"{PROSE} {1000 + n}")] for n in range(40)]).read_bytes()
    pdf = written(tmp_path / "cut.pdf", whole[: len(whole) // 2])
    summary = checked(room, pdf)
    if summary.n_error:
        assert summary.errors[0].message.startswith("cut (cut.pdf) is damaged: ")
        return
    assert summary.results[0].value["repaired"] is True
    result = room.ocr().run("cut").results[0]
    context = room.context("cut")
    assert result.value["n_pages"] == len(context.pages)
    assert [page.number for page in context.pages if not (page.error or str(999 + page.number) in page.markdown)] == []
    assert "1000" in context.pages[0].markdown
    assert 10 < sum(page.error is None for page in context.pages) < 30


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("none", many_pages(0), "none (none.pdf) is damaged: it has no pages."),
        ("loop", looping_pages(), "loop (loop.pdf) is damaged: "),
        ("many", many_pages(10_000), "many (many.pdf) has 10000 pages, 3000 at most are read. Split it"),
        ("rubbish", b"%PDF-1.7\n" + b"\x00\xff rubbish " * 99, "rubbish (rubbish.pdf) is damaged: "),
    ],
)
def test_pages_that_cannot_be_had(room: Room, tmp_path: Path, name: str, data: bytes, words: str) -> None:
    assert complaint(room, written(tmp_path / f"{name}.pdf", data)).startswith(words)


def test_a_higher_limit_takes_a_longer_document(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(written(tmp_path / "many.pdf", many_pages(30)), Domain.FINANCE)
    short, long = (type(room.raw)(room.store, room.documents, max_pages=limit) for limit in (29, 30))
    assert "has 30 pages, 29 at most are read" in short.run(document.id).errors[0].message
    assert long.run(document.id).results[0].value["n_pages"] == 30


@pytest.mark.parametrize("side", [200 * 72, 1])
def test_pages_of_unusual_size(tmp_path: Path, side: int) -> None:
    """200 × 200 inches with text far out; 1 × 1 point, on which nothing can be seen."""
    pdf = pymupdf.open()
    pdf.new_page(width=side, height=side).insert_text((side * 0.7, side * 0.9), PROSE, fontsize=min(200, side))
    pdf.new_page().insert_text((60, 120), PROSE)
    pdf.save(str(tmp_path / "a.pdf"))
    first, second = read(tmp_path / "a.pdf", 2)
    assert (first.error, second.error, second.plain) == (None, None, PROSE)
    if side > 1:
        assert first.plain.startswith("The company sells things")
        assert first.lines[0].box[0] == pytest.approx(side * 0.7, abs=1)


@pytest.mark.slow
def test_a_decompression_bomb_is_an_error_of_its_page(tmp_path: Path) -> None:
    pdf = written(tmp_path / "bomb.pdf", bomb(2 << 30))
    assert pdf.stat().st_size < 8_000_000
    first, second, third = read(pdf, 3, page_timeout_s=5.0, memory_mb=2048, workers=1)
    assert (first.error, third.error) == (None, None)
    assert PROSE in first.plain
    assert PROSE in third.plain
    assert second.error == "no answer after 5 s"
    assert [failure.engine for failure in second.tried] == ["text-layer", "text-layer"]


def test_what_wants_more_memory_than_there_may_be_is_an_error_of_its_page(tmp_path: Path) -> None:
    pdf = written(tmp_path / "bomb.pdf", bomb(48 << 20))
    first, second, third = read(pdf, 3, memory_mb=512, workers=1)
    assert (first.error, third.error) == (None, None)
    assert second.error


def test_an_image_of_enormous_dimensions_is_no_blank_page(tmp_path: Path) -> None:
    first, second = read(written(tmp_path / "a.pdf", giant_image(200_000)), 2, memory_mb=1024)
    assert first.error is not None
    assert "Use the engine auto" in first.error
    assert second.plain == PROSE


def test_scripts_and_attachments_are_named_and_left_alone(room: Room, tmp_path: Path) -> None:
    pdf = with_extras(tmp_path / "extras.pdf")
    assert inspect_pdf(pdf).warnings == ("it holds JavaScript, which is not run", "it has a file attached, not read")
    assert checked(room, pdf).results[0].value["warnings"] == list(inspect_pdf(pdf).warnings)
    room.ocr().run("extras")
    assert room.context("extras").pages[0].markdown == PROSE


def test_an_ordinary_pdf_has_no_warnings(tmp_path: Path) -> None:
    assert inspect_pdf(save_pdf(tmp_path / "a.pdf", [(50, 60, PROSE)])).warnings == ()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_is_read_as_it_is_shown(tmp_path: Path, turn: int) -> None:
    """Content set sideways under /Rotate, as scanners and landscape tables have it; with a crop box of its own."""
    upright = pymupdf.open()
    page = upright.new_page(width=500, height=300)
    for row, (label, value) in enumerate([("Assets", "41"), ("Debts", "37"), ("Equity", "29")]):
        page.insert_text((60, 80 + 30 * row), label)
        page.insert_text((300, 80 + 30 * row), value)
    pdf = pymupdf.open()
    size = (500, 300) if turn in (0, 180) else (300, 500)
    turned = pdf.new_page(width=size[0], height=size[1])
    turned.show_pdf_page(turned.rect, upright, 0, rotate=turn)
    turned.set_rotation(turn)
    pdf.save(str(tmp_path / "a.pdf"))
    shown = pymupdf.open(str(tmp_path / "a.pdf"))[0]
    assert (shown.rect.width, shown.rect.height) == (500, 300)
    (reading,) = read(tmp_path / "a.pdf", 1)
    assert reading.error is None
    numbers = [number for line in reading.lines for number in line.numbers]
    assert [number.text for number in numbers] == ["41", "37", "29"]
    for row, number in enumerate(numbers):
        x0, _, _, y1 = number.box
        assert (x0, y1) == (pytest.approx(300, abs=2), pytest.approx(80 + 30 * row, abs=6))
    assert reading.plain.index("Assets") < reading.plain.index("Debts") < reading.plain.index("Equity")


def test_pages_of_mixed_sizes(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    sizes = [(595, 842), (842, 595), (300, 200), (1684, 2384)]
    for n, (width, height) in enumerate(sizes):
        pdf.new_page(width=width, height=height).insert_text((0.1 * width, 0.5 * height), f"Size {10 + n}")
    pdf.save(str(tmp_path / "a.pdf"))
    for n, reading in enumerate(read(tmp_path / "a.pdf", 4)):
        width, height = sizes[n]
        (line,) = reading.lines
        assert line.markdown.removeprefix("## ") == f"Size {10 + n}"
        assert line.box[0] == pytest.approx(0.1 * width, abs=1)
        assert line.box[3] == pytest.approx(0.5 * height, abs=6)


def test_chinese_japanese_and_korean_text(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    texts = {"china-s": "资产总计 352,755", "japan": "売上高合計 394,328", "korea": "자산총계 99,803"}
    for row, (font, text) in enumerate(texts.items()):
        page.insert_text((60, 100 + 40 * row), text, fontname=font)
    pdf.save(str(tmp_path / "a.pdf"))
    (reading,) = read(tmp_path / "a.pdf", 1)
    for text in texts.values():
        assert all(part in reading.plain for part in text.split())
    assert reading.n_numbers == 3


def test_right_to_left_text(tmp_path: Path) -> None:
    """Every word is there as it is spelt, with its number. (Rows run from left to right, as they are shown.)"""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_htmlbox((60, 60, 500, 200), "<p dir='rtl'>סך ההתחייבויות 352,755</p><p dir='rtl'>סך הנכסים 99,803</p>")
    pdf.save(str(tmp_path / "a.pdf"))
    (reading,) = read(tmp_path / "a.pdf", 1)
    assert reading.error is None
    for word in ("ההתחייבויות", "הנכסים", "352,755", "99,803"):
        assert word in reading.plain


@pytest.mark.slow
def test_the_other_documents_finish(tmp_path: Path) -> None:
    """One command over four documents, two of which cannot be read: two contexts, two clear lines."""
    import json
    import subprocess
    import sys

    room = Room(tmp_path / "storage")
    for name in ("first", "last"):
        room.documents.add(save_pdf(tmp_path / f"{name}.pdf", [(50, 60, f"{PROSE} {name}")]), Domain.FINANCE)
    room.documents.add(written(tmp_path / "loop.pdf", looping_pages()), Domain.FINANCE)
    room.documents.add(written(tmp_path / "many.pdf", many_pages(4000)), Domain.FINANCE)
    command = [sys.executable, "-m", "deepchart_dagster.cli.main", "contexts", "build", "--json"]
    ran = subprocess.run([*command, "--storage", str(room.root)], capture_output=True, text=True, timeout=280)
    answer = json.loads(ran.stdout)
    assert ran.returncode == 1
    read_ones = {row["partition"] for row in answer["materialized"] if row["asset"] == "ocr_contexts"}
    assert {"first", "last"} <= read_ones
    assert "loop (loop.pdf) is damaged" in ran.stderr
    assert "many (many.pdf) has 4000 pages, 3000 at most are read" in ran.stderr
    assert [PROSE in room.context(name).markdown for name in ("first", "last")] == [True, True]
