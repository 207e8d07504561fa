"""What a chart draws equals what the program was given, for each kind of mark."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from deepchart_dagster.execution.model import RunResult, RunStatus

pytestmark = pytest.mark.slow

Run = Callable[..., RunResult]

BEFORE = """
import sys
import matplotlib.pyplot as plt
import numpy as np
fig, ax = plt.subplots()
"""
SAVE = "\nfig.savefig(sys.argv[1])\n"


@pytest.fixture
def axes_of(run_once: Run) -> Callable[..., list[dict[str, Any]]]:
    """The axes of the one figure that a chart program saved."""

    def draw(body: str, before: str = BEFORE) -> list[dict[str, Any]]:
        result = run_once(before + body + SAVE, 2)
        assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
        assert isinstance(result.drawn, dict), "nothing was seen"
        assert result.drawn["format"] == "deepchart-drawn/1"
        [figure] = result.drawn["figures"]  # type: ignore[misc, union-attr]
        return figure["axes"]  # type: ignore[index, return-value, call-overload]

    return draw


@pytest.fixture
def marks_of(axes_of: Callable[..., list[dict[str, Any]]]) -> Callable[..., list[dict[str, Any]]]:
    def draw(body: str, before: str = BEFORE) -> list[dict[str, Any]]:
        return [mark for axes in axes_of(body, before) for mark in axes["marks"]]

    return draw


Marks = Callable[..., list[dict[str, Any]]]


def pick(mark: dict[str, Any], *names: str) -> list[Any]:
    return [mark[name] for name in names]


def test_bars(marks_of: Marks) -> None:
    [mark] = marks_of("ax.bar(['Alpha', 'Beta', 'Gamma'], [3, -1.5, 0.1 + 0.2], color='#ff0000', label='Revenue')")
    assert mark == {
        "type": "bars",
        "label": "Revenue",
        "color": "#ff0000",
        "orientation": "vertical",
        "categories": ["Alpha", "Beta", "Gamma"],
        "positions": [0, 1, 2],
        "values": [3, -1.5, 0.3],
        "bases": [0, 0, 0],
    }


def test_horizontal_bars(marks_of: Marks) -> None:
    [mark] = marks_of("ax.barh(['A', 'B'], [3, 4], left=[1, 0])")
    assert pick(mark, "orientation", "categories", "values", "bases") == ["horizontal", ["A", "B"], [3, 4], [1, 0]]


def test_stacked_bars_are_their_own_values(marks_of: Marks) -> None:
    first, second = marks_of("""
ax.bar([2020, 2021], [10, 20], label='a'); ax.bar([2020, 2021], [1, 2], bottom=[10, 20], label='b')
ax.set_xticks([2020, 2021]); ax.legend()""")
    assert pick(first, "label", "categories", "values", "bases") == ["a", ["2020", "2021"], [10, 20], [0, 0]]
    assert pick(second, "label", "categories", "values", "bases") == ["b", ["2020", "2021"], [1, 2], [10, 20]]


def test_grouped_bars_belong_to_their_tick(marks_of: Marks) -> None:
    first, second = marks_of("""
at = np.arange(3)
ax.bar(at - 0.2, [1, 2, 3], 0.4, label='x'); ax.bar(at + 0.2, [4, 5, 6], 0.4, label='y')
ax.set_xticks(at, ['Q1', 'Q2', 'Q3'])""")
    assert first["categories"] == second["categories"] == ["Q1", "Q2", "Q3"]
    assert second["positions"] == pytest.approx([0.2, 1.2, 2.2])
    assert second["values"] == [4, 5, 6]


def test_polar_bars(axes_of: Callable[..., list[dict[str, Any]]]) -> None:
    [axes] = axes_of(
        """
ax = fig.add_subplot(projection='polar')
at = np.linspace(0, 2 * np.pi, 4, endpoint=False)
ax.bar(at, [1, 2, 3, 4], width=1); ax.set_xticks(at, ['N', 'E', 'S', 'W'])""",
        "import sys, numpy as np\nimport matplotlib.pyplot as plt\nfig = plt.figure()\n",
    )
    assert axes["projection"] == "polar"
    [mark] = axes["marks"]
    assert mark["categories"] == ["N", "E", "S", "W"]
    assert mark["values"] == [1, 2, 3, 4]
    assert mark["positions"] == pytest.approx([0, math.pi / 2, math.pi, 1.5 * math.pi])


def test_lines_with_dates_gaps_and_twin_axes(axes_of: Callable[..., list[dict[str, Any]]]) -> None:
    left, right = axes_of("""
