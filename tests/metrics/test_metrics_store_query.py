"""The store built anew against the one that grew, a build that is killed, and questions in SQL."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.errors import UsageError
from deepchart_dagster.metrics.query import ask, described
from deepchart_dagster.metrics.rows import export_all
from deepchart_dagster.metrics.store import build_metrics
from deepchart_dagster.metrics.tables import TABLES


def _everything(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(database, read_only=True) as connection:
        names = [f"pipeline.{table.name}" for table in TABLES]
        return {name: connection.execute(f"select * from {name} order by all").fetchall() for name in names}


def test_a_rebuild_from_files_equals_what_incremental_work_made(tree: Any) -> None:
    build_metrics(tree.root)
    tree.write("execution_rate", "m-1", {"shop/1": Outcome(value={"executed": 1})}, retried=True)  # a smaller partition
    tree.export("execution_rate", "m-1")
    build_metrics(tree.root)
    tree.write("source_fidelity", "robot", {"shop/2": Outcome(value={"f1": 0.5, "precision": 0.5, "recall": 0.5})}, n=2)
    tree.export("source_fidelity", "robot")
    grown = build_metrics(tree.root)
    rows = _everything(grown.path)

    shutil.rmtree(tree.root / "metrics")
    export_all(tree.store, tree.library, tree.models)
    rebuilt = build_metrics(tree.root)
    assert _everything(rebuilt.path) == rows
    assert rebuilt.content_hash == grown.content_hash
    assert len(rows["pipeline.scores"]) == 88 - 3 - 9  # of two partitions of four instances one is left in each


def test_a_build_that_is_killed_leaves_the_old_store(tree: Any) -> None:
    built = build_metrics(tree.root)
    rows = _everything(built.path)
    program = (
        "import os, signal, sys, pathlib\n"
        "from deepchart_dagster.metrics import store\n"
        "store._comment = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.build_metrics(pathlib.Path(sys.argv[1]))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tree.root)], check=False, timeout=120, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert _everything(built.path) == rows
    assert [path.name for path in (tree.root / "metrics").glob("[!.]*.duckdb")] == ["raw.duckdb"]
    assert build_metrics(tree.root).content_hash == built.content_hash
    left = {
        path.name for path in (tree.root / "metrics").iterdir() if path.is_file() and not path.name.endswith("lock")
    }
    assert left == {"raw.duckdb"}


@pytest.mark.slow
def test_a_question_has_its_rows_and_the_kinds_of_json(built: Any) -> None:
    answer = ask(
        built.root / "metrics" / "deepchart.duckdb",
        "select 1 as a, 2.5 as a, 'nan'::double as b, date '2026-01-02' as c",
    )
    assert answer.as_json() == {
        "columns": ["a", "a_2", "b", "c"],
        "rows": [{"a": 1, "a_2": 2.5, "b": None, "c": "2026-01-02"}],
    }
    mean = ask(
        built.root / "metrics" / "deepchart.duckdb",
        "select avg(value) as mean from pipeline.scores where model = 'm-1' and metric = 'er'",
    )
    assert mean.rows == ((0.5,),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("create table mine as select 1", "read-only"),
        ("delete from pipeline.scores", "read-only"),
        ("copy (select 1) to 'out.csv'", "disabled by configuration"),
        ("select * from read_text('/etc/hostname')", "disabled by configuration"),
        ("attach 'other.duckdb'", "disabled by configuration"),
        ("set enable_external_access = true", "configuration has been locked"),
        ("select nonsense", "nonsense"),
        ("select 1; select 2", "2 statements"),
        ("", "0 statements"),
    ],
)
def test_nothing_is_written_and_nothing_but_the_store_is_read(built: Any, sql: str, reason: str) -> None:
    database = built.root / "metrics" / "deepchart.duckdb"
    with pytest.raises(UsageError, match=reason):
        ask(database, sql)
    assert ask(database, "select count(*) from pipeline.scores").rows == ((88,),)


@pytest.mark.slow
def test_every_table_and_column_of_ours_is_described(built: Any) -> None:
    tables = {f"{table.schema}.{table.name}": table for table in described(built.root / "metrics" / "deepchart.duckdb")}
    assert {f"pipeline.{table.name}" for table in TABLES} <= set(tables)
    assert [name for name, table in tables.items() if not table.comment] == []
    bare = [
        f"{name}.{column.name}"
        for name, table in tables.items()
        for column in table.columns
        if not column.comment and table.schema in ("pipeline", "marts")  # staging passes on what pipeline has
    ]
    assert bare == []
