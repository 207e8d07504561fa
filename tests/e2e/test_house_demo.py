"""The main job on two queries of each domain: from drawn PDFs to the leaderboard, twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deepchart_dagster.settings import PROJECT_ROOT

if TYPE_CHECKING:
    from tests.e2e.conftest import Demo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

METRICS = ("er", "f1_src", "f1_der", "vas")
SPLITS = ["academic-long", "academic-normal", "ecosystem", "finance-long", "finance-normal", "finance-ultra-long"]


def _rows(demo: Demo, model: str) -> dict[str, dict[str, Any]]:
    return {row["split"]: row for row in demo.first["leaderboard"] if row["model"] == model}


def test_every_asset_is_materialised_without_an_error(demo: Demo) -> None:
    rows = demo.first["materialized"]
    assert demo.first["problems"] == []
    assert sum(row["n_error"] for row in rows) == 0
    by_asset: dict[str, int] = {}
    for row in rows:
        by_asset[row["asset"]] = by_asset.get(row["asset"], 0) + 1
    assert {by_asset[name] for name in ("predicted_states", "rendered_charts", "visual_accuracy")} == {30}
    assert {by_asset[name] for name in ("context_variants", "references", "rubrics")} == {6}
    assert by_asset["ocr_contexts"] == 8
    assert {"leaderboard", "report", "metrics/scores", "calibration"} <= by_asset.keys()


def test_the_project_s_own_folder_is_not_written_to(demo: Demo) -> None:
    """Whoever installed it may be another user: what dbt leaves lies in the storage, and goes with the build."""
    begun = (demo.storage / "dagster_home" / "dagster.yaml").stat().st_mtime
    target = PROJECT_ROOT / "dbt_reports" / "target"
    assert [path.name for path in target.iterdir() if path.is_dir() and path.stat().st_mtime > begun] == []
    assert [path.name for path in (demo.storage / "metrics").iterdir() if path.is_dir()] == ["parquet"]


def test_the_oracle_scores_one_at_every_stage(demo: Demo) -> None:
    rows = _rows(demo, "oracle")
    assert sorted(rows) == SPLITS
    for row in rows.values():
        assert row["scripted"] is True
        for metric in METRICS:
            cell = row[metric]
            assert (cell["value"], cell["n_total"], cell["n_scored"]) == (1.0, 2, 2)
            assert (cell["n_failed"], cell["n_error"]) == (0, 0)


def test_the_scores_show_exactly_what_the_scripted_models_inject(demo: Demo) -> None:
    rows = {row["model"]: row for row in demo.first["calibration"]}
    assert list(rows) == ["oracle", "misreads", "miscalculates", "misdraws", "crashes"]
    for row in rows.values():
        assert (row["n_instances"], row["n_missed"], row["n_unexpected"], row["n_unscored"]) == (12, 0, 0, 0)
        assert row["n_found"] == sum(row["injected"].values())
        assert row["n_named"] == row["n_diagnosed"]
    assert rows["misreads"]["n_named"] == rows["misreads"]["n_found"] > 0
    assert rows["miscalculates"]["n_named"] == rows["miscalculates"]["n_found"] > 0
    assert {model: set(row["injected"]) for model, row in rows.items()} == {
        "oracle": set(),
        "misreads": {"f1_src"},
        "miscalculates": {"f1_der"},
        "misdraws": {"vas"},
        "crashes": {"f1_src", "er"},
    }
    done = demo.run("calibration", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, demo.first["calibration"])


def test_misreads_is_lower_by_exactly_what_was_injected(demo: Demo) -> None:
    folder = demo.storage / "scripted/injections/misreads"
    injections = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    expected: dict[str, set[float]] = {}
    for one in injections:
        f1 = 1 - len(one["values"]) / one["n_source"]
        expected.setdefault(one["query"], set()).add(round(f1, 12))
    assert len(expected) >= 2
    found: dict[str, set[float]] = {}
    for path in (demo.storage / "source_fidelity").glob("*/misreads/*/result.json"):
        result = json.loads(path.read_text())
        found.setdefault(result["uid"], set()).add(round(result["value"]["f1"], 12))
    assert found == {uid: expected.get(uid, {1.0}) for uid in found}


def test_a_second_demo_computes_nothing_and_says_so(demo: Demo) -> None:
    done = demo.run("demo", "--quick")
    assert done.returncode == 0, done.stderr
    assert "Nothing was computed again" in done.stdout
    assert done.stderr.splitlines()[0] == "mini benchmark: its PDFs and queries are there already"
    again = json.loads(demo.run("demo", "--quick", "--json").stdout)
    assert sum(row["n_computed"] for row in again["materialized"]) == 0
    assert sum(row["calls"] for row in again["materialized"]) == 0
    assert again["leaderboard"] == demo.first["leaderboard"]


def test_status_is_fresh_and_a_deleted_output_is_seen(demo: Demo) -> None:
    arguments = ("status", "--json", "--model", "oracle", "--split", "academic-normal")
    cells = json.loads(demo.run(*arguments).stdout)["cells"]
    assert {cell["state"] for cell in cells} == {"fresh"}
    state = next((demo.storage / "predicted_states/academic-normal/oracle").glob("*/state.json"))
    kept = state.read_bytes()
    state.unlink()
    try:
        cells = {cell["asset"]: cell for cell in json.loads(demo.run(*arguments).stdout)["cells"]}
        assert cells["predicted_states"]["state"] == "stale"
        assert cells["predicted_states"]["n_done"] == 1
        assert cells["source_fidelity"]["state"] == "stale", "what is made of it is behind as well"
    finally:
        state.write_bytes(kept)


def test_nothing_stored_differs_from_its_hash(demo: Demo) -> None:
    done = demo.run("verify", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["findings"]) == (0, [])
    assert report["n_results"] > 100


def test_the_report_calls_scripted_results_scripted(demo: Demo) -> None:
    page = Path(demo.first["report"]).read_text()
    assert "scripted" in page
    assert 'src="http' not in page
    assert demo.run("leaderboard").stdout.count("(scripted)") >= 30
