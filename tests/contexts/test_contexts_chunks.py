"""Image chunks: size, grid, bytes, and what is known of their pages."""

from __future__ import annotations

import io
from pathlib import Path

import pymupdf
import pytest
from contexts_room import Room
from PIL import Image

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.contexts.chunks import Report, draw_chunks, page_groups
from deepchart_dagster.contexts.model import ModelContext
from deepchart_dagster.contexts.mosaic import grid
from deepchart_dagster.errors import DocumentError

pytestmark = pytest.mark.slow


def report(path: Path, n_pages: int, width: float = 595, height: float = 842) -> Path:
    """Pages in a shade of grey of their own (page n: n/40 of white), with their number in words."""
    pdf = pymupdf.open()
    for number in range(1, n_pages + 1):
        page = pdf.new_page(width=width, height=height)
        shade = number / 40
        page.draw_rect(page.rect, fill=(shade, shade, shade), color=None)
        page.insert_text((60, 120), f"This is page {number} of the report, about {number * 100} engineers in its city.")
    pdf.save(str(path))
    return path


@pytest.mark.parametrize(
    ("n_pages", "size", "expected"),
    [
        (8, (848, 1200), (4, 2)),
        (4, (848, 1200), (2, 2)),
        (1, (848, 1200), (1, 1)),
        (8, (900, 506), (2, 4)),
        (3, (848, 1200), (2, 2)),
    ],
)
def test_the_grid_comes_nearest_to_a_square(n_pages: int, size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert grid(n_pages, *size) == expected


def test_pages_are_grouped_by_eight() -> None:
    assert [list(pages) for pages in page_groups(17)] == [list(range(1, 9)), list(range(9, 17)), [17]]


def test_pages_stand_in_reading_order_at_their_size(tmp_path: Path) -> None:
    pdf = report(tmp_path / "r.pdf", 10)
    chunks = draw_chunks(Report("r", pdf, 10, {1: "one", 2: "two"}), tmp_path / "out", EvidenceStore(tmp_path))
    assert [(chunk.index, chunk.first_page, chunk.last_page) for chunk in chunks] == [(1, 1, 8), (2, 9, 10)]
    # A4 at 120 DPI is 992 x 1404; within 900 x 1200 that is 848 x 1200.
    assert [(chunk.width, chunk.height) for chunk in chunks] == [(4 * 848, 2 * 1200), (2 * 848, 1200)]
    picture = Image.open(tmp_path / "out" / chunks[0].path)
    assert picture.format == "JPEG"
    middles = [picture.getpixel((848 * (at % 4) + 424, 1200 * (at // 4) + 600)) for at in range(8)]
    for number, pixel in enumerate(middles, start=1):
        assert pixel == pytest.approx([255 * number / 40] * 3, abs=3)
    known = EvidenceStore(tmp_path).get("pages", chunks[0].sha256)
    assert isinstance(known, dict)
    assert known["document_id"] == "r"
    assert known["pages"][:3] == [
        {"number": 1, "markdown": "one"},
        {"number": 2, "markdown": "two"},
        {"number": 3, "markdown": ""},
    ]
    assert sha256_file(tmp_path / "out" / chunks[0].path) == chunks[0].sha256


def test_a_small_page_is_not_enlarged_and_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    pdf = report(tmp_path / "r.pdf", 1, width=300, height=200)
    first, second = (
        draw_chunks(Report("r", pdf, 1, {}), tmp_path / name, EvidenceStore(tmp_path)) for name in ("a", "b")
    )
    assert (first[0].width, first[0].height) == (500, 334)  # 200 points are 333.3 pixels
    assert first[0].sha256 == second[0].sha256


def test_a_report_that_cannot_be_drawn_names_its_pages(tmp_path: Path) -> None:
    (tmp_path / "r.pdf").write_bytes(b"%PDF-1.7\nrubbish")
    with pytest.raises(DocumentError, match="pages 1–3 of r cannot be drawn"):
        draw_chunks(Report("r", tmp_path / "r.pdf", 3, {}), tmp_path / "out", EvidenceStore(tmp_path))


def ecosystem(uid: str, **fields: object) -> Query:
    base = {"benchmark": "b", "domain": Domain.ECOSYSTEM, "chart_purpose": "A chart", "modality": Modality.MULTIMODAL}
    return Query.model_validate({"uid": uid, "variants": (ContextVariant.NORMAL,), **base, **fields})


def context_of(room: Room, uid: str) -> ModelContext:
    folder = room.store.folder("context_variants", (Split.ECOSYSTEM.value,), uid)
    return ModelContext.model_validate_json((folder / "context.json").read_text())


def test_two_queries_about_one_report_show_the_same_chunks_with_what_was_read(room: Room, tmp_path: Path) -> None:
    document, _ = room.read(report(tmp_path / "cities.pdf", 10), Domain.ECOSYSTEM)
    room.library.add(
        "b", [ecosystem("q1", document_ids=(document,)), ecosystem("q2", document_ids=(document,))], tmp_path
    )
    summary = room.variants.run(Split.ECOSYSTEM)
    assert summary.n_ok == 2, summary.errors
    assert summary.results[0].value == {"n_files": 0, "n_chunks": 2, "n_tokens": 0}
    first, second = context_of(room, "q1"), context_of(room, "q2")
    assert first.chunks == second.chunks
    for chunk in second.chunks:
        path = room.store.folder("context_variants", ("ecosystem",), "q2") / chunk.path
        assert sha256_file(path) == chunk.sha256
        assert Image.open(io.BytesIO(path.read_bytes())).size == (chunk.width, chunk.height)
    known = room.evidence.get("pages", first.chunks[1].sha256)
    assert isinstance(known, dict)
    assert "This is page 10 of the report, about 1000 engineers" in known["pages"][1]["markdown"]
    assert room.variants.run(Split.ECOSYSTEM).n_computed == 0


def test_a_report_that_was_not_read_is_named(room: Room, tmp_path: Path) -> None:
    document = room.documents.add(report(tmp_path / "cities.pdf", 1), Domain.ECOSYSTEM)
    room.library.add("b", [ecosystem("q", document_ids=(document.id,))], tmp_path)
    (problem,) = room.variants.run(Split.ECOSYSTEM).errors
    assert problem.kind == "UpstreamError"
    assert "deepchart contexts build --document cities" in problem.message


def test_a_shipped_pdf_is_shown_and_a_missing_one_named(room: Room, tmp_path: Path) -> None:
    report(tmp_path / "there.pdf", 2)
    (tmp_path / "summary.md").write_text("a summary")
    there = ecosystem("there", context_files={"normal": ["summary.md", "there.pdf"]})
    gone = ecosystem("gone", context_files={"normal": ["summary.md", "gone.pdf"]})
    none = ecosystem("none", context_files={"normal": ["summary.md"]})
    room.library.add("b", [there, gone, none], tmp_path)
    summary = room.variants.run(Split.ECOSYSTEM)
    assert (summary.n_ok, summary.n_error) == (1, 2)
    messages = {problem.uid: problem.message for problem in summary.errors}
    assert "gone.pdf" in messages["gone"]
    assert "its record names no PDF (summary.md)" in messages["none"]
    context = context_of(room, "there")
    assert [(chunk.first_page, chunk.last_page, chunk.document_id) for chunk in context.chunks] == [(1, 2, "there")]
    assert context.notes[1] == "summary.md: not shown, the split is native pages (paper, 3.1)"