import datetime
days = [datetime.date(2021, 1, 31), datetime.date(2021, 2, 28), datetime.date(2021, 3, 31)]
ax.plot(days, [1, float('nan'), 3], marker='o', label='left', color='green')
twin = ax.twinx(); twin.plot(days, [10, 20, 30], label='right'); twin.set_ylabel('per cent'); twin.set_yscale('log')""")
    [mark] = left["marks"]
    assert mark == {
        "type": "line",
        "label": "left",
        "color": "#008000",
        "x": ["2021-01-31", "2021-02-28", "2021-03-31"],
        "y": [1, None, 3],
        "marker": True,
    }
    assert (right["ylabel"], right["yscale"], right["marks"][0]["y"]) == ("per cent", "log", [10, 20, 30])
    assert left["xlim"][0] == "2021-01-28T01:12:00"


def test_times_of_day_are_kept(marks_of: Marks) -> None:
    [mark] = marks_of("ax.plot(np.array(['2024-05-01T06:30', '2024-05-01T18:00'], dtype='datetime64[m]'), [1, 2])")
    assert mark["x"] == ["2024-05-01T06:30:00", "2024-05-01T18:00:00"]


def test_lines_over_categories(marks_of: Marks) -> None:
    [mark] = marks_of("ax.plot(['low', 'mid', 'high'], [1, 2, 3])")
    assert pick(mark, "x", "y", "marker") == [["low", "mid", "high"], [1, 2, 3], False]


def test_reference_lines(marks_of: Marks) -> None:
    line, level, moment = marks_of("ax.plot([0, 1], [0, 10]); ax.axhline(5, color='red'); ax.axvline(0.5)")
    assert line["type"] == "line"
    assert pick(level, "type", "color", "segments") == ["segments", "#ff0000", [[[None, 5], [None, 5]]]]
    assert moment["segments"] == [[[0.5, None], [0.5, None]]]


def test_points_with_sizes(marks_of: Marks) -> None:
    [mark] = marks_of("ax.scatter([1, 2, 3], [4, 5, 6], s=[10, 20, 30], c='blue', label='firms')")
    assert mark == {
        "type": "scatter",
        "label": "firms",
        "color": "#0000ff",
        "x": [1, 2, 3],
        "y": [4, 5, 6],
        "sizes": [10, 20, 30],
    }


@pytest.mark.parametrize("how", ["imshow", "imshow_lower", "pcolormesh", "seaborn"])
def test_heat_maps_with_names(marks_of: Marks, how: str) -> None:
    body = {
        "imshow": "ax.imshow(data); ax.set_xticks(range(3), ['a', 'b', 'c']); ax.set_yticks(range(2), ['r', 's'])",
        "imshow_lower": "ax.imshow(data, origin='lower')\n"
        "ax.set_xticks(range(3), ['a', 'b', 'c']); ax.set_yticks(range(2), ['r', 's'])",
        "pcolormesh": "ax.pcolormesh(data)\n"
        "ax.set_xticks([0.5, 1.5, 2.5], ['a', 'b', 'c']); ax.set_yticks([0.5, 1.5], ['r', 's'])",
        "seaborn": "import pandas, seaborn\n"
        "seaborn.heatmap(pandas.DataFrame(data, ['r', 's'], ['a', 'b', 'c']), annot=True, ax=ax)",
    }[how]
    [mark] = marks_of("data = np.array([[1, 2, 3], [4, 5, np.nan]])\n" + body)
    assert pick(mark, "type", "rows", "columns") == ["heatmap", ["r", "s"], ["a", "b", "c"]]
    assert mark["values"] == [[1, 2, 3], [4, 5, None]]


def test_pies_and_nested_rings(marks_of: Marks) -> None:
    outer, inner = marks_of("""
