"""The raw store: what it holds, and what a reader sees while it is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from deepchart_dagster.errors import StorageError
from deepchart_dagster.metrics.dbt import prepare_build_copy
from deepchart_dagster.metrics.store import build_metrics
from deepchart_dagster.metrics.tables import TABLES


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_every_row_of_every_partition_is_there(tree: Any) -> None:
    build = build_metrics(tree.root)

    # 4 instances x (3 + 3 + 1 + 4) metrics x 2 models; 4 instances x 2 stages; 2 attempts
    assert build.row_counts == {"scores": 88, "executions": 8, "diagnoses": 4, "calls": 2, "backends": 0}
    assert build.path == tree.root / "metrics/raw.duckdb"
    means = (
        "select model, metric, avg(value) from pipeline.scores where metric in ('er', 'vas') group by all order by all"
    )
    assert query(build.path, means) == [
        ("m-1", "er", 0.5),
        ("m-1", "vas", 0.25),
        ("robot", "er", 1.0),
        ("robot", "vas", 1.0),
    ]
    calls = "select time, status, price_usd, scripted from pipeline.calls order by time"
    assert query(build.path, calls) == [
        ("2025-01-02T03:04:01.000+00:00", "error", None, False),
        ("2025-01-02T03:04:05.000+00:00", "ok", 0.25, False),
    ]


def test_an_empty_storage_makes_empty_tables(tmp_path: Path) -> None:
    build = build_metrics(tmp_path / "new")
    assert build.row_counts == {"scores": 0, "executions": 0, "diagnoses": 0, "calls": 0, "backends": 0}


def test_tables_and_columns_carry_comments(tree: Any) -> None:
    path = build_metrics(tree.root).path
    assert query(path, "select table_name, comment from duckdb_tables() order by all") == sorted(
        (table.name, table.comment) for table in TABLES
    )
    uncommented = "select column_name from duckdb_columns() where schema_name = 'pipeline' and comment is null"
    assert query(path, uncommented) == []


def test_an_identical_rebuild_has_the_same_hash(tree: Any) -> None:
    first = build_metrics(tree.root)
    again = build_metrics(tree.root)
    assert again.content_hash == first.content_hash

    tree.write_ledger({})
    assert build_metrics(tree.root).content_hash != first.content_hash


def test_a_reader_keeps_what_it_has_open(tree: Any) -> None:
    path = build_metrics(tree.root).path
    with duckdb.connect(path, read_only=True) as reader:
        (tree.root / "metrics/parquet/execution_rate/finance-normal/robot.parquet").unlink()
        build = build_metrics(tree.root)
        assert build.row_counts["scores"] == 84
        assert reader.execute("select count(*) from pipeline.scores").fetchall() == [(88,)]
    assert query(path, "select count(*) from pipeline.scores") == [(84,)]


def test_a_failed_build_leaves_the_old_store(tree: Any) -> None:
    path = build_metrics(tree.root).path
    before = path.read_bytes()
    damaged = tree.root / "metrics/parquet/execution_rate/finance-normal/robot.parquet"
    damaged.write_bytes(b"PAR1 and nothing else")

    with pytest.raises(StorageError, match=r"the scores rows in .*/finance-normal/robot\.parquet cannot be read"):
        build_metrics(tree.root)

    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir() if each.name.startswith(".tmp-")] == []


def test_what_a_killed_build_left_is_removed(tree: Any) -> None:
    leftovers = [tree.root / "metrics/.tmp-ab.duckdb", tree.root / "metrics/.tmp-ab.duckdb.wal"]
    half = tree.root / "metrics/parquet/execution_rate/finance-normal/.tmp-cd.parquet"
    for path in (*leftovers, half):
        path.write_bytes(b"half")
    assert build_metrics(tree.root).row_counts["scores"] == 88
    assert not any(path.exists() for path in leftovers)


def test_a_storage_with_odd_characters(tree: Any) -> None:
    odd = tree.root.with_name("it's [a] storage*")
    tree.root.rename(odd)
    assert build_metrics(odd).row_counts["scores"] == 88


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_without_permission_one_line_says_so(tree: Any) -> None:
    (tree.root / "metrics").chmod(0o500)
    with pytest.raises(StorageError, match="write permission"):
        build_metrics(tree.root)


def test_the_copy_of_a_killed_dbt_build_is_removed_by_the_next(tree: Any) -> None:
    build_metrics(tree.root)
    program = (
        "import os, pathlib, sys; from deepchart_dagster.metrics.dbt import prepare_build_copy\n"
        "prepare_build_copy(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tree.root)], check=False)
    assert len(list((tree.root / "metrics").glob(".tmp-*/deepchart.duckdb"))) == 1
    mine = prepare_build_copy(tree.root)
    assert list((tree.root / "metrics").glob(".tmp-*/deepchart.duckdb")) == [mine]
    assert prepare_build_copy(tree.root).is_file()
    assert mine.is_file(), "what a living process builds stays"
