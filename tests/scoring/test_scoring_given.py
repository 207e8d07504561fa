"""Grounding and diagnosis of stored states against the context that was given, whole or cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.contexts.locate import TextLine
from deepchart_dagster.contexts.model import ContextFile, ModelContext
from deepchart_dagster.contexts.provenance import Origin, PlacedNumber, shipped_origins
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.diagnosing import DiagnosisStage
from deepchart_dagster.scoring.grounding import Grounded, GroundingStage, ground
from deepchart_dagster.scoring.labelled import Labelled

SPLIT = Split.FINANCE_NORMAL
MODEL = ModelSpec(slug="m1", litellm_model="openai/m1", context_window=1_000_000)
SCOPE = (SPLIT.value, MODEL.slug)
STATEMENT = """Balance sheet (in millions)
| | 2021 | 2020 |
|---|---|---|
| Net income | 515 | 488 |
| Dividends paid | (146) | (131) |
| Goodwill | — | 12 |
"""


def line(text: str, number: int = 1, document: str = "d1", **origin: Any) -> TextLine:
    return TextLine(text, Origin(number, "text", document, **origin), f"{document}.md line {number}")


def found(value: float, *lines: TextLine) -> Grounded:
    (grounded,) = ground([Labelled(value)], lines)
    return grounded


class TestGround:
    @pytest.mark.parametrize(
        ("value", "how"),
        [
            (515.0, "as written"),
            (515e6, "in millions"),
            (-146.0, "as written"),
            (146e6, "in millions, other sign"),
            (0.0, "as a dash"),
            (514.6, None),
            (515e9, None),
        ],
    )
    def test_what_counts_as_standing_there(self, value: float, how: str | None) -> None:
        rows = [line(text, number) for number, text in enumerate(STATEMENT.split("\n"), start=1)]

        assert found(value, *rows).how == how

    def test_place_page_and_unit_are_named(self) -> None:
        rows = [
            line("All amounts in thousands.", 1, page=3),
            line("Revenue was 4,812 and costs 3,310.", 2, page=4, numbers=(PlacedNumber("3,310", 5, None),)),
        ]

        assert found(4812e3, *rows).as_json() == {
            "value": 4812e3,
            "labels": [],
            "how": "in thousands",
            "writing": "4,812",
            "document_id": "d1",
            "place": "d1.md line 2",
            "page": 4,
        }
        assert found(3310.0, *rows).page == 5

    def test_a_unit_holds_in_its_own_document_alone(self) -> None:
        rows = [line("Figures in billions.", document="d1"), line("Revenue 4,812", document="d2")]

        assert not found(4812e9, *rows).is_found

    def test_the_plainest_place_is_named(self) -> None:
        rows = [line("In millions: 7.5", document="d1"), line("exactly 7,500,000", document="d2")]

        assert (found(7.5e6, *rows).how, found(7.5e6, *rows).as_json()["document_id"]) == ("as written", "d2")

    def test_a_rounded_number_is_not_the_value(self) -> None:
        assert not found(0.123456, line("The rate was 0.123.")).is_found

    def test_percent_for_a_fraction(self) -> None:
        assert found(0.125, line("a margin of 12.5 %")).how == "percent"


class House:
    """One query, ``q``, whose context is STATEMENT; results of the steps before are made as those steps make them."""

    def __init__(self, root: Path) -> None:
        self.store, self.library, self.evidence = ArtifactStore(root), Library(root), EvidenceStore(root)
        query = Query(
            uid="q",
            benchmark="b",
            domain=Domain.FINANCE,
            chart_purpose="Show it.",
            variants=(ContextVariant.NORMAL,),
        )
        self.library.add("b", [query], root)
        self.context(STATEMENT)
        self.put("references", (), {"d_src.json": json.dumps({"Net income": {"2021": 515}})}, n_source=1)

    def put(self, asset: str, scope: tuple[str, ...], files: dict[str, str], **value: Any) -> InstanceResult:
        async def compute(folder: Path) -> Outcome:
            for name, text in files.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            return Outcome(value=value)

        context = self.store.read("context_variants", (SPLIT.value,), "q")
        key = InputKey.of(files=files, context=context.output_hash if context else None)
        (result,) = run_step(self.store, Step(asset, scope or ("x",), scope), [Work("q", key, compute)]).results
        return result

    def context(self, text: str) -> None:
        file = ContextFile(
            name="a.md",
            document_id="d1",
            title="A",
            path="files/a.md",
            sha256="0" * 64,
            provenance="provenance/a.jsonl",
        )
        context = ModelContext(uid="q", split=SPLIT.value, modality=Modality.TEXT, files=(file,))
        origins = [json.dumps(origin.as_json()) for origin in shipped_origins(text, "d1", "a.md")]
        files = {
            "context.json": context.model_dump_json(),
            "files/a.md": text,
            "provenance/a.jsonl": "\n".join(origins),
        }
        self.put("context_variants", (SPLIT.value,), files)

    def state(self, source: object, **given: Any) -> None:
        state = json.dumps({"src_data": source, "der_data": [1]})
        messages = json.dumps({"input": {"cut": None, "fixed_tokens": 5, **given}})
        self.put("predicted_states", SCOPE, {"state.json": state, "messages.json": messages})

    def ground(self, model: ModelSpec = MODEL) -> InstanceResult:
        (result,) = GroundingStage(self.store, self.library, self.evidence).run(SPLIT, model).results
        return result

    def diagnose(self) -> InstanceResult:
        (result,) = DiagnosisStage(self.store, self.library, self.evidence).run(SPLIT, MODEL).results
        return result

    def details(self, asset: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.store.folder(asset, SCOPE, "q") / f"{asset}.json").read_text())
        return value


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_the_share_of_source_values_and_where_each_stands(house: House) -> None:
    house.state({"Net income": {"2021": 488_000_000}, "Goodwill": 777})

    result = house.ground()

    assert result.value == {"grounding": 0.5, "n_values": 2, "n_found": 1, "ways": {"in millions": 1}}
    first, second = house.details("grounding")["values"]
    assert (first["place"], first["writing"], first["how"]) == ("a.md line 4", "488", "in millions")
    assert (second["value"], second["how"], second["place"]) == (777.0, None, None)


def test_what_was_cut_off_was_not_given(house: House) -> None:
    """A window of 100 tokens: 80 for everything, 40 of them taken by the instructions."""
    house.state([515, 12], cut={"tokens": 20}, fixed_tokens=40)
    small = MODEL.model_copy(update={"context_window": 100})

    assert house.ground(MODEL).value["n_found"] == 2
    house.store.folder("grounding", SCOPE, "q").joinpath("result.json").unlink()
    assert house.ground(small).value["n_found"] == 1


def test_a_context_that_was_made_anew_is_not_the_one_that_was_given(house: House) -> None:
    house.state([515])
    house.context(STATEMENT + "more 99")

    (error,) = GroundingStage(house.store, house.library, house.evidence).run(SPLIT, MODEL).errors

    assert "its context was made anew after m1 was asked" in error.message


def test_without_numbers_or_without_a_state_there_is_nothing_to_ground(house: House) -> None:
    house.state(["nothing"])
    assert house.ground().status is Status.NOT_APPLICABLE


def test_the_diagnosis_looks_into_the_context_and_counts_classes(house: House) -> None:
    house.state({"Net income": {"2021": 488}})

    result = house.diagnose()

    assert result.value == {
        "n_unmatched_src": 2,
        "classes": [
            {"side": "src", "of": "prediction", "class": "year_shift", "n": 1},
            {"side": "src", "of": "reference", "class": "year_shift", "n": 1},
        ],
    }
    first, _ = house.details("diagnosis")["unmatched"]
    assert (first["value"], first["counterpart"], first["keys"], first["years"]) == (
        515.0,
        488.0,
        ["net income", "2021"],
        [2021],
    )


def test_a_perfect_state_has_nothing_to_explain(house: House) -> None:
    house.state({"anything": 515})

    assert house.diagnose().value == {"n_unmatched_src": 0, "classes": []}


def test_a_state_that_failed_is_not_diagnosed(house: House) -> None:
    async def compute(folder: Path) -> Outcome:
        return Outcome.failed("timeout", "ran longer than 60 s")

    work = Work("q", InputKey.of(failed=True), compute)
    run_step(house.store, Step("predicted_states", SCOPE, SCOPE), [work])

    result = house.diagnose()
    assert (result.status, result.problem and result.problem.message) == (
        Status.NOT_APPLICABLE,
        "the model left no valid state (timeout)",
    )
