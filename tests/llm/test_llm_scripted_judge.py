"""The scripted rubric writer and judge: what they ask and answer of usual charts, of changed and of forged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted_charts import COUNTS, USUAL_CHARTS, Json, Room, bars, drawing_of, drawn, legend, ticks

from deepchart_dagster.llm.scripted import judge, rubric_writer
from deepchart_dagster.llm.scripted.questions import parse_question


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.mark.parametrize("name", USUAL_CHARTS)
@pytest.mark.parametrize("aspect", COUNTS)
def test_every_usual_chart_gets_the_papers_counts_and_confirms_each_question(
    room: Room, name: str, aspect: str
) -> None:
    image = room.picture(USUAL_CHARTS[name], name)
    questions = room.write(aspect, image)
    fewest, most = COUNTS[aspect]
    assert fewest <= len(questions) <= most
    assert len(set(questions)) == len(questions)
    assert [room.judge(question, image) for question in questions] == ["Yes"] * len(questions)


def test_the_questions_about_a_bar_chart_are_these(room: Room) -> None:
    image = room.picture(USUAL_CHARTS["bars with everything"], "x")
    assert room.write("instruction compliance", image) == [
        "Does the chart show bars?",
        "Are the bars vertical?",
        "Is the number of separate series drawn as bars exactly 1?",
        "Does the chart consist of exactly 1 panel?",
        "Is the number of bars in the whole chart exactly 4?",
    ]
    assert room.write("data mapping topology", image) == [
        "Does “2022” have the highest value of all?",
        "Is the value drawn for “2019” greater than the value drawn for “2021”?",
        "Is the value drawn for “2021” greater than the value drawn for “2020”?",
    ]
    assert room.write("presentation quality", image) == [
        "Does the chart have a title?",
        "Does the vertical axis have a label that says what it shows?",
        "Is “US$ millions” named as the unit of the vertical axis?",
        "Does a legend name “Revenue”?",
        "Is the number of different entries of the legend exactly 1?",
    ]


def test_around_a_circle_nothing_is_vertical_or_to_the_left(room: Room) -> None:
    image = room.picture(USUAL_CHARTS["bars around a circle"], "x")
    assert room.write("instruction compliance", image) == [
        "Does the chart show bars?",
        "Are the values drawn around a circle, from its centre outwards?",
        "Is the number of separate series drawn as bars exactly 1?",
        "Does the chart consist of exactly 1 panel?",
        "Is the number of bars in the whole chart exactly 3?",
    ]
    for question in (
        "Are the bars vertical?",
        "Read from left to right, or from top to bottom, is “2019” the first category of the bars and “2021” the last?",
        "Do the values on the vertical axis increase from bottom to top?",
    ):
        assert room.judge(question, image) == "No"
        assert room.judge(question, room.picture(USUAL_CHARTS["bare bars"], "y")) == "Yes"
    assert (
        room.judge(
            "Are the values drawn around a circle, from its centre outwards?",
            room.picture(USUAL_CHARTS["bare bars"], "y"),
        )
        == "No"
    )


def test_violins_are_asked_for(room: Room) -> None:
    asked = room.write("instruction compliance", room.picture(USUAL_CHARTS["violins with medians"], "x"))
    assert asked[:2] == ["Does the chart show individual points?", "Does the chart show violins?"]


def test_questions_named_in_the_prompt_are_not_asked_again(room: Room) -> None:
    image = room.picture(USUAL_CHARTS["bars with everything"], "x")
    first = room.write("data mapping topology", image)
    again = room.write("data mapping topology", image, "Others than:\n" + "\n".join(f"- {text}" for text in first))
    assert len(again) >= 2
    assert not set(first) & set(again)


@pytest.mark.parametrize(
    ("question", "changed"),
    [
        ("Are the bars vertical?", {"orientation": "horizontal"}),
        ("Is the number of bars in the whole chart exactly 3?", {"values": [3.0, None, 2.0]}),
        ("Does “2019” have the highest value of all?", {"values": [3.0, 4.0, 2.0]}),
        ("Does “2020” have the lowest value of all?", {"values": [3.0, 2.0, 2.0]}),
        ("Is the value drawn for “2021” greater than the value drawn for “2020”?", {"values": [3.0, 2.0, 1.0]}),
        ("Does the value drawn for “2020” lie above zero?", {"values": [3.0, -1.0, 2.0]}),
        ("Does the chart show a value for “2021”?", {"categories": ["2019", "2020", "2022"]}),
        (
            "Read from left to right, or from top to bottom, is “2019” the first category of the bars "
            "and “2021” the last?",
            {"categories": ["2021", "2020", "2019"]},
        ),
        ("Is every bar, point, slice or cell drawn, so that none is missing?", {"values": [3.0, None, 2.0]}),
        ("Do all bars and points lie completely inside their axes?", {"values": [3.0, 1.0, 900.0]}),
        ("Does every bar stand at a named category?", {"categories": ["2019", "", ""], "positions": [0.0]}),
    ],
)
def test_a_changed_chart_changes_the_answer(room: Room, question: str, changed: Json) -> None:
    mark = bars([3.0, 1.0, 2.0])
    assert room.judge(question, room.picture(drawn(mark), "right")) == "Yes"
    assert room.judge(question, room.picture(drawn({**mark, **changed}), "wrong")) == "No"


@pytest.mark.parametrize(
    ("question", "axes"),
    [
        ("Does the chart have a title?", {"title": ""}),
        ("Does the vertical axis have a label that says what it shows?", {"ylabel": " "}),
        ("Is “US$” named as the unit of the vertical axis?", {"ylabel": "Revenue (EUR)"}),
        ("Does a legend name “A”?", {"legend": legend("B", "C")}),
        ("Is the number of different entries of the legend exactly 2?", {"legend": None}),
        ("Do the values on the vertical axis increase from bottom to top?", {"ylim": [200.0, -200.0]}),
        (
            "Does the vertical axis have at least two labelled ticks, all labelled differently?",
            {"yticks": ticks(["0", "0"])},
        ),
        ("Does the value axis of the bars include zero?", {"ylim": [1.0, 200.0]}),
    ],
)
def test_a_reader_misses_what_is_taken_away(room: Room, question: str, axes: Json) -> None:
    labelled = [{"at": 0.0, "label": "0"}, {"at": 100.0, "label": "100"}]
    whole = {"title": "T", "ylabel": "Revenue (US$)", "legend": legend("A", "B"), "yticks": labelled}
    mark = bars([3.0, 1.0, 2.0])
    assert room.judge(question, room.picture(drawn(mark, **whole), "right")) == "Yes"
    assert room.judge(question, room.picture(drawn(mark, **{**whole, **axes}), "wrong")) == "No"


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("two lines", "Does the line rise from “2019” to “2021” in the series “A”?"),
        ("two lines", "Does the line fall from “2019” to “2021” in the series “B”?"),
        ("two lines", "At “2019”, is the value of the series “B” greater than the value of the series “A”?"),
        ("two lines", "Does every line run from “2019” to “2021”?"),
        ("two lines", "Can all series be told apart by their colours?"),
        ("scatter", "Do the points tend to rise from left to right?"),
        ("scatter", "Does the highest point lie further to the right than the lowest point?"),
        ("dumbbell", "At “Go”, is the value of the series “after” greater than the value of the series “before”?"),
        ("heat map", "Is the cell in row “b” and column “x” the one with the highest value?"),
        ("heat map", "Is the value in row “a” and column “y” greater than in row “a” and column “x”?"),
        ("heat map", "Does the grid have exactly 2 rows and 2 columns?"),
        ("stacked bars", "Are the bars of one category stacked on one another?"),
        ("grouped bars with error bars", "Are the bars of one category placed side by side?"),
        ("grouped bars with error bars", "Is the number of error bars in the whole chart exactly 4?"),
        ("pie", "Does “a” have the highest value of all?"),
        ("boxes", "Is the value drawn for “KO” greater than the value drawn for “WT”?"),
    ],
)
def test_relations_hold_for_their_chart_and_not_for_another(room: Room, name: str, question: str) -> None:
    assert room.judge(question, room.picture(USUAL_CHARTS[name], name)) == "Yes"
    assert room.judge(question, room.picture(USUAL_CHARTS["bare bars"], "other")) == "No"


def test_everything_else_is_unclear(room: Room) -> None:
    known = room.picture(USUAL_CHARTS["bare bars"], "known")
    question = "Does the chart show bars?"
    assert room.judge(question, known) == "Yes"
    assert room.judge("Is the chart beautiful?", known) == "unclear"
    assert room.judge("does the chart show bars?", known) == "unclear"
    assert room.judge(question, room.picture(None, "never drawn here")) == "unclear"
    assert room.judge(question, None) == "unclear"
    assert room.send(judge.answer, "", "Does the chart show bars?", known).text == "unclear"


@pytest.mark.parametrize(
    "forged",
    [
        [],
        "text",
        {**drawn(), "figures": []},
        {**drawn(bars([1.0])), "format": "deepchart-drawn/2"},
        drawn({**bars([1.0]), "values": "many"}),
        drawn({**bars([1.0, 2.0, 3.0]), "values": [1.0, "2", 3.0]}),
        drawn({**bars([1.0, 2.0, 3.0]), "values": [1.0, True, 3.0]}),
        drawn({"type": "sculpture"}),
    ],
)
def test_forged_drawn_data_is_unclear(room: Room, forged: Any) -> None:
    image = room.picture(None, "forged")
    room.evidence.put("drawn", image.sha256, forged)
    assert room.judge("Does the chart show bars?", image) == "unclear"


def test_numbers_that_are_none_are_not_drawn(room: Room) -> None:
    image = room.picture(drawn(bars([1.0, None, None])), "odd")
    assert room.judge("Is the number of bars in the whole chart exactly 1?", image) == "Yes"


def test_the_writer_says_when_it_cannot_see_or_does_not_know_the_aspect(room: Room) -> None:
    unseen = room.picture(None, "never drawn here")
    reply = room.send(rubric_writer.answer, "Aspect: presentation quality", "", unseen)
    assert (reply.finish_reason, reply.text) == ("refusal", "I cannot see what this picture draws.")
    reply = room.send(rubric_writer.answer, "Aspect: beauty", "", room.picture(drawn(bars([1.0])), "x"))
    assert reply.finish_reason == "refusal"


def test_labels_that_stand_on_one_another_are_seen() -> None:
    """A horizontal axis of 640 pixels (0.8 of 800): 41 ticks are 16 pixels apart, 101 are 6.4."""
    question = parse_question("Do the tick labels of the horizontal axis stand clear of one another?")
    assert question is not None
    for count, expected in ((11, True), (41, True), (101, False)):
        labelled = [{"at": 10.0 * at / (count - 1), "label": str(at)} for at in range(count)]
        data = drawn(bars([3.0, 1.0]), xlim=[0.0, 10.0], xticks=labelled)
        assert question.holds(drawing_of(data)) is expected
    reversed_axis = drawn(bars([3.0]), xlim=[10.0, 0.0], xticks=[{"at": at, "label": "x"} for at in (1.0, 1.05)])
    assert not question.holds(drawing_of(reversed_axis))
    assert not question.holds(drawing_of(drawn(bars([3.0])))), "no labels are none that can be read"
    sparse = [{"at": at / 10, "label": "" if at % 10 else str(at)} for at in range(100)]
    assert question.holds(drawing_of(drawn(bars([3.0]), xlim=[0.0, 10.0], xticks=sparse)))


# What is in the drawn data and cannot be seen in the picture (found by people's labels, docs/judge-study).


def test_a_line_across_the_axes_connects_nothing(room: Room) -> None:
    def segments(*ends: list[list[float | None]]) -> Json:
        return {"type": "segments", "label": "", "color": None, "segments": [ends]}

    connecting = "Does the chart show separate segments, each between two points?"
    reference = "Does the chart show straight reference lines across the axes?"
    for rule in (segments([None, 5.0], [None, 5.0]), segments([5.0, None], [5.0, None])):
        image = room.picture(drawn(bars([3.0, 1.0]), rule), str(rule))
        assert (room.judge(connecting, image), room.judge(reference, image)) == ("No", "Yes")
        assert reference in room.write("instruction compliance", image)
    between = room.picture(drawn(segments([1.0, 5.0], [2.0, 5.0])), "between")
    assert (room.judge(connecting, between), room.judge(reference, between)) == ("Yes", "No")


def test_an_axis_without_labels_runs_in_no_direction(room: Room) -> None:
    question = "Do the values on the vertical axis increase from bottom to top?"
    for labels, answer in ((["0", "5"], "Yes"), (["", ""], "No"), ([], "No"), (["0"], "No")):
        assert room.judge(question, room.picture(drawn(bars([3.0]), yticks=ticks(labels)), str(labels))) == answer
    page = {**drawn(bars([3.0])), "library": "Chart.js"}
    assert room.judge(question, room.picture(page, "page")) == "Yes", "pages do not tell the labels of their values"
    panels = drawn(bars([3.0]), yticks=ticks(["0", "5"]))
    main = panels["figures"][0]["axes"][0]
    panels["figures"][0]["axes"].append({**main, "box": [0.5, 0.1, 0.4, 0.8], "yticks": []})
    assert room.judge(question, room.picture(panels, "shared")) == "Yes"


def test_a_bar_of_less_than_a_pixel_is_not_seen(room: Room) -> None:
    """480 pixels for 480: one is a pixel."""
    image = room.picture(drawn(bars([300.0, 0.9, 0.1, 1.2]), ylim=[0.0, 480.0]), "x")
    for question, answer in (
        ("Is the number of bars in the whole chart exactly 2?", "Yes"),
        ("Is the number of bars in the whole chart exactly 4?", "No"),
        ("Is the value drawn for “2020” greater than the value drawn for “2021”?", "No"),
        ("Is the value drawn for “2022” greater than the value drawn for “2021”?", "Yes"),
        ("Does “2021” have the lowest value of all?", "No"),
        ("Does “2019” have the highest value of all?", "Yes"),
        ("Does the value drawn for “2020” lie above zero?", "No"),
        ("Does the value drawn for “2019” lie above zero?", "Yes"),
    ):
        assert room.judge(question, image) == answer, question
    circle = room.picture(drawn(bars([300.0, 1.9, 0.1]), projection="polar", ylim=[0.0, 480.0]), "240 pixels outwards")
    assert room.judge("Is the number of bars in the whole chart exactly 1?", circle) == "Yes"
    unknown = room.picture(drawn(bars([300.0, 0.9, 0.1]), ylim=[None, None]), "unknown")
    assert room.judge("Is the value drawn for “2020” greater than the value drawn for “2021”?", unknown) == "Yes"


def test_bars_that_go_up_and_down_from_one_line_are_stacked(room: Room) -> None:
    question = "Are the bars of one category stacked on one another?"
    for up, down, answer in (
        ([3.0, 1.0], [-2.0, -4.0], "Yes"),
        ([3.0, -1.0], [-2.0, 4.0], "Yes"),
        ([3.0], [2.0], "No"),
    ):
        image = room.picture(drawn(bars(list(up), "A"), bars(list(down), "B")), f"{up} {down}")
        assert room.judge(question, image) == answer


def test_ticks_that_lie_on_one_another_cannot_be_told_apart(room: Room) -> None:
    question = "Does the vertical axis have at least two labelled ticks, all labelled differently?"
    for gap, answer in ((10.0, "Yes"), (1.0, "No")):
        labelled = [{"at": gap * at, "label": f"tick {at}"} for at in range(3)]
        assert room.judge(question, room.picture(drawn(bars([3.0]), yticks=labelled), str(gap))) == answer


def test_names_that_no_word_of_the_picture_gives_are_not_known(room: Room) -> None:
    lines = [
        {"type": "line", "label": label, "color": None, "x": [2019.0, 2020.0], "y": y, "marker": True}
        for label, y in (("A", [100.0, 150.0]), ("B", [50.0, 20.0]))
    ]
    at = [{"at": 2019.0, "label": "2019"}, {"at": 2020.0, "label": "2020"}]
    of_series = "At “2019”, is the value of the series “A” greater than the value of the series “B”?"
    of_place = "Is the value drawn for “2019” greater than the value drawn for “2020”?"
    for words, series, place in (
        ({"xticks": at, "legend": legend("A", "B")}, "Yes", "No"),
        ({"xticks": at, "texts": [{"text": name, "x": 1.0, "y": 1.0} for name in "AB"]}, "Yes", "No"),
        ({"xticks": at}, "No", "No"),
        ({"legend": legend("A", "B")}, "No", "No"),
    ):
        image = room.picture(drawn(*lines, **words), str(words))
        assert (room.judge(of_series, image), room.judge(of_place, image)) == (series, place)
    falling = [room.picture(drawn(lines[1], xticks=labels), str(labels)) for labels in (at, [])]
    assert [room.judge(of_place, image) for image in falling] == ["Yes", "No"]
    bare = {"categories": ["2019", "2020"], "positions": [2019.0, 2020.0]}
    named = "Does every bar stand at a named category?"
    pictures = [room.picture(drawn(bars([3.0, 1.0], **bare), xticks=labels), f"bars {labels}") for labels in (at, [])]
    assert [room.judge(named, image) for image in pictures] == ["Yes", "No"]
