"""The scripted rubric writer and judge: every question written is read back and true of its own chart."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.llm.model import ImagePart, Message, TextPart
from deepchart_dagster.llm.scripted import judge, questions_topology, rubric_writer
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.drawing import Drawing, read_drawing
from deepchart_dagster.llm.scripted.proposals import compliance, presentation, topology
from deepchart_dagster.llm.scripted.questions import FORMS, parse_question
from deepchart_dagster.llm.scripted.questions_presentation import unit_of
from deepchart_dagster.llm.scripted.rubric_writer import true_questions

Json = dict[str, Any]
COUNTS = {"instruction compliance": (3, 5), "data mapping topology": (2, 3), "presentation quality": (3, 5)}
YEARS = ["2019", "2020", "2021", "2022"]


def drawn(*marks: Json, **axes: Any) -> Json:
    plain: Json = {
        "title": "",
        "projection": "rectilinear",
        "box": [0.1, 0.1, 0.8, 0.8],
        "xlabel": "",
        "ylabel": "",
        "xscale": "linear",
        "yscale": "linear",
        "xlim": [-1.0, 10.0],
        "ylim": [-200.0, 200.0],
        "xticks": [],
        "yticks": [],
        "legend": None,
        "texts": [],
        "marks": list(marks),
    }
    figure = {"title": "", "width_px": 800, "height_px": 600, "texts": [], "axes": [{**plain, **axes}]}
    return {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": [figure]}


def bars(values: list[float | None], label: str = "", offset: float = 0.0, **more: Any) -> Json:
    return {
        "type": "bars",
        "label": label,
        "color": "#1f77b4",
        "orientation": "vertical",
        "categories": YEARS[: len(values)],
        "positions": [index + offset for index in range(len(values))],
        "values": values,
        "bases": [0.0] * len(values),
        **more,
    }


def line(values: list[float], label: str = "", color: str = "#ff7f0e") -> Json:
    x = [2019.0 + index for index in range(len(values))]
    return {"type": "line", "label": label, "color": color, "x": x, "y": values, "marker": True}


def points(x: list[Any], y: list[Any], label: str = "") -> Json:
    return {"type": "scatter", "label": label, "color": "#1f77b4", "x": x, "y": y, "sizes": []}


def ticks(labels: list[str]) -> list[Json]:
    return [{"at": float(index), "label": label} for index, label in enumerate(labels)]


def legend(*labels: str) -> Json:
    return {"title": "", "entries": [{"label": label, "color": f"#{index:06x}"} for index, label in enumerate(labels)]}


def error_bars(count: int) -> Json:
    centers = [float(index) for index in range(count)]
    return {
        "type": "errorbars",
        "label": "",
        "orientation": "vertical",
        "centers": centers,
        "low": [1.0] * count,
        "high": [2.0] * count,
    }


USUAL_CHARTS: dict[str, Json] = {
    "bare bars": drawn(bars([3.0, 1.0, 2.0])),
    "bars with everything": drawn(
        bars([3.0, 1.0, 2.0, 5.0], "Revenue"),
        title="Revenue",
        xlabel="Year",
        ylabel="Revenue (US$ millions)",
        xticks=ticks(YEARS),
        yticks=ticks(["0", "2", "4"]),
        legend=legend("Revenue"),
    ),
    "grouped bars with error bars": drawn(
        bars([3.0, 1.0], "WT", 0.0),
        error_bars(2),
        bars([2.0, 4.0], "KO", 0.4),
        error_bars(2),
        legend=legend("WT", "KO"),
    ),
    "stacked bars": drawn(bars([3.0, 1.0], "A"), bars([2.0, 4.0], "B", bases=[3.0, 1.0]), legend=legend("A", "B")),
    "line": drawn(line([1.0, 3.0, 2.0]), xlim=[2018.9, 2021.1]),
    "two lines": drawn(
        line([1.0, 3.0, 2.0], "A"), line([4.0, 1.0, 0.5], "B", "#000000"), legend=legend("A", "B"), xlim=[2018, 2022]
    ),
    "scatter": drawn(points([1.0, 2.0, 3.0], [1.0, 4.0, 5.0])),
    "horizontal bars": drawn(
        bars([3.0, 1.0, 2.0], orientation="horizontal"), ylim=[2.5, -0.5], xlim=[0.0, 4.0], yticks=ticks(YEARS[:3])
    ),
    "dumbbell": drawn(
        {
            "type": "segments",
            "label": "",
            "color": None,
            "segments": [[[1.0, 0.0], [2.0, 0.0]], [[3.0, 1.0], [5.0, 1.0]]],
        },
        points([1.0, 3.0], [0.0, 1.0], "before"),
        points([2.0, 5.0], [0.0, 1.0], "after"),
        yticks=ticks(["Rust", "Go"]),
        legend=legend("before", "after"),
    ),
    "heat map": drawn(
        {"type": "heatmap", "label": "", "rows": ["a", "b"], "columns": ["x", "y"], "values": [[1.0, 2.0], [3.0, 0.0]]},
        ylim=[1.5, -0.5],
        xticks=ticks(["x", "y"]),
        yticks=ticks(["a", "b"]),
    ),
    "pie": drawn({"type": "pie", "labels": ["a", "b", "c"], "fractions": [0.5, 0.3, 0.2]}, xlim=[-1, 1], ylim=[-1, 1]),
    "boxes": drawn(
        {
            "type": "boxes",
            "labels": ["WT", "KO"],
            "medians": [2.0, 5.0],
            "q1": [1.0, 4.0],
            "q3": [3.0, 6.0],
            "low": [0.0, 3.0],
            "high": [4.0, 7.0],
        },
        title="t",
        xticks=ticks(["WT", "KO"]),
        yticks=ticks(["0", "5"]),
    ),
    "area": drawn(
        {
            "type": "area",
            "label": "",
            "color": None,
            "x": [1.0, 2.0, 3.0],
            "low": [0.0, 0.0, 0.0],
            "high": [1.0, 2.0, 4.0],
        },
        ylabel="Users",
        xticks=ticks(["1", "2"]),
        yticks=ticks(["0", "2"]),
    ),
    "one bar": drawn(bars([3.0])),
    "equal bars": drawn(bars([3.0, 3.0, 3.0])),
}


class Room:
    """A scripted judge and writer with an evidence store of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.evidence = EvidenceStore(root)

    def picture(self, drawn_data: Json | None, name: str) -> ImagePart:
        image = ImagePart(data=name.encode(), media_type="image/png", width=10, height=10)
        if drawn_data is not None:
            self.evidence.put("drawn", image.sha256, drawn_data)
        return image

    def send(
        self, behaviour: Callable[[ScriptedRequest], ScriptedReply], system: str, user: str, image: ImagePart | None
    ) -> ScriptedReply:
        parts = (TextPart(user), image) if image else (TextPart(user),)
        messages = (Message.text("system", system), Message("user", parts))
        return behaviour(ScriptedRequest(messages=messages, parameters={}, evidence=self.evidence, storage=self.root))

    def write(self, aspect: str, image: ImagePart, user: str = "Requirement: {}") -> list[str]:
        reply = self.send(rubric_writer.answer, f"You write questions.\nAspect: {aspect}", user, image)
        return list(json.loads(reply.text).values())

    def judge(self, question: str, image: ImagePart | None) -> str:
        return self.send(judge.answer, "Yes or No.", f"Look.\n\nQuestion: {question}", image).text


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def drawing_of(data: Json) -> Drawing:
    drawing = read_drawing(data)
    assert drawing is not None
    return drawing


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
    whole = {"title": "T", "ylabel": "Revenue (US$)", "legend": legend("A", "B"), "yticks": ticks(["0", "5"])}
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


