"""What pages draw with real chart libraries equals what they were given, and modules and combined scripts load."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution import browser
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner

pytestmark = pytest.mark.slow

JSDELIVR = "https://cdn.jsdelivr.net/npm/"
ECHARTS = f"{JSDELIVR}echarts@5"
CHART_JS = f"{JSDELIVR}chart.js@4"
PLOTLY = "https://cdn.plot.ly/plotly-2.27.0.min.js"
D3 = "https://d3js.org/d3.v7.min.js"
VEGA = [f"{JSDELIVR}vega@5", f"{JSDELIVR}vega-lite@5", f"{JSDELIVR}vega-embed@6"]
DIV = "<div id=c style='width:900px;height:600px'></div>"
CANVAS = "<div style='width:800px'><canvas id=c></canvas></div>"
SVG = "<svg id=c width=600 height=400></svg>"
D3_AXES = """
const s = d3.select('#c');
s.append('g').attr('transform', 'translate(0,350)').call(d3.axisBottom(x));
s.append('g').attr('transform', 'translate(50,0)').call(d3.axisLeft(y));
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[LocalRunner]:
    if browser.find_browser() is None:
        pytest.skip("no Chromium on this machine")
    if "echarts" not in ChartLibraries.from_folder(None).versions():
        pytest.skip("no chart libraries on this machine: deepchart libraries install")
    with LocalRunner(workers=1) as runner:
        yield runner


def draw(runner: LocalRunner, html: str) -> RunResult:
    result = runner.run(Program(html, 2, CodeType.HTML, Limits(wall_s=120)))
    assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
    assert result.stderr_tail == ""
    return result


def page(scripts: list[str], body: str, code: str, kind: str = "text/javascript") -> str:
    tags = "".join(f"<script src='{address}'></script>" for address in scripts)
    return f"<!DOCTYPE html><html><head>{tags}</head><body>{body}<script type='{kind}'>{code}</script></body></html>"


def axes_of(result: RunResult) -> list[dict[str, Any]]:
    assert isinstance(result.drawn, dict), "nothing was seen"
    figures: Any = result.drawn["figures"]
    [figure] = figures
    return list(figure["axes"])


def echarts(option: str) -> str:
    return page([ECHARTS], DIV, f"echarts.init(document.getElementById('c')).setOption({option})")


def chart_js(config: str, *plugins: str) -> str:
    return page([CHART_JS, *plugins], CANVAS, f"new Chart(document.getElementById('c'), {config})")


def plotly(traces: str, layout: str = "{}") -> str:
    return page([PLOTLY], DIV, f"Plotly.newPlot('c', {traces}, {layout})")


def vega(spec: str) -> str:
    return page(VEGA, DIV, f"vegaEmbed('#c', {spec})")


SANKEY = {"type": "flows", "sources": ["a", "a"], "targets": ["b", "c"], "values": [5, 3]}
TREE = {"type": "tree", "labels": ["R", "A", "B"], "parents": ["", "R", "R"], "values": [10, 4, 6]}
BOX = {"type": "boxes", "medians": [3], "q1": [2], "q3": [4], "low": [1], "high": [5]}
CANDLE = {"type": "candles", "open": [1], "high": [3], "low": [0.5], "close": [2]}
FUNNEL = {"type": "named", "class": "funnel", "names": ["visits", "orders"], "values": [100, 40]}
HEAT = {"type": "heatmap", "rows": ["r", "s"], "columns": ["x", "y"], "values": [[1, 2], [3, None]]}
STACK = [
    {"type": "bars", "label": "S", "categories": ["a", "b"], "values": [1.5, 2], "bases": [0, 0]},
    {"type": "bars", "label": "T", "categories": ["a", "b"], "values": [3, 4], "bases": [1.5, 2]},
]
DATES = {"type": "line", "x": ["2021-01-01", "2021-06-01"], "y": [1, 2]}
PIE = {"type": "pie", "labels": ["x", "y"], "fractions": [0.25, 0.75]}

