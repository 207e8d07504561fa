"""Documents and contexts as Dagster assets: what a partition says of itself, and its checks."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import pytest

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.cli.runs import Runs
from deepchart_dagster.settings import load_settings

pytestmark = pytest.mark.slow

FILINGS = ("mini-halden-2022", "mini-halden-2023", "mini-halden-2024", "mini-marrow-2021", "mini-marrow-2023")
SPLIT = "finance-normal"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The mini benchmark's filings read through Dagster in this process."""
    for name, value in {"STORAGE": tmp_path / "storage", "BENCHMARKS": "mini", "OCR_ENGINE": "text-layer"}.items():
        monkeypatch.setenv(f"DEEPCHART_{name}", str(value))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))  # Runs sets its own: what it sets goes with the test
    settings = load_settings()
    build_mini(settings.storage, quick=True)
    made = Runs(settings)
    made.sync_documents(FILINGS)
    for filing in FILINGS:
        assert made.materialize(["raw_documents", "ocr_contexts"], filing).failure is None
    return made


def last_check(runs: Runs, asset: str, name: str) -> dg.AssetCheckEvaluation:
    key = dg.AssetCheckKey(dg.AssetKey(asset), name)
    record = runs.instance.event_log_storage.get_asset_check_execution_history(key, limit=1)[0]
    assert record.event
    assert record.event.dagster_event
    evaluation = record.event.dagster_event.event_specific_data
    assert isinstance(evaluation, dg.AssetCheckEvaluation)
    return evaluation


def test_a_document_and_its_contexts_say_what_they_are(runs: Runs) -> None:
    event = runs.instance.get_latest_materialization_event(dg.AssetKey("ocr_contexts"))
    assert event
    assert event.asset_materialization
    said = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert said["pages_by_engine"] == {"text-layer": 49}
    assert said["statements"] == {"balance_sheet": [19], "income_statement": [18], "cash_flow": [20]}
    assert said["pages_compared_with_text_layer"] == 0
    assert "49 pages" in str(said["summary"])
    assert last_check(runs, "ocr_contexts", "every_page_read").passed

    # Alone there is nothing to compare with: that is said and does not pass.
    assert runs.materialize(["context_variants"], SPLIT).failure is None
    alone = last_check(runs, "context_variants", "answerable")
    assert (alone.passed, alone.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert alone.metadata["n_unchecked"].value == 2

    # In one run the checks come after the references.
    assert runs.materialize(["context_variants", "references"], SPLIT).failure is None
    for name in ("answerable", "no_leaks"):
        check = last_check(runs, "context_variants", name)
        assert (check.passed, check.partition, check.metadata["n_instances"].value) == (True, SPLIT, 2)

    _paste_derived_values(runs.settings.storage)
    assert runs.materialize(["context_variants"], SPLIT).failure is None
    leak = last_check(runs, "context_variants", "no_leaks")
    assert (leak.passed, leak.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "mini/finance-marrow-ccc" in str(leak.metadata["instances"].value)


def _paste_derived_values(storage: Path) -> None:
    """Over the beginning of a stored context, which keeps its size: the next run takes it for what it made."""
    (derived,) = (path for path in storage.rglob("d_der.json") if "marrow" in str(path) and "references" in path.parts)
    pasted = json.dumps(json.loads(derived.read_text())).encode()
    texts = [path for path in (storage / "context_variants" / SPLIT).rglob("*.md") if "mini-marrow-2023" in path.parts]
    longest = max(texts, key=lambda path: path.stat().st_size)
    kept = longest.read_bytes()
    assert len(pasted) < len(kept)
    longest.write_bytes(pasted + kept[len(pasted) :])
    assert longest.stat().st_size == len(kept)
