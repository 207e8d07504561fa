"""The quality report: numbers read against the text layer, engines, what people are shown of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from contexts_drawing import filing_pages, save_pdf
from contexts_room import Room

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.layout import NumberBox, PageLine
from deepchart_dagster.contexts.model import EngineFailure
from deepchart_dagster.contexts.quality import EngineSeconds, measure, page_ranges, plural, seconds_by_engine
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.contexts.show import describe


def reading(page: int, *numbers: str, layer: tuple[str, ...] | None = None, **fields: object) -> PageReading:
    box = (0.0, 0.0, 1.0, 1.0)
    line = PageLine(" ".join(numbers), tuple(NumberBox(number, box) for number in numbers), box)
    return PageReading(page, "rapidocr", 2.0, (line,), text_layer_numbers=layer, **fields)  # type: ignore[arg-type]


def test_numbers_are_compared_as_multisets_of_digits() -> None:
    quality = measure(
        [
            reading(1, "99,803", "94,680", "5", layer=("99803", "94,680", "5", "5")),
            reading(2, "8083", layer=("99,803",)),
            reading(3, "1", "2"),  # no text layer: not compared
            reading(4, "7", layer=()),  # its text has no number: not compared
        ]
    )
    compared = quality.compared
    assert (compared.pages, compared.read, compared.text_layer, compared.matched) == (2, 4, 5, 3)
    assert (compared.precision, compared.recall) == (0.75, 0.6)
    assert [(d.page, d.read, d.text_layer) for d in quality.differing] == [(1, (), ("5",)), (2, ("8083",), ("99803",))]
    assert quality.as_text() == (
        "numbers read against the text layer on 2 pages: precision 0.7500, recall 0.6000; they differ on 2 pages: 1–2"
    )


def test_nothing_to_compare_says_nothing() -> None:
    quality = measure([PageReading(1, "text-layer")])
    assert (quality.compared.precision, quality.compared.recall, quality.as_text()) == (None, None, "")


def test_engines_that_failed_before_and_pages_in_error_are_told_apart() -> None:
    failed = EngineFailure(engine="paddleocr", reason="out of memory")
    quality = measure([reading(1, "1", tried=(failed,)), PageReading(2, "rapidocr", error="no answer")])
    assert quality.pages_by_engine == {"rapidocr": 1}
    assert [(one.page, one.engine, one.reason) for one in quality.fallbacks] == [(1, "paddleocr", "out of memory")]


def test_seconds_are_summed_by_engine() -> None:
    spent = seconds_by_engine([reading(1, "1"), reading(2, "2"), PageReading(3, "text-layer", 0.25)])
    assert spent == {"rapidocr": EngineSeconds(2, 4.0), "text-layer": EngineSeconds(1, 0.25)}


def test_words_for_people() -> None:
    assert [plural(1, "number"), plural(0, "page"), plural(2, "page")] == ["1 number", "0 pages", "2 pages"]
    assert page_ranges([1, 2, 3, 5, 8, 9]) == "1–3, 5, 8–9"
    assert page_ranges([]) == ""


def test_show_gives_ranges_of_pages_and_every_page_on_request(room: Room, tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "acme.pdf", *filing_pages(2022), [(50, 60, "There is 1 number here, and no more.")])
    room.read(pdf)
    description = describe(room.store, "acme")
    text = description.as_text()
    assert "  income_statement: page 3 (2022, 2021, 2020)\n" in text
    assert "  values in millions\n" in text
    assert f"  text-layer: 7 pages (1–7), {description.summary.n_numbers} numbers" in text
    assert "page 7  " not in text
    assert description.as_text(every_page=True).endswith("  page 7  text-layer    1 number")
    shown = description.as_json()
    assert shown["quality"]["compared"]["pages"] == 0  # type: ignore[index,call-overload]
    assert description.seconds_per_page is not None


def test_a_statement_that_a_filing_lacks_is_named(room: Room, tmp_path: Path) -> None:
    pages = filing_pages(2022)
    room.read(save_pdf(tmp_path / "part.pdf", *pages[:3]))
    text = describe(room.store, "part", domain=Domain.FINANCE).as_text()
    assert "  income_statement: page 3 (2022, 2021, 2020)\n" in text
    assert "  cash_flow: not found\n" in text
    assert "not found" not in describe(room.store, "part", domain=Domain.ACADEMIC).as_text()


def test_reading_twice_gives_the_same_bytes(room: Room, tmp_path: Path) -> None:
    room.read(save_pdf(tmp_path / "acme.pdf", *filing_pages(2022)))
    folder = room.store.folder("ocr_contexts", (), "acme")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "result.json"}
    assert "quality.json" in before
    (folder / "result.json").unlink()
    assert room.ocr().run("acme").n_computed == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "result.json"} == before


@pytest.mark.slow
def test_a_real_statement_page_read_by_ocr_is_compared_with_its_text_layer(
    room: Room, shared: Path, tmp_path: Path
) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    with pymupdf.open(shared / "pdfs" / "10k_apple_2022.pdf") as filing, pymupdf.open() as cut:
        cut.insert_pdf(filing, from_page=31, to_page=31)
        cut.save(str(tmp_path / "apple.pdf"))
    room.read(tmp_path / "apple.pdf", Domain.FINANCE, engine="rapidocr")
    quality = describe(room.store, "apple").quality
    assert quality.pages_by_engine == {"rapidocr": 1}
    assert (quality.compared.pages, quality.compared.text_layer) == (1, 66)
    assert quality.compared.precision is not None
    assert quality.compared.recall is not None
    assert min(quality.compared.precision, quality.compared.recall) >= 0.98