def test_a_colour_scale_is_no_panel_and_twin_axes_are_one() -> None:
    data = copy.deepcopy(USUAL_CHARTS["heat map"])
    main = data["figures"][0]["axes"][0]
    data["figures"][0]["axes"].append({**main, "box": [0.92, 0.1, 0.03, 0.8]})
    assert drawing_of(data).panels == 1
    data["figures"][0]["axes"][1]["box"] = [0.1, 0.1, 0.8, 0.8]
    assert drawing_of(data).panels == 1
    data["figures"][0]["axes"][1]["box"] = [0.5, 0.1, 0.4, 0.8]
    assert drawing_of(data).panels == 2


def test_grouped_bars_are_named_by_the_tick_they_stand_beside() -> None:
    """matplotlib names a bar at 0.8 by its position; a reader names it by the tick at 1."""
    groups = [
        bars([1.0, 2.0], "WT", -0.2, categories=["-0.2", "0.8"]),
        bars([3.0, 4.0], "KO", 0.2, categories=["0.2", "1.2"]),
    ]
    for labels in (["ctrl", "drug"], ["2019", "2020"]):
        drawing = drawing_of(drawn(*groups, xticks=ticks(labels)))
        assert [list(series.names) for series in drawing.series] == [labels, labels]
    histogram = bars([1.0, 2.0], categories=["0.25", "0.75"], positions=[0.25, 0.75])
    assert drawing_of(drawn(histogram, xticks=ticks(["0", "1"]))).series[0].names == ("0.25", "0.75")
    half_way = bars([1.0, 2.0], categories=["0.5", "1"], positions=[0.5, 1.0])
    assert drawing_of(drawn(half_way, xticks=ticks(["a", "b"]))).series[0].names == ("0.5", "b")


