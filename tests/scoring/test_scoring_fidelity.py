"""F1 of stored states against stored references: every status, what a key holds, what matches.json says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.errors import ProviderError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.execution import ExecutionStage
from deepchart_dagster.scoring.fidelity import Fidelity, FidelityStage, Side

SPLIT = Split.FINANCE_NORMAL
MODEL = ModelSpec(slug="m1", litellm_model="openai/m1")
SCOPE = (SPLIT.value, MODEL.slug)
SIDE_SIZES: dict[Side, int] = {"src": 2, "der": 1}
ZERO = {"precision": 0.0, "recall": 0.0, "f1": 0.0}


class House:
    """One query, ``q``; results of the steps before are made as those steps make them."""

    def __init__(self, root: Path) -> None:
        self.store = ArtifactStore(root)
        self.library = Library(root)
        query = Query(
            uid="q", benchmark="b", domain=Domain.FINANCE, chart_purpose="Show it.", variants=(ContextVariant.NORMAL,)
        )
        self.library.add("b", [query], root)

    def put(self, asset: str, scope: tuple[str, ...], files: dict[str, str], outcome: Outcome | Exception) -> None:
        async def compute(folder: Path) -> Outcome:
            for name, text in files.items():
                (folder / name).write_text(text)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        key = InputKey.of(files=files, outcome=repr(outcome))
        run_step(self.store, Step(asset, scope or ("x",), scope), [Work("q", key, compute)])

    def reference(self, source: object = None, derived: object = None) -> None:
        sides = {"d_src.json": source, "d_der.json": derived}
        value = {"n_source": source and 1, "n_derived": derived and 1}
        files = {name: json.dumps(data) for name, data in sides.items() if data is not None}
        self.put("references", (), files, Outcome(value=value))

    def state(self, state: object, **more: str) -> None:
        self.put("predicted_states", SCOPE, {"state.json": json.dumps(state), **more}, Outcome())

    def stage(self, side: Side = "src", **more: Any) -> FidelityStage:
        return FidelityStage(self.store, self.library, side, **more)

    def score(self, side: Side = "src", **more: Any) -> InstanceResult:
        (result,) = self.stage(side, **more).run(SPLIT, MODEL).results
        return result

    def matches(self, side: str = "source") -> dict[str, Any]:
        path = self.store.folder(f"{side}_fidelity", SCOPE, "q") / "matches.json"
        value: dict[str, Any] = json.loads(path.read_text())
        return value


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_both_sides_are_scored_by_value(house: House) -> None:
    house.reference({"a": [10, 20, 30, 40]}, [0.5, 0.25])
    house.state({"src_data": ["10", {"x": 20.001}, 20], "der_data": [0.25, 0.5]})

    source, derived = house.score("src"), house.score("der")

    assert (source.status, source.asset, source.scope) == (Status.OK, "source_fidelity", SCOPE)
    assert source.value == {
        "precision": pytest.approx(2 / 3),
        "recall": 0.5,
        "f1": pytest.approx(4 / 7),
        "n_reference": 4,
        "n_predicted": 3,
        "n_matched": 2,
    }
    assert derived.asset == "derived_fidelity"
    assert derived.value == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "n_reference": 2,
        "n_predicted": 2,
        "n_matched": 2,
    }


def test_what_matched_can_be_looked_at(house: House) -> None:
    house.reference([10, 2000], [1])
    house.state({"scr_data": [2, 10, "$7"], "der_data": [1]})
    house.score()

    assert house.matches() == {
        "format": "deepchart-matches/1",
        "side": "src",
        "scorer": "paper",
        "member": "scr_data",
        "misspelt": True,
        "reference": [10.0, 2000.0],
        "predicted": [2.0, 10.0],
        "pairs": [[0, 1]],
    }


def test_a_failed_state_scores_zero(house: House) -> None:
    house.reference([10, 20], [1])
    house.put("predicted_states", SCOPE, {}, Outcome.failed("timeout", "ran longer than 60 s"))

    for side, n_reference in SIDE_SIZES.items():
        result = house.score(side)
        assert result.status is Status.FAILED
        assert result.problem is not None
        assert result.problem.kind == "timeout"
        assert result.value == {**ZERO, "n_reference": n_reference, "n_predicted": 0, "n_matched": 0}


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ({"src_data": [10]}, "missing_der_data"),
        ({"src_data": [10], "der_data": {}}, "missing_der_data"),
        ({"der_data": [1]}, "missing_src_data"),
        ([10, 1], "invalid_output"),
    ],
)
def test_an_invalid_state_scores_zero_on_both_sides(house: House, state: object, kind: str) -> None:
    house.reference([10], [1])
    house.state(state)

    for side in SIDE_SIZES:
        result = house.score(side)
        assert result.problem is not None
        assert (result.status, result.problem.kind, result.value["f1"]) == (Status.FAILED, kind, 0.0)


def test_without_a_derived_reference_the_source_side_is_enough(house: House) -> None:
    house.reference([10])
    house.state({"src_data": [10]})

    assert house.score("src").value["f1"] == 1.0
    derived = house.score("der")
    assert (derived.status, derived.value) == (Status.NOT_APPLICABLE, {})


def test_no_reference_on_a_side_needs_no_state(house: House) -> None:
    house.reference(None, [1])

    assert house.score("src").status is Status.NOT_APPLICABLE


def test_no_number_on_either_side_is_not_applicable(house: House) -> None:
    house.reference(["none"], [1])
    house.state({"src_data": ["nothing"], "der_data": [1]})

    assert house.score("src").status is Status.NOT_APPLICABLE


def test_one_side_without_numbers_is_zero(house: House) -> None:
    house.reference(["none"], [1])
    house.state({"src_data": [5], "der_data": ["nothing"]})

    assert house.score("src").value == {**ZERO, "n_reference": 0, "n_predicted": 1, "n_matched": 0}
    assert house.score("der").value == {**ZERO, "n_reference": 1, "n_predicted": 0, "n_matched": 0}


def test_what_upstream_lacks_is_an_error_that_says_what_to_do(house: House) -> None:
    (error,) = house.stage().run(SPLIT, MODEL).errors
    assert error.message == "q has no result in references. Make it: deepchart materialize references."

    house.reference([1], [1])
    (error,) = house.stage().run(SPLIT, MODEL).errors
    assert error.message == (
        "q has no result in predicted_states finance-normal|m1. "
        "Make it: deepchart materialize predicted_states --split finance-normal --model m1."
    )

    house.put("predicted_states", SCOPE, {}, ProviderError("the provider was down."))
    (error,) = house.stage().run(SPLIT, MODEL).errors
    assert error.kind == "UpstreamError"
    assert "the provider was down" in error.message


def test_a_state_that_was_edited_by_hand_is_not_scored(house: House) -> None:
    house.reference([1], [1])
    house.state({"src_data": [2], "der_data": [1]})
    (house.store.folder("predicted_states", SCOPE, "q") / "state.json").write_text('{"src_data": [1], "der_data": [1]}')

    (error,) = house.stage().run(SPLIT, MODEL).errors

    assert "was changed after predicted_states made it" in error.message


def test_only_what_matters_is_in_the_key(house: House) -> None:
    house.reference([1], [1])
    house.state({"src_data": [1], "der_data": [1]}, **{"answer.txt": "one way"})
    assert house.stage().run(SPLIT, MODEL).n_computed == 1

    house.state({"src_data": [1], "der_data": [1]}, **{"answer.txt": "another way to the same state"})
    assert house.stage().run(SPLIT, MODEL).n_computed == 0

    house.state({"src_data": [1.5], "der_data": [1]})
    assert house.stage().run(SPLIT, MODEL).n_computed == 1
    house.reference([1.5], [1])
    assert house.stage().run(SPLIT, MODEL).n_computed == 1
    assert house.stage(scorer="upstream").run(SPLIT, MODEL).n_computed == 1


def test_the_upstream_scorer_reads_the_whole_reference_file(house: House) -> None:
    house.reference([1], {"scr_data": [1, 2], "der_data": [5]})
    house.state({"src_data": [1], "der_data": [5]})

    assert house.score("der").value["f1"] == 1.0
    assert house.score("der", scorer="upstream").value["f1"] == 0.5
    assert house.matches("derived")["scorer"] == "upstream"


def test_a_model_is_scored_only_where_it_is_asked(house: House) -> None:
    pictures_only = MODEL.model_copy(update={"protocols": (Modality.MULTIMODAL,)})
    elsewhere = MODEL.model_copy(update={"benchmarks": ("mini",)})

    for stage in (house.stage(), ExecutionStage(house.store, house.library)):
        assert stage.plan(SPLIT, pictures_only) == []
        assert stage.plan(SPLIT, elsewhere) == []
        assert [work.uid for work in stage.plan(SPLIT, MODEL)] == ["q"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((2, 4, 3), (2 / 3, 0.5, 4 / 7)),
        ((3, 3, 3), (1.0, 1.0, 1.0)),
        ((0, 5, 5), (0.0, 0.0, 0.0)),
        ((0, 0, 4), (0.0, 0.0, 0.0)),
        ((0, 4, 0), (0.0, 0.0, 0.0)),
    ],
)
def test_ratios_of_counts(counts: tuple[int, int, int], expected: tuple[float, float, float]) -> None:
    fidelity = Fidelity.of(*counts)

    assert (fidelity.precision, fidelity.recall, fidelity.f1) == pytest.approx(expected)


class TestExecutionRate:
    """ER: 1 for a chart, 0 for the model's failures, nothing for our errors."""

    def executed(self, house: House) -> InstanceResult:
        (result,) = ExecutionStage(house.store, house.library).run(SPLIT, MODEL).results
        return result

    def test_a_chart_counts_one(self, house: House) -> None:
        house.put("rendered_charts", SCOPE, {"chart.png": "…"}, Outcome(value={"backend": "python"}))

        result = self.executed(house)

        assert (result.status, result.value, result.asset) == (Status.OK, {"executed": 1}, "execution_rate")

    @pytest.mark.parametrize("kind", ["invalid_state", "crash", "timeout"])
    def test_a_failure_counts_zero_and_keeps_its_kind(self, house: House, kind: str) -> None:
        house.put("rendered_charts", SCOPE, {}, Outcome.failed(kind, "…"))

        result = self.executed(house)

        assert result.problem is not None
        assert (result.status, result.value, result.problem.kind) == (Status.FAILED, {"executed": 0}, kind)

    def test_an_error_stays_unscored(self, house: House) -> None:
        house.put("rendered_charts", SCOPE, {}, ProviderError("the provider was down."))

        result = self.executed(house)

        assert (result.status, result.value) == (Status.ERROR, {})
        assert result.problem is not None
        assert result.problem.kind == "UpstreamError"

    def test_another_chart_with_the_same_end_is_reused(self, house: House) -> None:
        stage = ExecutionStage(house.store, house.library)
        house.put("rendered_charts", SCOPE, {"chart.png": "one"}, Outcome())
        assert stage.run(SPLIT, MODEL).n_computed == 1
        house.put("rendered_charts", SCOPE, {"chart.png": "two"}, Outcome())
        assert stage.run(SPLIT, MODEL).n_computed == 0
