"""``deepchart documents``: what is taken, what is refused in one line, and that a refusal loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from cli_command import Ran, deepchart

from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.model import Domain

pytestmark = pytest.mark.slow


def _drawn(**options: object) -> bytes:
    with pymupdf.open() as pdf:
        pdf.new_page()
        return pdf.tobytes(**options)


PDF = _drawn()
LOCKED = _drawn(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="user", owner_pw="owner")


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "report.pdf"
    path.write_bytes(PDF + b"one")
    return path


def _add(storage: Path, *arguments: object) -> Ran:
    return deepchart("documents", "add", *arguments, "--domain", "finance", "--storage", storage)


def _ids(storage: Path) -> list[str]:
    return [one["id"] for one in deepchart("documents", "list", "--storage", storage, "--json").json["documents"]]


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_real_filing(storage: Path, shared: Path) -> None:
    ran = _add(storage, shared / "pdfs/10k_apple_2022.pdf", "--company", "Apple", "--fiscal-year", "2022", "--json")
    assert (ran.code, ran.err) == (0, "")
    (document,) = ran.json["added"]
    assert ran.json["refused"] == []
    assert document["sha256"] == "40f4a5169ac49f1c3011b8287afe28364138cd4f3e4db36c8d75c9da0f6b2a93"
    assert {key: document[key] for key in ("id", "domain", "company", "fiscal_years", "file_name", "bytes")} == {
        "id": "10k_apple_2022",
        "domain": "finance",
        "company": "Apple",
        "fiscal_years": [2022],
        "file_name": "10k_apple_2022.pdf",
        "bytes": 729516,
    }
    stored = storage / "documents/10k_apple_2022/source.pdf"
    assert stored.read_bytes() == (shared / "pdfs/10k_apple_2022.pdf").read_bytes()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_bytes(b"<html>sign in first</html>"), "is not a PDF"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: None, "there is no such file"),
        (lambda path: path.symlink_to(path), "cannot read"),
    ],
    ids=["not a PDF", "empty", "folder", "missing", "a link to itself"],
)
def test_what_is_no_pdf_is_one_line_and_leaves_nothing(storage: Path, tmp_path: Path, make, words: str) -> None:
    bad = tmp_path / "bad.pdf"
    make(bad)
    ran = _add(storage, bad)
    assert (ran.code, ran.out) == (2, "")
    assert str(bad) in ran.complaint
    assert words in ran.complaint
    assert _files(storage) == []


def test_the_others_are_taken(storage: Path, tmp_path: Path, pdf: Path) -> None:
    bad = tmp_path / "page.pdf"
    bad.write_text("<html>", encoding="utf-8")
    ran = _add(storage, bad, pdf, tmp_path / "gone.pdf", "--json")
    assert ran.code == 1
    assert [one["id"] for one in ran.json["added"]] == ["report"]
    assert [Path(one["file"]).name for one in ran.json["refused"]] == ["page.pdf", "gone.pdf"]
    assert all(one["reason"].startswith(one["file"]) for one in ran.json["refused"])
    assert len(ran.err.splitlines()) == 2
    assert _ids(storage) == ["report"]


def test_the_same_file_twice_is_one_document(storage: Path, tmp_path: Path, pdf: Path) -> None:
    other_name = Path(shutil.copy(pdf, tmp_path / "again.pdf"))
    first = _add(storage, pdf, "--json").json["added"]
    again = _add(storage, pdf, other_name, "--json")
    assert again.code == 0
    assert again.json["added"] == first * 2
    assert again.json["known"] == ["report"]
    assert _add(storage, pdf).out.endswith("report.pdf  (registered before)\n")
    assert _ids(storage) == ["report"]


def test_what_is_given_for_a_known_file_is_said(storage: Path, pdf: Path) -> None:
    _add(storage, pdf)
    ran = _add(storage, pdf, "--title", "Acme", "--company", "Acme Inc.")
    assert ran.out == (
        "report  finance  Acme  report.pdf  (registered before; changed: title, company)\n"
        "Stale now: raw_documents, context_variants.\n"
    )
    again = _add(storage, pdf, "--title", "Acme 2", "--json").json
    assert (again["known"], again["changed"]) == (["report"], {"report": ["title"]})


def test_the_list_says_what_was_read(storage: Path, tmp_path: Path, shared: Path) -> None:
    """Five pages of the scan have no text layer: the engine that was asked for cannot read them."""
    scan = shared / "pdfs/scan_ocrmypdf_multipage.pdf"
    other = tmp_path / "other.pdf"
    other.write_bytes(PDF)
    _add(storage, scan, "--id", "scan", "--fiscal-year", "2021", "--title", "A scan")
    _add(storage, other)
    built = deepchart("contexts", "build", "--document", "scan", "--engine", "text-layer", "--storage", storage)
    assert built.code == 1, "done, but some pages are in error"
    raw, read = built.out.splitlines()
    assert re.fullmatch(r"raw_documents scan: checked in \d+\.\d s", raw)
    assert re.fullmatch(r"ocr_contexts scan: read in \d+\.\d s, pages: 6, numbers: \d+, pages in error: 5", read)
    assert built.err.endswith("Next: deepchart contexts show scan\n")
    assert deepchart("documents", "list", "--storage", storage).out == (
        "other  finance        not read             other  other.pdf\n"
        "scan   finance  2021  6 pages, 5 in error  A scan  scan_ocrmypdf_multipage.pdf\n"
    )
    listed = deepchart("documents", "list", "--storage", storage, "--json").json["documents"]
    assert [(one["id"], one["read"]) for one in listed] == [
        ("other", "not read"),
        ("scan", "6 pages, 5 in error"),
    ]


def test_two_files_of_the_same_name_are_two_documents(storage: Path, tmp_path: Path, pdf: Path) -> None:
    (tmp_path / "2023").mkdir()
    other = tmp_path / "2023/report.pdf"
    other.write_bytes(PDF + b"two")
    ran = _add(storage, pdf, other, "--json")
    assert ran.code == 0
    first, second = (one["id"] for one in ran.json["added"])
    assert first == "report"
    assert second.startswith("report-")
    assert (storage / f"documents/{second}/source.pdf").read_bytes() == PDF + b"two"
    assert (storage / "documents/report/source.pdf").read_bytes() == PDF + b"one"


def test_an_id_that_another_file_has(storage: Path, tmp_path: Path, pdf: Path) -> None:
    other = tmp_path / "other.pdf"
    other.write_bytes(PDF + b"two")
    _add(storage, pdf)
    ran = _add(storage, other, "--id", "report")
    assert ran.code == 2
    assert ran.complaint == f"{other}: the id report belongs to another file. Choose another one with --id."
    assert _ids(storage) == ["report"]


@pytest.mark.parametrize("name", ["a/b", "../up", ".hidden", "", "a|b", "x" * 101])
def test_an_id_that_can_be_no_partition(storage: Path, pdf: Path, name: str) -> None:
    ran = _add(storage, pdf, "--id", name)
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be a document id" in ran.complaint
    assert _files(storage) == []


def test_one_id_for_two_files(storage: Path, pdf: Path) -> None:
    ran = _add(storage, pdf, pdf, "--id", "x")
    assert ran.code == 2
    assert ran.complaint == "--id names one document. Add the PDFs one by one, or leave --id out."


def test_an_empty_list_says_how_to_add(storage: Path) -> None:
    assert deepchart("documents", "list", "--storage", storage).out == (
        "No documents yet: deepchart documents add FILE.pdf\n"
    )
    assert deepchart("documents", "list", "--storage", storage, "--json").json == {"documents": []}


def test_a_damaged_record_is_named(storage: Path, pdf: Path) -> None:
    _add(storage, pdf)
    record = storage / "documents/report/document.json"
    record.write_text("{", encoding="utf-8")
    ran = deepchart("documents", "list", "--storage", storage)
    assert (ran.code, ran.out) == (3, "")
    assert ran.complaint.startswith(f"{record} is damaged")
    assert ran.complaint.endswith(f"Delete {record.parent} and add the PDF again.")


@pytest.mark.slow
def test_a_pdf_that_turns_out_to_be_damaged_is_one_line_when_it_is_read(
    storage: Path, tmp_path: Path, shared: Path
) -> None:
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes((shared / "pdfs/10k_apple_2022.pdf").read_bytes()[:20_000])
    DocumentStore(storage).add(damaged, Domain.FINANCE)  # as a version that took it did
    ran = deepchart("contexts", "build", "--storage", storage, "--json")
    assert ran.code == 3
    assert ran.json["materialized"] == []
    assert ran.json["problems"] == [ran.complaint]
    assert "damaged (damaged.pdf)" in ran.complaint
    assert "deepchart documents add FILE.pdf --id damaged" in ran.complaint
    assert (storage / "documents/damaged/source.pdf").read_bytes() == damaged.read_bytes()
    shown = deepchart("contexts", "show", "damaged", "--storage", storage)
    assert (shown.code, shown.complaint) == (
        3,
        f"the last build of the document damaged failed: {ran.complaint} "
        "Then run deepchart contexts build --document damaged.",
    )
    listed = deepchart("documents", "list", "--storage", storage, "--json").json["documents"]
    assert [one["read"] for one in listed] == ["in error"]


@pytest.mark.parametrize("data", [LOCKED, b"%PDF-1.7\nhalf of"], ids=["encrypted", "damaged"])
def test_what_cannot_be_read_is_refused_as_the_inbox_does(storage: Path, tmp_path: Path, data: bytes) -> None:
    pdf = tmp_path / "locked.pdf"
    pdf.write_bytes(data)
    ran = _add(storage, pdf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.complaint.startswith(f"{pdf}: it cannot be read: it is ")
    assert ran.complaint.endswith(". Put a whole, unprotected PDF in its place.")
    assert _files(storage) == []
    (storage / "inbox").mkdir()
    shutil.copy(pdf, storage / "inbox")
    inbox = deepchart("documents", "inbox", "--storage", storage)
    assert inbox.complaint.removeprefix("locked.pdf: ") == ran.complaint.removeprefix(f"{pdf}: ")


# Another user. The interpreter may lie where that user cannot read: everything is imported before he takes over.
_AS_NOBODY = """
import os, sys
import dagster, deepchart_dagster.cli.runs, deepchart_dagster.cli.documents, deepchart_dagster.workbench
import deepchart_dagster.partitions
from deepchart_dagster.cli.main import main
os.setgroups([]); os.setgid(65534); os.setuid(65534)
main(sys.argv[1:])
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Not pytest's tmp_path, whose parents are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="deepchart-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _as_nobody(*arguments: object) -> Ran:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd="/",
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_a_storage_that_may_not_be_written(open_folder: Path) -> None:
    storage = open_folder / "storage"
    storage.mkdir(mode=0o755)
    pdf = open_folder / "report.pdf"
    pdf.write_bytes(PDF)
    ran = _as_nobody("documents", "add", pdf, "--domain", "finance", "--storage", storage, "--json")
    assert ran.code == 3
    assert ran.complaint == (
        f"{pdf}: cannot write {storage / 'documents'}: Permission denied. "
        "Give this user write permission, or choose another folder with --storage."
    )
    assert ran.json == {
        "added": [],
        "known": [],
        "changed": {},
        "refused": [{"file": str(pdf), "reason": ran.complaint}],
    }
    assert list(storage.iterdir()) == []


