"""What a chart draws against the data it was given: bars, points, lines, other ways to show a number, units."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.benchmark import drawn
from deepchart_dagster.scoring.drawn_fidelity import (
    Comparison,
    Data,
    DrawnFidelityStage,
    Ratio,
    against_chart,
    against_data,
)
from deepchart_dagster.scoring.drawn_values import Shown


def shown(house: Any, *marks: dict[str, Any], **axes: Any) -> Shown:
    document = house.bar_chart(1.0, marks=list(marks), **axes)
    known = drawn.known(document)
    assert known is not None
    return Shown.of(known.saved)


def bars(*values: float, **more: Any) -> dict[str, Any]:
    n = len(values)
    plain = {
        "type": "bars",
        "label": "Revenue",
        "color": None,
        "orientation": "vertical",
        "categories": [str(2019 + at) for at in range(n)],
        "positions": [float(at) for at in range(n)],
        "values": list(values),
        "bases": [0.0] * n,
    }
    return {**plain, **more}


def line(x: list[Any], y: list[float], *, marker: bool = True) -> dict[str, Any]:
    return {"type": "line", "label": "L", "color": None, "x": x, "y": y, "marker": marker}


def compared(comparison: Comparison | None) -> tuple[float, float]:
    assert comparison is not None
    return comparison.ratio.precision, comparison.ratio.recall


def shown_of(chart: Shown, derived: list[float], source: list[float]) -> Comparison | None:
    return against_data(chart, Data(derived, source))


NUMBER_AXIS = {"xticks": [{"at": 60.0, "label": "60"}], "xlim": [50.0, 90.0]}


def test_bars_of_the_derived_values(house: Any) -> None:
    """The years are written at the bars: they are shown, not drawn as data."""
    chart = shown(house, bars(30.0, 10.0))

    assert compared(shown_of(chart, [2019, 2020, 30, 10], [])) == (1.0, 1.0)


def test_an_error_of_the_rendering_stage_is_found(house: Any) -> None:
    comparison = shown_of(shown(house, bars(30.0, 11.0)), [30, 10], [7])

    assert compared(comparison) == (0.5, 0.5)
    assert comparison is not None
    assert (comparison.missing, comparison.foreign) == ((10,), (("Revenue", 11.0),))


def test_source_values_may_be_drawn_and_need_not(house: Any) -> None:
    assert compared(shown_of(shown(house, bars(30.0, 7.0)), [30], [7, 8, 9])) == (1.0, 1.0)


def test_a_value_drawn_once_shows_one_value(house: Any) -> None:
    assert compared(shown_of(shown(house, bars(5.0)), [5, 5], [])) == (1.0, 0.5)


@pytest.mark.parametrize("factor", [1e-6, 1e-9, 100.0])
def test_a_mark_may_be_in_a_unit_of_its_own(house: Any, factor: float) -> None:
    values = [3.717e9, 4.107e9]

    assert compared(shown_of(shown(house, bars(*(value * factor for value in values))), values, [])) == (1.0, 1.0)


def test_one_value_in_another_unit_is_an_error(house: Any) -> None:
    assert compared(shown_of(shown(house, bars(3717.0, 4.107)), [3717, 4107], [])) == (0.5, 0.5)


def test_a_series_drawn_twice_counts_once(house: Any) -> None:
    scatter = {"type": "scatter", "label": "", "color": None, "x": [0.0, 1.0], "y": [4.0, 6.0], "sizes": [9.0, 9.0]}
    chart = shown(house, line([0.0, 1.0], [4.0, 6.0]), scatter)

    comparison = shown_of(chart, [4, 6], [])

    assert comparison is not None
    assert (comparison.ratio.n_drawn, comparison.ratio.f1) == (2, 1.0)


def test_error_bars_show_their_length(house: Any) -> None:
    errors = {
        "type": "errorbars",
        "label": "",
        "orientation": "vertical",
        "centers": [30.0, 10.0],
        "low": [28.5, 9.0],
        "high": [31.5, 11.0],
    }

    assert compared(shown_of(shown(house, bars(30.0, 10.0), errors), [30, 1.5, 10, 1], [])) == (1.0, 1.0)


def test_a_straight_line_shows_slope_and_intercept_and_is_no_data(house: Any) -> None:
    fit = line([60.0, 80.0], [2.0, 3.0], marker=False)
    points = {"type": "scatter", "label": "", "color": None, "x": [61.5, 70.0], "y": [2.65, 2.1], "sizes": [1.0, 1.0]}

    chart = shown(house, fit, points, **NUMBER_AXIS)

    assert compared(shown_of(chart, [0.05, -1.0], [61.5, 70, 2.65, 2.1])) == (1.0, 1.0)


def test_numbers_that_are_written_round_the_value(house: Any) -> None:
    texts = [{"text": "R² = 0.81", "x": 0.0, "y": 0.0}, {"text": "p = 3", "x": 0.0, "y": 0.0}]
    chart = shown(house, bars(5.0), texts=texts)

    comparison = shown_of(chart, [5, 0.8112, 3.2], [])

    assert comparison is not None
    assert comparison.missing == (3.2,)


def test_shares_of_a_pie(house: Any) -> None:
    pie = {"type": "pie", "labels": ["a", "b"], "fractions": [0.75, 0.25]}

    assert compared(shown_of(shown(house, pie), [300, 100], [])) == (1.0, 1.0)
    assert compared(shown_of(shown(house, pie), [300, 150], [])) == (0.5, 0.5)


def test_bars_may_point_downwards(house: Any) -> None:
    assert compared(shown_of(shown(house, bars(-30.0, -10.0)), [30, 10], [])) == (1.0, 1.0)


def test_names_of_members_may_be_drawn(house: Any) -> None:
    points = {"type": "scatter", "label": "", "color": None, "x": [60.0, 80.0], "y": [2.5, 3.5], "sizes": [1.0, 1.0]}
    data = Data.of({"60": 2.5, "80": 3.5}, None)

    assert compared(against_data(shown(house, points, **NUMBER_AXIS), data)) == (1.0, 1.0)


def test_what_the_reference_chart_leaves_out_is_not_asked_for() -> None:
    norm, half = Ratio(10, 4, 4, 4), Ratio(10, 2, 4, 2)

    assert norm.relative_to(norm) == 1.0
    assert (half.recall, half.relative_to(norm)) == (0.2, 0.5)
    assert half.relative_to(Ratio(10, 0, 0, 0)) == half.f1


def test_against_the_reference_chart_data_are_matched_one_to_one(house: Any) -> None:
    reference = shown(house, bars(30.0, 10.0, 20.0))

    assert compared(against_chart(shown(house, bars(30.0, 10.0, 20.0)), reference)) == (1.0, 1.0)
    assert compared(against_chart(shown(house, bars(30.0, 10.5)), reference)) == (0.5, pytest.approx(1 / 3))


class TestStage:
    def put(self, house: Any, asset: str, scope: tuple[str, ...], files: dict[str, Any], outcome: Outcome) -> None:
        async def compute(folder: Any) -> Outcome:
            for name, content in files.items():
                (folder / name).write_text(json.dumps(content))
            return outcome

        key = InputKey.of(files=files, outcome=outcome.model_dump(mode="json"))
        run_step(house.store, Step(asset, scope or ("x",), scope), [Work("q1", key, compute)])

    def score(self, house: Any) -> InstanceResult:
        (result,) = DrawnFidelityStage(house.store, house.library).run(house.split, house.model).results
        return result

    def prepare(self, house: Any, chart: dict[str, Any], outcome: Outcome | None = None) -> None:
        state = {"src_data": [3], "der_data": {"2019": 30, "2020": 10}}
        files = {"d_der.json": [30, 10], "drawn.json": house.bar_chart(30.0, 20.0)}
        self.put(house, "references", (), files, Outcome())
        self.put(house, "predicted_states", house.scope, {"state.json": state}, Outcome())
        self.put(house, "rendered_charts", house.scope, chart, outcome or Outcome())

    def test_a_chart_that_draws_its_state_and_another_reference(self, house: Any) -> None:
        self.prepare(house, {"drawn.json": house.bar_chart(30.0, 10.0)})

        result = self.score(house)

        assert result.value == {"f1_drawn": 1.0, "f1_drawn_reference": 0.5, "n_drawn": 2}

    def test_no_chart_scores_zero(self, house: Any) -> None:
        self.prepare(house, {}, Outcome.failed("crash", "exit code 1"))

        result = self.score(house)

        assert (result.status, result.value) == (Status.FAILED, {"f1_drawn": 0.0, "f1_drawn_reference": 0.0})

    @pytest.mark.parametrize("chart", [{}, {"drawn.json": {"format": "something else"}}])
    def test_a_chart_of_which_nothing_is_known_is_not_scored(self, house: Any, chart: dict[str, Any]) -> None:
        self.prepare(house, chart)

        assert self.score(house).status is Status.NOT_APPLICABLE
