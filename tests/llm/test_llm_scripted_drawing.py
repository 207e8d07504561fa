"""What the scripted writer and judge make of drawn data: panels, names, units, series, which question comes first."""

from __future__ import annotations

import copy

import pytest
from scripted_charts import USUAL_CHARTS, bars, drawing_of, drawn, legend, line, points, ticks

from deepchart_dagster.llm.scripted import questions_topology
from deepchart_dagster.llm.scripted.proposals import topology
from deepchart_dagster.llm.scripted.questions_presentation import unit_of


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
    at_years = [{"at": year, "label": year} for year in ("2019", "2020")]
    data = drawn(bars([10.0, 20.0], "amount"), xticks=at_years, legend=legend("amount", "ratio"))
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
    [
        ("Revenue (US$ millions)", "US$ millions"),
        ("Rank (1 = largest)", None),
        ("Share (%) ", "%"),
        ("Year", None),
        ("P (p-values: t-test)", None),
    ],
)
def test_a_unit_stands_in_brackets_at_the_end(label: str, unit: str | None) -> None:
    assert unit_of(label) == unit


def test_unlabelled_hues_take_their_name_from_the_legend_by_colour() -> None:
    entries = {"title": "", "entries": [{"label": "WT", "color": "#aaaaaa"}, {"label": "KO", "color": "#bbbbbb"}]}
    data = drawn(bars([1.0], color="#aaaaaa"), bars([2.0], color="#bbbbbb"), legend=entries)
    assert [series.name for series in drawing_of(data).series] == ["WT", "KO"]
