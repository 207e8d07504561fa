"""``deepchart import`` on the published sample, whole and damaged: counts, file and line of what is left out."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_command import Ran, deepchart

UIDS = [
    "academic/1",
    "academic/176",
    "finance/1",
    "finance/287",
    "finance/4",
    "research_report/book-of-scouting-reports-2025-fintech-100__query-01",
]


def _import(folder: Path, storage: Path, *more: object) -> Ran:
    return deepchart("import", folder, "--storage", storage, *more)


def _stored(storage: Path, name: str = "deepchart") -> list[str]:
    lines = (storage / "benchmarks" / name / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["uid"] for line in lines]


def _change(clone: Path, line: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the record on this line (from 1) of finance.jsonl; line 0 appends a changed copy of the first."""
    path = clone / "instances/finance.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[max(line, 1) - 1])
    change(record)
    if line:
        lines[line - 1] = json.dumps(record)
    else:
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_sample_is_read_whole(sample: Path, storage: Path) -> None:
    ran = _import(sample, storage, "--json")
    assert (ran.code, ran.err) == (0, "")
    report = ran.json
    assert {key: report[key] for key in ("name", "read", "imported", "skipped", "changed")} == {
        "name": "deepchart",
        "read": 6,
        "imported": 6,
        "skipped": [],
        "changed": True,
    }
    assert _stored(storage) == UIDS
    assert all(set(warning) == {"uid", "file", "message"} for warning in report["warnings"])


def test_what_the_sample_lacks_is_named_file_by_file(sample: Path, storage: Path) -> None:
    warnings = _import(sample, storage, "--json").json["warnings"]
    missing = [one for one in warnings if one["message"].startswith("missing from the source")]
    assert all(not (sample / one["file"]).exists() for one in missing)
    # finance/287 has one of its five long files; the others have none. No chart and no program is in the sample.
    long = Counter(one["uid"] for one in missing if "the long instance" in one["message"])
    assert long == {"finance/1": 5, "finance/4": 5, "finance/287": 4}
    charts = [one["uid"] for one in missing if one["file"].endswith("chart.png")]
    assert sorted(charts) == UIDS
    html = [one["uid"] for one in warnings if "html is added" in one["message"]]
    assert sorted(html) == UIDS[:5]
    assert len(warnings) == len(missing) + len(html)


def test_people_read_each_kind_of_warning_once_with_its_count(sample: Path, storage: Path) -> None:
    warnings = _import(sample, storage, "--json").json["warnings"]
    lines = _import(sample, storage).out.splitlines()
    assert lines[0] == "deepchart: 6 records read, 6 imported, 0 skipped; all of it was stored before"
    shown = [line for line in lines if line.startswith("  warning  ")]
    assert len(shown) == len({one["message"] for one in warnings}) < 12
    (charts,) = [line for line in shown if line.endswith("there is no reference chart to write a rubric from.")]
    assert charts.startswith("  warning  6 files, first academic/1: references/academic/1/chart.png: missing from")
    assert lines[-1] == f"  {len(warnings)} warnings: --json lists them all."


def test_references_without_a_number_are_one_line(sample: Path, storage: Path, tmp_path: Path) -> None:
    clone = Path(shutil.copytree(sample, tmp_path / "clone"))
    for uid in ("1", "4"):
        (clone / f"references/finance/{uid}/d_src.csv").write_text("item,2022\ncash,much\n", encoding="utf-8")
    ran = _import(clone, storage, "--name", "mine")
    shown = [line for line in ran.out.splitlines() if "no number" in line]
    assert shown == [
        "  warning  2 files, first finance/1: references/finance/1/d_src.csv: it holds no number, and every model "
        "scores 0 on it; once references are made, deepchart references check --split finance-normal lists such."
    ]
    made = deepchart("materialize", "references", "--split", "finance-normal", "--storage", storage)
    assert made.code == 0
    said = "2 of 3 references hold no number on a side, on which every model scores 0: "
    assert f"finance-normal: {said}deepchart references check --split finance-normal" in made.err.splitlines()
    checked = deepchart("references", "check", "--split", "finance-normal", "--storage", storage)
    assert checked.out.count("empty: d_src holds no number") == 2


def test_only_some_records(sample: Path, storage: Path) -> None:
    ran = _import(sample, storage, "--only", "finance/4", "--only", "academic/1", "--json")
    assert (ran.code, ran.json["read"], ran.json["imported"]) == (0, 2, 2)
    assert _stored(storage) == ["academic/1", "finance/4"]
    # Asking for another one keeps these.
    assert _import(sample, storage, "--only", "finance/1").code == 0
    assert _stored(storage) == ["academic/1", "finance/1", "finance/4"]


def test_a_uid_that_is_not_there(sample: Path, storage: Path) -> None:
    ran = _import(sample, storage, "--only", "finance/5")
    assert ran.code == 2
    assert ran.complaint == f"{sample} has no record with the uid finance/5. Nothing was imported."
    assert not (storage / "benchmarks/deepchart").exists()


def _unknown_domain(clone: Path) -> None:
    _change(clone, 2, lambda record: record.update(domain="sports"))


def _path_that_leaves(clone: Path) -> None:
    _change(clone, 2, lambda record: record["references"].update(d_src="../../../etc/passwd"))


