"""``deepchart status`` for people: models that were never run are one line, unless they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_command import deepchart

from deepchart_dagster.cli.status import _age


def test_models_that_were_never_run_are_named_in_one_line(sample: Path, storage: Path) -> None:
    assert deepchart("import", sample, "--storage", storage).code == 0
    lines = deepchart("status", "--storage", storage).out.splitlines()
    assert lines[-1].startswith("Never run, left out here: claude-opus-4.5, deepseek-v3.2, ")
    assert not any(line.startswith("predicted_states") for line in lines)
    asked = deepchart("status", "--model", "gpt-5.2", "--storage", storage).out.splitlines()
    assert any(line.startswith("predicted_states") and "|gpt-5.2 " in line for line in asked)
    assert not any(line.startswith("Never run") for line in asked)
    cells = deepchart("status", "--storage", storage, "--json").json["cells"]
    assert {"gpt-5.2", "glm-4.7"} <= {cell["model"] for cell in cells}


@pytest.mark.slow
def test_why_and_status_agree_on_a_document_whose_title_changed(storage: Path, shared: Path) -> None:
    scan = shared / "pdfs/scan_ocrmypdf_multipage.pdf"
    add = ("documents", "add", scan, "--id", "scan", "--domain", "finance")
    assert deepchart(*add, "--storage", storage).code == 0
    built = deepchart("contexts", "build", "--engine", "text-layer", "--storage", storage)
    assert built.code == 1, "read, but for pages that have no text"
    why = ("why", "ocr_contexts", "--document", "scan", "--storage", storage)
    asked = {"DEEPCHART_OCR_ENGINE": "text-layer"}
    fresh = "scan: fresh: nothing it depends on has changed\n"
    assert deepchart(*why, environment=asked).out == fresh
    assert deepchart("documents", "set", "scan", "--title", "Chapter II", "--storage", storage).code == 0
    changed = "what is known from where: title, title of the document"
    through = f"raw_documents scan is stale: {changed}"
    assert deepchart(*why, environment=asked).out == f"{fresh}but {through}: making that may change what is read here\n"
    assert deepchart(*why, "--json", environment=asked).json["behind"] == [through]
    cells = deepchart("status", "--storage", storage, "--json", environment=asked).json["cells"]
    assert [(cell["asset"], cell["state"], cell["because"]) for cell in cells if cell["document"]] == [
        ("raw_documents", "stale", [f"1 of 1 instances have other inputs now ({changed}), first scan"]),
        ("ocr_contexts", "stale", [through]),
    ]
    raw = deepchart("why", "raw_documents", "--document", "scan", "--storage", storage, "--json").json
    assert (raw["instances"][0]["fresh"], raw["behind"]) == (False, [])
    title = next(change for change in raw["instances"][0]["changes"] if change["part"] == "document.title")
    assert (title["what"], title["new"]) == ("title of the document", "Chapter II")


def test_an_age_is_told_in_its_largest_unit() -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    ages = {"2026-11-30T11:59:20+00:00": "40s", "2026-11-30T11:48:00+00:00": "12m", "2026-11-30T07:00:00+00:00": "5h"}
    assert {moment: _age(moment, now) for moment in ages} == ages
    assert (_age("2026-11-27T11:00:00+00:00", now), _age(None, now)) == ("3d", "-")
