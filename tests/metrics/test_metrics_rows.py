"""Rows and their Parquet files, read back by DuckDB."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.errors import StorageError, UpstreamError, UsageError
from deepchart_dagster.metrics.rows import export_all, partition_file


def read(path: Path, columns: str, where: str = "true") -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(f"select {columns} from read_parquet(?) where {where}", [str(path)]).fetchall()


def test_one_row_per_instance_and_metric(tree: Any) -> None:
    path = tree.export("source_fidelity", "m-1")

    assert path == tree.root / "metrics/parquet/source_fidelity/finance-normal/m-1.parquet"
    assert read(path, "uid, metric, value, status, problem_kind") == [
        ("shop/1", "f1_src", 1.0, "ok", None),
        ("shop/1", "precision_src", 1.0, "ok", None),
        ("shop/1", "recall_src", 1.0, "ok", None),
        ("shop/2", "f1_src", 0.5, "ok", None),
        ("shop/2", "precision_src", 0.4, "ok", None),
        ("shop/2", "recall_src", 2 / 3, "ok", None),
        ("shop/3", "f1_src", 0.0, "failed", "no_output"),
        ("shop/3", "precision_src", 0.0, "failed", "no_output"),
        ("shop/3", "recall_src", 0.0, "failed", "no_output"),
        ("shop/4", "f1_src", None, "error", "UpstreamError"),
        ("shop/4", "precision_src", None, "error", "UpstreamError"),
        ("shop/4", "recall_src", None, "error", "UpstreamError"),
    ]


def test_what_a_row_is_about(tree: Any) -> None:
    path = tree.export("source_fidelity", "m-1")
    stored = tree.store.read("source_fidelity", ("finance-normal", "m-1"), "shop/1")
    about = read(
        path,
        "benchmark, domain, split, model, model_name, family, scripted, asset, metric_version, input_key, "
        "query_type, chart_family, backend, judge",
        "uid = 'shop/1' and metric = 'f1_src'",
    )
    described = ("shop", "finance", "finance-normal", "m-1", "M-1", "proprietary", False, "source_fidelity", "1")
    assert about == [(*described, stored.input_key, "EBITDA", "Bar Chart", None, None)]


def test_scripted_models_are_called_so(tree: Any) -> None:
    assert read(tree.export("execution_rate", "robot"), "distinct scripted, family") == [(True, "scripted")]


def test_visual_accuracy_names_judge_and_backend(tree: Any) -> None:
    path = tree.export("visual_accuracy", "m-1")
    rows = read(path, "metric, value, status, judge, judge_scripted, backend", "uid = 'shop/1'")
    judge = ("scripted-judge", True, "python")
    assert rows == [
        ("vas", 0.75, "ok", *judge),
        ("vas_data_mapping_topology", None, "not_applicable", *judge),
        ("vas_instruction_compliance", 1.0, "ok", *judge),
        ("vas_presentation_quality", 0.5, "ok", *judge),
    ]
    failed = read(path, "metric, value, status", "uid = 'shop/3'")
    assert {value for _, value, _ in failed} == {0.0}
    assert read(path, "distinct value", "uid = 'shop/2'") == [(None,)]


def test_a_yardstick_holds_what_was_asked_and_how_it_was_measured(tree: Any) -> None:
    """Models are compared where these are the same; the rule is what all instances share."""
    uids = ("shop/1", "shop/2")
    whole = {uid: Outcome(value={"f1": 1.0, "precision": 1.0, "recall": 1.0}) for uid in uids}
    seen: dict[str, list[tuple[Any, ...]]] = {}
    for name, asked, measured in (
        ("plain", {"context": "c1"}, {"reference": "r1", "state": "s1"}),
        ("another state", {"context": "c1", "parameters": {"seed": 2}}, {"reference": "r1", "state": "s2"}),
        ("another context", {"context": "c2"}, {"reference": "r1"}),
        ("another prompt", {"context": "c1", "prompt": "p2"}, {"reference": "r1"}),
        ("another reference", {"context": "c1"}, {"reference": "r2"}),
        ("another scorer", {"context": "c1"}, {"reference": "r1", "scorer": "upstream"}),
        ("the usual scorer", {"context": "c1"}, {"reference": "r1", "scorer": "paper"}),
        ("another judge", {"context": "c1"}, {"reference": "r1", "judge": {"slug": "j", "prompt": "p"}}),
    ):
        tree.write("predicted_states", "robot", dict.fromkeys(uids, Outcome(value={})), **asked)
        tree.write("source_fidelity", "robot", whole, **measured)
        path = tree.export("source_fidelity", "robot")
        seen[name] = read(path, "yardstick, metric_version", "uid = 'shop/1' and metric = 'f1_src'")
    assert seen["plain"] == seen["another state"]
    assert len({rows[0][0] for rows in seen.values()}) == len(seen) - 1
    assert {rows[0][1] for name, rows in seen.items() if name not in ("another scorer", "another judge")} == {"1"}
    assert seen["another scorer"][0][1] == "1 upstream"
    assert seen["another judge"][0][1].startswith("1 judge ")


def test_executions_say_how_programs_ran(tree: Any) -> None:
    rows = read(tree.export("rendered_charts", "m-1"), "uid, stage, status, problem_kind, wall_s, cpu_s, tier, backend")
    assert rows == [
        ("shop/1", 2, "ok", None, 1.5, 0.5, "namespaces", "python"),
        ("shop/2", 2, "ok", None, 1.5, 0.5, "namespaces", "python"),
        ("shop/3", 2, "failed", "invalid_state", None, None, None, "python"),
        ("shop/4", 2, "failed", "crash", None, None, None, "python"),
    ]
    assert read(tree.export("predicted_states", "m-1"), "distinct stage, backend") == [(1, None)]


def test_the_same_results_leave_the_file_alone(tree: Any) -> None:
    path = tree.export("source_fidelity", "m-1")
    before = (path.stat().st_ino, path.read_bytes())
    os.utime(path, ns=(0, 0))
    assert tree.export("source_fidelity", "m-1") == path
    assert (path.stat().st_ino, path.read_bytes()) == before
    assert path.stat().st_mtime_ns > 0, "its time says when it was found to be as new as the results"

    path.unlink()
    tree.export("source_fidelity", "m-1")
    assert path.read_bytes() == before[1]  # equal rows make equal files


def test_changed_results_and_damaged_files_are_written_again(tree: Any) -> None:
    path = tree.export("execution_rate", "robot")
    before = path.read_bytes()
    tree.models["robot"] = tree.models["robot"].model_copy(update={"name": "Robot 2"})
    tree.export("execution_rate", "robot")
    assert read(path, "distinct model_name") == [("Robot 2",)]

    tree.models["robot"] = tree.models["robot"].model_copy(update={"name": "Robot"})
    path.write_bytes(b"no parquet at all")
    tree.export("execution_rate", "robot")
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir() if each.name.startswith(".tmp-")] == []


def test_queries_that_are_gone_are_left_out(tree: Any) -> None:
    tree.add_benchmark("shop", "shop/1", "shop/2")
    assert read(tree.export("execution_rate", "m-1"), "uid") == [("shop/1",), ("shop/2",)]


def test_a_model_that_models_yaml_lost_keeps_its_rows(tree: Any) -> None:
    del tree.models["m-1"]
    rows = read(tree.export("execution_rate", "m-1"), "distinct model, model_name, family, scripted")
    assert rows == [("m-1", "m-1", "other", False)]


def test_an_empty_partition_makes_an_empty_file(tree: Any) -> None:
    tree.write("execution_rate", "m-1", {}, split="ecosystem")
    assert read(tree.export("execution_rate", "m-1", "ecosystem"), "count(*)") == [(0,)]


def test_what_cannot_be_exported_says_why(tree: Any) -> None:
    with pytest.raises(UpstreamError, match=r"source_fidelity ecosystem\|m-1 has not been made"):
        tree.export("source_fidelity", "m-1", "ecosystem")
    with pytest.raises(UsageError, match="rubrics has no rows to export"):
        tree.export("rubrics", "m-1")
    folder = tree.store.folder("source_fidelity", ("finance-normal", "m-1"), "shop/2")
    (folder / "result.json").unlink()
    with pytest.raises(UpstreamError, match="the result of shop/2 is gone"):
        tree.export("source_fidelity", "m-1")


def test_a_file_that_cannot_be_written_is_named(tree: Any) -> None:
    path = partition_file(tree.root, "execution_rate", ("finance-normal", "m-1"))
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match=r"cannot write .*/metrics/parquet/execution_rate/.*Is a directory"):
        tree.export("execution_rate", "m-1")


def test_exporting_all_equals_exporting_each_and_removes_orphans(tree: Any) -> None:
    folder = tree.root / "metrics/parquet"
    each = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    assert len(each) == 11
    for path in each:
        path.unlink()
    orphan = partition_file(tree.root, "execution_rate", ("ecosystem", "gone"))
    orphan.parent.mkdir()
    orphan.write_bytes(b"old")

    files = export_all(tree.store, tree.library, tree.models)

    assert {path: path.read_bytes() for path in folder.rglob("*.parquet")} == each
    assert sorted(files) == sorted(each)