def _absolute_context(clone: Path) -> None:
    _change(clone, 2, lambda record: record["context"]["variants"].update(normal=["/etc/passwd"]))


def _link_that_leaves(clone: Path) -> None:
    file = clone / "references/finance/4/d_src.csv"
    file.unlink()
    file.symlink_to("/etc/passwd")


def _no_purpose(clone: Path) -> None:
    _change(clone, 2, lambda record: record["query"].pop("template"))


def _unknown_variant(clone: Path) -> None:
    _change(clone, 2, lambda record: record["context"]["variants"].update(short=[]))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_unknown_domain, "the domain 'sports' is unknown; known are academic, finance, research_report."),
        (_path_that_leaves, "d_src: the path '../../../etc/passwd' leaves the benchmark's folder."),
        (_absolute_context, "context_files: the path '/etc/passwd' leaves the benchmark's folder."),
        (_link_that_leaves, "the path 'references/finance/4/d_src.csv' leaves the benchmark's folder through a link."),
        (_no_purpose, "query.template: is missing."),
        (_unknown_variant, "the context variant 'short' is unknown; known are normal, long, ultra_long."),
    ],
)
def test_a_damaged_record_is_left_out_by_name(
    damaged: Path, storage: Path, damage: Callable[[Path], None], reason: str
) -> None:
    damage(damaged)
    ran = _import(damaged, storage, "--json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["skipped"] == [{"uid": "finance/4", "reason": f"instances/finance.jsonl line 2: {reason}"}]
    assert (ran.json["read"], ran.json["imported"]) == (6, 5)
    assert _stored(storage) == [uid for uid in UIDS if uid != "finance/4"]


def test_a_uid_that_comes_twice_names_both_lines(damaged: Path, storage: Path) -> None:
    _change(damaged, 0, lambda record: record.update(orig_id="again"))
    ran = _import(damaged, storage)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "deepchart: 7 records read, 6 imported, 1 skipped"
    assert ran.out.splitlines()[-2:] == [
        "  skipped  finance/1: instances/finance.jsonl line 4: the uid finance/1 is taken by "
        "instances/finance.jsonl line 1.",
        "Correct these lines and import again; the other records are stored.",
    ]
    assert _stored(storage) == UIDS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"uid": "finance/9", ', "no valid JSON (Expecting property name enclosed in double quotes"),
        (b"\xff\xfe\x00", "no valid JSON ("),
        (b"[" * 100_000, "no valid JSON ("),
        (b"[1, 2]", "the record must be an object."),
        (b'{"uid": 7}', "uid: must be a valid string."),
    ],
    ids=["cut off", "not UTF-8", "too deep", "a list", "a number for a uid"],
)
def test_a_line_that_is_no_record(damaged: Path, storage: Path, line: bytes, reason: str) -> None:
    path = damaged / "instances/finance.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n") + b"\n" + line + b"\n")
    ran = _import(damaged, storage, "--json")
    assert ran.code == 1
    (skipped,) = ran.json["skipped"]
    assert skipped["uid"] is None
    assert skipped["reason"].startswith(f"instances/finance.jsonl line 4: {reason}")
    assert _stored(storage) == UIDS


def test_where_no_record_can_be_read_what_is_stored_stays(damaged: Path, storage: Path) -> None:
    assert _import(damaged, storage).code == 0
    for path in (damaged / "instances").glob("*.jsonl"):
        path.write_text("{}\n", encoding="utf-8")
    ran = _import(damaged, storage, "--json")
    assert ran.code == 3
    assert ran.json["error"]["kind"] == "NoWorkPossible"
    assert "none of the 3 records" in ran.json["error"]["message"]
    assert "instances/academic.jsonl line 1: uid: is missing." in ran.json["error"]["message"]
    assert _stored(storage) == UIDS


def test_uids_that_another_benchmark_has(sample: Path, storage: Path) -> None:
    assert _import(sample, storage).code == 0
    ran = _import(sample, storage, "--name", "second")
    assert ran.code == 3
    assert "the uid academic/1 is taken by" in ran.complaint
    assert not (storage / "benchmarks/second").exists()


@pytest.mark.parametrize("name", ["a b", "../up", ".x"])
def test_a_name_that_can_be_no_folder(sample: Path, storage: Path, name: str) -> None:
    ran = _import(sample, storage, "--name", name)
    assert ran.code == 2
    assert ran.complaint == f"{name!r} cannot name a benchmark. Use letters, digits and . _ -"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "is no folder. Give the folder of a benchmark."),
        (lambda path: path.write_text("{}"), "is no folder. Give the folder of a benchmark."),
        (lambda path: path.mkdir(), "is no benchmark: it holds neither benchmark.json nor a folder instances/."),
        (lambda path: (path / "instances").mkdir(parents=True), "holds no .jsonl file. Is the clone complete?"),
    ],
    ids=["missing", "a file", "another folder", "no records"],
)
def test_a_folder_that_is_no_benchmark(tmp_path: Path, storage: Path, make: Any, words: str) -> None:
    folder = tmp_path / "folder"
    make(folder)
    ran = _import(folder, storage)
    assert ran.code in (2, 3)
    assert ran.complaint.startswith(str(folder))
    assert words in ran.complaint
