"""The validation subset, the judge study on it, and labels by people."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import Domain, Split
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile, UpstreamError, UsageError
from deepchart_dagster.llm.model import ImagePart
from deepchart_dagster.scoring.human_labels import (
    Labels,
    LabelStore,
    adjudicated,
    read_sheet,
    sheet_csv,
    sheet_items,
    shuffled,
)
from deepchart_dagster.scoring.judge_agreement import HUMAN, AgreementTables, format_agreement
from deepchart_dagster.scoring.judge_study import JudgeStudyStage
from deepchart_dagster.scoring.labelling_sheet import SheetWriter
from deepchart_dagster.scoring.validation_subset import (
    Candidate,
    SubsetDrawing,
    SubsetStore,
    ValidationSubset,
    draw,
)

SPLIT = Split.FINANCE_NORMAL
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")


def candidates(domain: Domain, n: int) -> list[Candidate]:
    return [Candidate(domain, SPLIT, "m", f"{domain.value}/{place}", place / n, f"{place:064}") for place in range(n)]


# Drawing


def test_twenty_of_each_tertile_of_each_domain() -> None:
    everything = [one for domain in Domain for one in candidates(domain, 150)]
    drawn = draw(everything)
    assert len(drawn) == 180
    for domain in Domain:
        for stratum, low, high in (("low", 0, 50), ("medium", 50, 100), ("high", 100, 150)):
            members = [one for one in drawn if one.candidate.domain is domain and one.stratum == stratum]
            assert len(members) == 20
            assert all(low <= one.candidate.primary_vas * 150 < high for one in members)


def test_the_draw_does_not_depend_on_the_order_of_what_there_is() -> None:
    everything = candidates(Domain.FINANCE, 90)
    assert draw(everything) == draw(reversed(everything))
    assert draw(everything) != draw(everything, seed=1)


def test_a_small_domain_gives_what_it_has() -> None:
    drawn = draw([*candidates(Domain.FINANCE, 7), *candidates(Domain.ACADEMIC, 1)])
    strata = [one.stratum for one in drawn if one.candidate.domain is Domain.FINANCE]
    assert (strata.count("low"), strata.count("medium"), strata.count("high")) == (2, 3, 2)
    assert len(drawn) == 8


# From a house with judged charts


@pytest.fixture
def judged_house(house: Any) -> Any:
    """q1 … q3: q1 drawn right, q2 with two bars exchanged, q3 not drawn."""
    house.add(*(house.query(f"q{number}") for number in (1, 2, 3)))
    for number in (2, 3):
        house.reference(f"q{number}", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(number))
    house.rubrics().run(SPLIT)
    house.chart("q1", house.bar_chart(30.0, 10.0, 20.0, 50.0), house.png_of(11))
    house.chart("q2", house.bar_chart(10.0, 30.0, 20.0, 5.0), house.png_of(12))
    house.visual().run(SPLIT, house.model)
    house.client.forget_counts()
    return house


def drawing(house: Any) -> SubsetDrawing:
    return SubsetDrawing(house.store, house.library, SubsetStore(house.root))


def study(house: Any) -> JudgeStudyStage:
    return JudgeStudyStage(
        store=house.store,
        subsets=SubsetStore(house.root),
        client=house.client,
        judges=house.judges,
        prompts=house.prompts,
        benchmarks=["mini"],
    )


@pytest.fixture
def subset(judged_house: Any) -> ValidationSubset:
    return drawing(judged_house).draw("mini", "judge")


def test_charts_and_questions_are_kept_as_they_were_judged(judged_house: Any, subset: ValidationSubset) -> None:
    assert {chart.uid for chart in subset.charts} == {"q1", "q2"}
    assert subset.n_eligible[Domain.FINANCE] == 2
    assert {chart.primary_vas for chart in subset.charts if chart.uid == "q1"} == {1.0}
    for chart in subset.charts:
        assert len(chart.questions) == 13
        assert SubsetStore(judged_house.root).chart("mini", chart) == judged_house.png_of(10 + int(chart.uid[1]))


def test_a_subset_stands_whatever_is_made_again(judged_house: Any, subset: ValidationSubset) -> None:
    judged_house.chart("q1", judged_house.bar_chart(1.0, 2.0, 3.0, 4.0), judged_house.png_of(99))
    judged_house.visual().run(SPLIT, judged_house.model)
    assert drawing(judged_house).draw("mini", "judge") == subset
    again = study(judged_house).run("judge")
    assert {result.value["vas"] for result in again.results} == {chart.primary_vas for chart in subset.charts}


def test_a_score_of_another_chart_or_judge_is_not_eligible(judged_house: Any) -> None:
    judged_house.chart("q1", judged_house.bar_chart(1.0, 2.0, 3.0, 4.0), judged_house.png_of(99))
    eligible = list(drawing(judged_house).candidates("mini", "judge"))
    assert [one.uid for one in eligible] == ["q2"]
    with pytest.raises(UpstreamError, match="other has judged no chart yet"):
        drawing(judged_house).draw("mini", "other")


def test_a_changed_chart_of_the_subset_is_named(judged_house: Any, subset: ValidationSubset) -> None:
    store = SubsetStore(judged_house.root)
    path = store.folder("mini") / "charts" / f"{subset.charts[0].id}.png"
    path.write_bytes(b"another")
    with pytest.raises(DamagedFile, match=rf"{subset.charts[0].id}\.png is missing or not the chart"):
        store.chart("mini", subset.charts[0])
    (store.folder("mini") / "subset.json").write_text("{}")
    with pytest.raises(DamagedFile, match="is no validation subset"):
        store.read("mini")


# The judge study


def test_the_primary_judge_costs_nothing_again_and_another_one_is_asked(
    judged_house: Any, subset: ValidationSubset
) -> None:
    stage = study(judged_house)
    stage.run("judge")
    assert judged_house.client.bought == []
    stage.run("other")
    assert len(judged_house.client.bought) == 2 * 13
    assert stage.run("other").n_computed == 0


def test_a_judge_is_told_nothing_but_question_and_chart(judged_house: Any, subset: ValidationSubset) -> None:
    study(judged_house).run("other")
    for request in judged_house.client.bought:
        text = " ".join(part.text for message in request.messages for part in message.parts if hasattr(part, "text"))
        pictures = [part for message in request.messages for part in message.parts if isinstance(part, ImagePart)]
        assert len(pictures) == 1
        assert not any(word in text for word in ("m1", "finance", "q1", "q2", "0.", "judge"))


def test_an_unknown_judge_is_wrong_usage(judged_house: Any) -> None:
    with pytest.raises(UsageError, match=r"no judge 'nobody'.*writer, judge, other"):
        study(judged_house).run("nobody")


def test_a_call_that_fails_is_an_error_and_no_verdict(
    judged_house: Any, subset: ValidationSubset, provider_down: Exception
) -> None:
    judged_house.client.instead = lambda request: provider_down
    summary = study(judged_house).run("other")
    assert (summary.n_error, summary.n_ok) == (2, 0)
    table = AgreementTables(judged_house.store, SubsetStore(judged_house.root)).make("mini")
    assert table.judges == ()


def test_judges_that_say_the_same_agree_wholly_and_one_that_says_no_does_not(
    judged_house: Any, subset: ValidationSubset
) -> None:
    stage = study(judged_house)
    stage.run("judge")
    judged_house.client.instead = lambda request: "perhaps" if request.model.slug == "other" else None
    stage.run("other")
    table = AgreementTables(judged_house.store, SubsetStore(judged_house.root)).make("mini")
    (pair,) = table.judges
    n_yes = sum(round(chart.primary_vas * 13) for chart in subset.charts)
    assert (pair.first, pair.second, pair.n_items, pair.n_charts) == ("judge", "other", 26, 2)
    assert pair.accuracy == pytest.approx((26 - n_yes) / 26)
    assert pair.mae == pytest.approx(sum(chart.primary_vas for chart in subset.charts) / 2)
    assert table.n_unclear == {"judge": 0, "other": 26}
    text = format_agreement(table)
    assert "judge – other" in text
    assert "counted as No: other 26." in text
    assert json.loads((SubsetStore(judged_house.root).folder("mini") / "agreement.json").read_text()) == table.as_json()


# Labels by people


def filled(path: Path, sheet: str, answers: dict[str, str]) -> Path:
    rows = list(csv.DictReader(sheet.splitlines()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "answer": answers.get(row["item"], "")} for row in rows)
    return path


def labels(subset: ValidationSubset, annotator: str, answers: dict[str, Any], role: Any = "annotator") -> Labels:
    return Labels(benchmark="mini", annotator=annotator, role=role, note="", answers=answers)


def test_a_sheet_tells_nothing_of_who_drew_what(subset: ValidationSubset) -> None:
    sheet = sheet_csv(shuffled(subset, "ann"))
    head, *lines = sheet.splitlines()
    assert head == "item,chart,question,answer"
    assert len(lines) == 26
    assert not any(word in sheet for word in ("m1", "finance", "q1", "q2", "presentation", "Yes"))


def test_each_annotator_has_an_order_and_keeps_it(subset: ValidationSubset) -> None:
    ann, bob = ([item.id for item in shuffled(subset, name)] for name in ("ann", "bob"))
    assert ann == [item.id for item in shuffled(subset, "ann")]
    assert ann != bob
    assert set(ann) == set(bob) == set(sheet_items(subset))
    charts = [item.chart.id for item in shuffled(subset, "ann")]
    assert len(list(dict.fromkeys(charts))) == 2
    assert charts == sorted(charts, key=charts.index)  # a chart's questions stand together


def test_two_people_and_a_third(judged_house: Any, subset: ValidationSubset) -> None:
    items = list(sheet_items(subset))
    ann = dict.fromkeys(items, "yes")
    bob: dict[str, Any] = {**ann, items[0]: "no", items[1]: "no"}
    del bob[items[2]]
    cleo = {items[0]: "no"}
    people = adjudicated(
        subset,
        [labels(subset, "ann", ann), labels(subset, "bob", bob), labels(subset, "cleo", cleo, "adjudicator")],
    )
    assert (people.n_agreed, people.n_adjudicated) == (23, 1)
    assert (people.open, people.unlabelled) == ((items[1],), (items[2],))
    assert sum(people.points.values()) == 23
    assert people.points[sheet_items(subset)[items[0]].place] == 0


def test_a_judge_is_set_against_the_human_labels(judged_house: Any, subset: ValidationSubset) -> None:
    study(judged_house).run("judge")
    store = LabelStore(SubsetStore(judged_house.root))
    everything = dict.fromkeys(sheet_items(subset), "yes")
    for name in ("ann", "bob"):
        store.add(labels(subset, name, everything))
    table = AgreementTables(judged_house.store, SubsetStore(judged_house.root)).make("mini")
    (pair,) = table.with_people
    n_yes = sum(round(chart.primary_vas * 13) for chart in subset.charts)
    assert (pair.first, pair.second) == ("judge", HUMAN)
    assert pair.accuracy == pytest.approx(n_yes / 26)
    assert table.people is not None
    assert (table.people.n_agreed, table.people.between.accuracy) == (26, 1.0)
    assert "Human labels: 26 items agreed, 0 adjudicated, 0 open" in format_agreement(table)


def test_a_third_annotator_and_one_alone_are_told_what_to_do(judged_house: Any, subset: ValidationSubset) -> None:
    store = LabelStore(SubsetStore(judged_house.root))
    answers = dict.fromkeys(sheet_items(subset), "no")
    store.add(labels(subset, "ann", answers))
    with pytest.raises(UsageError, match="labels of 1 annotators; two are needed"):
        adjudicated(subset, store.all("mini"))
    store.add(labels(subset, "bob", answers))
    store.add(labels(subset, "bob", answers))  # again: replaced
    with pytest.raises(UsageError, match=r"two annotators already: ann, bob.*--adjudicator"):
        store.add(labels(subset, "cleo", answers))
    with pytest.raises(UsageError, match="is no name"):
        store.add(labels(subset, "../x", answers))
    with pytest.raises(UsageError, match="three different people"):  # nor are ann's labels replaced by few answers
        store.add(labels(subset, "ann", answers, "adjudicator"))
    assert [(one.annotator, one.role) for one in store.all("mini")] == [("ann", "annotator"), ("bob", "annotator")]


def test_a_spreadsheet_computes_nothing_of_a_sheet(subset: ValidationSubset) -> None:
    """Models write the questions; and twelve hexadecimal digits may be a number, which it would round."""
    chart = subset.charts[0]
    questions = ['=HYPERLINK("https://x.example","y")', "+1", "-1", "@sum", "Is it =1?"]
    asked = tuple(
        one.model_copy(update={"question": text}) for one, text in zip(chart.questions, questions, strict=False)
    )
    charts = (chart.model_copy(update={"questions": asked}), *subset.charts[1:])
    hostile = subset.model_copy(update={"charts": charts})
    rows = list(csv.DictReader(sheet_csv(sheet_items(hostile).values()).splitlines()))
    assert [row["question"] for row in rows[:5]] == [f"'{text}" for text in questions[:4]] + ["Is it =1?"]
    assert all(row["item"].isalnum() and row["item"][0].isalpha() for row in rows)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "does not name the columns item and answer"),
        (b"ITEM,Yes\n", "does not name the columns"),
        (b"item,answer,answer\nITEM,Yes,No\n", "does not name the columns"),
        (b"item,answer\n\nITEM,Yes\nnothing,Yes\n", "line 4: 'nothing' is no item"),  # of the file, not of the rows
        (b"\xff\xfei\x00t\x00e\x00m\x00", "is no CSV file in UTF-8"),
        pytest.param(b"item,answer\nITEM," + b"x" * 200_000, "is no CSV file", id="one long cell"),
        pytest.param(b" " * ((16 << 20) + 1), "is too large", id="16 MiB"),
    ],
)
def test_what_is_no_sheet_is_refused(subset: ValidationSubset, tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content.replace(b"ITEM", next(iter(sheet_items(subset))).encode()))
    with pytest.raises(BenchmarkFormatError, match=complaint):
        read_sheet(path, subset)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([["nothing", "c", "q", "Yes"]], r"line 2: 'nothing' is no item of the subset of mini"),
        ([["ITEM", "c", "q", "maybe"]], r"line 2: the answer is 'maybe'; write Yes or No"),
        ([["ITEM", "c", "q", "Yes"], ["ITEM", "c", "q", "no"]], r"line 3: item \w+ has two different answers"),
        ([["ITEM", "c", "q", ""]], "has no answers"),
    ],
)
def test_a_bad_sheet_is_named_with_its_line(
    subset: ValidationSubset, tmp_path: Path, rows: list[list[str]], complaint: str
) -> None:
    item = next(iter(sheet_items(subset)))
    path = tmp_path / "sheet.csv"
    lines = [
        ["item", "chart", "question", "answer"],
        *([item if cell == "ITEM" else cell for cell in row] for row in rows),
    ]
    path.write_text("\n".join(",".join(line) for line in lines), encoding="utf-8")
    with pytest.raises(BenchmarkFormatError, match=complaint):
        read_sheet(path, subset)


def test_a_spreadsheets_csv_is_read(subset: ValidationSubset, tmp_path: Path) -> None:
    items = list(sheet_items(subset))
    answers = {items[0]: "YES", items[1]: " n "}
    path = filled(tmp_path / "sheet.csv", sheet_csv(shuffled(subset, "ann")), answers)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # Excel's byte order mark, and CRLF line ends
    assert read_sheet(path, subset) == {items[0]: "yes", items[1]: "no"}
    for delimiter in (";", "\t"):  # what it writes where a comma stands in numbers
        lines = [delimiter.join(row) for row in (("item", "question", "answer"), (items[0], '"a, b"', "Yes"))]
        path.write_text("\r\n".join([*lines, lines[-1], ""]), encoding="utf-8")
        assert read_sheet(path, subset) == {items[0]: "yes"}


def test_a_sheet_is_never_written_over_another(judged_house: Any, subset: ValidationSubset, tmp_path: Path) -> None:
    (tmp_path / "sheet").mkdir()
    writer = SheetWriter(SubsetStore(judged_house.root), subset)
    with pytest.raises(UsageError, match="is there already"):
        writer.write(tmp_path / "sheet", "ann", shuffled(subset, "ann"))
    with pytest.raises(UsageError, match="is no name for labels"):  # it would stand in the page's script
        writer.write(tmp_path / "another", 'ann"\n', shuffled(subset, "ann"))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_works_from_disk_keeps_its_state_and_exports(
    judged_house: Any, subset: ValidationSubset, tmp_path: Path
) -> None:
    from playwright.sync_api import sync_playwright

    folder = tmp_path / "sheet"
    SheetWriter(SubsetStore(judged_house.root), subset).write(folder, "ann", shuffled(subset, "ann"))
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=CHROMIUM, args=["--no-sandbox"], accept_downloads=True
        )
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((folder / "sheet.html").as_uri())
        assert page.inner_text("#count") == "0 of 26 answered"
        page.locator("fieldset").nth(0).locator("input[value=Yes]").check()
        page.locator("fieldset").nth(1).locator("input[value=No]").focus()
        page.keyboard.press("n")
        page.keyboard.press("y")  # the focus went on to the third
        page.reload()
        assert page.inner_text("#count") == "3 of 26 answered"
        page.get_by_role("button", name="Next without answer").click()
        assert page.evaluate("document.activeElement.closest('fieldset') === document.querySelectorAll('fieldset')[3]")
        shown = page.evaluate("[...document.images].filter(image => image.naturalWidth > 0).length")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        name = download.value.suggested_filename
        download.value.save_as(tmp_path / "answers.csv")
        context.close()
    assert shown == 2
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    assert name == "ann-answers.csv"
    first, second, third = (item.id for item in shuffled(subset, "ann")[:3])
    assert read_sheet(tmp_path / "answers.csv", subset) == {first: "yes", second: "no", third: "yes"}
