"""paddleocr-vl against a local server that speaks vLLM's protocol, well and badly."""

from __future__ import annotations

from collections.abc import Iterator

import pymupdf
import pytest
from contexts_vl_server import MODEL, VlServer, completion, vl_server

from deepchart_dagster.contexts.engines import EngineConfig, UnreadablePageError, choose_reader, rapidocr_installed
from deepchart_dagster.contexts.engines.base import BlockReader, EngineUnavailableError
from deepchart_dagster.contexts.engines.vl_lines import Block, lines_of
from deepchart_dagster.contexts.engines.vl_server import API_KEY_VARIABLE, answer_fault, check_server
from deepchart_dagster.contexts.engines.vl_tables import table_html
from deepchart_dagster.contexts.words import Word

PAGE = (0.0, 0.0, 612.0, 792.0)


@pytest.fixture
def server() -> Iterator[VlServer]:
    with vl_server(VlServer()) as state:
        yield state


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"models": ("other",)}, f"serves other, not {MODEL} (DEEPCHART_VL_MODEL)"),
        ({"models_status": 404}, "answers 404 to /models (does the address end in /v1?)"),
        ({"models_status": 503}, "answers 503"),
        ({"key": "secret-key"}, "refuses the key (DEEPCHART_VL_API_KEY): 401"),
    ],
)
def test_a_server_is_asked_first_and_what_is_wrong_is_one_line(
    server: VlServer, change: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_server(server.url, MODEL)
    vars(server).update(change)
    monkeypatch.setenv(API_KEY_VARIABLE, "wrong-key")
    with pytest.raises(EngineUnavailableError) as caught:
        check_server(server.url, MODEL)
    assert said in str(caught.value)
    assert "wrong-key" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_down_is_said_at_once() -> None:
    with pytest.raises(EngineUnavailableError, match=r"http://127\.0\.0\.1:1/v1 cannot be reached"):
        check_server("http://127.0.0.1:1/v1", MODEL)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (completion("fine"), None),
        (completion("half a ta", "length"), "cut off at the token limit"),
        (completion(None), "holds no text"),
        (b"<html>", "no JSON"),
        (b'{"choices": []}', "holds no choice"),
        (b"[]", "holds no choice"),
    ],
)
def test_what_is_no_whole_answer_is_named(body: bytes, fault: str | None) -> None:
    found = answer_fault(body)
    assert found is None if fault is None else fault in str(found)


@pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")
@pytest.mark.slow
def test_every_fault_of_a_server_is_that_pages_error_and_the_next_page_is_read(
    server: VlServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, "secret-key")
    server.key, server.slow_s = "secret-key", 4.0
    page = pymupdf.open().new_page()
    page.insert_text((100, 200), "Total assets 352,755")
    engine = choose_reader(EngineConfig(name="paddleocr-vl", vl_server_url=server.url, vl_timeout_s=2.0)).route(page)
    assert engine.kind == "blocks"

    def fails(*faults: str) -> str:
        server.faults = list(faults)
        with pytest.raises(UnreadablePageError) as caught:
            engine.blocks(page)
        return str(caught.value)

    assert "the server answered 500" in fails("500", "500", "500")
    assert "the server answered 429" in fails("429", "429", "429")
    assert "no answer in 2 s" in fails("slow")
    assert "connection to the server broke" in fails("reset", "reset", "reset")
    assert "no JSON" in fails("garbage")
    assert "no choice" in fails("empty")
    assert "cut off" in fails("length")
    _is_read(engine, page, server, "500", "429")
    _is_read(engine, page, server, "reset")
    server.key = "another"
    assert "secret-key" not in fails()
    assert "secret-key" not in "".join(capfd.readouterr())


def _is_read(engine: BlockReader, page: pymupdf.Page, server: VlServer, *faults: str) -> None:
    """After faults that pass; the number has the box of its word in the text layer."""
    server.faults = list(faults)
    (line,) = engine.blocks(page)
    assert line.markdown == "Total assets 352,755"
    word = next(word for word in page.get_text("words") if word[4] == "352,755")
    assert line.numbers[0].box == pytest.approx(word[:4], abs=0.06)


def test_a_table_is_one_line_of_plain_html_with_the_boxes_of_its_words() -> None:
    text = '<table border=1><tr><td colspan="2">Assets</td></tr><tr><td>Cash<td>23,646 <b>34,940</b></tr></table>'
    words = [Word("23,646", 400, 100, 430, 110), Word("23,646", 400, 700, 430, 710)]
    (line,) = lines_of([Block("table", text, (50, 90, 560, 200))], words)
    expected = '<table><tr><td colspan="2">Assets</td></tr><tr><td>Cash</td><td>23,646 34,940</td></tr></table>'
    assert line.is_table
    assert line.markdown == expected
    assert [(number.text, number.box) for number in line.numbers] == [
        ("23,646", (400, 100, 430, 110)),
        ("34,940", (50, 90, 560, 200)),
    ]


def test_garbage_in_place_of_html_is_text_and_loses_no_number() -> None:
    assert table_html("<table></table>") is None
    lines = lines_of([Block("table", "</td></tr><<tab 1,234 </x> & 5", PAGE)], [])
    assert [number.text for line in lines for number in line.numbers] == ["1,234", "5"]
    (mixed,) = lines_of([Block("table", "<tr><td>1 <b 2,345 <!-- 6 --></td></tr> 7", PAGE)], [])
    assert [number.text for number in mixed.numbers] == ["1", "2,345", "6", "7"]
    (cell,) = lines_of([Block("table", '<tr><td colspan="99999999">7', PAGE)], [])
    assert cell.markdown == "<table><tr><td>7</td></tr></table>"


def test_titles_paragraphs_and_pages_read_as_one_block() -> None:
    blocks = [Block("doc_title", "# Balance\nSheets", PAGE), Block("text", "One\ntwo.\n\nThree", PAGE)]
    assert [line.markdown for line in lines_of(blocks, [])] == ["## Balance Sheets", "One two.", "Three"]
    assert [line.markdown for line in lines_of([Block("ocr", "Cash 1\nDebt 2 < 3", PAGE)], [])] == [
        "Cash 1",
        "Debt 2 &lt; 3",
    ]


def test_tables_inside_a_page_read_as_one_block_are_lines_of_their_own() -> None:
    text = (
        "CONSOLIDATED BALANCE SHEETS\n(In millions)\n"
        "<table><tr><td>Cash</td><td>23,646</td></tr></table>\n"
        "See notes.\n"
        "| | 2022 | 2021 |\n|---|---:|---:|\n| Net income | 99,803 | (5) |\n\n"
        "| alone |\n"
        "<fcel>Units<fcel>2020<lcel><nl><fcel>Sold<fcel>1,234<ecel><nl>"
    )
    lines = lines_of([Block("ocr", text, PAGE)], [])
    assert [line.markdown for line in lines] == [
        "CONSOLIDATED BALANCE SHEETS",
        "(In millions)",
        "<table><tr><td>Cash</td><td>23,646</td></tr></table>",
        "See notes.",
        "<table><tr><th></th><th>2022</th><th>2021</th></tr>"
        "<tr><td>Net income</td><td>99,803</td><td>(5)</td></tr></table>",
        "| alone |",
        '<table><tr><td>Units</td><td colspan="2">2020</td></tr><tr><td>Sold</td><td>1,234</td><td></td></tr></table>',
    ]
    assert [line.is_table for line in lines] == [False, False, True, False, True, False, True]
    assert [number.text for line in lines for number in line.numbers] == [
        *("23,646", "2022", "2021", "99,803", "5", "2020", "1,234"),
    ]
