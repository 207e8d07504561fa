"""Rubrics that are carried from one storage to another, or come from the published benchmark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.results import Status
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile
from deepchart_dagster.scoring.given_rubrics import EXPORT_FORMAT, GivenRubrics, read_given
from deepchart_dagster.scoring.rubric_writing import Aspect
from deepchart_dagster.scoring.rubrics import Rubric

SPLIT = Split.FINANCE_NORMAL
PUBLISHED = {
    "gen_parameter": {"chart_type": "bar chart"},
    "evaluation_questions": {
        "pq_1": "Does each axis say what it shows?",
        "ic_1": "Would you call it a bar chart?",
        "dt_1": "Does the last bar rise above all others?",
        "ic_2": "Do the bars stand upright?",
    },
}


ITEM = {"aspect": "presentation_quality", "question": "Is it one?", "valid": True}


def rubric_of(house: Any, uid: str = "q1") -> Rubric:
    return Rubric.read(house.output("rubrics", (), uid, "rubric.json").read_bytes(), uid)


def given(house: Any, tmp_path: Path, content: object, *, checked: bool = True) -> None:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    GivenRubrics(house.root).add(read_given(path, checked=checked))


def test_published_questions_come_in_the_order_of_aspects(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"finance/1": PUBLISHED}), encoding="utf-8")
    (rubric,) = read_given(path, checked=False)
    assert (rubric.uid, rubric.source, rubric.checked) == ("finance/1", "all.json", False)
    assert [(one.aspect, one.question) for one in rubric.questions] == [
        (Aspect.INSTRUCTION_COMPLIANCE, "Would you call it a bar chart?"),
        (Aspect.INSTRUCTION_COMPLIANCE, "Do the bars stand upright?"),
        (Aspect.DATA_MAPPING_TOPOLOGY, "Does the last bar rise above all others?"),
        (Aspect.PRESENTATION_QUALITY, "Does each axis say what it shows?"),
    ]


def test_counts_that_are_not_the_papers_are_told(tmp_path: Path) -> None:
    questions = {f"ic_{n}": f"Is it {n}?" for n in range(6)} | {f"dt_{n}": f"Does it {n}?" for n in range(2)}
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"q1": {"evaluation_questions": questions}}), encoding="utf-8")
    (rubric,) = read_given(path, checked=False)
    assert rubric.unusual_aspects == (Aspect.INSTRUCTION_COMPLIANCE, Aspect.PRESENTATION_QUALITY)
    assert len(rubric.questions) == 8


def test_a_folder_names_queries_by_its_files(tmp_path: Path) -> None:
    for uid in ("finance/1", "academic/7"):
        path = tmp_path / f"{uid}.json"
        path.parent.mkdir()
        path.write_text(json.dumps(PUBLISHED), encoding="utf-8")
    assert [rubric.uid for rubric in read_given(tmp_path, checked=True)] == ["academic/7", "finance/1"]


def test_given_questions_are_checked_and_none_is_written(house: Any, tmp_path: Path) -> None:
    given(house, tmp_path, {"q1": PUBLISHED})
    answers = {
        "Would you call it a bar chart?": "Yes",
        "Do the bars stand upright?": "Yes",
        "Does the last bar rise above all others?": "No",
    }
    house.client.instead = lambda request: next(
        (said for question, said in answers.items() if question in str(request.messages)), "Yes"
    )
    summary = house.rubrics().run(SPLIT)
    rubric = rubric_of(house)
    assert (house.client.count("rubric"), house.client.count("judge")) == (0, 4)
    assert [item.valid for item in rubric.items] == [True, True, False, True]
    assert (rubric.writer, rubric.judge) == ("given.json", "judge")
    (result,) = summary.results
    assert result.value["short_aspects"] == ["instruction_compliance", "data_mapping_topology", "presentation_quality"]


def test_unchecked_questions_count_as_they_stand_and_cost_nothing(house: Any, tmp_path: Path) -> None:
    given(house, tmp_path, {"q1": PUBLISHED}, checked=False)
    house.rubrics().run(SPLIT)
    rubric = rubric_of(house)
    assert house.client.requests == []
    assert {(item.valid, item.reference_verdict) for item in rubric.items} == {(True, None)}
    assert rubric.judge is None


def test_giving_and_forgetting_make_the_rubric_stale_and_verdicts_of_old_questions_are_kept(
    house: Any, tmp_path: Path
) -> None:
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    house.rubrics().run(SPLIT)
    house.visual().run(SPLIT, house.model)
    written = rubric_of(house)
    house.client.forget_counts()

    given(house, tmp_path, {"q1": PUBLISHED}, checked=False)
    assert house.rubrics().run(SPLIT).n_computed == 1
    assert house.visual().run(SPLIT, house.model).n_computed == 1
    assert house.client.count("judge") == 4

    GivenRubrics(house.root).forget("q1")
    house.client.forget_counts()
    assert house.rubrics().run(SPLIT).n_computed == 1
    assert house.visual().run(SPLIT, house.model).n_computed == 1
    assert rubric_of(house) == written
    assert house.client.bought == []  # every answer had been kept


def test_what_was_exported_is_the_same_rubric_elsewhere(house: Any, tmp_path: Path) -> None:
    house.rubrics().run(SPLIT)
    exported = rubric_of(house)
    shutil.rmtree(house.root / "rubrics")
    given(house, tmp_path, {"format": EXPORT_FORMAT, "rubrics": [exported.model_dump(mode="json")]})
    house.rubrics().run(SPLIT)
    again = rubric_of(house)
    assert again.writer == "given.json"
    assert [(item.aspect, item.question) for item in again.valid_items] == [
        (item.aspect, item.question) for item in exported.valid_items
    ]


@pytest.mark.parametrize("checked", [True, False])
def test_what_says_the_same_as_the_written_one_makes_nothing_stale(house: Any, tmp_path: Path, checked: bool) -> None:
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    house.rubrics().run(SPLIT)
    house.visual().run(SPLIT, house.model)
    written = rubric_of(house)
    exported = {"format": EXPORT_FORMAT, "rubrics": [written.model_dump(mode="json")]}
    house.client.forget_counts()
    given(house, tmp_path, exported, checked=checked)
    assert (house.rubrics().run(SPLIT).n_computed, house.visual().run(SPLIT, house.model).n_computed) == (0, 0)
    assert rubric_of(house) == written
    assert house.client.requests == []

    exported["rubrics"][0]["items"].pop()
    given(house, tmp_path, exported, checked=checked)
    assert (house.rubrics().run(SPLIT).n_computed, house.visual().run(SPLIT, house.model).n_computed) == (1, 1)


def test_a_given_rubric_takes_the_place_of_one_like_it_that_stands_no_more(house: Any, tmp_path: Path) -> None:
    house.rubrics().run(SPLIT)
    written = rubric_of(house)
    given(house, tmp_path, {"format": EXPORT_FORMAT, "rubrics": [written.model_dump(mode="json")]})
    house.output("rubrics", (), "q1", "rubric.json").write_bytes(b"{")
    house.client.forget_counts()
    assert house.rubrics().run(SPLIT).n_computed == 1
    assert (rubric_of(house).writer, house.client.count("rubric")) == ("given.json", 0)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"q1": {"questions": {}}}, "q1: there are no evaluation_questions"),
        ({"q1": {"evaluation_questions": {"zz_1": "What?"}}}, "'zz_1' is of no aspect"),
        ({"q1": {"evaluation_questions": {"ic_1": " "}}}, "a question is empty"),
        ({"q1": {"evaluation_questions": {"ic_1": 5}}}, "a question is empty or no text"),
        ({"q1": {"evaluation_questions": {"ic_1": "A?", "pq_1": "A?"}}}, "a question comes twice"),
        ({"format": EXPORT_FORMAT, "rubrics": [{"uid": "q1"}]}, "lacks its uid or items"),
        ({"format": EXPORT_FORMAT, "rubrics": []}, "holds no rubric"),
        ([1], "is JSON, but no object"),
        ({"format": "deepchart-rubrics/2", "rubrics": []}, "is written as 'deepchart-rubrics/2'"),
        (
            {"format": EXPORT_FORMAT, "rubrics": [{"uid": "q1", "items": [ITEM]}, {"uid": "q1", "items": [ITEM]}]},
            "has two rubrics for q1",
        ),
        ({"format": EXPORT_FORMAT, "rubrics": [{"uid": "q1", "items": [{**ITEM, "aspect": "beauty"}]}]}, "'beauty'"),
        ({"format": EXPORT_FORMAT, "rubrics": [{"uid": "q1", "items": [{**ITEM, "valid": False}]}]}, "is empty"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, content: object, complaint: str) -> None:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BenchmarkFormatError, match=complaint):
        read_given(path, checked=True)


def test_a_damaged_given_rubric_is_an_error_of_its_query_alone(house: Any, tmp_path: Path) -> None:
    house.add(house.query("q1"), house.query("q2"))
    house.reference("q2", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(2))
    given(house, tmp_path, {"q1": PUBLISHED})
    GivenRubrics(house.root).path("q1").write_text("{", encoding="utf-8")
    with pytest.raises(DamagedFile, match="is no given rubric"):
        GivenRubrics(house.root).read("q1")
    summary = house.rubrics().run(SPLIT)
    assert {result.uid: result.status for result in summary.results} == {"q1": Status.ERROR, "q2": Status.OK}