CASES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "echarts stack": (
        echarts(
            "{xAxis: {type: 'category', data: ['a', 'b']}, yAxis: {}, series: ["
            "{type: 'bar', stack: 's', name: 'S', data: [1.5, 2]}, {type: 'bar', stack: 's', name: 'T', data: [3, 4]}]}"
        ),
        STACK,
    ),
    "echarts time": (
        echarts(
            "{xAxis: {type: 'time'}, yAxis: {}, series: [{type: 'line', data: [['2021-01-01', 1], ['2021-06-01', 2]]}]}"
        ),
        [DATES],
    ),
    "echarts dataset": (
        echarts(
            "{dataset: {source: [['p', 'v', 'w'], ['a', 1, 5], ['b', 2, 6]]}, xAxis: {type: 'category'}, yAxis: {},"
            " series: [{type: 'bar'}, {type: 'bar', encode: {x: 'p', y: 'w'}}]}"
        ),
        [{"label": "v", "categories": ["a", "b"], "values": [1, 2]}, {"categories": ["a", "b"], "values": [5, 6]}],
    ),
    "echarts heat map": (
        echarts(
            "{xAxis: {type: 'category', data: ['x', 'y']}, yAxis: {type: 'category', data: ['r', 's']},"
            " visualMap: {min: 0, max: 9}, series: [{type: 'heatmap', data: [[0, 0, 1], [1, 0, 2], [0, 1, 3]]}]}"
        ),
        [HEAT],
    ),
    "echarts sankey": (
        echarts(
            "{series: [{type: 'sankey', data: [{name: 'a'}, {name: 'b'}, {name: 'c'}],"
            " links: [{source: 'a', target: 'b', value: 5}, {source: 'a', target: 'c', value: 3}]}]}"
        ),
        [SANKEY],
    ),
    "echarts treemap": (
        echarts(
            "{series: [{type: 'treemap', data: [{name: 'R', value: 10,"
            " children: [{name: 'A', value: 4}, {name: 'B', value: 6}]}]}]}"
        ),
        [TREE],
    ),
    "echarts funnel": (
        echarts("{series: [{type: 'funnel', data: [{name: 'visits', value: 100}, {name: 'orders', value: 40}]}]}"),
        [FUNNEL],
    ),
    "echarts radar": (
        echarts(
            "{radar: {indicator: [{name: 's'}, {name: 't'}, {name: 'u'}]},"
            " series: [{type: 'radar', data: [{name: 'A', value: [1, 2, 3]}, {name: 'B', value: [4, 5, 6]}]}]}"
        ),
        [
            {"type": "line", "label": "A", "x": ["s", "t", "u"], "y": [1, 2, 3]},
            {"type": "line", "label": "B", "x": ["s", "t", "u"], "y": [4, 5, 6]},
        ],
    ),
    "echarts candles": (
        echarts(
            "{xAxis: {type: 'category', data: ['d']}, yAxis: {},"
            " series: [{type: 'candlestick', data: [[1, 2, 0.5, 3]]}]}"
        ),
        [{**CANDLE, "x": ["d"]}],
    ),
    "echarts boxes": (
        echarts(
            "{xAxis: {type: 'category', data: ['g']}, yAxis: {}, series: [{type: 'boxplot', data: [[1, 2, 3, 4, 5]]}]}"
        ),
        [{**BOX, "labels": ["g"]}],
    ),
    "chart.js stack": (
        chart_js(
            "{type: 'bar', data: {labels: ['a', 'b'], datasets: [{label: 'S', data: [1.5, 2]},"
            " {label: 'T', data: [3, 4]}]}, options: {scales: {x: {stacked: true}, y: {stacked: true}}}}"
        ),
        STACK,
    ),
    "chart.js time": (
        chart_js(
            "{type: 'line', data: {datasets: [{data: [{x: '2021-01-01', y: 1}, {x: '2021-06-01', y: 2}]}]},"
            " options: {scales: {x: {type: 'time'}}}}",
            f"{JSDELIVR}chartjs-adapter-date-fns@3/dist/chartjs-adapter-date-fns.bundle.min.js",
            f"{JSDELIVR}chartjs-plugin-datalabels@2",
        ),
        [DATES],
    ),
    "chart.js sankey": (
        chart_js(
            "{type: 'sankey', data: {datasets: [{data: [{from: 'a', to: 'b', flow: 5},"
            " {from: 'a', to: 'c', flow: 3}]}]}}",
            f"{JSDELIVR}chartjs-chart-sankey@0.14",
        ),
        [SANKEY],
    ),
    "chart.js boxes": (
        chart_js(
            "{type: 'boxplot', data: {labels: ['g'], datasets: [{data: [[1, 2, 3, 4, 5]]}]}}",
            f"{JSDELIVR}@sgratzl/chartjs-chart-boxplot@4",
        ),
        [{**BOX, "labels": ["g"]}],
    ),
    "plotly stack": (
        plotly(
            "[{type: 'bar', name: 'S', x: ['a', 'b'], y: [1.5, 2]}, {type: 'bar', name: 'T', x: ['a', 'b'], y: [3, 4],"
            " error_y: {type: 'data', array: [1, 2]}}]",
            "{barmode: 'stack'}",
        ),
        [*STACK, {"type": "errorbars", "label": "T", "centers": [4.5, 6], "low": [3.5, 4], "high": [5.5, 8]}],
    ),
    "plotly sankey": (
        plotly(
            "[{type: 'sankey', node: {label: ['a', 'b', 'c']}, link: {source: [0, 0], target: [1, 2], value: [5, 3]}}]"
        ),
        [SANKEY],
    ),
    "plotly sunburst": (
        plotly(
            "[{type: 'sunburst', labels: ['R', 'A', 'B'], parents: ['', 'R', 'R'], values: [10, 4, 6],"
            " branchvalues: 'total'}]"
        ),
        [TREE],
    ),
    "plotly histogram": (
        plotly("[{type: 'histogram', x: [1, 1, 2, 3], xbins: {start: 0.5, end: 3.5, size: 1}}]"),
        [{"type": "bars", "positions": [1, 2, 3], "values": [2, 1, 1]}],
    ),
    "plotly violin": (
        plotly("[{type: 'violin', name: 'h', y: [1, 2, 3, 4, 5]}]"),
        [{"type": "violins", "labels": ["h"], "medians": [3], "low": [1], "high": [5]}],
    ),
    "plotly candles": (
        plotly("[{type: 'candlestick', x: ['2021-01-01'], open: [1], high: [3], low: [0.5], close: [2]}]"),
        [{**CANDLE, "x": ["2021-01-01"]}],
    ),
    "plotly waterfall": (
        plotly(
            "[{type: 'waterfall', x: ['a', 'b', 'c', 'd', 'e'], y: [10, -3, null, 4, 2],"
            " measure: ['relative', 'relative', 'total', 'absolute', 'relative']}]"
        ),
        [{"type": "bars", "values": [10, -3, 7, 4, 2], "bases": [0, 10, 0, 0, 4]}],
    ),
    "plotly funnel": (plotly("[{type: 'funnel', y: ['visits', 'orders'], x: [100, 40]}]"), [FUNNEL]),
    "plotly heat map": (
        plotly("[{type: 'heatmap', x: ['x', 'y'], y: ['r', 's'], z: [[1, 2], [3, null]]}]"),
        [HEAT],
    ),
    "vega bars": (
        vega(
            "{data: {values: [{a: 'x', b: 28.5, c: 'u'}, {a: 'y', b: -5.25, c: 'u'}, {a: 'x', b: 10, c: 'v'}]},"
            " mark: 'bar', encoding: {x: {field: 'a', type: 'nominal'}, y: {field: 'b', type: 'quantitative'},"
            " color: {field: 'c'}}}"
        ),
        [
            {"type": "bars", "label": "u", "categories": ["x", "y"], "values": [28.5, -5.25], "bases": [10, 0]},
            {"type": "bars", "label": "v", "categories": ["x"], "values": [10], "bases": [0]},
        ],
    ),
    "vega bars side by side": (
        vega(
            "{data: {values: [{a: 'x', b: 28.5, c: 'u'}, {a: 'y', b: 5.25, c: 'u'}, {a: 'x', b: 10, c: 'v'}]}, mark:"
            " 'bar', encoding: {x: {field: 'a', type: 'nominal'}, xOffset: {field: 'c'}, y: {field: 'b', type:"
            " 'quantitative'}, color: {field: 'c'}}}"
        ),
        [
            {"type": "bars", "label": "u", "categories": ["x", "y"], "values": [28.5, 5.25], "bases": [0, 0]},
            {"type": "bars", "label": "v", "categories": ["x"], "values": [10], "bases": [0]},
        ],
    ),
    "vega lying bars": (
        vega(
            "{data: {values: [{a: 'x', b: 3}, {a: 'y', b: 5}, {a: 'z', b: -2}]}, mark: 'bar', encoding:"
            " {y: {field: 'a', sort: '-x'}, x: {field: 'b', type: 'quantitative'}}}"
        ),
        [{"type": "bars", "orientation": "horizontal", "categories": ["x", "y", "z"], "values": [3, 5, -2]}],
    ),
    "vega histogram": (
        vega(
            "{data: {values: [{x: 1}, {x: 1.2}, {x: 2}, {x: 3.9}]}, mark: 'bar', encoding:"
            " {x: {field: 'x', bin: {step: 1}, type: 'quantitative'}, y: {aggregate: 'count', type: 'quantitative'}}}"
        ),
        [{"type": "bars", "orientation": "vertical", "categories": ["1.5", "2.5", "3.5"], "values": [2, 1, 1]}],
    ),
    "vega boxes": (
        vega(
            "{data: {values: [1, 2, 3, 4, 5].map(v => ({g: 'g', v}))}, mark: {type: 'boxplot', extent: 'min-max'},"
            " encoding: {x: {field: 'g', type: 'nominal'}, y: {field: 'v', type: 'quantitative'}}}"
        ),
        [{**BOX, "labels": ["g"]}],
    ),
    "vega line": (
        vega(
            "{data: {values: [{a: '2021-01-01', b: 1}, {a: '2021-06-01', b: 2}]}, mark: 'line', encoding:"
            " {x: {field: 'a', type: 'temporal'}, y: {field: 'b', type: 'quantitative'}}}"
        ),
        [DATES],
    ),
    "vega heat map": (
        vega(
            "{data: {values: [{a: 'x', b: 'r', v: 1}, {a: 'y', b: 'r', v: 2}, {a: 'x', b: 's', v: 3}]}, mark: 'rect',"
            " encoding: {x: {field: 'a', type: 'nominal'}, y: {field: 'b', type: 'nominal'},"
            " color: {field: 'v', type: 'quantitative'}}}"
        ),
        [HEAT],
    ),
    "vega pie": (
        vega(
            "{data: {values: [{a: 'x', v: 1}, {a: 'y', v: 3}]}, mark: 'arc', encoding:"
            " {theta: {field: 'v', type: 'quantitative'}, color: {field: 'a', type: 'nominal'}}}"
        ),
        [PIE],
    ),
    "d3 bars": (
        page(
            [D3],
            SVG,
            "const data = [{n: 'A', v: 12.345}, {n: 'B', v: -7}];"
            "const x = d3.scaleBand(['A', 'B'], [50, 550]), y = d3.scaleLinear([-10, 15], [350, 20]);"
            f"{D3_AXES} s.selectAll('.b').data(data).join('rect').attr('class', 'b').attr('x', d => x(d.n))"
            ".attr('width', x.bandwidth()).attr('y', d => y(Math.max(0, d.v)))"
            ".attr('height', d => Math.abs(y(d.v) - y(0))).attr('fill', '#336699')",
        ),
        [{"type": "bars", "color": "#336699", "categories": ["A", "B"], "values": [12.345, -7], "bases": [0, 0]}],
    ),
    "d3 line over dates on a log scale": (
        page(
            [D3],
            SVG,
            "const data = [{t: new Date('2021-01-01'), v: 1.5}, {t: new Date('2021-07-01'), v: 9.25}];"
            "const x = d3.scaleUtc([data[0].t, data[1].t], [50, 550]), y = d3.scaleLog([1, 10], [350, 20]);"
            f"{D3_AXES} s.append('path').datum(data).attr('fill', 'none').attr('stroke', '#ff0000')"
            ".attr('d', d3.line(d => x(d.t), d => y(d.v)))",
        ),
        [{"type": "line", "color": "#ff0000", "x": ["2021-01-01", "2021-07-01"], "y": [1.5, 9.25]}],
    ),
    "d3 area": (
        page(
            [D3],
            SVG,
            "const data = [[2019, 3, 1], [2020, 8, 2.5], [2021, 5, 1]];"
            "const x = d3.scaleLinear([2019, 2021], [50, 550]), y = d3.scaleLinear([0, 10], [350, 20]);"
            f"{D3_AXES} s.append('path').datum(data).attr('fill', '#112233')"
            ".attr('d', d3.area(d => x(d[0]), d => y(d[2]), d => y(d[1])))",
        ),
        [{"type": "area", "color": "#112233", "x": [2019, 2020, 2021], "low": [1, 2.5, 1], "high": [3, 8, 5]}],
    ),
    "d3 pie": (
        page(
            ["https://d3js.org/d3.v5.min.js"],
            SVG,
            "const p = d3.pie().value(d => d.v)([{n: 'x', v: 1}, {n: 'y', v: 3}]);"
            "d3.select('#c').append('g').attr('transform', 'translate(200,200)').selectAll('path').data(p).enter()"
            ".append('path').attr('d', d3.arc().innerRadius(0).outerRadius(100))",
        ),
        [PIE],
    ),
    "d3 sankey": (
        page(
            [D3, f"{JSDELIVR}d3-sankey@0.12"],
            SVG,
            "const g = d3.sankey().extent([[1, 1], [590, 390]])({nodes: [{name: 'a'}, {name: 'b'}, {name: 'c'}],"
            " links: [{source: 0, target: 1, value: 5}, {source: 0, target: 2, value: 3}]});"
            "d3.select('#c').selectAll('path').data(g.links).join('path').attr('d', d3.sankeyLinkHorizontal())"
            ".attr('stroke', '#999').attr('fill', 'none').attr('stroke-width', d => d.width)",
        ),
        [SANKEY],
    ),
    "d3 treemap": (
        page(
            [D3],
            SVG,
            "const h = d3.hierarchy({name: 'R', children: [{name: 'A', v: 4}, {name: 'B', v: 6}]}).sum(d => d.v || 0);"
            "d3.treemap().size([600, 400])(h);"
            "d3.select('#c').selectAll('rect').data(h.descendants()).join('rect').attr('x', d => d.x0)"
            ".attr('y', d => d.y0).attr('width', d => d.x1 - d.x0).attr('height', d => d.y1 - d.y0)",
        ),
        [TREE],
    ),
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_marks_are_the_values_that_were_given(runner: LocalRunner, name: str) -> None:
    html, expected = CASES[name]
    marks = [mark for axes in axes_of(draw(runner, html)) for mark in axes["marks"]]
    assert len(marks) == len(expected), marks
    for mark, wanted in zip(marks, expected, strict=True):
        assert {key: mark[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("html", "second"),
    [
        (
            echarts(
                "{xAxis: {type: 'category', data: ['a', 'b']}, yAxis: [{name: 'L'}, {type: 'log', name: 'R'}], series:"
                " [{type: 'bar', data: [1, 2]}, {type: 'line', yAxisIndex: 1, data: [10, 100]}]}"
            ),
            [10, 100],
        ),
        (
            chart_js(
                "{data: {labels: ['a', 'b'], datasets: [{type: 'bar', data: [1, 2]}, {type: 'line', data: [10, 100],"
                " yAxisID: 'r'}]}, options: {scales: {y: {title: {text: 'L'}}, r: {position: 'right',"
                " type: 'logarithmic', title: {text: 'R'}}}}}"
            ),
            [10, 100],
        ),
        (
            plotly(
                "[{type: 'bar', x: ['a', 'b'], y: [1, 2]}, {x: ['a', 'b'], y: [10, 100], yaxis: 'y2'}]",
                "{yaxis: {title: 'L'}, yaxis2: {overlaying: 'y', side: 'right', type: 'log', title: 'R'}}",
            ),
            [10, 100],
        ),
    ],
    ids=["echarts", "chart.js", "plotly"],
)
def test_twin_axes_are_two_axes_at_one_place(runner: LocalRunner, html: str, second: list[float]) -> None:
    left, right = axes_of(draw(runner, html))
    assert (left["ylabel"], left["yscale"], left["marks"][0]["values"]) == ("L", "linear", [1, 2])
    assert (right["ylabel"], right["yscale"], right["marks"][0]["y"]) == ("R", "log", second)
    assert left["box"] == right["box"]


def test_vega_s_axes_say_where_they_end(runner: LocalRunner) -> None:
    [axes] = axes_of(draw(runner, CASES["vega line"][0]))
    assert (axes["xlim"], axes["ylim"]) == (["2021-01-01", "2021-06-01"], [0, 2])


MODULES = {
    "jsdelivr": (
        CANVAS,
        "import Chart from 'https://cdn.jsdelivr.net/npm/chart.js@4/auto/+esm';"
        "new Chart(document.getElementById('c'), {type: 'bar', data: {labels: ['x'], datasets: [{data: [4]}]}})",
        "chart.js",
    ),
    "esm.sh": (
        DIV,
        "import * as echarts from 'https://esm.sh/echarts@5';"
        "echarts.init(document.getElementById('c')).setOption({xAxis: {data: ['x']}, yAxis: {},"
        " series: [{type: 'bar', data: [4]}]})",
        "echarts",
    ),
    "d3 and its parts": (
        SVG,
        "import * as d3 from 'https://cdn.skypack.dev/d3@7';"
        "const x = d3.scaleBand(['x', 'y'], [50, 550]), y = d3.scaleLinear([0, 5], [350, 20]);"
        f"{D3_AXES} s.selectAll('.b').data([4]).join('rect').attr('class', 'b').attr('x', x('x'))"
        ".attr('width', 90).attr('y', d => y(d)).attr('height', d => 350 - y(d))",
        "svg",
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_served(runner: LocalRunner, name: str) -> None:
    body, code, library = MODULES[name]
    result = draw(runner, page([], body, code, "module"))
    assert [request.outcome for request in result.requests] == ["served"]
    assert isinstance(result.drawn, dict)
    assert result.drawn["library"] == library
    assert axes_of(result)[0]["marks"][0]["values"] == [4]


def test_import_maps_and_combined_scripts(runner: LocalRunner) -> None:
    combined = "https://cdn.jsdelivr.net/combine/npm/vega@5,npm/vega-lite@5,npm/vega-embed@6,npm/no-such-package@1"
    html = f"""<script src="{combined}"></script>
<script type="importmap">{{"imports": {{"d3": "https://cdn.jsdelivr.net/npm/d3@7/+esm"}}}}</script><p>text</p>
<script type="module">import {{ sum }} from "d3";
console.log("sum", sum([1, 2]), vega.version, typeof vegaEmbed)</script>"""
    result = draw(runner, html)
    assert "sum 3 5." in result.stdout_tail
    assert "function" in result.stdout_tail
    assert {request.url: request.outcome for request in result.requests} == {
        "npm/vega@5": "served",
        "npm/vega-lite@5": "served",
        "npm/vega-embed@6": "served",
        "npm/no-such-package@1": "refused",
        "https://cdn.jsdelivr.net/npm/d3@7/+esm": "served",
    }


def test_a_wrong_hash_does_not_keep_a_substitute_out(runner: LocalRunner) -> None:
    html = f"<script src='{JSDELIVR}chart.js@4.2.0' integrity='sha384-AAAA' crossorigin></script><p>text</p>"
    result = draw(runner, html + "<script>console.log(typeof Chart)</script>")
    assert "log: function" in result.stdout_tail
    assert [request.outcome for request in result.requests] == ["substituted"]