@pytest.mark.parametrize("label", ["2019", "2019.0", "2019.00", " 2019 "])
def test_a_year_has_one_name_however_its_tick_is_written(label: str) -> None:
    data = drawn(line([1.0, 2.0]), xticks=[{"at": 2019.0, "label": label}])
    assert drawing_of(data).series[0].names == ("2019", "2020")
    named = questions_topology.Larger("2020", label)
    assert named.holds(drawing_of(data))


def test_values_on_different_axes_are_not_compared() -> None:
    data = drawn(bars([10.0, 20.0], "amount"))
    main = data["figures"][0]["axes"][0]
    data["figures"][0]["axes"].append({**main, "marks": [{**line([0.1, 0.3], "ratio"), "x": ["2019", "2020"]}]})
    both = {form for form in topology(drawing_of(data)) if isinstance(form, questions_topology.SeriesLarger)}
    assert both == set()
    main["marks"].append(data["figures"][0]["axes"].pop()["marks"][0])
    both = {form for form in topology(drawing_of(data)) if isinstance(form, questions_topology.SeriesLarger)}
    assert both == {questions_topology.SeriesLarger("2020", "amount", "ratio")}


def test_a_scatter_is_asked_about_its_points_before_its_fitted_line() -> None:
    cloud = points([1.0, 2.0, 3.0], [1.0, 4.0, 5.0], "thalli")
    fit = {**line([1.0, 5.0], "fit"), "x": [1.0, 3.0]}
    first = next(iter(topology(drawing_of(drawn(fit, cloud)))))
    assert first == questions_topology.Tendency("rise", None)
    first = next(iter(topology(drawing_of(drawn(bars([1.0, 2.0]), cloud)))))
    assert isinstance(first, questions_topology.Extreme)


@pytest.mark.parametrize(
    ("label", "unit"),
    [("Revenue (US$ millions)", "US$ millions"), ("Rank (1 = largest)", None), ("Share (%) ", "%"), ("Year", None)],
)
def test_a_unit_stands_in_brackets_at_the_end(label: str, unit: str | None) -> None:
    assert unit_of(label) == unit


def test_unlabelled_hues_take_their_name_from_the_legend_by_colour() -> None:
    entries = {"title": "", "entries": [{"label": "WT", "color": "#aaaaaa"}, {"label": "KO", "color": "#bbbbbb"}]}
    data = drawn(bars([1.0], color="#aaaaaa"), bars([2.0], color="#bbbbbb"), legend=entries)
    assert [series.name for series in drawing_of(data).series] == ["WT", "KO"]


