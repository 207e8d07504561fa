"""A part of the mini benchmark, and building again without drawing again."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini import QUICK, build, build_mini
from deepchart_dagster.benchmark.mini.catalogue import mini_queries
from deepchart_dagster.benchmark.mini.documents import DocumentScript


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which documents are drawn; instead of its pages each gets bytes that say which it is."""
    drawn: list[str] = []
    scripts = list(build.document_scripts())

    def fake(script: DocumentScript) -> DocumentScript:
        def draw() -> bytes:
            drawn.append(script.document.id)
            return _pdf(script.document.id)

        return DocumentScript(script.document, draw)

    def documents() -> Iterator[DocumentScript]:
        return iter([fake(script) for script in scripts])

    monkeypatch.setattr(build, "document_scripts", documents)
    return drawn


def _pdf(name: str) -> bytes:
    import pymupdf

    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), name)
        return bytes(document.tobytes(no_new_id=True))


def uids(root: Path) -> set[str]:
    return {query.uid for query in Library(root).queries()}


def test_quick_is_two_queries_of_each_domain_and_their_documents(tmp_path: Path, drawings: list[str]) -> None:
    n_written = build_mini(tmp_path, quick=True)
    queries = Library(tmp_path).queries()
    assert {query.uid for query in queries} == {f"mini/{name}" for name in QUICK}
    assert set(Counter(query.domain for query in queries).values()) == {2}
    needed = {name for query in queries for name in query.document_ids}
    assert {document.id for document in DocumentStore(tmp_path).list()} == needed == set(drawings)
    assert n_written == len(needed)


def test_the_whole_adds_what_is_missing_and_quick_takes_nothing_away(tmp_path: Path, drawings: list[str]) -> None:
    everything = {query.uid for query in mini_queries()}
    build_mini(tmp_path, quick=True)
    build_mini(tmp_path)
    assert uids(tmp_path) == everything
    drawings.clear()
    assert build_mini(tmp_path, quick=True) == 0
    assert uids(tmp_path) == everything
    assert drawings == []


def test_nothing_is_drawn_twice_by_the_same_files(tmp_path: Path, drawings: list[str]) -> None:
    build_mini(tmp_path, quick=True)
    drawings.clear()
    assert build_mini(tmp_path, quick=True) == 0
    assert drawings == []


def test_a_document_that_is_gone_is_drawn_again(tmp_path: Path, drawings: list[str]) -> None:
    build_mini(tmp_path, quick=True)
    shutil.rmtree(DocumentStore(tmp_path).folder / "mini-lichen-paper")
    assert build_mini(tmp_path, quick=True) == 1
    assert "mini-lichen-paper" in {document.id for document in DocumentStore(tmp_path).list()}


@pytest.mark.parametrize("note", ["{", json.dumps({"drawn_by": "other files", "documents": {}})])
def test_what_other_files_drew_is_drawn_again(note: str, tmp_path: Path, drawings: list[str]) -> None:
    build_mini(tmp_path, quick=True)
    n_documents = len(drawings)
    drawings.clear()
    (tmp_path / "scripted" / "mini-drawn.json").write_text(note)
    assert build_mini(tmp_path, quick=True) == 0, "the same bytes are registered"
    assert len(drawings) == n_documents
