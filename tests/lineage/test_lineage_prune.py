"""What becomes of results whose model, document or query is gone: kept, said, deleted when asked to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.group import cli
from deepchart_dagster.errors import UsageError
from deepchart_dagster.lineage.orphans import orphaned_instances, orphaned_partitions
from deepchart_dagster.lineage.status import State, read_status
from deepchart_dagster.metrics.rows import export_partition, partition_file
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOTS, GROWTH = "mini/academic-barley-roots", "mini/academic-lichen-growth"
MODEL_ASSETS = {"predicted_states", "source_fidelity"}


@pytest.fixture
def storage(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copied = tmp_path / "storage"
    shutil.copytree(made, copied)
    monkeypatch.setenv("DEEPCHART_STORAGE", str(copied))
    return copied


@pytest.fixture
def bench(storage: Path) -> Iterator[Workbench]:
    with Workbench(load_settings(storage=storage)) as workbench:
        yield workbench


def _prune(*options: str) -> Any:
    done = CliRunner().invoke(cli, ["prune", "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def _without_oracle(bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(bench.settings.models_file.read_text().replace("\n  oracle:\n", "\n  soothsayer:\n"))
    monkeypatch.setenv("DEEPCHART_MODELS_FILE", str(models))


def test_a_model_taken_out_is_kept_until_it_is_pruned(
    bench: Workbench, storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_partition(bench.artifacts, bench.library, bench.models, "source_fidelity", ("academic-normal", "oracle"))
    rows = partition_file(storage, "source_fidelity", ("academic-normal", "oracle"))
    assert rows.is_file()
    assert _prune("--dry-run") == {"dry_run": True, "orphans": [], "kept": []}
    _without_oracle(bench, tmp_path, monkeypatch)
    announced = _prune("--dry-run")
    assert {(row["asset"], row["partition"], row["uid"]) for row in announced["orphans"]} == {
        (asset, "academic-normal|oracle", None) for asset in MODEL_ASSETS
    }
    assert rows.is_file()
    assert (storage / "predicted_states/academic-normal/oracle").is_dir()
    calls = sorted(path.name for path in (storage / "llm").rglob("*"))
    assert _prune()["orphans"] == announced["orphans"]
    assert not rows.exists()
    assert not (storage / "predicted_states/academic-normal/oracle").exists()
    assert not (storage / "predicted_states/_partitions/academic-normal/oracle.jsonl").exists()
    assert sorted(path.name for path in (storage / "llm").rglob("*")) == calls, "answers that were paid for stay"
    assert _prune()["orphans"] == []


def test_a_removed_document_leaves_orphans_and_what_read_it_stale(bench: Workbench, storage: Path) -> None:
    done = CliRunner().invoke(cli, ["documents", "remove", "mini-barley-paper", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["read_by"] == [ROOTS]
    assert not (storage / "documents/mini-barley-paper").exists()
    cells = {
        (cell.key.asset, str(cell.key)): cell
        for cell in read_status(bench, models=["oracle"], splits=[Split.ACADEMIC_NORMAL])
    }
    orphaned = {name for name, cell in cells.items() if cell.state is State.ORPHANED}
    assert orphaned == {("raw_documents", "mini-barley-paper"), ("ocr_contexts", "mini-barley-paper")}
    contexts = cells["context_variants", "academic-normal"]
    assert (contexts.state, contexts.n_done, contexts.n_total) == (State.STALE, 1, 2)
    assert "1 of 2 instances cannot be made now" in contexts.because[0]
    assert "mini-barley-paper" in contexts.because[0]
    states = cells["predicted_states", "academic-normal|oracle"]
    assert (states.state, states.n_behind) == (State.STALE, 1)
    assert {row["partition"] for row in _prune()["orphans"]} == {"mini-barley-paper"}
    assert not (storage / "ocr_contexts/mini-barley-paper").exists()
    with pytest.raises(UsageError, match="no document 'mini-barley-paper' is registered"):
        bench.documents.remove("mini-barley-paper")


def test_a_query_taken_out_of_its_split(bench: Workbench, storage: Path) -> None:
    queries = storage / "benchmarks/mini/queries.jsonl"
    queries.write_text(
        "".join(f"{row}\n" for row in queries.read_text().splitlines() if json.loads(row)["uid"] != ROOTS)
    )
    assert orphaned_partitions(bench) == []
    found = {(orphan.key.asset, orphan.uid) for orphan in orphaned_instances(bench)}
    expected = {"context_variants", "references", *MODEL_ASSETS}
    assert found == {(asset, ROOTS) for asset in expected}
    cells = read_status(bench, models=["oracle"], splits=[Split.ACADEMIC_NORMAL])
    states = next(cell for cell in cells if cell.key.asset == "predicted_states")
    assert (states.state, states.n_done, states.n_total) == (State.STALE, 1, 1)
    assert states.because == ("it still counts 1 instances that are no longer part of it",)
    assert {row["uid"] for row in _prune()["orphans"]} == {ROOTS}
    assert bench.artifacts.read("references", (), ROOTS) is None
    assert bench.artifacts.read("references", (), GROWTH) is not None


def test_what_is_only_not_selected_is_no_orphan(storage: Path, tmp_path: Path) -> None:
    other = storage / "benchmarks" / "other"
    shutil.copytree(storage / "benchmarks" / "mini", other)
    rows = [json.loads(row) for row in (other / "queries.jsonl").read_text().splitlines()]
    renamed = [json.dumps({**row, "uid": row["uid"].replace("mini/", "other/")}) for row in rows]
    (other / "queries.jsonl").write_text("".join(f"{row}\n" for row in renamed))
    with Workbench(load_settings(storage=storage, benchmarks=("other",))) as bench:
        assert orphaned_partitions(bench) == []
        assert orphaned_instances(bench) == []


def test_a_partition_that_is_being_made_is_not_pruned(
    bench: Workbench, storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_oracle(bench, tmp_path, monkeypatch)
    with bench.artifacts.lock("predicted_states", ("academic-normal", "oracle")):
        done = CliRunner().invoke(cli, ["prune", "--json"])
    assert done.exit_code == 1
    (kept,) = json.loads(done.stdout)["kept"]
    assert "is being materialised by another process" in kept
    assert (storage / "predicted_states/academic-normal/oracle").is_dir()
    assert not (storage / "source_fidelity/academic-normal/oracle").exists()


UNASKED = "qwen3.5-plus"


@pytest.fixture
def tried(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A storage whose judge study was done by one judge, and tried with another whose key is not set."""
    storage = Path(shutil.copytree(whole, tmp_path / "tried"))
    monkeypatch.setenv("DEEPCHART_STORAGE", str(storage))
    with Workbench(load_settings(storage=storage)) as bench:
        assert bench.judge_study().run(UNASKED).n_error == 2
    return storage