# What any chart may hold. Labels: any text, quotes and line breaks included.
LABELS = st.text(min_size=1, max_size=12)
VALUES = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def random_charts(draw: st.DrawFn) -> Json:
    count = draw(st.integers(1, 5))
    names = draw(st.lists(LABELS, min_size=count, max_size=count))
    kind = draw(st.sampled_from(["bars", "line", "scatter", "heatmap", "pie"]))
    marks: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        values = draw(st.lists(st.one_of(VALUES, st.none()), min_size=count, max_size=count))
        label = draw(st.one_of(st.just(""), LABELS))
        if kind == "bars":
            marks.append(
                bars([])
                | {
                    "label": label,
                    "categories": names,
                    "positions": [index + 0.2 * number for index in range(count)],
                    "values": values,
                    "bases": [0.0] * count,
                    "orientation": draw(st.sampled_from(["vertical", "horizontal"])),
                }
            )
        elif kind == "heatmap":
            marks = [{"type": "heatmap", "label": "", "rows": names, "columns": names, "values": [values] * count}]
        elif kind == "pie":
            marks = [{"type": "pie", "labels": names, "fractions": values}]
        else:
            x = draw(st.sampled_from([names, list(range(count))]))
            mark = line([], label) if kind == "line" else points([], [], label)
            marks.append({**mark, "color": None, "x": x, "y": values})
    words = {name: draw(st.one_of(st.just(""), LABELS)) for name in ("title", "xlabel", "ylabel")}
    entries = draw(st.one_of(st.none(), st.just(legend(*names))))
    return drawn(*marks, **words, xticks=ticks(names), legend=entries)


@settings(max_examples=150, deadline=None)
@given(random_charts())
def test_every_question_proposed_as_true_reads_back_and_holds(data: Json) -> None:
    drawing = drawing_of(data)
    for propose in (compliance, topology, presentation):
        for text in true_questions(propose(drawing), drawing):
            assert "\n" not in text
            question = parse_question(text)
            assert question is not None
            assert question.question == text
            assert question.holds(drawing_of(json.loads(json.dumps(data))))


@settings(max_examples=100, deadline=None)
@given(random_charts())
def test_proposals_that_compare_are_true_of_the_chart_they_come_from(data: Json) -> None:
    """The filter hides nothing: a comparison that is proposed fails only where names or values cannot be told apart."""
    drawing = drawing_of(data)
    if len(drawing.series) != 1:
        return
    series = drawing.series[0]
    larger = [form for form in topology(drawing) if isinstance(form, questions_topology.Larger)]
    for form in larger:
        one, other = (series.values[series.names.index(name)] for name in (form.larger, form.smaller))
        assert one >= other
        assert form.holds(drawing) == (one > other)


@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, min_size=2, max_size=4, unique=True), st.data())
def test_an_exchanged_pair_turns_the_order_round(values: list[float], data: st.DataObject) -> None:
    drawing = drawing_of(drawn(bars(list(values))))
    first, second = data.draw(st.lists(st.sampled_from(range(len(values))), min_size=2, max_size=2, unique=True))
    exchanged = list(values)
    exchanged[first], exchanged[second] = values[second], values[first]
    after = drawing_of(drawn(bars(list(exchanged))))
    high, low = (first, second) if values[first] > values[second] else (second, first)
    larger = questions_topology.Larger(YEARS[high], YEARS[low])
    assert larger.holds(drawing)
    assert not larger.holds(after)
    top = max(range(len(values)), key=values.__getitem__)
    highest = questions_topology.Extreme(YEARS[top], "highest")
    assert highest.holds(drawing)
    assert highest.holds(after) == (exchanged[top] == values[top])


def test_no_text_belongs_to_two_forms() -> None:
    seen: dict[str, str] = {}
    for data in USUAL_CHARTS.values():
        drawing = drawing_of(data)
        for propose in (compliance, topology, presentation):
            for proposal in propose(drawing):
                readers = [form.__name__ for form in FORMS if form.read(proposal.question)]
                assert readers == [type(proposal).__name__]
                seen[readers[0]] = proposal.question
    assert set(seen) == {form.__name__ for form in FORMS}  # every form is proposed for some usual chart
