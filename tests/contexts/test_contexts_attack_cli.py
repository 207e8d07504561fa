"""Hostile names, texts and a server that is down, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import PROSE, save_pdf
from contexts_room import Room
from contexts_vl_server import VlServer, vl_server

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.cli.common import shown
from deepchart_dagster.cli.main import main
from deepchart_dagster.contexts.engines import rapidocr_installed

pytestmark = pytest.mark.slow
needs_ocr = pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")


@pytest.fixture
def command(room: Room, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("DEEPCHART_STORAGE", str(room.root))
    monkeypatch.setenv("DAGSTER_HOME", "")  # the command sets it: so it is as before afterwards
    return Command(capsys)


class Command:
    """``deepchart`` in this process: (exit code, stdout, stderr)."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as leaving:
            main([str(argument) for argument in arguments])
        return (leaving.value.code, *self._capsys.readouterr())


def test_a_files_name_cannot_steer_a_terminal_or_forge_a_line(command: Command, tmp_path: Path) -> None:
    pdf = save_pdf(tmp_path / "\x1b[2J\u202efdp.exe\nforged  finance  line.pdf", [(60, 120, PROSE)])
    refused = tmp_path / "no\x1b]0;owned\x07\npdf.pdf"
    refused.write_text("text")
    code, out, err = command("documents", "add", "--domain", "finance", pdf, refused)
    assert code == 1
    assert len(out.splitlines()) == 1
    assert "\\x1b[2J\\u202efdp.exe forged" in out
    assert [line for line in err.splitlines() if line.startswith("deepchart: ")] == [
        f"deepchart: {shown(' '.join(str(refused).split()))} is not a PDF (no %PDF- header in its first 1024 bytes). "
        "Give the PDF itself, not a web page or an archive that leads to it."
    ]
    assert not set("\x1b\x07\u202e") & set(out + err)


def test_a_document_that_cannot_be_read_is_named_once(command: Command, room: Room, tmp_path: Path) -> None:
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.7\nhalf of it")
    room.documents.add(tmp_path / "cut.pdf", Domain.FINANCE)
    code, _, err = command("contexts", "build")
    assert code == 3
    (line,) = err.splitlines()
    assert line == (
        "deepchart: cut (cut.pdf) is damaged: it is no PDF inside. Put another in its place: "
        "deepchart documents remove cut, deepchart documents add FILE.pdf --id cut."
    )


@needs_ocr
def test_a_server_that_is_down_is_said_once_and_its_pages_are_stale(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = pymupdf.open()
    for text in ("Assets 1,001", "Debts 2,002"):
        drawn = pymupdf.open().new_page(width=300, height=200)
        drawn.insert_text((20, 60), text, fontsize=24)
        page = pdf.new_page(width=300, height=200)
        page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=100))
    pdf.save(str(tmp_path / "scan.pdf"))
    command("documents", "add", "--domain", "finance", tmp_path / "scan.pdf")
    with vl_server(VlServer(text="Debts 2,002", down=True)) as server:
        monkeypatch.setenv("DEEPCHART_VL_SERVER_URL", server.url)
        code, out, err = command("contexts", "build", "--json")
        waits = json.loads(out)["waiting"]["scan"]
        assert (code, err.splitlines()) == (0, [f"deepchart: scan: {waits}."])
        assert waits.startswith("pages 1–2 were read without paddleocr-vl (the server ")
        cells = json.loads(command("status", "--json")[1])["cells"]
        assert [(cell["state"], cell["because"]) for cell in cells if cell["asset"] == "ocr_contexts"] == [
            ("stale", [f"scan: {waits}"])
        ]
        assert waits in command("why", "ocr_contexts", "--document", "scan")[1]
        server.down = False
        code, out, err = command("contexts", "build", "--json")
        assert (code, json.loads(out)["waiting"], err) == (0, {}, "")
        assert json.loads(command("contexts", "show", "scan", "--json")[1])["pages_by_engine"] == {"paddleocr-vl": 2}