def _status(*options: str) -> str:
    done = CliRunner().invoke(cli, ["status", "--split", "academic-normal", "--model", "oracle", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_judge_tried_without_a_key_is_one_line_of_the_status_until_it_is_pruned(tried: Path) -> None:
    text = _status()
    assert "\nEverything is fresh: " in text
    (line,) = [line for line in text.splitlines() if UNASKED in line]
    assert line.startswith(f"Tried in vain, left out here: judge {UNASKED}: 2 in error, first mini/")
    assert "Set DASHSCOPE_API_KEY in the environment." in line
    assert f"judge_verdicts       {UNASKED} " in _status("--partitions")
    cells = json.loads(_status("--json"))["cells"]
    states = {cell["judge"]: cell["state"] for cell in cells if cell["asset"] == "judge_verdicts"}
    assert states == {"scripted-judge": "fresh", UNASKED: "failed"}

    assert [(row["asset"], row["partition"]) for row in _prune()["orphans"]] == [("judge_verdicts", UNASKED)]
    assert not (tried / "judge_verdicts" / UNASKED).exists()
    assert UNASKED not in _status("--partitions")
    assert _prune()["orphans"] == []
    assert (tried / "judge_verdicts" / "scripted-judge").is_dir()


def test_a_judge_taken_out_is_orphaned(tried: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judges = tmp_path / "judges.yaml"
    text = load_settings(storage=tried).judges_file.read_text()
    judges.write_text(text.replace(f"\n  {UNASKED}:\n", "\n  another:\n"))
    monkeypatch.setenv("DEEPCHART_JUDGES_FILE", str(judges))
    assert f"{UNASKED} is not in judges.yaml any more" in _status("--partitions")
    (row,) = _prune()["orphans"]
    assert (row["partition"], row["reason"]) == (UNASKED, f"{UNASKED} is not in judges.yaml any more")
    assert not (tried / "judge_verdicts" / UNASKED).exists()
