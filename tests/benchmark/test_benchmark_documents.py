"""Registering PDFs: identity by content, ids, and what bad input gets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.files import is_slug
from deepchart_dagster.benchmark.documents import DocumentFacts, DocumentStore, _slug
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.errors import DamagedFile, MissingInputError, StorageError, UsageError

PDF = b"%PDF-1.7\nnothing more is looked at here\n"


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DocumentStore(tmp_path / "storage")


def file(folder: Path, name: str, data: bytes = PDF) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_pdf_is_kept_with_its_hash_and_listed(store: DocumentStore, tmp_path: Path) -> None:
    path = file(tmp_path, "Annual Report (2022).pdf")
    document = store.add(path, Domain.FINANCE, company="Acme", fiscal_years=[2021, 2022])
    assert document.id == "annual-report-2022"
    assert document.sha256 == sha256_bytes(PDF)
    assert (document.file_name, document.bytes) == ("Annual Report (2022).pdf", len(PDF))
    assert (document.title, document.company) == ("Annual Report (2022)", "Acme")
    assert document.fiscal_years == (2021, 2022)
    assert store.get("annual-report-2022") == document
    assert store.list() == [document]
    assert store.pdf(document.id).read_bytes() == PDF


def test_the_same_bytes_under_another_name_are_the_same_document(store: DocumentStore, tmp_path: Path) -> None:
    first = store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    again = store.add(file(tmp_path, "b.pdf"), Domain.FINANCE)
    assert again == first
    assert [document.id for document in store.list()] == ["a"]


def test_adding_again_completes_what_was_not_known(store: DocumentStore, tmp_path: Path) -> None:
    path = file(tmp_path, "a.pdf")
    store.add(path, Domain.FINANCE, title="A")
    assert store.add(path, Domain.FINANCE, company="Acme").company == "Acme"
    assert (store.get("a").title, store.get("a").company) == ("A", "Acme")


def test_two_files_of_the_same_name_get_two_ids(store: DocumentStore, tmp_path: Path) -> None:
    first = store.add(file(tmp_path / "2021", "report.pdf", PDF + b"1"), Domain.ECOSYSTEM)
    second = store.add(file(tmp_path / "2022", "report.pdf", PDF + b"2"), Domain.ECOSYSTEM)
    assert first.id == "report"
    assert second.id == f"report-{sha256_bytes(PDF + b'2')[:8]}"
    assert store.pdf(first.id).read_bytes() != store.pdf(second.id).read_bytes()


def test_an_id_that_another_file_has_is_refused_and_nothing_changes(store: DocumentStore, tmp_path: Path) -> None:
    store.add(file(tmp_path, "a.pdf"), Domain.FINANCE, document_id="x")
    with pytest.raises(UsageError, match=r"b\.pdf: the id x belongs to another file.*--id"):
        store.add(file(tmp_path, "b.pdf", PDF + b"other"), Domain.FINANCE, document_id="x")
    assert store.pdf("x").read_bytes() == PDF
    assert len(store.list()) == 1


def test_known_bytes_under_another_id_or_domain_are_refused(store: DocumentStore, tmp_path: Path) -> None:
    path = file(tmp_path, "a.pdf")
    store.add(path, Domain.FINANCE, document_id="x")
    with pytest.raises(UsageError, match="registered already, as x"):
        store.add(path, Domain.FINANCE, document_id="y")
    with pytest.raises(UsageError, match="as x of the finance domain"):
        store.add(path, Domain.ACADEMIC)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"<!doctype html><title>Sign in</title>", "is not a PDF"),
        (b" " * 1024 + PDF, "is not a PDF"),
    ],
)
def test_what_is_no_pdf_is_refused_by_name(store: DocumentStore, tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=rf"wrong\.pdf {says}"):
        store.add(file(tmp_path, "wrong.pdf", data), Domain.FINANCE)
    assert store.list() == []


def test_a_header_within_the_first_kibibyte_is_enough(store: DocumentStore, tmp_path: Path) -> None:
    data = b"\n" * 1019 + b"%PDF-1.4"
    assert store.add(file(tmp_path, "late.pdf", data), Domain.FINANCE).bytes == 1027


def test_a_missing_file_and_a_folder(store: DocumentStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.pdf: there is no such file"):
        store.add(tmp_path / "gone.pdf", Domain.FINANCE)
    with pytest.raises(UsageError, match="is a folder"):
        store.add(tmp_path, Domain.FINANCE)


@pytest.mark.parametrize("name", ["../x", "", "a b", ".hidden", "x" * 101])
def test_an_id_that_is_no_slug_is_refused(store: DocumentStore, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a document id"):
        store.add(file(tmp_path, "a.pdf"), Domain.FINANCE, document_id=name)
    with pytest.raises(UsageError, match="no document"):
        store.get(name)


def test_an_unknown_id_says_what_is_known(store: DocumentStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none is"):
        store.get("nothing")
    store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    with pytest.raises(UsageError, match="known: a"):
        store.get("nothing")


def test_a_pdf_that_is_gone_and_a_damaged_record(store: DocumentStore, tmp_path: Path) -> None:
    store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    store.pdf("a").unlink()
    with pytest.raises(MissingInputError, match=r"source\.pdf is missing"):
        store.pdf("a")
    (store.folder / "a" / "document.json").write_text("{")
    with pytest.raises(StorageError, match=r"document\.json is damaged"):
        store.list()


def test_a_storage_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "storage").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        DocumentStore(tmp_path / "storage").add(file(tmp_path, "a.pdf"), Domain.FINANCE)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_write_permission_names_the_remedy(tmp_path: Path) -> None:
    root = tmp_path / "storage"
    root.mkdir(mode=0o555)
    with pytest.raises(StorageError, match=r"cannot write .*write permission"):
        DocumentStore(root).add(file(tmp_path, "a.pdf"), Domain.FINANCE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_keeps_what_is_there(store: DocumentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    wanted = file(tmp_path, "b.pdf", PDF + b"b")
    really_open = Path.open

    def open_on_full_disk(path: Path, mode: str = "r", *rest: object, **more: object) -> object:
        """Temporary files end in /dev/full, where the kernel itself says that the disk is full."""
        target = Path("/dev/full") if mode == "wb" and path.name.startswith(".tmp-") else path
        return really_open(target, mode, *rest, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", open_on_full_disk)
    with pytest.raises(StorageError, match="disk is full"):
        store.add(wanted, Domain.FINANCE)
    monkeypatch.undo()
    assert store.list() == [kept]
    assert [path.name for path in store.folder.iterdir() if path.name.startswith(".tmp-")] == []


@given(st.text(max_size=300))
def test_every_file_name_makes_a_slug(name: str) -> None:
    assert is_slug(_slug(name))


def test_a_record_that_names_another_document_is_not_followed(store: DocumentStore, tmp_path: Path) -> None:
    document = store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    record = store.folder / document.id / "document.json"
    record.write_text(record.read_text().replace(f'"id": "{document.id}"', '"id": "../../elsewhere"'))
    with pytest.raises(DamagedFile, match=re.escape(f"{record} names another document, '../../elsewhere'")):
        store.pdf(document.id)


def test_what_a_killed_registration_left_is_removed_by_the_next(store: DocumentStore, tmp_path: Path) -> None:
    script = (
        "import os, signal; from pathlib import Path; from deepchart_dagster.artifacts.files import new_folder\n"
        f"with new_folder(Path({str(store.folder / 'x')!r})):\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    assert list(store.folder.glob(".tmp-*"))
    store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    assert list(store.folder.glob(".tmp-*")) == []


def test_a_file_name_or_title_that_is_no_utf8_spoils_no_record(store: DocumentStore, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pdf"))
    path.write_bytes(PDF)
    document = store.add(path, Domain.FINANCE, company="Caf\udce9")
    assert store.list() == [document]
    assert (document.file_name, document.title, document.company) == ("caf\ufffd.pdf", "caf\ufffd", "Caf\ufffd")
    assert store.add(path, Domain.FINANCE, title="\ud800") == store.get(document.id)


def _reads(facts: DocumentFacts) -> Callable[[Path], DocumentFacts]:
    return lambda copy: facts


READ = DocumentFacts(Domain.FINANCE, "Acme, Form 10-K 2021", "Acme", (2021,))


def test_what_was_read_and_what_was_given_is_told_apart(store: DocumentStore, tmp_path: Path) -> None:
    given = DocumentFacts(company="Acme Corporation")
    document = store.register(file(tmp_path, "a.pdf"), given, reader=_reads(READ)).document
    assert (document.domain, document.title, document.company) == (Domain.FINANCE, READ.title, "Acme Corporation")
    assert document.origins == {"domain": "read", "title": "read", "company": "given", "fiscal_years": "read"}
    assert store.get("a") == document
    bare = store.add(file(tmp_path, "b.pdf", PDF + b"b"), Domain.ECOSYSTEM)
    assert bare.origins == {"domain": "given", "title": "file name"}


def test_a_reader_is_given_the_copy(store: DocumentStore, tmp_path: Path) -> None:
    seen: list[bytes] = []

    def reader(copy: Path) -> DocumentFacts:
        assert copy.is_relative_to(store.root)
        seen.append(copy.read_bytes())
        return READ

    store.register(file(tmp_path, "a.pdf"), reader=reader)
    again = store.register(file(tmp_path, "b.pdf"), reader=reader)
    assert again.was_known
    assert again.document.id == "a"
    assert seen == [PDF]


def test_a_domain_that_nobody_says_is_asked_for_and_nothing_is_kept(store: DocumentStore, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"a\.pdf: its domain cannot be told \(it is encrypted\)\. Give one that can be read\. .*--domain",
    ):
        store.register(file(tmp_path, "a.pdf"), reader=_reads(DocumentFacts(problem="it is encrypted")))
    assert [path for path in store.folder.iterdir() if path.name != ".lock"] == []


def test_changing_what_is_known(store: DocumentStore, tmp_path: Path) -> None:
    store.register(file(tmp_path, "a.pdf"), reader=_reads(READ))
    changed = store.change("a", DocumentFacts(Domain.ACADEMIC, title="Another"))
    assert (changed.domain, changed.title, changed.company) == (Domain.ACADEMIC, "Another", "Acme")
    assert changed.origins == {"domain": "given", "title": "given", "company": "read", "fiscal_years": "read"}
    assert store.get("a") == changed
    with pytest.raises(UsageError, match="no document 'b'"):
        store.change("b", DocumentFacts(title="x"))


def test_a_record_of_before_origins_is_read(store: DocumentStore, tmp_path: Path) -> None:
    store.add(file(tmp_path, "a.pdf"), Domain.FINANCE)
    record = store.folder / "a" / "document.json"
    old = json.loads(record.read_text())
    del old["origins"]
    record.write_text(json.dumps(old))
    assert store.get("a").origins == {}


def test_a_file_that_grows_while_it_is_copied_is_refused(store: DocumentStore, tmp_path: Path) -> None:
    path = file(tmp_path, "a.pdf", PDF + b"x" * (8 << 20))
    begun, stop = threading.Event(), threading.Event()

    def grow() -> None:
        with path.open("ab") as stream:
            while not stop.is_set():
                stream.write(b"more")
                stream.flush()
                begun.set()

    writer = threading.Thread(target=grow)
    writer.start()
    begun.wait()
    try:
        with pytest.raises(UsageError, match=r"a\.pdf changed while it was read\. Add it again when"):
            store.add(path, Domain.FINANCE)
    finally:
        stop.set()
        writer.join()
    assert list(store.folder.iterdir()) == []
    assert store.add(path, Domain.FINANCE).bytes == path.stat().st_size


def test_a_pipe_is_not_waited_for(store: DocumentStore, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    with pytest.raises(UsageError, match=r"pipe\.pdf is a pipe or a device"):
        store.add(tmp_path / "pipe.pdf", Domain.FINANCE)


def test_a_link_is_followed_and_keeps_its_own_name(store: DocumentStore, tmp_path: Path) -> None:
    (tmp_path / "link.pdf").symlink_to(file(tmp_path, "a.pdf"))
    document = store.add(tmp_path / "link.pdf", Domain.FINANCE)
    assert (document.id, document.file_name) == ("link", "link.pdf")
    assert not store.pdf("link").is_symlink()


def test_a_huge_file_is_copied_in_blocks(store: DocumentStore, tmp_path: Path) -> None:
    path = file(tmp_path, "a.pdf")
    os.truncate(path, 200 << 20)  # sparse: only its length is huge
    tracemalloc.start()
    document = store.add(path, Domain.FINANCE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert document.bytes == 200 << 20
    assert peak < 16 << 20
