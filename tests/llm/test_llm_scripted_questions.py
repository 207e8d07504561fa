"""Whatever a chart holds: every question proposed as true is read back, belongs to one form, and holds."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_charts import USUAL_CHARTS, YEARS, Json, bars, drawing_of, drawn, legend, line, points, ticks

from deepchart_dagster.llm.scripted import questions_topology
from deepchart_dagster.llm.scripted.proposals import compliance, presentation, topology
from deepchart_dagster.llm.scripted.questions import FORMS, parse_question
from deepchart_dagster.llm.scripted.rubric_writer import true_questions

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
        assert form.holds(drawing) == series.exceeds(one, other)


@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, min_size=2, max_size=4, unique=True), st.data())
def test_an_exchanged_pair_turns_the_order_round(values: list[float], data: st.DataObject) -> None:
    unmeasured = {"ylim": [None, None]}  # how far apart two values are seen is not the question here
    drawing = drawing_of(drawn(bars(list(values)), **unmeasured))
    first, second = data.draw(st.lists(st.sampled_from(range(len(values))), min_size=2, max_size=2, unique=True))
    exchanged = list(values)
    exchanged[first], exchanged[second] = values[second], values[first]
    after = drawing_of(drawn(bars(list(exchanged)), **unmeasured))
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
