"""The reference charts of the mini benchmark, drawn in this process: what they draw, and that no words collide."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from deepchart_dagster.benchmark.mini.catalogue import folder_of, mini_queries
from deepchart_dagster.execution.images import PNG_HEADER_BYTES, png_size

QUERIES = {query.uid.removeprefix("mini/"): query for query in mini_queries()}
# Boxes of words are a little larger than the words: their edges may touch.
_TOUCHING = 0.12


def drawn(name: str, state: Any, folder: Path) -> tuple[Figure, Path]:
    """The figure that a query's stage-2 program saves, and its picture."""
    source = (folder_of(QUERIES[name]) / "stage2.py").read_text(encoding="utf-8")
    program, picture = folder / "stage2.py", folder / "chart.png"
    program.write_text(source.replace("__J__", repr(state)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(program), str(picture)])
        figure = runpy.run_path(str(program), run_name="__main__")["figure"]
    assert isinstance(figure, Figure)
    return figure, picture


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def words_of(figure: Figure) -> list[Text]:
    """Every text that is seen: titles, labels of axes, ticks within their axis, legends, words in the chart."""
    found: list[Text] = [*figure.texts]
    for axes in figure.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        found += [text for legend in ([axes.get_legend()] if axes.get_legend() else []) for text in legend.get_texts()]
        if axes.axison:
            found += [*labels_within(axes.xaxis), *labels_within(axes.yaxis)]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def labels_within(axis: Axis) -> list[Text]:
    low, high = sorted(axis.get_view_interval())
    places = zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
    return [label for label, place in places if low - 1e-9 <= place <= high + 1e-9]


def collisions(figure: Figure) -> list[tuple[str, str]]:
    boxes = [(text.get_text(), text.get_window_extent()) for text in words_of(figure)]
    found = []
    for (one, first), (other, second) in combinations(boxes, 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        high = min(first.y1, second.y1) - max(first.y0, second.y0)
        smaller = min(first.width * first.height, second.width * second.height)
        if one == other and wide * high > 0.95 * smaller:
            continue  # a tick of two axes over each other
        if wide > 0 and high > 0 and wide * high > _TOUCHING * smaller:
            found.append((one, other))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_reference_chart_is_large_and_its_words_stand_apart(
    states: dict[str, Any], name: str, tmp_path: Path
) -> None:
    figure, picture = drawn(name, states[name], tmp_path)
    width, height = png_size(picture.read_bytes()[:PNG_HEADER_BYTES]) or (0, 0)
    assert min(width, height) >= 500
    assert collisions(figure) == []
    page = figure.bbox
    outside = [
        text.get_text()
        for text in words_of(figure)
        if not (page.x0 - 1 <= (box := text.get_window_extent()).x0 and box.x1 <= page.x1 + 1)
        or not (page.y0 - 1 <= box.y0 and box.y1 <= page.y1 + 1)
    ]
    assert outside == []
    assert any(axes.get_title() for axes in figure.axes) or figure.get_suptitle()


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown", "derived"),
    [
        (
            "finance-halden-igr",
            lambda axes: list(axes.lines[0].get_ydata()),
            lambda der: [year["Internal growth rate (%)"] for year in der.values()],
        ),
        (
            "ecosystem-capital-efficiency",
            lambda axes: [bar.get_width() for bar in axes.patches][::-1],
            lambda der: [company["EUR million per employee"] for company in der.values()],
        ),
        ("ecosystem-port-rounds", heights, lambda der: list(der["mean_round"].values())),
        (
            "ecosystem-port-cohorts",
            heights,
            lambda der: [der[cohort][state] for state in der["2010-2012"] for cohort in sorted(der)],
        ),
        ("academic-lichen-dew", heights, lambda der: [month["mean_hours"] for month in der.values()]),
        (
            "academic-lake-profiles",
            lambda axes: axes.images[0].get_array().ravel().tolist(),
            lambda der: [
                score for lake in sorted(der, key=lambda lake: -der[lake]["Phosphorus"]) for score in der[lake].values()
            ],
        ),
    ],
)
def test_charts_show_the_derived_values(
    states: dict[str, Any],
    name: str,
    shown: Callable[[Axes], list[float]],
    derived: Callable[[Any], list[float]],
    tmp_path: Path,
) -> None:
    figure, _ = drawn(name, states[name], tmp_path)
    assert shown(figure.axes[0]) == pytest.approx(derived(states[name]["der_data"]))


def test_words_that_collide_are_found() -> None:
    figure, axes = plt.subplots(layout="constrained")
    axes.text(0.5, 0.5, "Trieste (54)")
    axes.text(0.52, 0.5, "Brest (109)")
    axes.text(0.5, 0.8, "Cork (71)")
    figure.canvas.draw()
    assert collisions(figure) == [("Trieste (54)", "Brest (109)")]
