"""Rubrics: written once a query, checked on the reference chart, asked again only where something is missing."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.results import Outcome, Problem, Status
from deepchart_dagster.benchmark.model import References, Split
from deepchart_dagster.errors import BadProviderAnswer, MissingInputError, ProviderError, UpstreamError, UsageError
from deepchart_dagster.llm.model import ChatRequest, TextPart
from deepchart_dagster.llm.scripted import judge, rubric_writer
from deepchart_dagster.scoring.rubric_writing import Aspect, read_questions
from deepchart_dagster.scoring.rubrics import Rubric

SPLIT = Split.FINANCE_NORMAL
FALSE_ORDER = "Is the value drawn for “2020” greater than the value drawn for “2019”?"
TRUE_ORDER = "Is the value drawn for “2019” greater than the value drawn for “2020”?"


def stored(house: Any, uid: str = "q1") -> Rubric:
    path = house.output("rubrics", (), uid, "rubric.json")
    return Rubric.read(path.read_bytes(), str(path))


def aspect_of(request: ChatRequest) -> str | None:
    """The aspect a writer's call is about; None for a judge's."""
    if request.purpose != "rubric":
        return None
    text = text_of(request)
    return next(aspect.value for aspect in Aspect if f"Aspect: {aspect.value.replace('_', ' ')}" in text)


def text_of(request: ChatRequest) -> str:
    return "\n".join(part.text for message in request.messages for part in message.parts if isinstance(part, TextPart))


def test_a_rubric_has_the_papers_counts_and_is_confirmed_by_its_own_chart(house: Any) -> None:
    summary = house.rubrics().run(SPLIT)
    assert (summary.n_ok, summary.n_error, summary.n_computed) == (1, 0, 1)
    rubric = stored(house)
    counts = [sum(item.aspect is aspect for item in rubric.items) for aspect in Aspect]
    assert counts == [5, 3, 5]
    assert all(item.valid and item.reference_verdict == "yes" for item in rubric.items)
    assert [item.id for item in rubric.items][4:7] == [
        "instruction_compliance/5",
        "data_mapping_topology/1",
        "data_mapping_topology/2",
    ]
    assert summary.results[0].value == {
        "n_items": 13,
        "n_valid": 13,
        "short_aspects": [],
        "writer": "writer",
        "judge": "judge",
    }
    assert (house.client.count("rubric"), house.client.count("judge")) == (3, 13)
    assert summary.observed("calls") == 16
    assert summary.observed("price_usd") == 16 * 0.25


def test_nothing_is_asked_twice_and_every_variant_shares_the_rubric(house: Any) -> None:
    house.rubrics().run(SPLIT)
    house.client.forget_counts()
    again = house.rubrics().run(SPLIT)
    other_variant = house.rubrics().run(Split.FINANCE_LONG)
    assert (again.n_reused, other_variant.n_reused, house.client.requests) == (1, 1, [])
    assert again.data_version == other_variant.data_version


def test_the_key_holds_chart_intent_prompts_writer_and_judge_and_nothing_of_price_or_pace(house: Any) -> None:
    def key() -> str:
        return str(house.rubrics().plan(SPLIT)[0].key)

    base = key()
    writer = house.judges.judges["writer"]
    house.judges.judges["writer"] = writer.model_copy(update={"concurrency": 99, "timeout_s": 1.0})
    assert key() == base
    keys = {base}
    house.judges.judges["writer"] = writer.model_copy(update={"parameters": {"reasoning_effort": "low"}})
    keys.add(key())
    house.judges = house.judges.model_copy(update={"primary": "other"})
    keys.add(key())
    house.reference("q1", house.bar_chart(1.0, 2.0), house.png_of(2))
    keys.add(key())
    house.add(house.query("q1", chart_layout="two panels"))
    keys.add(key())
    assert len(keys) == 5


@pytest.mark.parametrize("program", [rubric_writer, judge])
def test_a_new_version_of_scripted_writer_or_judge_makes_rubrics_stale(
    house: Any, monkeypatch: pytest.MonkeyPatch, program: ModuleType
) -> None:
    house.rubrics().run(SPLIT)
    assert house.rubrics().run(SPLIT).n_computed == 0
    monkeypatch.setattr(program, "VERSION", "another")
    assert house.rubrics().run(SPLIT).n_computed == 1


def test_the_writer_reads_the_filled_purpose_and_no_member_that_the_record_lacks(house: Any) -> None:
    house.rubrics().run(SPLIT)
    writing = [request for request in house.client.bought if request.purpose == "rubric"]
    for request in writing:
        text = text_of(request)
        assert '"chart_purpose": "show revenue as python"' in text
        assert "chart_layout" not in text
        assert "{code_type}" not in text
    assert {request.about for request in writing} == {"q1"}
    would = house.rubrics().requests(house.library.query("q1"))
    assert [request.key() for request in would] == [request.key() for request in writing]


def test_an_incomplete_aspect_alone_is_asked_again(house: Any) -> None:
    def instead(request: ChatRequest) -> str | None:
        if aspect_of(request) == "presentation_quality" and request.repeat == 0:
            return '{"q1": "Does the chart have a title?", "q2": "Is there a legend?"}'
        return None

    house.client.instead = instead
    summary = house.rubrics().run(SPLIT)
    assert summary.n_ok == 1
    asked = [aspect_of(request) for request in house.client.bought if request.purpose == "rubric"]
    assert sorted(filter(None, asked)) == [
        "data_mapping_topology",
        "instruction_compliance",
        "presentation_quality",
        "presentation_quality",
    ]
    assert sum(item.aspect is Aspect.PRESENTATION_QUALITY for item in stored(house).items) == 5


def test_a_writer_that_never_completes_an_aspect_is_an_error_and_the_next_run_goes_on(house: Any) -> None:
    def instead(request: ChatRequest) -> str | None:
        return "I would rather not." if aspect_of(request) == "data_mapping_topology" else None

    house.client.instead = instead
    summary = house.rubrics().run(SPLIT)
    assert [(problem.kind, problem.uid) for problem in summary.errors] == [("BadProviderAnswer", "q1")]
    assert "writer wrote no complete set of questions on data_mapping_topology" in summary.errors[0].message
    assert house.client.count("rubric") == 1 + 3 + 1

    house.client.instead = lambda request: None
    house.client.forget_counts()
    assert house.rubrics().run(SPLIT).n_ok == 1
    bought = [request for request in house.client.bought if request.purpose == "rubric"]
    assert [(aspect_of(request), request.repeat) for request in bought] == [("data_mapping_topology", 3)]
    assert house.client.count("judge") == 3  # what was said of the other aspects is kept


def test_a_question_that_the_reference_chart_does_not_confirm_is_kept_as_invalid_and_replaced(house: Any) -> None:
    def instead(request: ChatRequest) -> str | None:
        if aspect_of(request) == "data_mapping_topology" and FALSE_ORDER not in text_of(request):
            return json.dumps({"q1": FALSE_ORDER, "q2": "Is it pretty?", "q3": TRUE_ORDER})
        return None

    house.client.instead = instead
    summary = house.rubrics().run(SPLIT)
    items = [item for item in stored(house).items if item.aspect is Aspect.DATA_MAPPING_TOPOLOGY]
    assert [(item.question, item.valid, item.reference_verdict) for item in items[:3]] == [
        (FALSE_ORDER, False, "no"),
        ("Is it pretty?", False, "unclear"),
        (TRUE_ORDER, True, "yes"),
    ]
    assert [item.valid for item in items[3:]] == [True, True]
    assert [item.id for item in items[3:]] == ["data_mapping_topology/4", "data_mapping_topology/5"]
    assert len({item.question for item in items}) == 5
    assert (summary.results[0].value["n_items"], summary.results[0].value["n_valid"]) == (15, 13)
    assert house.client.count("rubric") == 4


def test_an_aspect_whose_replacements_fail_too_stays_short_and_says_so(house: Any) -> None:
    house.client.instead = lambda request: (
        json.dumps({f"q{n}": f"Is it pretty, {n} of {request.repeat}?" for n in (1, 2, 3)})
        if aspect_of(request) == "data_mapping_topology"
        else None
    )
    summary = house.rubrics().run(SPLIT)
    assert summary.results[0].value["short_aspects"] == ["data_mapping_topology"]
    assert (summary.results[0].value["n_items"], summary.results[0].value["n_valid"]) == (10 + 9, 10)
    assert house.client.count("rubric") == 2 + 3

    first = stored(house)
    (house.output("rubrics", (), "q1", "result.json")).unlink()
    house.client.forget_counts()
    house.rubrics().run(SPLIT)
    assert stored(house) == first  # made again from kept answers: the same rubric, nothing bought
    assert house.client.bought == []


def test_a_replacement_that_cannot_be_read_is_no_error(house: Any) -> None:
    def instead(request: ChatRequest) -> str | None:
        if aspect_of(request) != "data_mapping_topology":
            return None
        return "no" if request.repeat else json.dumps({"q1": FALSE_ORDER, "q2": TRUE_ORDER})

    house.client.instead = instead
    assert house.rubrics().run(SPLIT).results[0].value["short_aspects"] == ["data_mapping_topology"]
    assert house.client.count("rubric") == 2 + 3


def test_a_rubric_without_one_confirmed_question_is_an_error(house: Any) -> None:
    house.client.instead = lambda request: "No" if request.purpose == "judge" else None
    summary = house.rubrics().run(SPLIT)
    assert (summary.n_error, summary.errors[0].kind) == (1, "BadProviderAnswer")
    assert "judge confirmed none of the" in summary.errors[0].message


def test_a_call_that_did_not_happen_is_an_error_and_what_was_paid_is_kept(
    house: Any, provider_down: ProviderError
) -> None:
    house.client.instead = lambda request: provider_down if aspect_of(request) == "presentation_quality" else None
    summary = house.rubrics().run(SPLIT)
    assert (summary.n_error, summary.errors[0].kind) == (1, "ProviderError")
    house.client.instead = lambda request: None
    house.client.forget_counts()
    assert house.rubrics().run(SPLIT).n_ok == 1
    assert (house.client.count("rubric"), house.client.count("judge")) == (1, 5)


def test_another_judge_of_a_run_leaves_the_rubric_as_it_is_and_another_writer_does_not(house: Any) -> None:
    base = str(house.rubrics().plan(SPLIT)[0].key)
    assert str(house.rubrics(rubric_writer="writer").plan(SPLIT)[0].key) == base
    assert str(house.rubrics(rubric_writer="other").plan(SPLIT)[0].key) != base
    unknown = house.rubrics(rubric_writer="nobody").run(SPLIT)
    assert unknown.errors[0].kind == "ConfigurationError"
    assert "nobody" in unknown.errors[0].message


def test_without_references_the_instance_waits_for_them(house: Any) -> None:
    house.add(house.query("q1"), house.query("q2"), house.query("q3"))
    failed = Outcome(status=Status.ERROR, problem=Problem(kind="StorageError", message="the disk is full."))
    house.put("references", "q3", chart=None, outcome=failed)
    summary = house.rubrics().run(SPLIT)
    assert [(problem.uid, problem.kind) for problem in summary.errors] == [
        ("q2", "UpstreamError"),
        ("q3", "UpstreamError"),
    ]
    assert "deepchart materialize references" in summary.errors[0].message
    assert "the disk is full" in summary.errors[1].message
    assert summary.n_ok == 1
    with pytest.raises(UpstreamError):
        house.rubrics().requests(house.library.query("q2"))


def test_a_missing_reference_chart_is_named_and_no_chart_at_all_is_not_applicable(house: Any) -> None:
    house.add(
        house.query("q2"),
        house.query("q3", references=References()),
        house.query("q4", references=References(stage2_python="q4/stage2.py")),
    )
    for uid in ("q2", "q3", "q4"):
        house.put("references", uid, chart=None, outcome=Outcome(value={"has_chart": False}))
    summary = house.rubrics().run(SPLIT)
    assert [(problem.uid, problem.kind) for problem in summary.errors] == [("q2", "MissingInputError")]
    assert "q2/chart.png" in summary.errors[0].message
    assert [result.uid for result in summary.results if result.status is Status.NOT_APPLICABLE] == ["q3", "q4"]
    with pytest.raises(MissingInputError, match=r"q2/chart\.png .*then: deepchart materialize references\."):
        house.rubrics().requests(house.library.query("q2"))
    with pytest.raises(UsageError, match=r"q3: its record has no reference chart.* --stage 1, --stage 2\."):
        house.rubrics().requests(house.library.query("q3"))
    assert house.client.requests == []


def test_a_reference_chart_edited_by_hand_is_not_used(house: Any) -> None:
    chart = house.output("references", (), "q1", "chart.png")
    chart.write_bytes(house.png_of(77))
    summary = house.rubrics().run(SPLIT)
    assert summary.errors[0].kind == "UpstreamError"
    assert str(chart) in summary.errors[0].message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not one JSON object"),
        ("Sure! {}", "not one JSON object"),
        ('["a?", "b?", "c?"]', "no object"),
        ("{}", "0 questions"),
        ('{"q1": "a?", "q2": "b?"}', "2 questions, at least 3"),
        ('{"q1": "a?", "q3": "b?", "q2": "c?"}', "not q1, q2"),
        ('{"q1": "a?", "q1": "b?", "q2": "c?"}', "not q1, q2"),
        ('{"q0": "a?", "q1": "b?", "q2": "c?"}', "not q1, q2"),
        ('{"q1": "a?", "q2": "b?", "q3": " "}', "empty or no text"),
        ('{"q1": "a?", "q2": "b?", "q3": ["c?"]}', "empty or no text"),
        ('{"q1": "a?", "q2": "b?", "q3": "a?"}', "comes twice"),
        ('{"q1": "a?", "q2": "b?", "q3": "c?"} {"q1": "d?"}', "not one JSON object"),
        ("[" * 100_000, "not one JSON object"),
        ('{"q1": ' + "9" * 5_000 + "}", "not one JSON object"),
    ],
)
def test_an_answer_that_is_no_set_of_questions_says_why(text: str, reason: str) -> None:
    with pytest.raises(BadProviderAnswer, match=reason):
        read_questions(text, fewest=3, most=5)


QUESTIONS = st.lists(
    st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(bool), min_size=3, max_size=9, unique=True
)


@given(QUESTIONS, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```", "  {}\n"]), st.sampled_from([None, 2]))
def test_questions_are_read_as_they_were_written_and_no_more_than_wanted(
    questions: list[str], frame: str, indent: int | None
) -> None:
    text = json.dumps({f"q{n}": question for n, question in enumerate(questions, start=1)}, indent=indent)
    assert read_questions(frame.replace("{}", text), fewest=3, most=5) == tuple(questions[:5])