@pytest.mark.slow
def test_a_pdf_that_may_not_be_read(open_folder: Path) -> None:
    storage = open_folder / "storage"
    storage.mkdir()
    storage.chmod(0o777)
    secret = open_folder / "secret.pdf"
    secret.write_bytes(PDF)
    secret.chmod(0o600)
    ran = _as_nobody("documents", "add", secret, "--domain", "finance", "--storage", storage)
    assert ran.code == 2
    assert ran.complaint == f"cannot read {secret}: Permission denied. Give this user read permission."
    assert _files(storage) == []


@pytest.mark.slow
def test_dagsters_home_that_may_not_be_written(open_folder: Path) -> None:
    """The document is kept; what could not be done is said, with the place."""
    storage = open_folder / "storage"
    (storage / "dagster_home").mkdir(parents=True)
    (storage / "dagster_home").chmod(0o755)
    storage.chmod(0o777)
    pdf = open_folder / "report.pdf"
    pdf.write_bytes(PDF)
    ran = _as_nobody("documents", "add", pdf, "--domain", "finance", "--storage", storage)
    assert ran.code == 3
    assert str(storage / "dagster_home") in ran.complaint
    assert "Permission denied" in ran.complaint
    assert _ids(storage) == ["report"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1.5 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1536k", "deepchart-test", str(disk)]
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path, pdf: Path) -> None:
    storage = small_disk / "storage"
    assert _add(storage, pdf).code == 0
    large = tmp_path / "large.pdf"
    large.write_bytes(PDF + bytes(2 << 20))
    kept = _files(storage / "documents")
    ran = _add(storage, large, "--json")
    assert ran.code == 3
    assert ran.complaint == (
        f"{large}: cannot write {storage / 'documents'}: No space left on device. The disk is full: free space "
        "or choose another folder with --storage; what is stored is kept."
    )
    assert json.loads(ran.out)["added"] == []
    assert _files(storage / "documents") == kept
    assert _ids(storage) == ["report"]


