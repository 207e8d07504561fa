"""The library: what it stores, what it finds again, what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.library import Library, files_of
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Query, References, Split
from deepchart_dagster.errors import (
    BenchmarkFormatError,
    ConfigurationError,
    MissingInputError,
    StorageError,
    UsageError,
)


def a_query(uid: str = "finance/1", **changes: object) -> Query:
    fields: dict[str, object] = {
        "uid": uid,
        "benchmark": "",
        "domain": Domain.FINANCE,
        "chart_purpose": "Draw an {code_type} chart.",
        "variants": (ContextVariant.NORMAL, ContextVariant.LONG),
        "context_files": {ContextVariant.NORMAL: (f"data/{uid}/income.md",)},
        "references": References(d_src=f"references/{uid}/d_src.csv"),
    }
    return Query.model_validate(fields | changes)


def write_files(folder: Path, query: Query) -> None:
    for relative in files_of(query):
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {relative}", encoding="utf-8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "storage")


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_was_added_is_found_again(library: Library, source: Path) -> None:
    query = a_query()
    write_files(source, query)

    assert library.add("mine", [query], source) is True

    assert library.names() == ["mine"]
    stored = library.query("finance/1")
    assert stored == query.model_copy(update={"benchmark": "mine"})
    assert library.file(stored, "data/finance/1/income.md").read_text() == "content of data/finance/1/income.md"


def test_queries_are_sorted_and_instances_follow_the_variants(library: Library, source: Path) -> None:
    library.add("b", [a_query("finance/2"), a_query("finance/10", variants=("ultra-long",), context_files={})], source)
    library.add("a", [a_query("finance/3")], source)

    assert [query.uid for query in library.queries()] == ["finance/10", "finance/2", "finance/3"]
    assert [instance.uid for instance in library.instances(Split.FINANCE_LONG)] == ["finance/2", "finance/3"]
    assert [instance.uid for instance in library.instances(Split.FINANCE_ULTRA_LONG)] == ["finance/10"]
    assert library.instances(Split.ECOSYSTEM) == []


def test_an_empty_library_has_nothing(library: Library) -> None:
    assert library.names() == []
    assert library.queries() == []


def test_the_selection_limits_what_is_seen(library: Library, source: Path) -> None:
    library.add("a", [a_query("finance/1")], source)
    library.add("b", [a_query("finance/2")], source)

    chosen = Library(library.root, selected=("b",))

    assert [query.uid for query in chosen.queries()] == ["finance/2"]
    with pytest.raises(UsageError, match="finance/1") as unknown:
        chosen.query("finance/1")
    assert unknown.value.remedy == "Near it: finance/2. Benchmarks: b."


def test_an_unknown_selection_lists_what_exists(library: Library, source: Path) -> None:
    library.add("a", [a_query("finance/1")], source)
    library.add("b", [a_query("finance/2")], source)

    with pytest.raises(ConfigurationError, match=r"no benchmark named 'c' .* It holds: a, b"):
        Library(library.root, selected=("a", "c")).queries()


def test_the_same_again_writes_nothing(library: Library, source: Path) -> None:
    query = a_query()
    write_files(source, query)
    library.add("mine", [query], source)
    before = snapshot(library.folder("mine"))

    assert library.add("mine", [query], source) is False

    assert snapshot(library.folder("mine")) == before


@pytest.mark.parametrize("change", ["content", "query", "lost file"])
def test_a_change_is_written(library: Library, source: Path, change: str) -> None:
    query = a_query()
    write_files(source, query)
    library.add("mine", [query], source)
    changed = source / "data/finance/1/income.md"
    if change == "content":
        changed.write_text("another income", encoding="utf-8")
    elif change == "query":
        query = a_query(company="abbv")
    else:
        library.file(library.query("finance/1"), "data/finance/1/income.md").unlink()

    assert library.add("mine", [query], source) is True

    assert library.query("finance/1").company == query.company
    assert library.file(library.query("finance/1"), "data/finance/1/income.md").read_bytes() == changed.read_bytes()


def test_adding_replaces_unless_others_are_kept(library: Library, source: Path) -> None:
    for query in (a_query("finance/1"), a_query("finance/2")):
        write_files(source, query)
    library.add("mine", [a_query("finance/1"), a_query("finance/2")], source)

    library.add("mine", [a_query("finance/2", company="xom")], source, keep_others=True)
    assert [(query.uid, query.company) for query in library.queries()] == [("finance/1", None), ("finance/2", "xom")]
    assert library.file(library.query("finance/1"), "data/finance/1/income.md").is_file()

    library.add("mine", [a_query("finance/2")], source)
    assert [query.uid for query in library.queries()] == ["finance/2"]
    assert not (library.folder("mine") / "data/finance/1/income.md").exists()


def test_a_missing_file_is_named(library: Library, source: Path) -> None:
    library.add("mine", [a_query()], source)

    with pytest.raises(
        MissingInputError, match=r"finance/1: the file data/finance/1/income\.md is not in benchmark mine"
    ):
        library.file(library.query("finance/1"), "data/finance/1/income.md")


@pytest.mark.parametrize("path", ["../mine/x.md", "/etc/passwd", "a/../../x", "C:\\x", ""])
def test_a_path_that_leaves_the_folder_is_refused(library: Library, source: Path, path: str) -> None:
    library.add("mine", [a_query()], source)

    with pytest.raises(BenchmarkFormatError, match="leaves the benchmark's folder"):
        library.file(library.query("finance/1"), path)


def test_a_link_that_leaves_the_folder_is_refused(library: Library, source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    query = a_query()
    write_files(source, query)
    library.add("mine", [query], source)
    (library.folder("mine") / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(BenchmarkFormatError, match="through a link"):
        library.file(library.query("finance/1"), "link")

    (source / "data/finance/1/income.md").unlink()
    (source / "data/finance/1/income.md").symlink_to(tmp_path / "secret")
    with pytest.raises(BenchmarkFormatError, match="through a link"):
        library.add("mine", [query], source)


def test_a_damaged_line_is_named_with_what_to_do(library: Library, source: Path) -> None:
    library.add("mine", [a_query("finance/1"), a_query("finance/2")], source)
    path = library.folder("mine") / "queries.jsonl"
    first, _second = path.read_text().splitlines()
    path.write_text(f"{first}\n\n{{not json\n")

    with pytest.raises(
        BenchmarkFormatError, match=r"queries\.jsonl line 3: no valid JSON .*import the benchmark again"
    ):
        library.queries()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domain": "cooking"}, r"line 1: domain: .*academic"),
        ({"chart_purpose": ""}, "line 1: chart_purpose"),
        ({"variants": []}, "at least one context variant"),
        ({"domain": "ecosystem"}, "ecosystem domain has no long context"),
        ({"references": {"d_src": "../x.csv"}}, r"references\.d_src: .*leaves the benchmark's folder"),
        ({"colour": "red"}, "line 1: colour"),
    ],
)
def test_a_record_that_is_no_query_is_named(
    library: Library, source: Path, change: dict[str, object], said: str
) -> None:
    library.add("mine", [a_query()], source)
    path = library.folder("mine") / "queries.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")

    with pytest.raises(BenchmarkFormatError, match=said):
        library.queries()


def test_a_uid_that_comes_twice_names_both_places(library: Library, source: Path) -> None:
    library.add("mine", [a_query()], source)
    path = library.folder("mine") / "queries.jsonl"
    path.write_text(path.read_text() * 2)

    with pytest.raises(BenchmarkFormatError, match=r"finance/1 comes twice: .*line 1 and .*line 2"):
        library.queries()


def test_a_uid_in_two_benchmarks_names_both(library: Library, source: Path) -> None:
    library.add("a", [a_query()], source)
    with pytest.raises(
        BenchmarkFormatError, match=r"finance/1 of benchmark b is taken by .*benchmarks/a/queries\.jsonl"
    ):
        library.add("b", [a_query()], source)
    assert library.names() == ["a"]

    library.add("b", [a_query("finance/2")], source)
    rows = (library.folder("a") / "queries.jsonl").read_text()
    (library.folder("b") / "queries.jsonl").write_text(rows)
    with pytest.raises(
        BenchmarkFormatError, match=r"benchmarks/a/queries\.jsonl line 1 and .*benchmarks/b/queries\.jsonl"
    ):
        library.queries()
    assert len(Library(library.root, selected=("b",)).queries()) == 1


def test_a_name_that_is_no_folder_name_is_refused(library: Library, source: Path) -> None:
    with pytest.raises(BenchmarkFormatError, match=r"'\.\./x' cannot name a benchmark"):
        library.add("../x", [a_query()], source)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_without_permission_one_line_says_so(library: Library, source: Path) -> None:
    library.root.mkdir()
    library.root.chmod(0o500)
    with pytest.raises(StorageError, match="write permission"):
        library.add("mine", [a_query()], source)


def test_an_interrupted_write_leaves_the_old_benchmark(
    library: Library, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = a_query()
    write_files(source, query)
    library.add("mine", [query], source)
    before = snapshot(library.folder("mine"))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deepchart_dagster.benchmark.library.write_json", killed)
    with pytest.raises(KeyboardInterrupt):
        library.add("mine", [a_query(company="abbv")], source)

    assert snapshot(library.folder("mine")) == before
    assert [path.name for path in library.folder("mine").parent.iterdir() if path.is_dir()] == ["mine"]
