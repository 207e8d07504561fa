"""Reading that was interrupted goes on where it was: kills, stops, a PDF that changes, checkpoints that are no use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from contexts_drawing import PROSE, SHARED, needs_shared, save_pdf
from contexts_room import Room

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import Document
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.checkpoints import PageCheckpoints
from deepchart_dagster.contexts.model import EngineFailure
from deepchart_dagster.contexts.progress import PageProgress, listening
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.errors import DamagedFile

READER = """
import sys
from pathlib import Path
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.contexts.ocr import OcrContextStage
from deepchart_dagster.contexts.progress import listening
from deepchart_dagster.contexts.reading import ReadingOptions

def tell(document_id, progress):
    print(progress.resumed, progress.done, flush=True)

root = Path(sys.argv[1])
options = ReadingOptions(workers=2)
stage = OcrContextStage(ArtifactStore(root), DocumentStore(root), engine="text-layer", options=options)
with listening(tell):
    stage.run(sys.argv[2])
"""


def read_in_process(root: Path, document_id: str, kill_after: int | None) -> list[tuple[int, int]]:
    """(resumed, done) for each page told of; the whole process group is killed when ``kill_after`` pages are read."""
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(root), document_id],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    told: list[tuple[int, int]] = []
    for line in process.stdout:
        resumed, done = map(int, line.split())
        told.append((resumed, done))
        if kill_after is not None and len(told) == kill_after:
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.stdout.close()
    assert process.wait() == (0 if kill_after is None else -signal.SIGKILL)
    assert no_children_of(process.pid), "children outlive the process that was killed"
    return told


def no_children_of(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        commands = [_command(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
        if not any(command[-2:] == ["deepchart_dagster.contexts.child", str(pid)] for command in commands):
            return True
        time.sleep(0.1)
    return False


def _command(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return []


def kept_pages(root: Path) -> int:
    return len(list((root / "ocr_contexts" / "_checkpoints").rglob("[0-9]*.json")))


def contents(room: Room, document: Document) -> dict[str, bytes]:
    folder = room.store.folder("ocr_contexts", (), document.id)
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("result.json", "quality.json")
    }


@needs_shared
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")
def test_a_filing_whose_reading_is_killed_again_and_again_is_the_same_in_the_end(tmp_path: Path) -> None:
    filing = SHARED / "pdfs" / "10k_apple_2022.pdf"
    killed, undisturbed = Room(tmp_path / "killed"), Room(tmp_path / "whole")
    document = killed.documents.add(filing, Domain.FINANCE, document_id="apple")
    undisturbed.documents.add(filing, Domain.FINANCE, document_id="apple")
    n_read, kept = 0, 0
    for kill_after in (1, 9, 20, 3):
        told = read_in_process(killed.root, "apple", kill_after)
        assert told[0][0] == kept, "what was kept is not read again"
        before, kept = kept, kept_pages(killed.root)
        # Told of kill_after pages; those of the other children in flight may have been finished too.
        assert before + kill_after <= kept <= before + kill_after + 40
        n_read += kept - before
    last = read_in_process(killed.root, "apple", None)
    assert n_read + len(last) == 80, "no page that was kept is read twice"
    assert last[-1] == (kept, 80)
    assert not (killed.root / "ocr_contexts" / "_checkpoints").exists()
    undisturbed.ocr().run("apple")
    assert contents(killed, document) == contents(undisturbed, document)
    assert (
        killed.store.read("ocr_contexts", (), "apple").value
        == undisturbed.store.read("ocr_contexts", (), "apple").value
    )


def a_document(room: Room, tmp_path: Path, n_pages: int = 4) -> Document:
    pdf = save_pdf(tmp_path / "a.pdf", *[[(60, 120, f"{PROSE} Page {1000 + n}.")] for n in range(1, n_pages + 1)])
    return room.documents.add(pdf, Domain.FINANCE)


def test_a_pdf_that_changes_while_it_is_read_is_an_error_and_nothing_of_it_is_kept(room: Room, tmp_path: Path) -> None:
    document = a_document(room, tmp_path, 30)
    pdf = room.documents.pdf(document.id)
    whole = pdf.read_bytes()

    def grow(_: str, progress: PageProgress) -> None:
        if progress.done == 2:
            pdf.write_bytes(whole + b"\n% more")

    with listening(grow):
        summary = room.ocr().run(document.id)
    assert [error.kind for error in summary.errors] == ["DocumentError"]
    assert "changed while it was read; nothing of it is kept" in summary.errors[0].message
    assert kept_pages(room.root) == 0
    pdf.write_bytes(whole)
    assert room.ocr().run(document.id).n_ok == 1


def test_checkpoints_are_gone_when_the_context_is_written(room: Room, tmp_path: Path) -> None:
    document = a_document(room, tmp_path)
    seen: list[int] = []
    with listening(lambda _, progress: seen.append(kept_pages(room.root))):
        assert room.ocr().run(document.id).n_ok == 1
    assert seen == [1, 2, 3, 4]
    assert not (room.root / "ocr_contexts" / "_checkpoints").exists()


def test_pages_of_an_interrupted_run_are_taken_and_counted(room: Room, tmp_path: Path) -> None:
    document = a_document(room, tmp_path)
    (work,) = room.ocr().plan([document.id])
    kept = PageCheckpoints.of(room.root / "ocr_contexts", document.id, work.key.digest)
    kept.keep(PageReading(number=2, engine="text-layer", top_rows=("kept",)))
    told: list[PageProgress] = []
    with listening(lambda _, progress: told.append(progress)):
        room.ocr().run(document.id)
    assert [(progress.done, progress.resumed) for progress in told] == [(2, 1), (3, 1), (4, 1)]
    rows = room.store.folder("ocr_contexts", (), document.id) / "pages.jsonl"
    markdown = [json.loads(row)["markdown"] for row in rows.read_text().splitlines()]
    assert [bool(text) for text in markdown] == [True, False, True, True], "page 2 is as it was kept"


READING = PageReading(number=3, engine="text-layer", seconds=0.5, top_rows=("Ärger",))


def test_a_reading_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    kept = PageCheckpoints.of(tmp_path, "a", "k1-x")
    assert kept.resume(5) == set()
    kept.keep(READING)
    assert PageCheckpoints.of(tmp_path, "a", "k1-x").resume(5) == {3}
    assert list(kept.readings([3])) == [READING]
    assert kept.resume(2) == set(), "a page that the document does not have"


def test_checkpoints_under_another_key_are_removed_unread(tmp_path: Path) -> None:
    PageCheckpoints.of(tmp_path, "a", "k1-old").keep(READING)
    PageCheckpoints.of(tmp_path, "b", "k1-old").keep(READING)
    assert PageCheckpoints.of(tmp_path, "a", "k1-new").resume(5) == set()
    assert not (tmp_path / "_checkpoints" / "a" / "k1-old").exists()
    assert PageCheckpoints.of(tmp_path, "b", "k1-old").resume(5) == {3}, "another document's are its own"


@pytest.mark.parametrize("damage", [b"", b'{"number": 3', b"\0" * 50, b'{"number": 4, "engine": "text-layer"}', b"[]"])
def test_a_checkpoint_that_is_damaged_is_read_again(tmp_path: Path, damage: bytes) -> None:
    kept = PageCheckpoints.of(tmp_path, "a", "k1-x")
    kept.keep(READING)
    (path,) = kept.folder.iterdir()
    path.write_bytes(damage)
    with pytest.raises(DamagedFile):
        list(kept.readings([3]))
    assert kept.resume(5) == set()
    assert not path.exists()


def test_a_page_in_error_gets_another_chance_after_an_interruption(tmp_path: Path) -> None:
    kept = PageCheckpoints.of(tmp_path, "a", "k1-x")
    failed = PageReading(3, "rapidocr", error="x", tried=(EngineFailure(engine="rapidocr", reason="x"),))
    kept.keep(failed)
    assert list(kept.readings([3])) == [failed]
    assert kept.resume(5) == set()


def test_progress_says_pace_and_time_left() -> None:
    assert PageProgress(30, 80, 10, 4.0).as_text() == "30/80 pages, 5.0 pages/s, 0:10 left, 10 kept from the run before"
    assert PageProgress(2, 56, 0, 25.0).as_text() == "2/56 pages, 12.5 s/page, 11:15 left"
    assert PageProgress(80, 80, 0, 4.0).as_text() == "80/80 pages, 20.0 pages/s"
    assert PageProgress(1, 80, 0, 0.1).as_text() == "1/80 pages"
    assert PageProgress(1, 1001, 0, 30.0).as_text() == "1/1001 pages, 30.0 s/page, 8:20:00 left"


def test_a_second_build_of_a_document_says_that_it_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ArtifactStore(tmp_path)

    def build() -> None:
        with store.lock("ocr_contexts", ("a",)):
            built.set()

    built = threading.Event()
    build()
    assert caplog.messages == []
    built.clear()
    second = threading.Thread(target=build)
    with store.lock("ocr_contexts", ("a",)):
        second.start()
        assert not built.wait(0.5)
        (said,) = caplog.messages
    second.join(10)
    assert built.is_set()
    assert said.startswith("deepchart: ocr_contexts a is being materialised by another process (")
    assert said.endswith("; waiting for it to end.")
