"""The inbox: what is registered and moved, what stays and why, and the sensor that looks into it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pymupdf
import pytest

from deepchart_dagster.benchmark.documents import DocumentFacts, DocumentStore
from deepchart_dagster.contexts import inbox as inbox_module
from deepchart_dagster.contexts.inbox import Inbox, RefusedFile
from deepchart_dagster.contexts.metadata import metadata_of_readable

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture
def inbox(root: Path) -> Inbox:
    return Inbox(DocumentStore(root), quiet_s=0.2)


def _paper(path: Path, title: str = "Tides in a bathtub") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((50, 60), title, fontsize=18)
        page.insert_text((50, 90), "Abstract")
        page.insert_text((50, 120), "References")
        pdf.save(path)
    return path


def _broken(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"%PDF-1.7\nhalf of")
    return path


@contextmanager
def _growing(path: Path) -> Iterator[None]:
    """Something writes to ``path`` until the end of the block."""
    stop = threading.Event()

    def write() -> None:
        with path.open("ab") as stream:
            while not stop.wait(0.01):
                stream.write(b"%" * 100)
                stream.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.pdf"))


def test_an_empty_inbox_is_made(inbox: Inbox) -> None:
    look = inbox.look()
    assert (look.registered, look.refused, look.waiting) == ((), (), ())
    assert inbox.folder.is_dir()


def test_registered_files_are_moved_and_their_bytes_kept(inbox: Inbox) -> None:
    data = _paper(inbox.folder / "Tides (1).pdf").read_bytes()
    _paper(inbox.folder / "ecosystem/State.PDF", "State of the field")
    look = inbox.look()
    assert [(one.document.id, one.document.domain, one.was_known) for one in look.registered] == [
        ("tides-1", "academic", False),
        ("state", "ecosystem", False),
    ]
    assert inbox.documents.pdf("tides-1").read_bytes() == data
    moved = sorted(str(path.relative_to(inbox.folder)) for path in inbox.folder.rglob("*") if path.suffix)
    assert moved == ["registered/Tides (1).pdf", "registered/ecosystem/State.PDF"]
    assert (inbox.folder / "registered/Tides (1).pdf").read_bytes() == data
    assert inbox.look().registered == ()


def test_the_same_file_again_is_known_and_overwrites_nothing(inbox: Inbox) -> None:
    first = _paper(inbox.folder / "a.pdf").read_bytes()
    inbox.look()
    for _ in range(2):
        (inbox.folder / "a.pdf").write_bytes(first)
        (again,) = inbox.look().registered
        assert again.was_known
    mark = again.document.sha256[:8]
    assert _files(inbox.folder / "registered") == sorted(["a.pdf", f"a-{mark}.pdf", f"a-{mark}-2.pdf"])
    assert len(inbox.documents.list()) == 1


def test_refused_files_stay_with_their_reason(inbox: Inbox) -> None:
    _broken(inbox.folder / "finance/broken.pdf")
    _paper(inbox.folder / "elsewhere/a.pdf")
    (inbox.folder / "page.pdf").write_text("<html>")
    with pymupdf.open() as pdf:
        pdf.new_page()
        pdf.save(inbox.folder / "unknown.pdf")
    look = inbox.look()
    assert look.registered == ()
    reasons = {one.file: one.reason for one in look.refused}
    assert sorted(reasons) == ["elsewhere/a.pdf", "finance/broken.pdf", "page.pdf", "unknown.pdf"]
    assert "names no domain" in reasons["elsewhere/a.pdf"]
    assert "cannot be read" in reasons["finance/broken.pdf"]
    assert "is not a PDF" in reasons["page.pdf"]
    assert reasons["unknown.pdf"].startswith("its domain cannot be told (")
    assert reasons["unknown.pdf"].endswith(
        "Put it into the folder of its domain: inbox/academic/, inbox/finance/, inbox/ecosystem/."
    )
    record = json.loads((inbox.folder / "refused.json").read_text())
    assert {one["file"]: one["reason"] for one in record} == reasons
    assert _files(inbox.folder) == sorted(reasons)
    assert inbox.documents.list() == []
    for file in reasons:
        (inbox.folder / file).unlink()
    inbox.look()
    assert not (inbox.folder / "refused.json").exists()


def test_what_was_refused_is_opened_again_when_it_has_changed(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb would cost every look of the sensor its time-out."""
    opened: list[str] = []

    def read(pdf: Path) -> DocumentFacts:
        opened.append(pdf.name)
        return metadata_of_readable(pdf)

    monkeypatch.setattr(inbox_module, "metadata_of_readable", read)
    broken = _broken(inbox.folder / "finance/broken.pdf")
    first = inbox.look()
    assert len(opened) == 1
    assert inbox.look() == first
    assert len(opened) == 1
    _paper(broken)
    assert [one.document.domain for one in inbox.look().registered] == ["finance"]
    assert len(opened) == 2
    assert not (inbox.folder / "refused.json").exists()


