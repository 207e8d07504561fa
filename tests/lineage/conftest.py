"""A slice of the mini benchmark, read and answered once: two academic queries, each about a paper of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

SPLIT = Split.ACADEMIC_NORMAL
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