def test_a_disk_that_has_room_for_the_pdf_alone(small_disk: Path, tmp_path: Path) -> None:
    """The document is kept where Dagster's own records find no place; the line says which and why."""
    storage = small_disk / "storage"
    nearly_all = tmp_path / "large.pdf"
    nearly_all.write_bytes(PDF + bytes((1536 << 10) - (64 << 10)))
    ran = _add(storage, nearly_all)
    assert ran.code == 3
    assert str(storage / "dagster_home") in ran.complaint
    assert "--storage" in ran.complaint
    assert _ids(storage) == ["large"]


def test_what_is_read_from_a_filing(storage: Path, shared: Path) -> None:
    ran = deepchart("documents", "add", shared / "pdfs/10k_amazon_2019.pdf", "--storage", storage)
    assert ran.code == 0
    line = "10k_amazon_2019  finance  AMAZON.COM, INC., Form 10-K 2019  2019  10k_amazon_2019.pdf\n"
    assert ran.out == line
    assert ran.err == "Next: deepchart contexts build --document 10k_amazon_2019\n"
    assert deepchart("documents", "list", "--storage", storage).out == (
        "10k_amazon_2019  finance  2019  not read  AMAZON.COM, INC., Form 10-K 2019  10k_amazon_2019.pdf\n"
    )