ax.pie([50, 30, 20], labels=['x', 'y', 'z'], radius=1, wedgeprops={'width': 0.3})
ax.pie([3, 1], labels=['p', 'q'], radius=0.7)""")
    assert pick(outer, "type", "labels") == ["pie", ["x", "y", "z"]]
    assert outer["fractions"] == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    assert inner["labels"] == ["p", "q"]
    assert inner["fractions"] == pytest.approx([0.75, 0.25], abs=1e-6)


def test_pie_labels_from_the_legend(marks_of: Marks) -> None:
    [mark] = marks_of("w, *_ = ax.pie([1, 3]); ax.legend(w, ['small', 'large'])")
    assert mark["labels"] == ["small", "large"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("ax.pie([1, 3], labels=['small', 'large'], labeldistance=None)", ["", ""]),
        ("ax.pie([1, 3], labels=['small', 'large'], labeldistance=None); ax.legend()", ["small", "large"]),
        ("ax.pie([1, 3], labels=['a', 'b'], labeldistance=None); ax.legend().set_visible(False)", ["", ""]),
        ("ax.pie([1, 3], labels=['a', 'b'], textprops={'alpha': 0})", ["", ""]),
        ("ax.pie([1, 3], labels=['a', 'b'], textprops={'color': 'none'})", ["", ""]),
        ("ax.pie([1, 3], labels=['a', 'b']); ax.texts[0].set_visible(False)", ["", "b"]),
        ("ax.pie([1, 3], labels=['a', 'b']); ax.patches[1].set_visible(False)", ["a", ""]),
        ("ax.pie([1, 3], labels=['a b', 'b'], labeldistance=None); ax.text(0, 0, 'a\\nb: 25%')", ["a b", "b"]),
        ("ax.pie([1, 3], labels=['a', 'b'], labeldistance=None); ax.text(0, 0, 'ab')", ["", ""]),
        ("ax.pie([1, 3], autopct='%d%%')", ["", ""]),
    ],
)
def test_wedges_have_the_names_that_a_viewer_sees(marks_of: Marks, body: str, names: list[str]) -> None:
    [mark] = marks_of(body)
    assert mark["labels"] == names
    assert mark["fractions"] == pytest.approx([0.25, 0.75], abs=1e-6)


def test_error_bars_with_a_line(marks_of: Marks) -> None:
    bars, line = marks_of("ax.errorbar([1, 2], [10, 20], yerr=[[1, 2], [3, 4]], capsize=3, label='mean')")
    assert bars == {
        "type": "errorbars",
        "label": "mean",
        "orientation": "vertical",
        "centers": [10, 20],
        "low": [9, 18],
        "high": [13, 24],
    }
    assert pick(line, "type", "label", "y") == ["line", "mean", [10, 20]]


def test_error_bars_on_bars(marks_of: Marks) -> None:
    marks = {mark["type"]: mark for mark in marks_of("ax.bar(['a', 'b'], [10, 20], yerr=[[1, 2], [3, 4]])")}
    assert marks.keys() == {"bars", "errorbars"}
    assert pick(marks["errorbars"], "centers", "low", "high") == [[10, 20], [9, 18], [13, 24]]


@pytest.mark.parametrize("how", ["matplotlib", "seaborn", "horizontal"])
def test_box_plots_are_their_statistics(marks_of: Marks, how: str) -> None:
    body = {
        "matplotlib": "ax.boxplot([one, two], tick_labels=['one', 'two'])",
        "horizontal": "ax.boxplot([one, two], tick_labels=['one', 'two'], orientation='horizontal')",
        "seaborn": "import pandas, seaborn\nseaborn.boxplot(pandas.DataFrame({'one': one, 'two': two}), ax=ax)",
    }[how]
    marks = marks_of("one, two = [1, 2, 3, 4, 5], [10, 20, 30, 40, 50]\n" + body)
    boxes = [mark for mark in marks if mark["type"] == "boxes"]
    assert [label for mark in boxes for label in mark["labels"]] == ["one", "two"]
    assert [value for mark in boxes for value in mark["medians"]] == [3, 30]
    assert [(q1, q3) for mark in boxes for q1, q3 in zip(mark["q1"], mark["q3"], strict=True)] == [(2, 4), (20, 40)]
    assert [(a, b) for mark in boxes for a, b in zip(mark["low"], mark["high"], strict=True)] == [(1, 5), (10, 50)]
    assert len(marks) == len(boxes)


def test_violins_are_their_statistics(marks_of: Marks) -> None:
    [mark] = marks_of("""
