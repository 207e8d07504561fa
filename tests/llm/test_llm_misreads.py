"""The scripted model misreads: what it injects, how often, what that costs, and what is recorded of it."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.scripted import misreads, oracle
from deepchart_dagster.llm.scripted.base import ScriptedRequest
from deepchart_dagster.llm.scripted.faults import injection_folder
from deepchart_dagster.llm.scripted.lookups import Found, Neighbour
from deepchart_dagster.scoring.fidelity import compare

BARLEY, LICHEN = (QUERY_FOLDER / name for name in ("academic-barley-roots", "academic-lichen-growth"))
PROMPTS = PromptSet.load(None)


def asked(folder: Path, storage: Path, remark: str = "", **parameters: Any) -> ScriptedRequest:
    """A query's stage-1 request with its data block; another ``remark`` makes another context."""
    query = next(query for query in mini_queries() if query.uid.endswith(folder.name))
    block = next(folder.glob("figure-*.md")).read_text(encoding="utf-8")
    document = {"title": "A paper", "document_id": "paper", "name": "data.md", "text": f"{remark}\n\n{block}"}
    messages = PROMPTS.messages(
        "stage1",
        chart_type=None,
        chart_layout=None,
        chart_purpose=query.purpose_for(CodeType.PYTHON),
        documents=[document],
        chunks=[],
    )
    return ScriptedRequest(messages, parameters, EvidenceStore(storage), storage)


def state_of(program: str, folder: Path) -> Any:
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, str(folder / "program.py"), str(folder / "state.json")]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads((folder / "state.json").read_text(encoding="utf-8"))


def records(storage: Path) -> list[Any]:
    folder = injection_folder(storage, "misreads")
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("folder", [BARLEY, LICHEN])
def test_f1_falls_by_exactly_what_was_injected(folder: Path, share: float, tmp_path: Path) -> None:
    request = asked(folder, tmp_path, rate=1.0, share=share, seed=5)
    state = state_of(misreads.answer(request).text, tmp_path)
    truth = numeric_leaves(state_of(oracle.answer(request).text, tmp_path)["src_data"])
    (record,) = records(tmp_path)
    n, k = record["n_source"], len(record["values"])
    assert n == len(truth)
    assert k == max(1, round(share * n))
    fidelity = compare(truth, state["src_data"]).fidelity
    assert fidelity is not None
    assert fidelity.f1 == pytest.approx(1 - k / n, abs=1e-12)


def test_injected_values_are_what_the_kinds_say(tmp_path: Path) -> None:
    state = state_of(misreads.answer(asked(BARLEY, tmp_path, rate=1.0, share=0.5, seed=3)).text, tmp_path)
    (record,) = records(tmp_path)
    trays = {int(tray) for tray in re.findall(r"\| (\d+) \|", (BARLEY / "figure-3.md").read_text(encoding="utf-8"))}
    kinds = {value["kind"] for value in record["values"]}
    assert kinds == {"wrong_column", "unit_slip"}
    for value in record["values"]:
        line, treatment, plant = value["path"]
        assert state["src_data"][line][treatment][plant] == value["given"]
        if value["kind"] == "unit_slip":
            assert value["given"] == pytest.approx(1000 * value["true"])
        else:
            assert value["given"] in trays


def test_derived_values_follow_the_misread_ones(tmp_path: Path) -> None:
    request = asked(LICHEN, tmp_path, rate=1.0, share=0.1, seed=2)
    false, true = (state_of(model.answer(request).text, tmp_path) for model in (misreads, oracle))
    assert false["der_data"] != true["der_data"]
    assert false["der_data"].keys() == true["der_data"].keys()


def test_the_same_request_is_misread_the_same_way(tmp_path: Path) -> None:
    def text(**changes: Any) -> str:
        return misreads.answer(asked(BARLEY, tmp_path, **{"rate": 1.0, "share": 0.2, "seed": 1, **changes})).text

    assert text() == text()
    assert text() != text(seed=2)
    assert text() != text(remark="Another context.")


def test_no_value_is_given_that_is_true_elsewhere(tmp_path: Path) -> None:
    """100 stands beside 5, and is itself a source value; 5000 would be 1000 × 5, and is one too."""
    found = [
        Found(("a",), 5, neighbours=(Neighbour("wrong_column", 100), Neighbour("wrong_year", 100.05))),
        Found(("b",), 100),
        Found(("c",), 5000),
    ]
    chosen = misreads.misread(found, 1.0, random.Random(1))
    assert {at: injection.given for at, injection in chosen.items()} == {1: 100_000, 2: 5_000_000}


def test_records_of_two_settings_do_not_meet(tmp_path: Path) -> None:
    misreads.answer(asked(BARLEY, tmp_path, rate=1.0, share=0.1))
    misreads.answer(asked(BARLEY, tmp_path, rate=1.0, share=0.5))
    few, many = sorted(records(tmp_path), key=lambda record: len(record["values"]))
    assert (few["parameters"]["share"], many["parameters"]["share"]) == (0.1, 0.5)
    assert few["sent"] == many["sent"]
    assert len(few["values"]) < len(many["values"])


def test_stage_2_draws_what_it_is_given(tmp_path: Path) -> None:
    query = next(query for query in mini_queries() if query.uid.endswith(LICHEN.name))
    messages = PROMPTS.messages(
        "stage2",
        chart_type=None,
        chart_layout=None,
        code_type="python",
        chart_purpose=query.purpose_for(CodeType.PYTHON),
        json_data='{"src_data": {}, "der_data": {"North": {"slope": 4321.5}}}',
    )
    request = ScriptedRequest(messages, {"rate": 1.0}, EvidenceStore(tmp_path), tmp_path)
    assert misreads.answer(request) == oracle.answer(request)
    assert "4321.5" in misreads.answer(request).text
    assert records(tmp_path) == []
