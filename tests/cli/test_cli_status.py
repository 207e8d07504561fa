"""``deepchart status`` for people: models that were never run are one line, unless they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_command import deepchart

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.status_text import age, partition_list, status_summary
from deepchart_dagster.lineage.graph import PartitionKey
from deepchart_dagster.lineage.status import Cell, State


def test_models_that_were_never_run_are_named_in_one_line(sample: Path, storage: Path) -> None:
    assert deepchart("import", sample, "--storage", storage).code == 0
    lines = deepchart("status", "--storage", storage).out.splitlines()
    assert lines[-1].startswith("Never run, left out here: claude-opus-4.5, deepseek-v3.2, ")
    assert not any(" states " in line for line in lines)
    asked = deepchart("status", "--model", "gpt-5.2", "--storage", storage).out.splitlines()
    assert any(line.startswith("gpt-5.2 ") and " states " in line for line in asked)
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


def test_what_is_orphaned_is_shown_where_its_model_and_split_are_asked_for(sample: Path, storage: Path) -> None:
    assert deepchart("import", sample, "--storage", storage).code == 0
    for split, model in (("finance-normal", "gone"), ("academic-normal", "gone"), ("finance-normal", "gone-too")):
        (storage / "predicted_states" / split / model / "x").mkdir(parents=True)

    def shown(*options: str) -> set[tuple[str, str]]:
        cells = deepchart("status", *options, "--storage", storage, "--json").json["cells"]
        return {(cell["split"], cell["model"]) for cell in cells if cell["state"] == "orphaned"}

    assert shown("--model", "gpt-5.2") == set()
    assert shown("--model", "gone", "--split", "finance-normal") == {("finance-normal", "gone")}
    assert shown("--split", "finance-normal") == {("finance-normal", "gone"), ("finance-normal", "gone-too")}
    assert len(shown()) == 3


def test_an_age_is_told_in_its_largest_unit() -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    ages = {"2026-11-30T11:59:20+00:00": "40s", "2026-11-30T11:48:00+00:00": "12m", "2026-11-30T07:00:00+00:00": "5h"}
    assert {moment: age(moment, now) for moment in ages} == ages
    assert (age("2026-11-27T11:00:00+00:00", now), age(None, now)) == ("3d", "-")


NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def _cells() -> list[Cell]:
    made = "2026-11-30T11:48:00+00:00"
    states = PartitionKey("predicted_states", split=Split.ECOSYSTEM, model="m-1")
    charts = PartitionKey("rendered_charts", split=Split.ECOSYSTEM, model="m-1")
    variants = PartitionKey("context_variants", split=Split.ECOSYSTEM)
    return [
        Cell(PartitionKey("ocr_contexts", document="a"), State.FRESH, n_total=1, n_done=1, newest=made),
        Cell(PartitionKey("ocr_contexts", document="b"), State.MISSING, n_total=1, cause="never computed"),
        Cell(variants, State.STALE, 8, 6, behind=frozenset("xy"), cause="PDF of the report", because=("2 of 8",)),
        Cell(states, State.STALE, 8, 8, n_behind=2, cause="through context_variants: PDF of the report", newest=made),
        Cell(charts, State.FAILED, 8, 7, n_error=1, because=("1 of 8 is in error: the judge is down",)),
    ]


def test_the_summary_sets_stages_side_by_side_and_names_each_cause_once() -> None:
    assert status_summary(_cells(), NOW).splitlines() == [
        "ocr_contexts         1 of 2 documents fresh: b missing",
        "",
        "split                contexts   age",
        "  ecosystem          stale 2    -",
        "",
        "m-1                  states     charts     age",
        "  ecosystem          stale 2    error 1    12m",
        "",
        "Not fresh, and through what (--partitions: each partition; deepchart why: each instance):",
        "  never computed",
        "      ocr_contexts 1",
        "  PDF of the report",
        "      context_variants 1, predicted_states 1",
        "  1 of 8 is in error: the judge is down",
        "      rendered_charts 1",
        "",
        "1 of 5 partitions fresh, 1 missing, 2 stale, 1 failed; the next run tries 1 instance in error again.",
    ]
    assert status_summary(_cells()[:1], NOW).splitlines()[-1] == "Everything is fresh: 1 partition."


def test_a_grid_that_is_wider_than_the_terminal_is_a_list_of_stages_by_state() -> None:
    cells = _cells()
    drawn = PartitionKey("drawn_fidelity", split=Split.ECOSYSTEM, model="m-1")
    cells.append(Cell(drawn, State.STALE, 8, 8, n_behind=2, cause="PDF of the report"))
    lines = status_summary(cells, NOW, columns=40).splitlines()
    assert lines[2:11] == [
        "split                contexts   age",
        "  ecosystem          stale 2    -",
        "",
        "m-1",
        "  ecosystem          12m",
        "    stale 2: states, drawn",
        "    error 1: charts",
        "",
        "Not fresh, and through what (--partitions: each partition; deepchart why: each instance):",
    ]
    assert status_summary(cells, NOW, columns=80) == status_summary(cells, NOW)


def test_an_empty_storage_says_what_brings_something() -> None:
    text = status_summary([])
    assert text.startswith("There is nothing to make yet.")
    for command in ("deepchart demo", "deepchart import PATH", "deepchart documents add FILE.pdf"):
        assert command in text


def test_the_long_form_has_a_line_for_each_partition_with_its_reasons() -> None:
    lines = partition_list(_cells(), NOW).splitlines()
    assert len(lines) == 1 + len(_cells())
    assert lines[3].split() == ["context_variants", "ecosystem", "stale", "6/8", "0", "0", "-", "2", "of", "8"]
