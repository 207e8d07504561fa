"""VAS: means over valid questions, unclear counts 0, a missing chart is 0, a missing answer is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deepchart_dagster.artifacts.results import Outcome, Problem, Status
from deepchart_dagster.benchmark.model import Modality, References, Split
from deepchart_dagster.errors import ProviderError, ProviderTimeout, UpstreamError
from deepchart_dagster.llm.model import ChatRequest, TextPart
from deepchart_dagster.llm.registry import BenchmarkJudges, ModelSpec
from deepchart_dagster.llm.scripted import judge
from deepchart_dagster.scoring.judge import Verdict
from deepchart_dagster.scoring.rubric_writing import Aspect, RubricItem
from deepchart_dagster.scoring.visual import Judged, visual_accuracy

SPLIT = Split.FINANCE_NORMAL
ASPECTS = [aspect.value for aspect in Aspect]


def question_of(request: ChatRequest) -> str:
    texts = [part.text for message in request.messages for part in message.parts if isinstance(part, TextPart)]
    return texts[-1].rsplit("Question: ", 1)[1]


def run(house: Any, **more: Any) -> Any:
    return house.visual(**more).run(SPLIT, house.model)


def value_of(summary: Any) -> dict[str, Any]:
    (result,) = summary.results
    value: dict[str, Any] = result.value
    return value


@pytest.fixture
def judged_house(house: Any) -> Any:
    """``q1`` with its rubric of 5 + 3 + 5 questions; counts start after it."""
    house.rubrics().run(SPLIT)
    house.client.forget_counts()
    return house


def judged(aspect: Aspect, answer: Any) -> Judged:
    item = RubricItem(aspect=aspect, id="x/1", question="?", valid=True, reference_verdict="yes")
    return Judged(item, Verdict(answer, answer, "k"))


def test_vas_is_the_mean_over_questions_not_over_aspects() -> None:
    rows = [judged(Aspect.INSTRUCTION_COMPLIANCE, answer) for answer in ("yes", "yes", "yes", "no")]
    rows += [judged(Aspect.PRESENTATION_QUALITY, answer) for answer in ("unclear", "yes", "no", "no")]
    assert visual_accuracy(rows) == {
        "vas": 0.5,
        "instruction_compliance": 0.75,
        "data_mapping_topology": None,
        "presentation_quality": 0.25,
        "n_items": 8,
        "n_yes": 4,
        "n_no": 3,
        "n_unclear": 1,
    }


def test_a_chart_that_draws_what_the_reference_draws_scores_1(judged_house: Any) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    summary = run(house)
    assert summary.n_ok == 1
    assert value_of(summary) == {
        "vas": 1.0,
        **dict.fromkeys(ASPECTS, 1.0),
        "n_items": 13,
        "n_yes": 13,
        "n_no": 0,
        "n_unclear": 0,
        "judge": "judge",
    }
    assert house.client.count("judge") == 13
    assert summary.observed("calls") == 13
    assert all(request.parameters == {"temperature": 0} for request in house.client.bought)
    assert {request.about for request in house.client.bought} == {"q1"}  # for whoever looks at calls in flight


def test_misread_values_lower_the_topology_and_a_missing_title_the_presentation(judged_house: Any) -> None:
    house = judged_house
    # Reference order 2022 > 2019 > 2021 > 2020; here 2019 is read as 15: only "2019 > 2021" breaks.
    house.chart("q1", house.bar_chart(15.0, 10.0, 20.0, 50.0, title=""), house.png_of(2))
    value = value_of(run(house))
    assert value["instruction_compliance"] == 1.0
    assert value["data_mapping_topology"] == pytest.approx(2 / 3)
    assert value["presentation_quality"] == pytest.approx(4 / 5)
    assert value["vas"] == pytest.approx(11 / 13)
    assert (value["n_yes"], value["n_no"], value["n_unclear"]) == (11, 2, 0)
    rows = [
        json.loads(line)
        for line in house.output("visual_accuracy", house.scope, "q1", "verdicts.jsonl").read_text().splitlines()
    ]
    assert [row["question"] for row in rows if row["verdict"] == "no"] == [
        "Is the value drawn for “2019” greater than the value drawn for “2021”?",
        "Does the chart have a title?",
    ]
    assert {row["answer_key"] for row in rows} <= set(house.client.kept)


def test_unclear_answers_count_0_and_stay_in_the_denominator(judged_house: Any) -> None:
    house = judged_house
    house.client.instead = lambda request: "Yes." if "bars" in question_of(request) else None
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    value = value_of(run(house))
    n_bars = sum("bars" in question_of(request) for request in house.client.bought)
    assert n_bars == 4
    assert (value["n_items"], value["n_yes"], value["n_unclear"]) == (13, 9, 4)
    assert value["vas"] == pytest.approx(9 / 13)


def test_a_picture_of_which_nothing_is_known_is_unclear_throughout(judged_house: Any) -> None:
    judged_house.chart("q1", None, judged_house.png_of(2))
    value = value_of(run(judged_house))
    assert (value["vas"], value["n_unclear"], value["n_items"]) == (0.0, 13, 13)


@pytest.mark.parametrize("error", [ProviderTimeout("no answer in 60 s."), ProviderError("503.", status=503)])
def test_a_call_without_an_answer_is_an_error_and_only_it_is_made_again(judged_house: Any, error: Exception) -> None:
    house = judged_house
    house.client.instead = lambda request: error if "title" in question_of(request) else None
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    summary = run(house)
    assert (summary.n_error, summary.n_ok, summary.n_failed) == (1, 0, 0)
    assert summary.errors[0].kind == type(error).__name__
    assert "vas" not in value_of(summary)
    assert not house.output("visual_accuracy", house.scope, "q1", "verdicts.jsonl").exists()

    house.client.instead = lambda request: None
    house.client.forget_counts()
    summary = run(house)
    assert value_of(summary)["vas"] == 1.0
    assert [question_of(request) for request in house.client.bought] == ["Does the chart have a title?"]
    assert summary.observed("calls") == 1


def test_a_model_without_a_chart_scores_0_and_nobody_is_asked(house: Any) -> None:
    failed = Outcome.failed("crash", "the program ended with crash: NameError")
    house.put("rendered_charts", "q1", scope=house.scope, chart=None, outcome=failed)
    summary = run(house)  # there is no rubric yet, and none is needed
    assert [(failure.kind, failure.message) for failure in summary.failures] == [
        ("crash", "the program ended with crash: NameError")
    ]
    assert value_of(summary) == {
        "vas": 0.0,
        **dict.fromkeys(ASPECTS, 0.0),
        "n_items": 0,
        "n_yes": 0,
        "n_no": 0,
        "n_unclear": 0,
        "judge": "judge",
    }
    assert house.client.requests == []


def test_what_is_missing_or_in_error_before_is_an_error_here(house: Any) -> None:
    summary = run(house)
    assert [(problem.kind, problem.uid) for problem in summary.errors] == [("UpstreamError", "q1")]
    assert "rendered_charts" in summary.errors[0].message

    broken = Outcome(status=Status.ERROR, problem=Problem(kind="SandboxUnavailable", message="no sandbox."))
    house.put("rendered_charts", "q1", scope=house.scope, chart=None, outcome=broken)
    assert "no sandbox" in run(house).errors[0].message

    house.chart("q1", house.bar_chart(1.0, 2.0), house.png_of(2))
    assert "rubrics" in run(house).errors[0].message
    with pytest.raises(UpstreamError, match="rubrics"):
        house.visual().requests(house.library.query("q1"), SPLIT, house.model)
    assert house.client.requests == []


def test_a_second_run_asks_nothing_and_a_changed_chart_is_judged_anew(judged_house: Any) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    first = run(house)
    house.client.forget_counts()
    again = run(house)
    assert (again.n_reused, again.n_computed, house.client.requests) == (1, 0, [])
    assert again.data_version == first.data_version
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 5.0), house.png_of(3))
    assert run(house).n_computed == 1
    assert house.client.count("judge") == 13


def test_a_new_version_of_the_scripted_judge_judges_anew(judged_house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    run(house)
    assert run(house).n_computed == 0
    monkeypatch.setattr(judge, "VERSION", "another")
    assert run(house).n_computed == 1


def test_the_same_picture_of_another_model_costs_nothing(judged_house: Any) -> None:
    house = judged_house
    other = ModelSpec(slug="m2", litellm_model="openai/m2")
    for model in (house.model, other):
        house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2), model)
    run(house)
    house.client.forget_counts()
    summary = house.visual().run(SPLIT, other)
    assert value_of(summary)["vas"] == 1.0
    assert (house.client.bought, len(house.client.requests), summary.observed("calls")) == ([], 13, 0)


def test_invalid_questions_are_not_asked(house: Any) -> None:
    false = "Is the value drawn for “2020” greater than the value drawn for “2019”?"
    house.client.instead = lambda request: (
        json.dumps({"q1": false, "q2": "Does “2022” have the highest value of all?"})
        if request.purpose == "rubric" and "Aspect: data mapping topology" in request.messages[0].parts[0].text
        else None
    )
    house.rubrics().run(SPLIT)
    house.client.forget_counts()
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    value = value_of(run(house))
    assert (value["vas"], value["data_mapping_topology"], value["n_items"]) == (1.0, 1.0, 11)
    assert false not in [question_of(request) for request in house.client.bought]


def test_another_judge_asks_the_same_questions_again_and_writes_none(judged_house: Any) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    run(house)
    questions = [question_of(request) for request in house.client.bought]
    house.client.forget_counts()
    value = value_of(run(house, judge="other"))
    assert value["judge"] == "other"
    assert [question_of(request) for request in house.client.bought] == questions
    house.client.forget_counts()
    assert value_of(run(house))["judge"] == "judge"
    assert house.client.bought == []  # the first judge's answers are still there


def test_the_judge_is_chosen_by_the_querys_benchmark(judged_house: Any) -> None:
    house = judged_house
    house.add(house.query("z1", benchmark="theirs"))
    house.reference("z1", house.bar_chart(3.0, 1.0, 2.0), house.png_of(11))
    for uid, number in (("q1", 2), ("z1", 3)):
        house.chart(uid, house.bar_chart(3.0, 1.0, 2.0), house.png_of(number))
    house.judges = house.judges.model_copy(update={"for_benchmark": {"theirs": BenchmarkJudges(primary="other")}})
    house.rubrics().run(SPLIT)
    summary = run(house)
    assert {result.uid: result.value["judge"] for result in summary.results} == {"q1": "judge", "z1": "other"}


def test_a_query_without_a_reference_chart_does_not_apply_whatever_the_model_made(house: Any) -> None:
    house.add(house.query("q2", references=References()), house.query("q3", references=References()))
    for uid in ("q1", "q2", "q3"):
        house.put("references", uid, chart=None, outcome=Outcome(value={"has_chart": False}))
    house.rubrics().run(SPLIT)
    house.chart("q2", house.bar_chart(1.0, 2.0), house.png_of(2))
    house.put("rendered_charts", "q3", scope=house.scope, chart=None, outcome=Outcome.failed("crash", "it crashed"))
    summary = run(house)
    assert [result.uid for result in summary.results if result.status is Status.NOT_APPLICABLE] == ["q2", "q3"]
    assert "vas" not in summary.results[1].value


def test_only_instances_that_the_model_is_asked_about_are_planned(judged_house: Any) -> None:
    pictures_only = ModelSpec(slug="m3", litellm_model="openai/m3", protocols=(Modality.MULTIMODAL,))
    knows_others = ModelSpec(slug="m4", litellm_model="openai/m4", benchmarks=("theirs",))
    assert judged_house.visual().plan(SPLIT, pictures_only) == []
    assert judged_house.visual().plan(SPLIT, knows_others) == []
    assert [work.uid for work in judged_house.visual().plan(SPLIT, judged_house.model)] == ["q1"]


def test_a_chart_or_rubric_changed_by_hand_is_not_judged(judged_house: Any) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    chart = house.output("rendered_charts", house.scope, "q1", "chart.png")
    original = chart.read_bytes()
    chart.write_bytes(house.png_of(3))
    assert "chart.png was changed after rendered_charts made it" in run(house).errors[0].message
    chart.write_bytes(original)
    house.output("rubrics", (), "q1", "rubric.json").write_text("{}")
    assert "rubric.json was changed after rubrics made it" in run(house).errors[0].message


def test_the_requests_that_would_be_sent_are_those_that_are_sent(judged_house: Any) -> None:
    house = judged_house
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    would = house.visual().requests(house.library.query("q1"), SPLIT, house.model)
    run(house)
    assert [request.key() for request in would] == [request.key() for request in house.client.bought]