ax.violinplot([[1, 2, 3, 4, 5], [10, 20, 40]], showmedians=True); ax.set_xticks([1, 2], ['one', 'two'])""")
    assert pick(mark, "type", "labels", "medians", "low", "high") == [
        "violins",
        ["one", "two"],
        [3, 20],
        [1, 10],
        [5, 40],
    ]


def test_sankey_links(marks_of: Marks) -> None:
    [mark] = marks_of("""
from matplotlib.sankey import Sankey
Sankey(ax=ax, flows=[10, -7, -3], labels=['Revenue', 'Costs', 'Profit'], patchlabel='Firm').finish()""")
    assert pick(mark, "type", "sources", "targets", "values") == [
        "flows",
        ["Revenue", "Firm", "Firm"],
        ["Firm", "Costs", "Profit"],
        [10, 7, 3],
    ]


def test_radar_lines_name_their_spokes(axes_of: Callable[..., list[dict[str, Any]]]) -> None:
    [axes] = axes_of(
        """
ax = fig.add_subplot(projection='polar')
at = np.linspace(0, 2 * np.pi, 3, endpoint=False); ax.plot([*at, at[0]], [1, 2, 3, 1]); ax.set_xticks(at, 'abc')""",
        "import sys, numpy as np\nimport matplotlib.pyplot as plt\nfig = plt.figure()\n",
    )
    assert [tick["label"] for tick in axes["xticks"]] == ["a", "b", "c"]
    assert axes["marks"][0]["y"] == [1, 2, 3, 1]


def test_areas(marks_of: Marks) -> None:
    [mark] = marks_of("ax.fill_between([1, 2, 3], [1, 5, 2], [3, 4, 6], color='#112233', label='band')")
    assert mark == {
        "type": "area",
        "label": "band",
        "color": "#112233",
        "x": [1, 2, 3],
        "low": [1, 4, 2],
        "high": [3, 5, 6],
    }


def test_a_stack_of_areas(marks_of: Marks) -> None:
    first, second = marks_of("ax.stackplot([1, 2], [[1, 2], [3, 4]], labels=['a', 'b'])")
    assert pick(first, "label", "low", "high") == ["a", [0, 0], [1, 2]]
    assert pick(second, "label", "low", "high") == ["b", [1, 2], [4, 6]]


def test_segments_of_a_dumbbell(marks_of: Marks) -> None:
    segments, *points = marks_of("""
ax.hlines(['A', 'B'], [1, 2], [5, 7], color='grey')
ax.scatter([1, 2], ['A', 'B']); ax.scatter([5, 7], ['A', 'B'])""")
    [ends] = [mark for mark in (segments, *points) if mark["type"] == "segments"]
    assert ends["segments"] == [[[1, "A"], [5, "A"]], [[2, "B"], [7, "B"]]]
    assert sorted(mark["x"] for mark in points if mark["type"] == "scatter") == [[1, 2], [5, 7]]


def test_a_histogram(marks_of: Marks) -> None:
    [mark] = marks_of("ax.hist([1, 1, 2, 3, 3, 3], bins=[0.5, 1.5, 2.5, 3.5])")
    assert pick(mark, "positions", "values") == [[1, 2, 3], [2, 1, 3]]


def test_a_legend_of_the_figure_is_the_figures(run_once: Run) -> None:
    body = """
fig, (left, right) = plt.subplots(1, 2)
left.plot([1, 2], [3, 4], color='#0000ff', label='Net income')
right.plot([1, 2], [5, 6], color='#ff0000', label='Revenue')
fig.legend(title='Series')"""
    result = run_once(BEFORE + body + SAVE, 2)
    assert isinstance(result.drawn, dict)
    figure: Any = result.drawn["figures"][0]  # type: ignore[index, call-overload]
    assert [axes["legend"] for axes in figure["axes"]] == [None, None]
    assert figure["legends"] == [
        {
            "title": "Series",
            "entries": [{"label": "Net income", "color": "#0000ff"}, {"label": "Revenue", "color": "#ff0000"}],
        }
    ]


def test_titles_texts_ticks_and_legend(run_once: Run) -> None:
    body = """
