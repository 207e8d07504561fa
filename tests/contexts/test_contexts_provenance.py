"""From a number of a context to its place: provenance files of the variants, and locate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import filing_pages, save_pdf
from contexts_room import Room
from PIL import Image

from deepchart_dagster.benchmark.model import ContextVariant, Domain, Query, Split
from deepchart_dagster.contexts.loaded import load_context, read_context
from deepchart_dagster.contexts.locate import (
    Occurrence,
    draw_place,
    lines_of_document,
    lines_of_instance,
    locate,
)
from deepchart_dagster.contexts.provenance import read_origins
from deepchart_dagster.errors import UsageError

pytestmark = pytest.mark.slow

EVERY_TEXT = [ContextVariant.NORMAL, ContextVariant.LONG, ContextVariant.ULTRA_LONG]


@pytest.fixture
def filing(room: Room, tmp_path: Path) -> Room:
    pdf = save_pdf(tmp_path / "acme.pdf", *filing_pages(2022))
    room.read(pdf)
    asked = Query.model_validate(
        {
            "uid": "q",
            "benchmark": "b",
            "domain": Domain.FINANCE,
            "chart_purpose": "A chart",
            "variants": EVERY_TEXT,
            "document_ids": ["acme"],
        }
    )
    room.library.add("b", [asked], tmp_path)
    return room


def words_at(pdf: Path, place: Occurrence) -> str:
    """What the PDF itself holds in a box, asked of MuPDF."""
    with pymupdf.open(pdf) as document:
        assert place.page
        return str(document[place.page - 1].get_textbox(pymupdf.Rect(place.box))).strip()


@pytest.mark.parametrize("split", [Split.FINANCE_NORMAL, Split.FINANCE_LONG, Split.FINANCE_ULTRA_LONG])
def test_every_number_of_a_context_stands_at_its_place_on_the_page(filing: Room, split: Split) -> None:
    filing.variants.run(split)
    folder = filing.store.folder("context_variants", (split.value,), "q")
    pdf = filing.documents.pdf("acme")
    n_numbers = 0
    for file in read_context(folder).files:
        assert file.provenance
        texts = (folder / file.path).read_text().split("\n")
        origins = read_origins(folder / file.provenance)
        assert [origin.line for origin in origins] == [at for at, text in enumerate(texts, start=1) if text.strip()]
        with pymupdf.open(pdf) as document:
            for origin in origins:
                for number in origin.numbers:
                    assert number.text in texts[origin.line - 1]
                    assert number.page
                    assert number.text in document[number.page - 1].get_textbox(pymupdf.Rect(number.box))
                    n_numbers += 1
    assert n_numbers > 50


def test_locate_finds_every_writing_and_marks_the_other_sign(filing: Room) -> None:
    context = load_context(filing.store, "acme")
    places = locate(lines_of_document(context), "113")
    assert {place.page for place in places} == {3, 5}
    first = places[0]
    assert (first.document_id, first.writing, first.match) == ("acme", "$113", "same writing")
    assert first.row == "Net income | $113 | $98 | $73"
    assert words_at(filing.documents.pdf("acme"), first) == "113"
    (negative, *_) = locate(lines_of_document(context), "-7")
    assert (negative.writing, negative.match) == ("(7)", "same value")
    assert "Other income (expense), net | (7)" in negative.row
    assert locate(lines_of_document(context), "7")[0].match == "other sign"


def test_a_number_that_comes_twice_in_a_row_has_two_places(room: Room, tmp_path: Path) -> None:
    rows = [
        [(50, 100 + 20 * at, f"Item {at}"), (300, 100 + 20 * at, "55"), (400, 100 + 20 * at, "55")] for at in (1, 2)
    ]
    room.read(save_pdf(tmp_path / "twice.pdf", [cell for row in rows for cell in row]))
    places = locate(lines_of_document(load_context(room.store, "twice")), "55")
    boxes = [place.box for place in places]
    assert len(set(boxes)) == 4
    assert all(words_at(room.documents.pdf("twice"), place) == "55" for place in places)


def test_what_is_no_number_is_refused(filing: Room) -> None:
    context = load_context(filing.store, "acme")
    for asked in ("net income", "1 2", ""):
        with pytest.raises(UsageError, match="is no number"):
            locate(lines_of_document(context), asked)
    assert locate(lines_of_document(context), "123456789") == []


def test_shipped_texts_say_file_and_line(room: Room, tmp_path: Path) -> None:
    (tmp_path / "income.md").write_text("# Income\n\n| Net income | (1,234) |\n")
    asked = Query.model_validate(
        {
            "uid": "s",
            "benchmark": "b",
            "domain": "finance",
            "chart_purpose": "A chart",
            "variants": ["normal"],
            "context_files": {"normal": ["income.md"]},
        }
    )
    room.library.add("b", [asked], tmp_path)
    room.variants.run(Split.FINANCE_NORMAL)
    folder = room.store.folder("context_variants", ("finance-normal",), "s")
    (place,) = locate(lines_of_instance(read_context(folder), folder, room.evidence, room.store), "-1234")
    assert (place.page, place.box, place.place) == (None, None, "income.md line 3")
    with pytest.raises(UsageError, match="nobody knows where"):
        draw_place(tmp_path / "none.pdf", place, tmp_path / "place.png")


def test_chunks_are_searched_by_what_was_read_of_their_pages(room: Room, tmp_path: Path) -> None:
    room.read(
        save_pdf(tmp_path / "report.pdf", *[[(50, 60, f"Page {at} raised 4{at}7 million")] for at in range(10)]),
        Domain.ECOSYSTEM,
    )
    asked = Query.model_validate(
        {
            "uid": "e",
            "benchmark": "b",
            "domain": "ecosystem",
            "chart_purpose": "A chart",
            "variants": ["normal"],
            "document_ids": ["report"],
        }
    )
    room.library.add("b", [asked], tmp_path)
    room.variants.run(Split.ECOSYSTEM)
    folder = room.store.folder("context_variants", ("ecosystem",), "e")
    (place,) = locate(lines_of_instance(read_context(folder), folder, room.evidence, room.store), "497")
    assert (place.document_id, place.page, place.writing) == ("report", 10, "497 million")
    assert place.place == "chunks/002.jpg page 10"
    assert words_at(room.documents.pdf("report"), place) == "497"
    shutil.rmtree(room.root / "ocr_contexts" / "report")
    (place,) = locate(lines_of_instance(read_context(folder), folder, room.evidence, room.store), "497")
    assert (place.page, place.box) == (10, None), "what the chunk shows is known all the same"


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_the_frame_stands_round_the_number_on_pages_however_turned(room: Room, tmp_path: Path, turn: int) -> None:
    plain = save_pdf(tmp_path / "plain.pdf", *filing_pages(2022)[2:3])
    with pymupdf.open(plain) as document:
        document[0].set_rotation(turn)
        document.save(str(tmp_path / "turned.pdf"))
    room.read(tmp_path / "turned.pdf")
    place = locate(lines_of_document(load_context(room.store, "turned")), "113")[0]
    assert place.box
    picture = tmp_path / "place.png"
    draw_place(room.documents.pdf("turned"), place, picture)
    with Image.open(picture) as drawn:
        red = [(x, y) for x in range(drawn.width) for y in range(drawn.height) if drawn.getpixel((x, y)) == (220, 0, 0)]
        xs, ys = [x for x, _ in red], [y for _, y in red]
        inside = drawn.crop((min(xs) + 3, min(ys) + 3, max(xs) - 2, max(ys) - 2)).convert("L")
    assert inside.getextrema()[0] < 100, "the number is dark on white inside the frame"
    assert (max(xs) - min(xs)) * (max(ys) - min(ys)) < 60 * 60
    assert [path.name for path in tmp_path.glob("*.png")] == ["place.png"], "nothing temporary is left"
