"""Children that share a document's pages: order, crashes, time-outs, new children, the next engine."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import PROSE, save_pdf

from deepchart_dagster.contexts.crew import Job
from deepchart_dagster.contexts.engines import EngineConfig, rapidocr_installed
from deepchart_dagster.contexts.model import EngineFailure
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.contexts.readings import PageReading

needs_ocr = pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for children in /proc")


def numbered(path: Path, n_pages: int) -> Path:
    return save_pdf(path, *[[(60, 120, f"{PROSE} This is page {1000 + n}.")] for n in range(1, n_pages + 1)])


def children() -> set[int]:
    """Process numbers of this process's reading children."""
    lists = [task / "children" for task in Path("/proc/self/task").iterdir()]
    found = {int(pid) for path in lists if path.exists() for pid in path.read_text().split()}
    return {pid for pid in found if b"contexts.child" in _command(pid)}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def slow_page(pdf: pymupdf.Document, number: int, n_texts: int) -> None:
    """Give page ``number`` a content that takes MuPDF seconds."""
    text = b"q " + b"BT /helv 10 Tf 10 10 Td (x) Tj ET " * n_texts + b" Q"
    pdf.update_stream(pdf[number - 1].get_contents()[0], text)


def test_readings_come_in_the_order_of_the_pages_asked_for(tmp_path: Path) -> None:
    pdf = pymupdf.open(str(numbered(tmp_path / "quick.pdf", 6)))
    slow_page(pdf, 1, 40_000)
    pdf.save(str(tmp_path / "a.pdf"), deflate=True)
    finished: list[int] = []
    reader = PdfReader(tmp_path / "a.pdf", "text-layer", options=ReadingOptions(workers=2))
    readings = reader.read([1, 6, 2, 3])
    reader.read_each([1, 6, 2, 3], lambda reading: finished.append(reading.number))
    assert [reading.number for reading in readings] == [1, 6, 2, 3]
    assert sorted(finished) == [1, 2, 3, 6]
    assert [reading.error for reading in readings] == [None] * 4
    assert ["1006" in readings[1].plain, "1002" in readings[2].plain, "1003" in readings[3].plain] == [True] * 3


@needs_proc
def test_a_child_that_is_killed_costs_a_second_attempt_at_its_page_only(tmp_path: Path) -> None:
    pdf = numbered(tmp_path / "a.pdf", 5)
    readings: list[PageReading] = []

    def kill_after_two(reading: PageReading) -> None:
        readings.append(reading)
        if len(readings) == 2:
            for child in children():
                os.kill(child, signal.SIGKILL)

    PdfReader(pdf, "text-layer", options=ReadingOptions(workers=1)).read_each(range(1, 6), kill_after_two)
    assert sorted(reading.number for reading in readings) == [1, 2, 3, 4, 5]
    assert [reading.error for reading in readings] == [None] * 5
    tried = {reading.number: reading.tried for reading in readings if reading.tried}
    assert tried == {3: (EngineFailure(engine="text-layer", reason="the reading process died of SIGKILL"),)}


@needs_proc
def test_a_child_is_replaced_when_it_has_read_its_pages(tmp_path: Path) -> None:
    seen: list[frozenset[int]] = []
    reader = PdfReader(
        numbered(tmp_path / "a.pdf", 25), "text-layer", options=ReadingOptions(workers=1, pages_per_child=1)
    )
    reader.read_each(range(1, 26), lambda _: seen.append(frozenset(children())))
    assert [len(pids) for pids in seen] == [1] * 25
    # Ten pages from the text layer wear a child out as one page read by OCR does.
    assert [len(set(seen[at : at + 10])) for at in (0, 10)] == [1, 1]
    assert len(set(seen)) == 3


@needs_proc
@pytest.mark.parametrize("engine", ["text-layer", "auto"])
def test_a_small_document_pays_for_one_child_only(tmp_path: Path, engine: str) -> None:
    seen: set[int] = set()
    reader = PdfReader(numbered(tmp_path / "a.pdf", 40), engine, options=ReadingOptions(workers=4))
    reader.read_each(range(1, 41), lambda _: seen.update(children()))
    assert len(seen) == 1


