"""Calibration: stored scores against what was injected, on results written by hand. Real models: test_house_demo."""

from __future__ import annotations

import pytest

from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.scripted.faults import Metric, injected
from deepchart_dagster.scoring.calibration import Calibration, ModelCalibration, calibration_text, find_fault

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
