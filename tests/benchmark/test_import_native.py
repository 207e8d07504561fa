"""Importing a folder in the project's own layout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.importers import import_benchmark
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.errors import BenchmarkFormatError, NoWorkPossible

LAYOUT = Path(__file__).parents[2] / "docs" / "benchmark-layout.md"
DESCRIPTION = {"format": "deepchart-benchmark/1", "name": "shop"}
ROW = {
    "uid": "shop/1",
    "domain": "finance",
    "chart_purpose": "Draw it.",
    "variants": ["normal"],
    "context_files": {"normal": ["shop/1/income.md"]},
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "storage")


def a_folder(folder: Path, *rows: object, description: object = DESCRIPTION) -> Path:
    (folder / "shop/1").mkdir(parents=True)
    (folder / "shop/1/income.md").write_text("| Revenue | 1 |\n")
    text = description if isinstance(description, str) else json.dumps(description)
    (folder / "benchmark.json").write_text(text)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_a_folder_comes_in_under_its_own_name(library: Library, tmp_path: Path) -> None:
    report = import_benchmark(a_folder(tmp_path / "in", ROW), library)

    assert (report.name, report.read, report.imported) == ("shop", 1, 1)
    assert report.warnings == ()
    assert library.query("shop/1") == Query.model_validate({**ROW, "benchmark": "shop"})


def test_what_was_imported_can_be_imported_elsewhere(library: Library, tmp_path: Path) -> None:
    import_benchmark(a_folder(tmp_path / "in", ROW), library)
    other = Library(tmp_path / "other")

    import_benchmark(library.folder("shop"), other, name="copy")

    assert other.query("shop/1") == library.query("shop/1").model_copy(update={"benchmark": "copy"})
    assert other.file(other.query("shop/1"), "shop/1/income.md").read_text() == "| Revenue | 1 |\n"


def test_the_example_of_the_documentation_comes_in(library: Library, tmp_path: Path) -> None:
    example = re.search(r'\{"uid".*?\}\}\n', LAYOUT.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    report = import_benchmark(a_folder(tmp_path / "in", json.loads(example[0])), library)
    assert report.imported == 1
    assert [warning.file for warning in report.warnings] == ["shop/1/d_src.csv", "shop/1/d_der.json"]


def test_the_documentation_names_every_field_of_a_query() -> None:
    table = LAYOUT.read_text(encoding="utf-8").split("## What an import does")[0]
    undocumented = [name for name in Query.model_fields if f"`{name}`" not in table]
    assert undocumented == ["benchmark"]  # the folder says it


def test_faulty_lines_are_skipped(library: Library, tmp_path: Path) -> None:
    rows = (ROW, "{", {**ROW, "uid": "shop/2", "colour": "red"}, ROW, {**ROW, "uid": "shop/3"})
    report = import_benchmark(a_folder(tmp_path / "in", *rows), library)

    assert (report.read, report.imported) == (5, 2)
    assert [skipped.uid for skipped in report.skipped] == [None, "shop/2", "shop/1"]
    assert "queries.jsonl line 2: no valid JSON" in report.skipped[0].reason
    assert "queries.jsonl line 3: colour" in report.skipped[1].reason
    assert re.search(r"line 4: the uid shop/1 is taken by .*line 1", report.skipped[2].reason)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("{", r"benchmark\.json: no valid JSON"),
        ({"format": "deepchart-benchmark/9", "name": "shop"}, "its format is not deepchart-benchmark/1"),
        ([], "its format is not deepchart-benchmark/1"),
        ({"format": "deepchart-benchmark/1"}, "the name None cannot name a benchmark"),
        ({"format": "deepchart-benchmark/1", "name": "../x"}, r"the name '\.\./x' cannot name a benchmark"),
    ],
)
def test_a_damaged_description_is_refused(library: Library, tmp_path: Path, description: object, said: str) -> None:
    with pytest.raises(BenchmarkFormatError, match=said):
        import_benchmark(a_folder(tmp_path / "in", ROW, description=description), library)


def test_without_queries_there_is_nothing_to_import(library: Library, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "in")
    with pytest.raises(NoWorkPossible, match="holds no records"):
        import_benchmark(folder, library)
    (folder / "queries.jsonl").unlink()
    with pytest.raises(BenchmarkFormatError, match=r"queries\.jsonl is missing"):
        import_benchmark(folder, library)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("x/" * 3000 + "y", "can be no file's name"),  # no part is too long: the whole is, for every system
        ("queries.jsonl", "a file of the benchmark's own"),
        ("./benchmark.json", "a file of the benchmark's own"),
    ],
)
def test_a_record_whose_file_cannot_be_stored_stops_no_other(
    library: Library, tmp_path: Path, named: str, said: str
) -> None:
    faulty = {**ROW, "uid": "shop/2", "references": {"d_src": named}}

    report = import_benchmark(a_folder(tmp_path / "in", ROW, faulty), library)

    (skipped,) = report.skipped
    assert (report.imported, skipped.uid) == (1, "shop/2")
    assert said in skipped.reason