fig.set_size_inches(8, 4); fig.suptitle('Everything'); fig.text(0.5, 0.01, 'Source: filings')
ax.plot([1, 2], [3, 4], color='#0000ff', label='Net income'); ax.legend(title='Series')
ax.set(title='Part', xlabel='Year', ylabel='USD', xlim=(1, 2), ylim=(0, 10)); ax.set_xticks([1, 2], ['FY21', 'FY22'])
ax.annotate('peak', (2, 4), xytext=(1.5, 9)); ax.text(1.2, 5, 'note')"""
    result = run_once(BEFORE + body + SAVE, 2)
    assert isinstance(result.drawn, dict)
    figure: Any = result.drawn["figures"][0]  # type: ignore[index, call-overload]
    assert pick(figure, "title", "width_px", "height_px", "texts") == ["Everything", 800, 400, ["Source: filings"]]
    [axes] = figure["axes"]
    assert pick(axes, "title", "xlabel", "ylabel", "xscale") == ["Part", "Year", "USD", "linear"]
    assert pick(axes, "xlim", "ylim") == [[1, 2], [0, 10]]
    assert axes["xticks"] == [{"at": 1, "label": "FY21"}, {"at": 2, "label": "FY22"}]
    assert axes["legend"] == {"title": "Series", "entries": [{"label": "Net income", "color": "#0000ff"}]}
    assert axes["texts"] == [{"text": "peak", "x": 2, "y": 4}, {"text": "note", "x": 1.2, "y": 5}]
    assert axes["box"] == pytest.approx([0.125, 0.11, 0.775, 0.77])


SEABORN = """
import sys
import pandas as pd, seaborn as sns, matplotlib.pyplot as plt
fig, ax = plt.subplots()
data = pd.DataFrame({'year': ['20', '21'] * 2, 'who': ['us', 'us', 'them', 'them'], 'sales': [1.0, 2.0, 3.0, 4.0]})
data['n'] = [5, 6, 7, 8]
"""


def test_seaborn_bars_are_named_by_their_hue(marks_of: Marks) -> None:
    marks = marks_of("sns.barplot(data, x='year', y='sales', hue='who', errorbar=None, ax=ax)", SEABORN)
    bars = [mark for mark in marks if mark["type"] == "bars"]
    assert [pick(mark, "label", "categories", "values") for mark in bars] == [
        ["us", ["20", "21"], [1, 2]],
        ["them", ["20", "21"], [3, 4]],
    ]


def test_seaborn_lines_are_named_by_their_hue(marks_of: Marks) -> None:
    marks = marks_of("sns.lineplot(data, x='year', y='sales', hue='who', ax=ax)", SEABORN)
    lines = [mark for mark in marks if mark["type"] == "line"]
    assert [pick(mark, "label", "x", "y") for mark in lines] == [
        ["us", ["20", "21"], [1, 2]],
        ["them", ["20", "21"], [3, 4]],
    ]


def test_seaborn_points_are_told_apart_by_hue(marks_of: Marks) -> None:
    marks = marks_of("sns.scatterplot(data, x='n', y='sales', hue='who', ax=ax)", SEABORN)
    assert [pick(mark, "label", "x", "y") for mark in marks] == [["us", [5, 6], [1, 2]], ["them", [7, 8], [3, 4]]]


PANDAS = """
import sys
import pandas as pd, matplotlib.pyplot as plt
fig, ax = plt.subplots()
"""


def test_pandas_bars(marks_of: Marks) -> None:
    first, second = marks_of(
        "pd.DataFrame({'a': [1, 2], 'b': [3, 4]}, index=['x', 'y']).plot.bar(ax=ax, stacked=True)", PANDAS
    )
    assert pick(first, "label", "categories", "values") == ["a", ["x", "y"], [1, 2]]
    assert pick(second, "label", "values", "bases") == ["b", [3, 4], [1, 2]]


@pytest.mark.parametrize(
    ("index", "dates"),
    [
        ("pd.date_range('2021-01-31', periods=3, freq='ME')", ["2021-01-01", "2021-02-01", "2021-03-01"]),
        ("pd.period_range('2021', periods=3, freq='Y')", ["2021-01-01", "2022-01-01", "2023-01-01"]),
        ("pd.to_datetime(['2021-01-05', '2021-01-06', '2021-03-01'])", ["2021-01-05", "2021-01-06", "2021-03-01"]),
    ],
    ids=["regular", "periods", "irregular"],
)
def test_pandas_dates_are_dates(marks_of: Marks, index: str, dates: list[str]) -> None:
    [mark] = marks_of(f"pd.Series([1, 2, 3], index={index}, name='s').plot(ax=ax)", PANDAS)
    assert pick(mark, "x", "y") == [dates, [1, 2, 3]]


def test_the_figure_that_was_saved_to_the_output_counts(run_once: Run) -> None:
    source = """
