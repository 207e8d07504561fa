"""A slice of the mini benchmark, read and answered once: two academic queries, each about a paper of its own."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

# Tests are imported by path (importlib mode): the helper beside them needs a place to be found.
sys.path.insert(0, str(Path(__file__).parent))

from lineage_slice import SPLIT, made_now

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.lineage.graph import NODES
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

QUERIES = {
    "mini/academic-barley-roots": "mini-barley-paper",
    "mini/academic-lichen-growth": "mini-lichen-paper",
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with both papers read, their contexts and references, and the oracle's states and source scores."""
    storage = tmp_path_factory.mktemp("lineage") / "storage"
    build_mini(storage, quick=True)
    _keep(storage, set(QUERIES))
    with Workbench(load_settings(storage=storage)) as bench:
        for document in bench.documents.list():
            bench.raw_documents().run(document.id)
            assert bench.ocr_contexts().run(document.id).n_error == 0
        assert bench.context_variants().run(SPLIT).n_ok == 2
        assert bench.references().run(SPLIT).n_ok == 2
        assert bench.predicted_states().run(SPLIT, bench.model("oracle")).n_ok == 2
        assert bench.fidelity("src").run(SPLIT, bench.model("oracle")).n_ok == 2
    return storage


@pytest.fixture(scope="session")
def whole(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stage, of the studies too, on both queries."""
    storage = Path(shutil.copytree(made, tmp_path_factory.mktemp("whole") / "storage"))
    with Workbench(load_settings(storage=storage)) as bench:
        there = ("raw_documents", "ocr_contexts", "context_variants", "references", "predicted_states")
        assert set(made_now(bench)) == {node.name for node in NODES} - {*there, "source_fidelity"}
        assert made_now(bench) == {}
    return storage


def _keep(storage: Path, uids: set[str]) -> None:
    """Of the mini benchmark's queries and documents these alone: whatever else it asks makes no test slower."""
    queries = storage / "benchmarks" / "mini" / "queries.jsonl"
    rows = [line for line in queries.read_text().splitlines() if json.loads(line)["uid"] in uids]
    assert len(rows) == len(uids)
    queries.write_text("".join(f"{row}\n" for row in rows))
    for record in sorted((storage / "documents").glob("*/document.json")):
        if record.parent.name not in QUERIES.values():
            record.with_name("source.pdf").unlink()
            record.unlink()
            record.parent.rmdir()
