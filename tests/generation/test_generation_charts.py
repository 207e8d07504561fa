"""Stage 2: asked about J only, not asked where there is none, and what is kept of a chart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.results import Status
from deepchart_dagster.benchmark.model import CodeType, Split
from deepchart_dagster.errors import ProviderTimeout, UpstreamError, UsageError
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.generation.preview import preview
from deepchart_dagster.llm.scripted import oracle

GROWTH, MARGIN = "t/growth", "t/margin"
NORMAL = Split.FINANCE_NORMAL
STATES, CHARTS = "predicted_states", "rendered_charts"

DRAWN = {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": []}


def run_both(house):
    house.states().run(NORMAL, house.model)
    return house.charts().run(NORMAL, house.model)


def test_a_chart_is_kept_with_its_size_and_what_it_draws(house) -> None:
    house.runner.drawn = DRAWN
    summary = run_both(house)
    assert (summary.n_ok, summary.n_total) == (2, 2)
    result = house.result(CHARTS)
    assert result.value == {"backend": "python", "width": 300, "height": 200}
    assert sorted(result.files) == ["answer.txt", "chart.png", "drawn.json", "messages.json", "program.py"]
    assert house.evidence.get("drawn", sha256_file(house.folder(CHARTS) / "chart.png")) == DRAWN


def test_what_could_not_be_seen_leaves_no_evidence(house) -> None:
    run_both(house)
    assert "drawn.json" not in house.result(CHARTS).files
    assert house.evidence.get("drawn", sha256_file(house.folder(CHARTS) / "chart.png")) is None


def test_stage_2_sees_j_and_the_intent_and_never_the_context(house) -> None:
    run_both(house)
    requests = {request.messages[-1].parts[0].text for request in house.provider.asked if request.purpose == "stage2"}
    assert len(requests) == 2
    text = next(text for text in requests if "growth" in text)
    assert "Code type: python\nChart type: Bar Chart\nChart purpose: Draw with python the growth" in text
    _, _, shown = text.partition("Data (JSON):\n")
    assert json.loads(shown) == json.loads((house.folder(STATES) / "state.json").read_text())
    assert not any("Balance_Sheet" in text or "revenue of t/" in text for text in requests)


def test_an_invalid_state_ends_the_instance_without_a_call(house) -> None:
    house.provider.answers["stage1"] = "I cannot."
    summary = run_both(house)
    assert (summary.n_failed, summary.n_error) == (2, 0)
    result = house.result(CHARTS)
    assert (result.status, result.problem.kind) == (Status.FAILED, "invalid_state")
    assert "no_code" in result.problem.message
    assert [request.purpose for request in house.provider.asked] == ["stage1", "stage1"]


def test_an_error_of_stage_1_is_an_error_here_too(house) -> None:
    house.provider.answers["stage1"] = ProviderTimeout("no answer.")
    summary = run_both(house)
    assert (summary.n_error, summary.n_failed) == (2, 0)
    assert {problem.kind for problem in summary.errors} == {"UpstreamError"}
    assert (
        "Try again: deepchart materialize predicted_states --split finance-normal --model m."
        in summary.errors[0].message
    )


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("", "empty_answer"),
        ("No chart today.", "no_code"),
        ("import sys\nsys.exit(1)", "crash"),
        ("print(1)", "no_output"),
    ],
)
def test_what_the_model_does_wrong_is_a_failure_of_its_kind(house, answer: str, kind: str) -> None:
    house.provider.answers["stage2"] = answer
    run_both(house)
    assert house.result(CHARTS).problem.kind == kind


def test_a_second_run_computes_nothing(house) -> None:
    run_both(house)
    house.provider.asked.clear()
    summary = house.charts().run(NORMAL, house.model)
    assert (summary.n_reused, summary.n_total, house.provider.asked) == (2, 2, [])


def test_a_state_that_somebody_edited_is_not_drawn(house) -> None:
    house.states().run(NORMAL, house.model)
    path = house.folder(STATES) / "state.json"
    path.write_text(path.read_text().replace("100.0", "999.0"))
    summary = house.charts().run(NORMAL, house.model)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    assert "state.json was changed after predicted_states made it" in summary.errors[0].message
    assert [request.purpose for request in house.provider.asked].count("stage2") == 1


def test_a_new_version_of_a_scripted_model_draws_anew(house, monkeypatch: pytest.MonkeyPatch) -> None:
    house.model = house.model.model_copy(update={"litellm_model": "scripted/oracle"})
    run_both(house)
    assert house.charts().run(NORMAL, house.model).n_computed == 0
    monkeypatch.setattr(oracle, "VERSION", "another")
    assert house.charts().run(NORMAL, house.model).n_computed == 2
    assert house.result(CHARTS).key_parts["program"].startswith("another, files ")


def test_the_same_j_from_another_answer_is_not_drawn_again(house) -> None:
    run_both(house)
    house.provider.answers["stage1"] = "Here you are:\n```python\n" + house.provider.answers["stage1"] + "```\n"
    house.put_context(GROWTH, NORMAL, {"Balance_Sheet.md": "the same values, told differently"})
    assert house.states().run(NORMAL, house.model).n_computed == 1
    assert house.charts().run(NORMAL, house.model).n_computed == 0


def test_another_j_is_drawn_again(house) -> None:
    run_both(house)
    house.provider.answers["stage1"] = house.provider.answers["stage1"].replace("0.04", "0.05")
    house.put_context(GROWTH, NORMAL, {"Balance_Sheet.md": "other"})
    house.states().run(NORMAL, house.model)
    assert house.charts().run(NORMAL, house.model).computed_uids == {GROWTH}


def test_html_is_asked_for_by_name_and_kept_as_a_page(house) -> None:
    house.states().run(NORMAL, house.model)
    house.provider.answers["stage2"] = "no page"
    house.charts(backend=CodeType.HTML).run(NORMAL, house.model)
    text = house.provider.asked[-1].messages[-1].parts[0].text
    assert "Code type: html\n" in text
    assert "Draw with html the" in text
    assert house.result(CHARTS).key_parts["backend"] == "html"


def test_a_preview_is_what_is_sent(house) -> None:
    def shown(stage: int, uid: str = GROWTH):
        return preview(uid, house.model, NORMAL, stage, states=house.states(), charts=house.charts())

    with pytest.raises(UpstreamError, match="deepchart materialize predicted_states"):
        shown(2)
    before = shown(1)
    assert house.provider.asked == []
    run_both(house)
    asked = [request for request in house.provider.asked if "growth" in request.messages[-1].parts[0].text]
    assert [request.messages for request in asked] == [before.messages, shown(2).messages]
    assert before.given["cut"] is None
    assert before.text_tokens == before.given["fixed_tokens"] + before.given["context_tokens"]
    assert before.as_text().startswith("== system ==\n")
    assert "cut: nothing" in before.as_text()
    assert before.as_json()["messages"][1]["parts"][0]["text"] == before.messages[1].parts[0].text
    with pytest.raises(UsageError, match="It is in: finance-normal"):
        preview(GROWTH, house.model, Split.FINANCE_LONG, 1, states=house.states(), charts=house.charts())


def test_a_preview_of_pictures_counts_and_names_them(house) -> None:
    shown = preview("t/report", house.model, Split.ECOSYSTEM, 1, states=house.states(), charts=house.charts())
    assert (shown.n_pictures, shown.picture_tokens) == (3, 6000)
    assert shown.as_text().count("[image/jpeg, 1500 × 1000 pixels, sha256 ") == 3


MATPLOTLIB_PROGRAM = """import sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(6, 4), dpi=100)
axes.bar(["2021", "2022"], [0.2, 0.04])
axes.set_title("Margin")
figure.savefig(sys.argv[1])
"""


@pytest.mark.slow
def test_both_stages_run_their_programs_in_the_real_sandbox(house, tmp_path: Path) -> None:
    house.provider.answers["stage2"] = f"```python\n{MATPLOTLIB_PROGRAM}```"
    with LocalRunner(workers=2, cache=tmp_path / "cache") as runner:
        house.runner = runner
        summary = run_both(house)
    assert summary.n_ok == 2, summary
    result = house.result(CHARTS)
    assert result.value == {"backend": "python", "width": 600, "height": 400}
    drawn = json.loads((house.folder(CHARTS) / "drawn.json").read_text())
    assert drawn["figures"][0]["axes"][0]["marks"][0]["values"] == [0.2, 0.04]
    assert house.evidence.get("drawn", result.files["chart.png"].sha256) == drawn