@pytest.mark.parametrize("record", ["", "{}", '{"old.pdf": "of an older version"}', "[[1]]"])
def test_a_record_of_refusals_that_is_none_is_made_anew(inbox: Inbox, record: str) -> None:
    _broken(inbox.folder / "finance/broken.pdf")
    (inbox.folder / "refused.json").write_text(record)
    (refused,) = inbox.look().refused
    assert "cannot be read" in refused.reason
    assert [one["file"] for one in json.loads((inbox.folder / "refused.json").read_text())] == ["finance/broken.pdf"]


def test_a_file_that_grows_is_left_and_taken_when_it_is_quiet(inbox: Inbox) -> None:
    path = _paper(inbox.folder / "a.pdf")
    with _growing(path):
        look = inbox.look()
    assert (look.registered, look.refused, look.waiting) == ((), (), ("a.pdf",))
    assert inbox.documents.list() == []
    size = path.stat().st_size
    (registered,) = inbox.look().registered
    assert registered.document.bytes == size


def test_a_pipe_in_the_inbox_is_not_waited_for(inbox: Inbox) -> None:
    inbox.folder.mkdir(parents=True)
    os.mkfifo(inbox.folder / "pipe.pdf")
    (refused,) = inbox.look().refused
    assert isinstance(refused, RefusedFile)
    assert "is a pipe or a device" in refused.reason


@pytest.mark.slow
def test_the_sensor_adds_partitions(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets.sensors import documents_inbox
    from resources import StorageResource

    folder = root / "inbox"
    good = _paper(folder / "good.pdf")
    (folder / "twice.pdf").write_bytes(good.read_bytes())
    _broken(folder / "broken.pdf")
    growing = _paper(folder / "growing.pdf", "Another paper altogether")
    monkeypatch.setenv("DEEPCHART_STORAGE", str(root))
    assert documents_inbox.default_status is dg.DefaultSensorStatus.STOPPED
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, resources={"storage": StorageResource()})
        with _growing(growing):
            result = documents_inbox(context)
        assert isinstance(result, dg.SensorResult)
        (request,) = result.dynamic_partitions_requests or ()
        assert isinstance(request, dg.AddDynamicPartitionsRequest)
        assert (request.partitions_def_name, request.partition_keys) == ("documents", ["good"])
        instance.add_dynamic_partitions("documents", list(request.partition_keys))
        second = documents_inbox(context)
        assert isinstance(second, dg.SensorResult)
        (request,) = second.dynamic_partitions_requests or ()
        assert request.partition_keys == ["growing"]
        instance.add_dynamic_partitions("documents", list(request.partition_keys))
        assert isinstance(documents_inbox(context), dg.SkipReason)
    assert _files(folder) == ["broken.pdf", "registered/good.pdf", "registered/growing.pdf", "registered/twice.pdf"]