def test_a_domain_that_cannot_be_told_is_asked_for(storage: Path, shared: Path) -> None:
    scan = shared / "pdfs/scan_ocrmypdf_multipage.pdf"
    ran = deepchart("documents", "add", scan, "--storage", storage)
    assert (ran.code, ran.out) == (2, "")
    assert ran.complaint.startswith(f"{scan}: its domain cannot be told (")
    assert ran.complaint.endswith("Say it with --domain (academic, finance, ecosystem).")
    assert deepchart("documents", "add", scan, "--domain", "ecosystem", "--storage", storage).code == 0


def test_setting_what_is_known(storage: Path, pdf: Path) -> None:
    _add(storage, pdf)
    ran = deepchart(
        "documents", "set", "report", "--title", "Acme", "--fiscal-year", "2022", "--json", "--storage", storage
    )
    assert (ran.code, ran.err) == (0, "")
    assert (ran.json["document"]["title"], ran.json["document"]["fiscal_years"]) == ("Acme", [2022])
    assert ran.json["document"]["origins"] == {"domain": "given", "title": "given", "fiscal_years": "given"}
    assert ran.json["stale"] == ["raw_documents", "context_variants"]
    again = deepchart("documents", "set", "report", "--title", "Acme", "--storage", storage)
    assert again.out.endswith("Nothing changed.\n")
    moved = deepchart("documents", "set", "report", "--domain", "academic", "--storage", storage)
    assert moved.out.endswith("Stale now: raw_documents, ocr_contexts, context_variants.\n")
    assert deepchart("documents", "set", "report", "--storage", storage).complaint.startswith("nothing to set.")
    assert deepchart("documents", "set", "gone", "--title", "x", "--storage", storage).code == 2


def test_the_inbox(storage: Path, shared: Path) -> None:
    empty = deepchart("documents", "inbox", "--storage", storage)
    assert (empty.code, empty.out) == (0, f"No PDF to register in {storage / 'inbox'}.\n")
    (storage / "inbox/ecosystem").mkdir()
    shutil.copy(shared / "pdfs/report_rust_survey_2024.pdf", storage / "inbox/ecosystem/rust.pdf")
    (storage / "inbox/page.pdf").write_text("<html>")
    ran = deepchart("documents", "inbox", "--storage", storage, "--json")
    assert ran.code == 1
    assert [(one["id"], one["domain"]) for one in ran.json["registered"]] == [("rust", "ecosystem")]
    assert [one["file"] for one in ran.json["refused"]] == ["page.pdf"]
    assert ran.json["waiting"] == []
    assert (storage / "inbox/registered/ecosystem/rust.pdf").is_file()
    assert _ids(storage) == ["rust"]
