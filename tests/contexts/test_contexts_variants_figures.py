"""Which caption is a figure's, and which lines go with it."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from contexts_room import Room

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.figures import figure_regions
from deepchart_dagster.contexts.loaded import ContextLine, OcrContext
from deepchart_dagster.contexts.ocr import DocumentSummary
from deepchart_dagster.contexts.papers import Figure, find_figure, with_data_block
from deepchart_dagster.contexts.quality import measure
from deepchart_dagster.errors import BenchmarkFormatError


def paper(*rows: tuple[int, str, float, int | None]) -> OcrContext:
    """Rows of (page, text, y, figure on the page), 400 points wide and 10 high; the number of a row is its place."""
    lines = tuple(
        ContextLine(at, page, "text", text, figure, (50.0, y, 450.0, y + 10.0))
        for at, (page, text, y, figure) in enumerate(rows, start=1)
    )
    summary = DocumentSummary(
        document_id="p",
        engine="text-layer",
        engine_version="1",
        n_pages=2,
        n_numbers=0,
        pages_by_engine={},
        page_errors={},
        statements={},
        statement_years={},
        fiscal_years=(),
        unit=None,
    )
    return OcrContext(summary, (), lines, "", measure([]))


def inside(context: OcrContext, name: str, caption: str = "") -> set[int]:
    place = find_figure(context, Figure.named(name), caption)
    assert place
    return set(place.inside)


def test_names_of_figures_are_read_without_their_panels() -> None:
    names = ["3", "Fig. 1f", "Extended Data Fig. 2b", "Figure S2", "4.1", "supplementary 5"]
    assert [str(Figure.named(name)) for name in names] == ["3", "1", "Extended Data 2", "S2", "4.1", "Supplementary 5"]
    with pytest.raises(BenchmarkFormatError, match="names no figure"):
        Figure.named("the second chart")


def test_a_figure_is_its_own_and_not_one_of_another_series_or_a_longer_number() -> None:
    context = paper(
        (1, "Figure 2 shows what was measured in the field.", 50, None),
        (1, "label", 100, 1),
        (1, "Extended Data Fig. 2 | More of it.", 200, None),
        (1, "label", 300, 2),
        (1, "Figure 21. Another one.", 400, None),
        (2, "label", 100, 1),
        (2, "Fig. 2 | What was measured.", 200, None),
    )
    assert inside(context, "2") == {6}
    assert inside(context, "Extended Data 2") == {2}
    assert inside(context, "21") == {4}
    assert find_figure(context, Figure.named("3")) is None


def test_each_of_several_figures_on_a_page_goes_with_the_caption_below_it() -> None:
    context = paper(
        (1, "first", 60, 1),
        (1, "Figure 1: One.", 160, None),
        (1, "top panel of the second", 190, 2),
        (1, "bottom panel of the second", 400, 3),
        (1, "Figure 2: Two.", 600, None),
    )
    assert (inside(context, "1"), inside(context, "2")) == ({1}, {3, 4})


def test_captions_above_their_figures_are_told_from_the_page() -> None:
    context = paper(
        (1, "Figure 1: One.", 60, None),
        (1, "first", 100, 1),
        (1, "Figure 2: Two.", 300, None),
        (1, "second", 340, 2),
    )
    assert (inside(context, "1"), inside(context, "2")) == ({2}, {4})


def test_a_table_with_rules_under_its_caption_stays() -> None:
    context = paper(
        (1, "Table 2: Models and their sizes.", 60, None),
        (1, "399M 12 1536", 80, 1),
        (1, "axis label", 200, 2),
        (1, "Figure 3: Fitted curves.", 400, None),
    )
    assert inside(context, "3") == {3}


def test_a_figure_on_the_page_before_its_caption_is_found() -> None:
    context = paper((1, "label", 600, 1), (2, "Figure 4. What the page before shows.", 60, None))
    place = find_figure(context, Figure.named("4"))
    assert place
    assert (set(place.inside), place.page, place.caption.page) == ({1}, 1, 2)


def test_words_of_the_caption_decide_between_two_of_the_same_number() -> None:
    context = paper(
        (1, "Figure 1. Growth of lichens.", 60, None),
        (2, "label", 60, 1),
        (2, "Figure 1. Respiration of roots.", 200, None),
    )
    assert inside(context, "1", "growth of lichens on roofs") == set()
    assert inside(context, "1") == {2}, "without them, the one that stands beside a figure"


def test_the_block_takes_the_place_and_the_box_of_the_figure() -> None:
    context = paper((1, "before", 50, None), (1, "label", 100, 1), (1, "Figure 1. It.", 200, None))
    text = with_data_block(context, Figure.named("1"), "| a |\n|--|\n| 1 |", "data.md")
    assert [part.text for part in text.parts] == ["before", "| a |\n|--|\n| 1 |", "Figure 1. It."]
    assert text.parts[1].box == (50.0, 100.0, 450.0, 210.0)
    assert text.note.endswith("at its caption on page 1, 1 line of the chart's own text left out")


@pytest.mark.slow
def test_the_tables_of_a_real_paper_stay_and_its_charts_go(room: Room, shared: Path) -> None:
    """Figure 3 stands under table 2 on page 7 of the paper on Moonlight, figure 1 under the end of the abstract."""
    room.read(shared / "pdfs" / "paper_moonlight.pdf", Domain.ACADEMIC)
    context = room.context("paper_moonlight")
    kept = {
        name: "\n".join(line.text for line in context.lines if line.number not in inside(context, name))
        for name in ("1", "3")
    }
    assert "399M" in kept["3"]
    assert "PFLOP/s-days" not in kept["3"].split("Figure 3")[0].split("Table 2")[-1]
    assert "checkpoints to support future research." in kept["1"]
    assert "OLMo-2-7B" not in kept["1"].split("Figure 1")[0]


def test_rules_of_a_table_are_no_figure_and_a_curve_among_rules_is() -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=595, height=842)
        for y in range(100, 200, 20):
            page.draw_line((100, y), (500, y), width=0.5)
        for x in (100, 300, 500):
            page.draw_line((x, 100), (x, 180), width=0.5)
        assert figure_regions(page) == []
        page.draw_line((300, 400), (300, 500), width=0.5)
        page.draw_line((300, 500), (500, 500), width=0.5)
        page.draw_line((300, 500), (400, 430), width=1)
        (found,) = figure_regions(page)
    assert (found.x0, found.y1) == (264.0, 540.0)
