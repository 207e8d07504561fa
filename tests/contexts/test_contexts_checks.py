"""Answerability and leaks of contexts: values that are gone, derived data and charts that were pasted in."""

from __future__ import annotations

import base64
import io
import json
import random
from typing import Any

import pytest
from matplotlib import figure as figures
from PIL import Image, ImageDraw

from deepchart_dagster.contexts.answerability import ContextPicture, ContextText, Reference, examine
from deepchart_dagster.contexts.pdf import load_mupdf
from deepchart_dagster.contexts.pictures import FINGERPRINT, charts_on, fingerprint_of_bytes, same_picture

pymupdf = load_mupdf()

SOURCE = (383285.0, 394328.0, 96995.0, 99803.0)
DERIVED = (25.306, 25.309, 44.131, 43.310, 14.678)
STATEMENT = (
    "<table><tr><th></th><th>2023</th><th>2022</th></tr>"
    "<tr><td>Net sales</td><td>$383,285</td><td>$394,328</td></tr>"
    "<tr><td>Net income</td><td>$96,995</td><td>$99,803</td></tr></table>"
)


def chart(seed: int, *, size: tuple[int, int] = (640, 400), form: str = "PNG") -> bytes:
    """Bars of random heights on white."""
    heights = [random.Random(seed * 100 + at).random() for at in range(6)]
    picture = Image.new("RGB", (640, 400), "white")
    for at, height in enumerate(heights):
        ImageDraw.Draw(picture).rectangle((60 + 90 * at, 360 - 320 * height, 120 + 90 * at, 360), fill=(40, 90, 160))
    stream = io.BytesIO()
    picture.resize(size).save(stream, form)
    return stream.getvalue()


def reference(**fields: object) -> Reference:
    return Reference(**{"source": SOURCE, "derived": DERIVED, **fields})  # type: ignore[arg-type]


def test_a_context_with_everything_is_answerable_and_leaks_nothing() -> None:
    found = examine([ContextText("a.md", STATEMENT)], [], reference(chart=chart(1)))
    assert (found.missing, found.leaks, found.how, found.n_telling) == ((), (), {"as written": 4}, 5)


def test_what_stood_on_a_removed_page_is_listed() -> None:
    without = STATEMENT.replace("$99,803", "").replace("$394,328", "")
    found = examine([ContextText("a.md", without)], [], reference())
    assert [value.value for value in found.unanswerable] == [394328.0, 99803.0]


def test_a_missing_value_that_is_derived_as_well_is_listed_apart() -> None:
    found = examine([ContextText("a.md", STATEMENT)], [], reference(source=(*SOURCE, 25.306)))
    assert [(value.value, value.is_derived) for value in found.missing] == [(25.306, True)]
    assert found.unanswerable == ()


def test_the_derived_file_pasted_in_is_a_leak() -> None:
    file = json.dumps({"der_data": [{"margin": value} for value in DERIVED]}, indent=2)
    pasted = f"{STATEMENT}\n\n{json.dumps(json.loads(file))}\n"  # in one line
    (leak,) = examine([ContextText("a.md", pasted)], [], reference(derived_files=(file,))).leaks
    assert (leak.kind, leak.place) == ("derived_file", "a.md")


@pytest.mark.parametrize("form", ["{0} | {1:.2f}%", "{0}: {1}", "| {0} | {1:.1f} |"])
def test_a_block_of_derived_values_is_a_leak_however_it_is_written(form: str) -> None:
    block = "\n".join(form.format(2020 + at, value) for at, value in enumerate(DERIVED))
    (leak,) = examine([ContextText("a.md", f"{STATEMENT}\n\n{block}\n")], [], reference()).leaks
    assert leak.kind == "derived_values"
    assert "of 5 derived values stand together" in leak.message


def test_single_derived_values_in_a_long_text_are_what_documents_state() -> None:
    """Each a hundred numbers away from the next."""
    filler = " ".join(f"row {number} of {number + 7}" for number in range(50))
    text = f" {filler} ".join(f"a margin of {value:.1f}%" for value in DERIVED)
    assert examine([ContextText("a.md", f"{STATEMENT}\n{text}")], [], reference()).leaks == ()


