"""Dagster's records while a command runs many partitions: complete, closed afterwards, engines as they were."""

import sqlite3
from pathlib import Path

import dagster as dg
import pytest

from deepchart_dagster.cli.records import quick_records


@dg.asset(partitions_def=dg.StaticPartitionsDefinition([str(n) for n in range(20)]))
def counted(context: dg.AssetExecutionContext) -> int:
    return int(context.partition_key)


def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    return dg.DagsterInstance.get()


def _open_below(folder: Path) -> set[str]:
    targets = (str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    return {target for target in targets if target.startswith(str(folder)) and target.endswith(".db")}


def test_every_event_is_there_and_few_files_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dagster._core.storage.event_log.sqlite import sqlite_event_log

    theirs = sqlite_event_log.create_engine
    with _home(tmp_path, monkeypatch) as instance:
        runs: list[str] = []
        with quick_records():
            for number in range(12):
                runs.append(dg.materialize([counted], instance=instance, partition_key=str(number)).run_id)
                assert len(_open_below(tmp_path)) <= 8
            assert len(_open_below(tmp_path)) >= 3
        assert _open_below(tmp_path) == set()
        assert sqlite_event_log.create_engine is theirs
        assert instance.get_materialized_partitions(counted.key) == {str(number) for number in range(12)}
        for run in runs:
            kinds = [record.dagster_event_type for record in instance.all_logs(run) if record.dagster_event_type]
            assert kinds.count(dg.DagsterEventType.ASSET_MATERIALIZATION) == 1
            assert kinds[-1] is dg.DagsterEventType.RUN_SUCCESS
    index = sqlite3.connect(tmp_path / "history" / "runs" / "index.db")
    assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    index.close()


def test_a_file_that_cannot_be_used_is_told_as_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import DBAPIError

    with _home(tmp_path, monkeypatch) as instance:
        assert instance.get_runs() == []
        for path in tmp_path.rglob("runs.db*"):
            path.write_bytes(b"no database at all, whatever its name says")
        with quick_records(), pytest.raises(DBAPIError, match="not a database"):
            instance.get_runs()