@pytest.mark.slow
@needs_proc
def test_a_page_that_hangs_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    pdf = pymupdf.open(str(numbered(tmp_path / "quick.pdf", 4)))
    slow_page(pdf, 1, 6_000_000)
    pdf.save(str(tmp_path / "a.pdf"), deflate=True)
    finished: list[int] = []
    options = ReadingOptions(workers=2, page_timeout_s=12.0)
    PdfReader(tmp_path / "a.pdf", "text-layer", options=options).read_each(
        range(1, 5), lambda reading: finished.append(reading.number)
    )
    assert finished == [2, 3, 4, 1]


@needs_proc
def test_stopping_ends_the_children_at_once(tmp_path: Path) -> None:
    stop = threading.Event()
    readings: list[int] = []

    def stop_after_one(reading: PageReading) -> None:
        readings.append(reading.number)
        stop.set()

    pdf = pymupdf.open(str(numbered(tmp_path / "quick.pdf", 3)))
    slow_page(pdf, 2, 2_000_000)
    pdf.save(str(tmp_path / "a.pdf"), deflate=True)
    PdfReader(tmp_path / "a.pdf", "text-layer").read_each([1, 2, 3], stop_after_one, stop)
    assert readings == [1]
    assert children() == set()


def test_what_a_taker_of_pages_raises_ends_the_reading(tmp_path: Path) -> None:
    def full(_: PageReading) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        PdfReader(numbered(tmp_path / "a.pdf", 3), "text-layer").read_each([1, 2, 3], full)


def test_an_error_names_every_engine_that_was_tried_and_the_same_reason_once() -> None:
    first, second = (
        EngineFailure(engine="rapidocr", reason="no answer after 9 s"),
        EngineFailure(engine="text-layer", reason="the text layer has 0 characters"),
    )
    twice = Job(7).failed(first, crashed=True).failed(first, crashed=True).error()
    both = Job(7).failed(first, crashed=False).failed(second, crashed=False).error()
    assert (twice.number, twice.engine, twice.error, len(twice.tried)) == (7, "rapidocr", "no answer after 9 s", 2)
    assert both.error == "rapidocr: no answer after 9 s; text-layer: the text layer has 0 characters"
    assert (both.engine, both.tried) == ("text-layer", (first, second))


def test_the_next_question_leaves_out_what_failed_unless_it_is_the_last_resort() -> None:
    failed = Job(7).failed(EngineFailure(engine="rapidocr", reason="x"), crashed=True)
    assert failed.without == ["rapidocr"]
    assert Job(7, failed.tried, again=True).without == []


def scan(path: Path, hidden: str = "") -> Path:
    """A page that is one picture of text, with ``hidden`` text under it as OCR software adds it."""
    drawn = pymupdf.open().new_page(width=595, height=842)
    drawn.insert_text((60, 120), "Total assets 352,755", fontsize=24)
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=100))
    if hidden:
        page.insert_text((60, 120), hidden, fontsize=24, render_mode=3)
    pdf.save(str(path))
    return path


@needs_ocr
@pytest.mark.slow
@pytest.mark.parametrize(("hidden", "numbers"), [("Total assets 352,75S 12", ("352,75", "12")), ("", None)])
def test_a_page_read_by_ocr_says_which_numbers_its_own_text_has(
    tmp_path: Path, hidden: str, numbers: tuple[str, ...] | None
) -> None:
    (reading,) = PdfReader(scan(tmp_path / "a.pdf", hidden), "auto").read([1])
    assert (reading.engine, reading.error) == ("rapidocr", None)
    assert [number.text for line in reading.lines for number in line.numbers] == ["352,755"]
    assert reading.text_layer_numbers == numbers


def test_a_page_read_from_its_text_says_nothing_of_it_twice(tmp_path: Path) -> None:
    (reading,) = PdfReader(numbered(tmp_path / "a.pdf", 1), "text-layer").read([1])
    assert reading.text_layer_numbers is None


@needs_ocr
@pytest.mark.slow
def test_a_page_that_an_engine_cannot_read_is_read_by_the_next_one(tmp_path: Path) -> None:
    """A VL server that is not there: refused connections are that engine's failure, RapidOCR reads the page."""
    config = EngineConfig(name="auto", vl_server_url="http://127.0.0.1:9/v1", vl_timeout_s=5)
    (reading,) = PdfReader(scan(tmp_path / "a.pdf"), config).read([1])
    assert (reading.engine, reading.error) == ("rapidocr", None)
    assert "352,755" in reading.plain
    assert [failure.engine for failure in reading.tried] == ["paddleocr-vl"]
    assert reading.tried[0].reason