def test_derived_values_that_are_source_values_are_no_leak() -> None:
    found = examine([ContextText("a.md", STATEMENT)], [], reference(derived=SOURCE))
    assert (found.leaks, found.n_telling) == ((), 0)


def test_derived_columns_of_the_source_file_do_not_hide_a_leak() -> None:
    block = ", ".join(f"{value}" for value in DERIVED)
    given = reference(source=(*SOURCE, *DERIVED), plain_source=SOURCE)
    (leak,) = examine([ContextText("a.md", f"{STATEMENT}\n{block}")], [], given).leaks
    assert leak.kind == "derived_values"


# The chart


def test_a_chart_as_a_picture_on_a_page_is_a_leak_in_any_size_and_compression() -> None:
    for pasted, said in ((chart(1), "is the"), (chart(1, size=(512, 320), form="JPEG"), "looks like the")):
        fingerprint = fingerprint_of_bytes(pasted)
        assert fingerprint
        found = examine([], [ContextPicture("report page 3", fingerprint)], reference(source=(), chart=chart(1)))
        (leak,) = found.leaks
        assert (leak.kind, leak.place) == ("chart", "report page 3")
        assert said in leak.message


def test_other_charts_are_no_leak() -> None:
    prints = [fingerprint_of_bytes(chart(seed)) for seed in range(12)]
    for at, one in enumerate(prints):
        for other in prints[at + 1 :]:
            assert one
            assert other
            assert not same_picture(one, other)


def test_a_chart_inside_a_text_is_a_leak() -> None:
    link = f"![](data:image/png;base64,{base64.b64encode(chart(1)).decode()})"
    (leak,) = examine([ContextText("a.md", f"{STATEMENT}\n{link}")], [], reference(chart=chart(1))).leaks
    assert (leak.kind, leak.place) == ("chart", "a.md")


def test_no_chart_and_no_picture_is_nothing_to_find() -> None:
    assert fingerprint_of_bytes(b"no picture") is None
    assert fingerprint_of_bytes(chart(1, size=(20, 20))) is None
    assert examine([ContextText("a.md", STATEMENT)], [], reference(chart=None)).leaks == ()


def test_a_file_without_any_source_value_is_needless() -> None:
    found = examine([ContextText("a.md", STATEMENT), ContextText("b.md", "Cash 12")], [], reference())
    assert found.needless == ("b.md",)


def drawn_page(*, background: bool, place: tuple[float, float, float, float]) -> Any:
    """A report's page with the reference chart drawn on it as lines, among text."""
    figure = figures.Figure(figsize=(6, 4))
    axes = figure.subplots()
    axes.bar(["2020", "2021", "2022"], [20.91, 25.88, 25.31])
    axes.plot([0, 1, 2], [5, 20, 11], "o-r")
    axes.set_title("Net margin")
    axes.set_ylabel("percent")
    drawing, picture = io.BytesIO(), io.BytesIO()
    figure.savefig(drawing, format="pdf", transparent=not background)
    figure.savefig(picture, format="png")
    page = pymupdf.open().new_page(width=595, height=842)
    page.insert_text((60, place[1] - 24), "A title of the page", fontsize=14)
    page.insert_text((60, place[3] + 14), "Figure 3: The net margin of a company over three years.", fontsize=10)
    for y in range(600, 800, 14):
        page.insert_text((60, y), "Running text of a report that goes on for a while on its page.", fontsize=10)
    page.show_pdf_page(pymupdf.Rect(place), pymupdf.open("pdf", drawing.getvalue()), 0)
    return page, picture.getvalue()


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("place", [(60.0, 200.0, 460.0, 470.0), (40.0, 60.0, 340.0, 260.0)])
def test_the_reference_chart_drawn_as_lines_on_a_page_is_a_leak(
    background: bool, place: tuple[float, float, float, float]
) -> None:
    page, picture = drawn_page(background=background, place=place)
    charts = charts_on(page)
    pictures = [ContextPicture(f"report page {row.pop('page')}", FINGERPRINT.validate_python(row)) for row in charts]
    (leak, *_) = examine([], pictures, reference(source=(), chart=picture)).leaks
    assert (leak.kind, leak.place) == ("chart", "report page 1")
    assert examine([], pictures, reference(source=(), chart=chart(3))).leaks == ()
