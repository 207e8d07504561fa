"""The dbt project, built for real on small stores."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from deepchart_dagster.errors import StorageError, UpstreamError
from deepchart_dagster.metrics.dbt import (
    DbtBuildFailed,
    build_marts,
    ensure_manifest,
    prepare_build_copy,
    publish,
)
from deepchart_dagster.metrics.store import build_metrics

PROJECT = Path(__file__).parents[2] / "dbt_reports"


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the dbt project, to change."""
    ignored = shutil.ignore_patterns("target", "logs")
    return Path(shutil.copytree(PROJECT, tmp_path / "dbt_reports", ignore=ignored))


@pytest.mark.slow
def test_the_leaderboard_by_hand(built: Any) -> None:
    path = built.root / "metrics/deepchart.duckdb"
    rows = query(path, "from marts.leaderboard select * exclude (leaderboard_key) order by model")
    # value, n_total, n_scored, n_failed, n_error for er, f1_src, f1_der, vas
    m1 = (0.5, 4, 4, 2, 0, 0.5, 4, 3, 1, 1, 0.4, 4, 2, 1, 1, 0.25, 4, 3, 2, 1)
    assert rows == [
        ("shop", "m-1", "finance-normal", "M-1", "proprietary", False, None, "scripted-judge", True, *m1),
        (
            "shop",
            "robot",
            "finance-normal",
            "Robot",
            "scripted",
            True,
            None,
            "scripted-judge",
            True,
            *(1.0, 4, 4, 0, 0) * 4,
        ),
    ]


@pytest.mark.slow
def test_views_still_work_where_the_store_was_published(built: Any) -> None:
    path = built.root / "metrics/deepchart.duckdb"
    assert query(path, "select count(*) from staging.stg_scores") == [(88,)]
    assert query(path, "select stage, count(*) from staging.stg_executions group by 1 order by 1") == [(1, 4), (2, 4)]
    calls = query(path, "select ended_at::varchar, status from staging.stg_calls order by 1")
    assert calls == [("2025-01-02 03:04:01", "error"), ("2025-01-02 03:04:05", "ok")]


@pytest.mark.slow
def test_every_mart_and_column_says_what_it_is(built: Any) -> None:
    path = built.root / "metrics/deepchart.duckdb"
    sql = "from duckdb_columns() select table_name, column_name where schema_name = 'marts' and comment is null"
    assert query(path, sql) == []
    sql = "from duckdb_tables() select comment where schema_name = 'marts' and table_name = 'leaderboard'"
    assert query(path, sql)[0][0].startswith("One row per benchmark, model and split")


@pytest.mark.slow
def test_a_failing_test_keeps_the_published_store(built: Any, tmp_path: Path) -> None:
    tree = built.copy_to(tmp_path / "storage")
    published = tree.root / "metrics/deepchart.duckdb"
    before = published.read_bytes()
    with duckdb.connect(tree.root / "metrics/raw.duckdb") as connection:
        connection.execute("update pipeline.scores set value = 1.5 where uid = 'shop/1' and metric = 'f1_src'")

    with pytest.raises(DbtBuildFailed, match=r"accepted_range_stg_scores_value.*fail.*kept") as caught:
        build_marts(tree.root, PROJECT)

    assert {node.status for node in caught.value.nodes} == {"fail"}
    assert published.read_bytes() == before
    assert [path.name for path in published.parent.iterdir() if path.name.startswith(".tmp-")] == []


@pytest.mark.slow
def test_a_model_that_cannot_be_built_is_named(built: Any, tmp_path: Path, project: Path) -> None:
    tree = built.copy_to(tmp_path / "storage")
    (project / "models/marts/broken.sql").write_text("select no_such_column from {{ ref('stg_scores') }}")
    with pytest.raises(DbtBuildFailed, match=r"model\.deepchart\.broken \(error: .*no_such_column"):
        build_marts(tree.root, project)


@pytest.mark.slow
def test_an_empty_store_has_an_empty_leaderboard(tmp_path: Path) -> None:
    build_metrics(tmp_path)
    assert query(build_marts(tmp_path, PROJECT), "select count(*) from marts.leaderboard") == [(0,)]


def test_without_a_raw_store_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UpstreamError, match=r"raw\.duckdb is not there.*deepchart materialize metrics/scores"):
        prepare_build_copy(tmp_path)


def test_a_copy_is_published_and_its_folder_goes(tree: Any) -> None:
    build_metrics(tree.root)
    copy = prepare_build_copy(tree.root)
    with duckdb.connect(copy) as connection:
        connection.execute("create schema marts; create table marts.one as select 1 as x")

    path = publish(copy, tree.root)

    assert path == tree.root / "metrics/deepchart.duckdb"
    assert query(path, "select x from marts.one") == [(1,)]
    assert not copy.parent.exists()


def test_a_damaged_copy_is_not_published(tree: Any) -> None:
    build_metrics(tree.root)
    first = publish(prepare_build_copy(tree.root), tree.root).read_bytes()
    copy = prepare_build_copy(tree.root)
    copy.write_bytes(b"not a database")
    with pytest.raises(StorageError, match="cannot be published"):
        publish(copy, tree.root)
    assert (tree.root / "metrics/deepchart.duckdb").read_bytes() == first


def test_the_copy_of_a_killed_build_is_removed_by_the_next_and_that_of_a_living_one_is_not(tree: Any) -> None:
    build_metrics(tree.root)
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from deepchart_dagster.metrics.dbt import prepare_build_copy\n"
        "print(prepare_build_copy(Path(sys.argv[1])), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tree.root)], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    left, living = Path(killed.stdout.strip()), prepare_build_copy(tree.root)
    assert left.name == living.name == "deepchart.duckdb"
    assert not left.exists()
    assert not left.parent.exists()
    assert living.exists()
    prepare_build_copy(tree.root)
    assert living.exists()


@pytest.mark.slow
def test_the_manifest_is_made_once_and_again_when_a_source_changes(project: Path) -> None:
    manifest = ensure_manifest(project)
    assert manifest == project / "target/manifest.json"
    made = manifest.stat().st_mtime_ns
    begun = time.monotonic()
    ensure_manifest(project)
    assert manifest.stat().st_mtime_ns == made
    assert time.monotonic() - begun < 0.5

    time.sleep(0.02)
    (project / "models/marts/second.sql").write_text("select 1 as one from {{ ref('leaderboard') }}")
    ensure_manifest(project)
    assert "model.deepchart.second" in manifest.read_text()
    assert [path.name for path in manifest.parent.iterdir() if path.is_dir()] == []

    time.sleep(0.02)
    (project / "models/marts/second.sql").write_text("select {{ 1 +")
    with pytest.raises(DbtBuildFailed, match="cannot parse"):
        ensure_manifest(project)
    assert "model.deepchart.second" in manifest.read_text()
