"""Calibration: stored scores against what was injected, on results written by hand. Real models: test_house_demo."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.scripted.faults import Metric, injected, injection_folder
from deepchart_dagster.llm.scripted.lookups import MisreadKind
from deepchart_dagster.llm.scripted.miscalculates import MiscalculationKind
from deepchart_dagster.scoring.calibration import (
    NAMED_BY,
    Calibration,
    ModelCalibration,
    calibration_text,
    find_fault,
)
from deepchart_dagster.scoring.diagnosis import CLASSES

SRC, DER, ER, VAS = Metric
NAMES = {
    SRC: ("source_fidelity", "f1"),
    DER: ("derived_fidelity", "f1"),
    ER: ("execution_rate", "executed"),
    VAS: ("visual_accuracy", "vas"),
}


@pytest.mark.parametrize(
    ("expected", "scores", "finding"),
    [
        (None, (1.0, 1.0, 1.0, 1.0), (None, "clean")),
        (None, (1.0, 1.0, 1.0, 0.9), (VAS, "unexpected")),
        (None, (1.0, None, 1.0, 1.0), (None, "unscored")),
        (SRC, (0.99, 0.0, 0.0, None), (SRC, "found")),
        (SRC, (1.0, 0.5, 1.0, 1.0), (None, "missed")),
        (DER, (1.0, 0.5, 1.0, 0.2), (DER, "found")),
        (DER, (0.5, 0.5, 1.0, 1.0), (SRC, "unexpected")),
        (ER, (1.0, 1.0, 0.0, 0.0), (ER, "found")),
        (VAS, (1.0, 1.0, 0.0, 0.0), (ER, "unexpected")),
        (VAS, (1.0, 1.0, 1.0, 1.0), (None, "missed")),
        (VAS, (1.0, 1.0, 1.0, None), (None, "unscored")),
    ],
)
def test_what_scores_say_of_one_instance(expected, scores, finding) -> None:
    assert find_fault(expected, zip(Metric, scores, strict=True)) == finding


def test_a_metric_that_does_not_apply_is_passed_over() -> None:
    assert find_fault(VAS, [(SRC, 1.0), (ER, 1.0), (VAS, 0.5)]) == (VAS, "found")
    assert find_fault(DER, [(SRC, 1.0), (ER, 1.0), (VAS, 1.0)]) == (None, "unscored"), "the fault cannot be seen"


MODEL = ModelSpec(slug="misreads", litellm_model="scripted/misreads", parameters={"rate": 0.5, "seed": 1, "share": 0.1})
UIDS = tuple(f"q{n}" for n in range(8))
HIT = {uid for uid in UIDS if injected(MODEL, uid)}


def scored(house, lowered: dict[str, Metric], model: ModelSpec = MODEL) -> Calibration:
    """Every query with 1.0 at each metric, and 0.5 at the one given and all after it."""
    house.add(*(house.query(uid) for uid in UIDS))
    scope = (house.split.value, model.slug)
    for uid in UIDS:
        value = 1.0
        for metric, (asset, name) in NAMES.items():
            value = 0.5 if lowered.get(uid) is metric else value
            house.put(asset, uid, scope=scope, chart=None, outcome=Outcome(value={name: value}))
    return Calibration(house.store, house.library)


def run(calibration: Calibration, house, model: ModelSpec = MODEL) -> ModelCalibration:
    (row,) = calibration.run([model.model_copy(update={"benchmarks": ("mini",)})])
    assert {one.uid for one in row.instances if one.split is house.split} == set(UIDS)
    return row


def test_exactly_the_injected_are_lowered(house) -> None:
    assert 0 < len(HIT) < len(UIDS)
    row = run(scored(house, dict.fromkeys(HIT, SRC)), house)
    normal = [one for one in row.instances if one.split is house.split]
    assert {one.uid for one in normal if one.finding == "found"} == HIT
    assert {one.uid for one in normal if one.finding == "clean"} == set(UIDS) - HIT
    assert row.wrong == ()


def test_what_is_missed_and_what_should_not_be_low_is_named(house) -> None:
    missed, early = sorted(HIT)[0], sorted(set(UIDS) - HIT)[0]
    lowered = {**dict.fromkeys(HIT - {missed}, SRC), early: VAS}
    row = run(scored(house, lowered), house)
    assert {(one.uid, one.finding, one.lowered) for one in row.wrong} == {
        (missed, "missed", None),
        (early, "unexpected", VAS),
    }
    text = calibration_text([row])
    assert f"misreads {missed} finance-normal: missed (injected f1_src, first below 1.0 nothing)" in text
    assert f"misreads {early} finance-normal: unexpected (injected nothing, first below 1.0 vas)" in text


def test_a_model_that_was_never_scored_or_is_none_of_ours_has_no_row(house) -> None:
    calibration = scored(house, {})
    other = ModelSpec(slug="misdraws", litellm_model="scripted/misdraws", benchmarks=("mini",))
    paid = ModelSpec(slug="gpt", litellm_model="openai/gpt")
    assert calibration.run([other, paid]) == []


def test_the_table_reads_as_markdown_and_as_text(house) -> None:
    row = run(scored(house, dict.fromkeys(HIT, SRC)), house)
    head, rule, line = calibration_text([row]).splitlines()
    assert [cell.strip() for cell in head.split("|")[1:6]] == [
        "model (scripted)",
        "rate",
        "instances",
        "injected",
        "shows at",
    ]
    assert len({len(head), len(rule), len(line)}) == 1
    assert line.startswith("| misreads ")
    assert row.as_json()["n_found"] == len(HIT)


def test_the_diagnosis_has_to_name_the_kind_that_was_recorded(house) -> None:
    hit, other = sorted(HIT)[:2]
    calibration = scored(house, dict.fromkeys(HIT, SRC))
    scope = (house.split.value, MODEL.slug)
    for uid, said in ((hit, "scale"), (other, "rounding")):
        sent = content_hash([f"what was sent about {uid}", "hash of a picture"])
        document = {"messages": [{"parts": [{"text": f"what was sent about {uid}"}, {"image": "hash of a picture"}]}]}
        folder = house.store.folder("predicted_states", scope, uid)
        folder.mkdir(parents=True)
        (folder / "messages.json").write_text(json.dumps(document))
        identity = {"model": "misreads", "parameters": MODEL.parameters, "query": uid, "stage": 1, "sent": sent}
        path = injection_folder(house.root, "misreads") / f"{content_hash(identity)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**identity, "kind": "mixed", "values": [{"kind": "unit_slip"}]}))
        rows = [{"side": "src", "of": "reference", "class": said, "n": 1}]
        house.put("diagnosis", uid, scope=scope, chart=None, outcome=Outcome(value={"classes": rows}))
    row = run(calibration, house)
    assert {one.uid: one.named for one in row.instances if one.named is not None} == {hit: True, other: False}
    assert (row.n_named, row.n_diagnosed) == (1, 2)
    assert "1 of 2" in calibration_text([row])


def test_every_kind_of_fault_in_the_data_has_a_class_that_names_it() -> None:
    kinds = {*get_args(MisreadKind), *get_args(MiscalculationKind)}
    assert set(NAMED_BY) == kinds
    assert {name for names in NAMED_BY.values() for name in names} <= set(CLASSES)