import io, sys, matplotlib.pyplot as plt
fig, ax = plt.subplots(); ax.plot([1, 2]); fig.savefig('draft.png')
fig2, ax2 = plt.subplots(); ax2.plot([3, 4])
with open(sys.argv[1], 'wb') as out: fig2.savefig(out)
fig.savefig(io.BytesIO())
"""
    result = run_once(source, 2)
    assert isinstance(result.drawn, dict)
    figures: Any = result.drawn["figures"]
    assert [axes["marks"][0]["y"] for figure in figures for axes in figure["axes"]] == [[3, 4]]


def test_figures_pasted_together_are_all_told(run_once: Run) -> None:
    source = """
import io, sys, matplotlib.pyplot as plt
from PIL import Image
sheet = Image.new('RGB', (640, 960))
for n in range(2):
    fig, ax = plt.subplots(); ax.plot([n, n + 1]); part = io.BytesIO(); fig.savefig(part); plt.close(fig)
    sheet.paste(Image.open(part), (0, 480 * n))
sheet.save(sys.argv[1])
"""
    result = run_once(source, 2)
    assert isinstance(result.drawn, dict)
    figures: Any = result.drawn["figures"]
    assert [figure["axes"][0]["marks"][0]["y"] for figure in figures] == [[0, 1], [1, 2]]


def test_a_chart_without_matplotlib_is_not_seen(run_once: Run) -> None:
    source = "import sys\nfrom PIL import Image\nImage.effect_noise((200, 200), 90).save(sys.argv[1])"
    result = run_once(source, 2)
    assert (result.status, result.drawn) == (RunStatus.OK, None)


def test_a_program_that_breaks_the_hook_still_gets_its_chart(run_once: Run) -> None:
    source = BEFORE + "import json\njson.dumps = None\nax.plot([1, 2])" + SAVE
    result = run_once(source, 2)
    assert (result.status, result.drawn) == (RunStatus.OK, None)


def test_the_chart_is_the_same_with_and_without_the_hook(run_once: Run, tmp_path: Any) -> None:
    import subprocess
    import sys

    source = BEFORE + "ax.bar(['a', 'b'], [1, 2]); ax.set_title('T'); ax.boxplot([[1, 2, 3]], positions=[1])" + SAVE
    (tmp_path / "this.py").write_text(source)
    environment = {"MPLBACKEND": "Agg", "TZ": "UTC", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "this.py", "output.png"], cwd=tmp_path, check=True, env=environment)
    assert run_once(source, 2).output == (tmp_path / "output.png").read_bytes()


# What a program leaves is a stranger's file --------------------------------------------------------------------


def test_a_program_may_forge_but_not_break_it(run_once: Run) -> None:
    forged = """
import gc, os, sys, glob
import matplotlib.pyplot as plt
fig, ax = plt.subplots(); ax.plot([1, 2]); fig.savefig(sys.argv[1])
folder = glob.glob('/program/drawn') or [os.path.dirname(os.getcwd()) + '/drawn']
os.unlink(folder[0] + '/drawn.json')
os.symlink('/etc/passwd', folder[0] + '/drawn.json')
"""
    result = run_once(forged, 2)
    assert (result.status, result.drawn) == (RunStatus.OK, None)
