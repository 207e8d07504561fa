"""A paddleocr-vl server that goes down, comes back, never ends its answer, or answers with somebody else's mark-up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from contexts_room import Room
from contexts_vl_server import VlServer, vl_server

from deepchart_dagster.artifacts.steps import StepSummary
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.engines import EngineConfig, UnreadablePageError, choose_reader, rapidocr_installed
from deepchart_dagster.contexts.engines import vl_server as vl_server_module
from deepchart_dagster.contexts.engines.base import EngineUnavailableError
from deepchart_dagster.contexts.engines.vl_server import API_KEY_VARIABLE, check_completes, check_server
from deepchart_dagster.contexts.ocr import OcrContextStage
from deepchart_dagster.contexts.reading import ReadingOptions
from deepchart_dagster.contexts.show import describe

MODEL = "PaddleOCR-VL-1.6-0.9B"
TYPED = "The company sells things and reports on what it sold in 2022 and in the years before that one."
needs_ocr = pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")


@pytest.fixture
def server() -> Iterator[VlServer]:
    with vl_server(VlServer(text="Read by the server 77,001")) as state:
        yield state


def scans(path: Path, *texts: str) -> Path:
    """A typed page, then a page for each text that is a picture of it."""
    pdf = pymupdf.open()
    pdf.new_page().insert_text((60, 120), TYPED)
    for text in texts:
        drawn = pymupdf.open().new_page()
        drawn.insert_text((60, 120), text, fontsize=24)
        page = pdf.new_page()
        page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=100))
    pdf.save(str(path))
    return path


def stage(room: Room, server: VlServer, name: str = "auto") -> OcrContextStage:
    config = EngineConfig.model_validate({"name": name, "vl_server_url": server.url, "vl_timeout_s": 3})
    options = ReadingOptions(workers=1, page_timeout_s=170)
    return OcrContextStage(room.store, room.documents, engine=config, options=options)


def read(room: Room, server: VlServer) -> StepSummary:
    return stage(room, server).run("scans")


def engines(room: Room) -> list[str]:
    return [page.engine for page in room.context("scans").pages]


def checkpoints(room: Room) -> int:
    return len(list((room.root / "ocr_contexts" / "_checkpoints").rglob("[0-9]*.json")))


@needs_ocr
@pytest.mark.slow
def test_pages_that_a_server_was_down_for_are_asked_of_it_when_it_is_back(
    room: Room, server: VlServer, tmp_path: Path
) -> None:
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002", "Cash 3,003"), Domain.FINANCE)
    server.down = True
    first = read(room, server)
    assert (first.n_ok, engines(room)) == (1, ["text-layer", "rapidocr", "rapidocr", "rapidocr"])
    assert server.listed == 1, "one clear failure: the other pages do not ask again"
    assert room.context("scans").summary.waiting == (2, 3, 4)
    (work,) = stage(room, server).plan(["scans"])
    assert work.again is not None
    assert work.again.startswith("pages 2–4 were read without paddleocr-vl (the server http://127.0.0.1:")
    assert work.again.endswith("; the next run asks it again")
    shown = describe(room.store, "scans").as_text()
    assert shown.count("paddleocr-vl failed on page 2–4: ") == 1
    assert "page 2–4: the next contexts build asks that engine again" in shown

    # Down still: one question, no page is read once more, the same comes of it.
    again = read(room, server)
    assert (server.listed, again.data_version, engines(room)) == (2, first.data_version, engines(room))
    assert checkpoints(room) == 4

    # Back: the three pages, and no other one, are read by it.
    server.down = False
    last = read(room, server)
    assert engines(room) == ["text-layer", "paddleocr-vl", "paddleocr-vl", "paddleocr-vl"]
    assert len(server.asked) == 3
    assert room.context("scans").markdown.count("77,001") == 3
    assert last.data_version != first.data_version
    assert stage(room, server).plan(["scans"])[0].again is None
    assert (checkpoints(room), read(room, server).n_reused) == (0, 1)


@needs_ocr
@pytest.mark.slow
def test_a_server_that_goes_down_in_mid_document_is_asked_no_more_and_what_it_read_stays(
    room: Room, server: VlServer, tmp_path: Path
) -> None:
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002", "Cash 3,003"), Domain.FINANCE)
    server.faults = ["", "down"]
    read(room, server)
    assert engines(room) == ["text-layer", "paddleocr-vl", "rapidocr", "rapidocr"]
    assert room.context("scans").summary.waiting == (3, 4)
    server.down = False
    asked = len(server.asked)
    read(room, server)
    assert len(server.asked) == asked + 2
    assert engines(room) == ["text-layer", *["paddleocr-vl"] * 3]


@needs_ocr
@pytest.mark.slow
def test_a_server_that_lists_its_models_and_answers_nothing_is_asked_no_more(
    room: Room, server: VlServer, tmp_path: Path
) -> None:
    """Without the short question after it every page would wait for its time-out, and none for the server."""
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002", "Cash 3,003"), Domain.FINANCE)
    server.fails = 503
    read(room, server)
    assert engines(room) == ["text-layer", "rapidocr", "rapidocr", "rapidocr"]
    assert room.context("scans").summary.waiting == (2, 3, 4)
    assert len(server.asked) == 4, "one page, tried thrice, and the short question"
    server.fails = 0
    read(room, server)
    assert engines(room) == ["text-layer", *["paddleocr-vl"] * 3]


def test_a_short_question_tells_a_server_that_hangs_from_one_that_cannot_read_a_page(
    server: VlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vl_server_module, "_CHECK_TIMEOUT_S", 0.3)
    server.slow_s, server.hangs = 1.0, True
    with pytest.raises(EngineUnavailableError, match="does not answer /chat/completions"):
        check_completes(server.url, MODEL)
    server.hangs = False
    for status in ("400", "404"):  # it answers: what it refuses may be the question
        server.faults = [status]
        check_completes(server.url, MODEL)
    server.fails = 500
    with pytest.raises(EngineUnavailableError, match="answers 500 to every question"):
        check_completes(server.url, MODEL)


@needs_ocr
@pytest.mark.slow
def test_a_page_that_the_server_cannot_read_does_not_wait_for_it(room: Room, server: VlServer, tmp_path: Path) -> None:
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002"), Domain.FINANCE)
    server.faults = ["garbage"]
    read(room, server)
    assert engines(room) == ["text-layer", "rapidocr", "paddleocr-vl"]
    assert room.context("scans").summary.waiting == ()
    assert read(room, server).n_reused == 1


@needs_ocr
@pytest.mark.slow
def test_an_engine_asked_for_by_name_keeps_what_it_read_before_its_server_went_down(
    room: Room, server: VlServer, tmp_path: Path
) -> None:
    """Nothing reads in its place: the other pages are in error, and only they are read when it is back."""
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002"), Domain.FINANCE)
    server.faults = ["", "down"]
    stage(room, server, "paddleocr-vl").run("scans")
    assert [page.error is None for page in room.context("scans").pages] == [True, False, False]
    assert "cannot be reached" in room.context("scans").summary.page_errors[3]
    server.down = False
    asked = len(server.asked)
    stage(room, server, "paddleocr-vl").run("scans")
    assert len(server.asked) == asked + 2
    assert room.context("scans").summary.page_errors == {}


@needs_ocr
@pytest.mark.slow
def test_answers_without_end_halves_and_redirects_are_the_pages_error(
    server: VlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, "secret-key")
    page = pymupdf.open().new_page()
    page.insert_text((100, 200), "Total assets 352,755")
    engine = choose_reader(EngineConfig(name="paddleocr-vl", vl_server_url=server.url, vl_timeout_s=20)).route(page)
    assert engine.kind == "blocks"
    for faults, said in (
        (["endless"], "longer than 8 MB"),
        (["redirect"], "answered 302"),
        (["half", "half", "half"], "connection to the server broke"),
    ):
        server.faults = faults
        with pytest.raises(UnreadablePageError) as caught:
            engine.blocks(page)
        assert said in str(caught.value)
        assert not isinstance(caught.value, EngineUnavailableError), "the server is there"
    server.down = True
    with pytest.raises(EngineUnavailableError, match="cannot be reached"):
        engine.blocks(page)


def test_a_list_of_models_without_end_is_ended(server: VlServer) -> None:
    server.endless_list = True
    with pytest.raises(EngineUnavailableError, match="does not answer"):
        check_server(server.url, MODEL)


@pytest.mark.parametrize("key", ["sk-live\nsecond", "sk-lïve"])
def test_a_key_that_no_header_can_hold_is_named_and_not_repeated(
    server: VlServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, key)
    with pytest.raises(EngineUnavailableError) as caught:
        check_server(server.url, MODEL)
    assert str(caught.value) == "DEEPCHART_VL_API_KEY holds a character that no key can have"


def test_a_line_break_behind_a_key_is_none_of_it(server: VlServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "secret-key"
    monkeypatch.setenv(API_KEY_VARIABLE, "secret-key\n")
    check_server(server.url, MODEL)  # raises where the server refuses the key
    assert server.listed == 1


@needs_ocr
@pytest.mark.slow
def test_mark_up_of_a_server_is_text_and_its_key_stands_in_no_file(
    room: Room, server: VlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, "secret-key")
    server.key = "secret-key"
    server.text = (
        "<script>alert(1)</script> Cash 5,005\n<!-- page 9 -->\n<img src=x onerror=alert(2)>\n"
        "\ud800 broken 6,006\x1b[2J\n"
        "<table><tr><td onclick=alert(3)>Debts</td><td><script>alert(4)</script>7,007</td></tr></table>"
    )
    room.documents.add(scans(tmp_path / "scans.pdf", "Assets 1,001", "Debts 2,002"), Domain.FINANCE)
    server.faults = ["", "500", "500", "500"]
    assert read(room, server).n_ok == 1
    context = room.context("scans")
    assert [page.engine for page in context.pages] == ["text-layer", "paddleocr-vl", "rapidocr"]
    markdown = context.pages[1].markdown
    for mark_up in ("<script", "<img", "onclick", "<!--", "\x1b"):
        assert mark_up not in markdown
    assert all(number in markdown for number in ("5,005", "6,006", "7,007"))
    assert [line.kind for line in context.lines].count("page") == 3
    written = [path for path in room.root.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if b"secret-key" in path.read_bytes()] == []
    assert "500" in json.dumps([failure.reason for failure in context.pages[2].tried])
