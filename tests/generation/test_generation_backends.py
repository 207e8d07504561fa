"""The study of rendering backends: what is asked, what a model chose, and whom the sample holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_text
from deepchart_dagster.artifacts.results import Outcome, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Backend, CodeType, ContextVariant, Domain, Query, Split
from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.generation.answers import language_of
from deepchart_dagster.generation.backend_study import StudySelection
from deepchart_dagster.llm.model import TextPart
from tests.generation.conftest import CHART_PROGRAM, GROWTH, MARGIN, REPORT, House

PAGE = "<!DOCTYPE html>\n<html><body><script>draw()</script></body></html>"
SOURCE = 'Year,Revenue\n2021,100\n2022,"1,250"\n'
DERIVED = '{"scr_data": [], "der_data": {"growth": 11.5}}'


def put_references(house: House, uid: str, **files: str) -> None:
    async def compute(folder: Path) -> Outcome:
        for name, text in files.items():
            write_text(folder / name.replace("__", "."), text)
        return Outcome()

    step = Step(asset="references", partition=("finance-normal",), scope=(), shared=True)
    run_step(house.store, step, [Work(uid=uid, key=InputKey.of(files=files), compute=compute)])


@pytest.fixture
def study(house: House) -> House:
    """Growth has both sides of its reference, margin the source side alone."""
    put_references(house, GROWTH, d_src__csv=SOURCE, d_der__json=DERIVED)
    put_references(house, MARGIN, d_src__json='{"net": [20, 50]}')
    return house


def result_of(house: House, backend: Backend, uid: str = GROWTH):
    stored = house.store.read("backend_charts", (backend.value, house.model.slug), uid)
    assert stored is not None
    return stored


def text_of(house: House, uid_words: str) -> str:
    for request in house.provider.asked:
        text = "\n".join(p.text for message in request.messages for p in message.parts if isinstance(p, TextPart))
        if uid_words in text:
            return text
    raise AssertionError(uid_words)


def test_stage_2_gets_the_references_data_and_the_backends_name(study: House) -> None:
    summary = study.backend_charts().run(Backend.PYTHON, study.model)
    assert (summary.n_total, summary.n_ok, summary.n_error) == (2, 2, 0)
    text = text_of(study, "Draw with python the growth of Acme")
    assert "Code type: python" in text.splitlines()
    data = json.loads(text.partition("Data (JSON):")[2])
    assert data == {
        "src_data": [{"Year": 2021, "Revenue": 100}, {"Year": 2022, "Revenue": 1250}],
        "der_data": {"growth": 11.5},
    }
    without = json.loads(text_of(study, "the margin of Acme").partition("Data (JSON):")[2])
    assert without == {"src_data": {"net": [20, 50]}}
    value = result_of(study, Backend.PYTHON).value
    assert (value["backend"], value["chosen_backend"]) == ("python", "python")


def test_where_the_model_is_free_its_choice_is_recorded(study: House) -> None:
    study.provider.answers["stage2"] = CHART_PROGRAM
    assert study.backend_charts().run(Backend.FREE, study.model).n_ok == 2
    text = text_of(study, "Draw with Python or HTML the growth of Acme")
    assert "Code type: Python or HTML" in text.splitlines()
    assert result_of(study, Backend.FREE).value["chosen_backend"] == "python"


def test_a_failed_chart_keeps_what_was_chosen(study: House) -> None:
    study.provider.answers["stage2"] = PAGE  # the runner of these tests takes it for Python, where it is no program
    study.backend_charts().run(Backend.FREE, study.model)
    failed = result_of(study, Backend.FREE)
    assert (failed.status, failed.value["chosen_backend"]) == (Status.FAILED, "html")
    study.provider.answers["stage2"] = "I cannot draw."
    study.backend_charts().run(Backend.HTML, study.model)
    assert result_of(study, Backend.HTML).value["chosen_backend"] == "html"


def test_nothing_is_asked_twice_and_a_changed_reference_asks_its_query_alone(study: House) -> None:
    stage = study.backend_charts()
    stage.run(Backend.PYTHON, study.model)
    assert stage.run(Backend.PYTHON, study.model).n_reused == 2
    put_references(study, GROWTH, d_src__csv=SOURCE.replace("100", "101"), d_der__json=DERIVED)
    again = stage.run(Backend.PYTHON, study.model)
    assert (again.n_computed, again.n_reused) == (1, 1)


def test_a_query_without_reference_data_is_not_asked(house: House) -> None:
    put_references(house, GROWTH, chart__txt="only a chart")
    put_references(house, MARGIN, d_src__json="null")
    summary = house.backend_charts().run(Backend.PYTHON, house.model)
    assert (summary.n_not_applicable, len(house.provider.asked)) == (2, 0)


def test_a_reference_that_is_not_there_is_an_error_of_ours(house: House) -> None:
    summary = house.backend_charts().run(Backend.PYTHON, house.model)
    assert {problem.kind for problem in summary.errors} == {"UpstreamError"}
    assert summary.n_error == summary.n_total == 2


# Whom the study asks about


def library_of(tmp_path: Path, count: int) -> Library:
    queries = [
        Query(
            uid=f"{domain}/{number:03}",
            benchmark="b",
            domain=Domain(domain),
            chart_purpose="Draw it.",
            variants=(ContextVariant.NORMAL, ContextVariant.LONG),
        )
        for domain in ("finance", "academic")
        for number in range(count)
    ]
    library = Library(tmp_path / "large")
    library.add("b", queries, tmp_path)
    return library


def test_python_and_html_are_asked_about_all_four_settings(tmp_path: Path, house: House) -> None:
    selection = StudySelection(library_of(tmp_path, 60))
    instances = selection.instances(Backend.HTML, house.model)
    assert len(instances) == 120
    assert instances[0].splits == (Split.ACADEMIC_NORMAL, Split.ACADEMIC_LONG)


def test_free_choice_is_asked_about_fifty_of_each_setting(tmp_path: Path, house: House) -> None:
    selection = StudySelection(library_of(tmp_path, 60))
    instances = selection.instances(Backend.FREE, house.model)
    for split in (Split.FINANCE_NORMAL, Split.FINANCE_LONG, Split.ACADEMIC_NORMAL, Split.ACADEMIC_LONG):
        assert sum(split in instance.splits for instance in instances) == 50
    assert instances == selection.instances(Backend.FREE, house.model)


def test_a_users_list_replaces_the_sample(tmp_path: Path, house: House) -> None:
    listed = tmp_path / "uids.txt"
    listed.write_text("finance/007\n", encoding="utf-8")
    selection = StudySelection(library_of(tmp_path, 60), listed)
    assert [one.query.uid for one in selection.instances(Backend.FREE, house.model)] == ["finance/007"]
    assert len(selection.instances(Backend.PYTHON, house.model)) == 120
    listed.write_text("nobody/1\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="nobody/1"):
        selection.instances(Backend.FREE, house.model)


def test_reports_are_no_part_of_it(study: House) -> None:
    uids = {one.query.uid for one in study.backend_charts().selection.instances(Backend.PYTHON, study.model)}
    assert uids == {GROWTH, MARGIN}
    assert REPORT not in uids


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        (CHART_PROGRAM, CodeType.PYTHON),
        (PAGE, CodeType.HTML),
        (f"Here it is:\n{PAGE}\nEnjoy.", CodeType.HTML),
        (f"```html\n{PAGE}\n```", CodeType.HTML),
        (f"```\n{PAGE}\n```", CodeType.HTML),
        (f"```python\n{CHART_PROGRAM}```", CodeType.PYTHON),
        (f"First a page:\n```html\n{PAGE}\n```\nBetter:\n```python\n{CHART_PROGRAM}```", CodeType.PYTHON),
        (f"```python\n{CHART_PROGRAM}```\nor\n```html\n<html>", CodeType.PYTHON),
        (f"<think>```html\n{PAGE}\n```</think>\n{CHART_PROGRAM}", CodeType.PYTHON),
        ("page = '''<html></html>'''\nopen('x', 'w').write(page)\n", CodeType.PYTHON),
        ("I would rather not.", CodeType.PYTHON),
    ],
)
def test_the_language_of_an_answer(answer: str, language: CodeType) -> None:
    assert language_of(answer) is language
