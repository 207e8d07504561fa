"""HTML programs in a real Chromium."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from execution_page import PLAIN, Draw, pixel, script
from PIL import Image

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import BrowserUnavailable
from deepchart_dagster.execution import browser
from deepchart_dagster.execution.chromium import Chromium
from deepchart_dagster.execution.model import Limits, Program, RunStatus
from deepchart_dagster.execution.runner import LocalRunner

pytestmark = pytest.mark.slow

FAKE_CHART_JS = """
window.Chart = class {
  constructor(canvas, config) {
    this.canvas = canvas; this.config = config; this.data = config.data; this.options = config.options || {};
    window.Chart.instances[0] = this; canvas.getContext('2d').fillRect(10, 10, 50, 50);
  }
};
window.Chart.instances = {};
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that answers for Chart.js, so that serving is tested without npm."""
    folder = tmp_path_factory.mktemp("npm") / "node_modules"
    package = folder / "chart.js"
    (package / "dist").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": "4.6.1"}))
    (package / "dist" / "chart.umd.js").write_text(FAKE_CHART_JS)
    return folder


@pytest.fixture(scope="module")
def page_runner(libraries: Path) -> Iterator[LocalRunner]:
    if browser.find_browser() is None:
        pytest.skip("no Chromium on this machine")
    with LocalRunner(libraries=libraries, workers=2) as runner:
        yield runner


def test_a_plain_page_is_a_picture_of_the_viewport(draw: Draw) -> None:
    result = draw(PLAIN)
    assert result.status is RunStatus.OK, result.message
    assert result.output is not None
    assert Image.open(io.BytesIO(result.output)).size == (1400, 1000)
    assert pixel(result, 10, 150) == (255, 0, 0)
    assert pixel(result, 10, 50) == (255, 255, 255)
    assert (result.tier, result.exit_code, result.message) == ("browser", None, "")
    assert result.versions["chromium"][0].isdigit()
    assert result.drawn is None


def test_a_canvas_drawn_by_timers_and_frames_is_finished(draw: Draw) -> None:
    result = draw(
        script(
            "const c = document.querySelector('canvas').getContext('2d'); let n = 0;"
            "const step = () => { c.fillStyle = '#0000ff'; c.fillRect(n++ * 10, 0, 10, 50);"
            " if (n < 30) requestAnimationFrame(step) };"
            "setTimeout(step, 2000)",
            "<style>body{margin:0}</style><canvas width=400 height=100></canvas>",
        )
    )
    assert pixel(result, 5, 10) == pixel(result, 295, 10) == (0, 0, 255)
    assert pixel(result, 305, 10) == (255, 255, 255)
    assert result.wall_s < 30


CANVAS = "<style>body{margin:0}</style><canvas id=c width=400 height=100></canvas>"
FILL = "document.getElementById('c').getContext('2d').fillRect(0, 0, 400, 100)"
BOX = "<style>body{margin:0} #b{width:100px;height:100px;background:#ff0000}</style><div id=b></div>"
RED, BLACK = (255, 0, 0), (0, 0, 0)

# What takes real time, or time of another clock: the page, the place, and the colour in the end.
FINISHED: dict[str, tuple[str, tuple[int, int], tuple[int, ...]]] = {
    "a module imported late": (
        script(f"setTimeout(() => import('https://esm.sh/chart.js@4').then(() => {{ {FILL} }}), 100)", CANVAS),
        (200, 50),
        BLACK,
    ),
    "a file fetched late": (
        script(
            "setTimeout(async () => { const r = await fetch('https://cdn.jsdelivr.net/npm/chart.js@4');"
            f" await r.text(); setTimeout(() => {{ {FILL} }}, 700) }}, 1000)",
            CANVAS,
        ),
        (200, 50),
        BLACK,
    ),
    "a refused file first": (
        script(f"fetch('https://example.com/data.json').catch(() => {{ {FILL} }})", CANVAS),
        (200, 50),
        BLACK,
    ),
    "a size observed": (
        script(
            f"new ResizeObserver(() => {{ requestAnimationFrame(() => {{ {FILL} }}) }})"
            ".observe(document.getElementById('c'))",
            CANVAS,
        ),
        (200, 50),
        BLACK,
    ),
    "200 frames counted": (
        script(f"let n = 0; (function f() {{ if (++n < 200) requestAnimationFrame(f); else {{ {FILL} }} }})()", CANVAS),
        (200, 50),
        BLACK,
    ),
    "an animation of 1.5 s": (
        script(
            f"const s = performance.now(); (function f(t) {{ if (t - s < 1500) requestAnimationFrame(f);"
            f" else {{ {FILL} }} }})(s)",
            CANVAS,
        ),
        (200, 50),
        BLACK,
    ),
    "a transition of style": (
        script(
            "setTimeout(() => { document.getElementById('b').style.transform = 'translate(400px, 0)' }, 400)",
            BOX + "<style>#b{transition:transform 3s}</style>",
        ),
        (450, 50),
        RED,
    ),
    "an animation of style": (
        BOX + "<style>#b{animation:go 4s 1s forwards}@keyframes go{to{transform:translate(400px,0)}}</style>",
        (450, 50),
        RED,
    ),
    "an animation of SVG": (
        "<body style='margin:0'><svg width=600 height=100><rect width=100 height=100 fill=#ff0000>"
        "<animate attributeName=x from=0 to=400 dur=2s fill=freeze /></rect></svg>",
        (450, 50),
        RED,
    ),
    "a frame within the page": (
        "<body style='margin:0'><iframe style='border:0' width=400 height=100 srcdoc=\"<body style='margin:0'>"
        "<div id=b style='width:400px;height:100px'></div><script>setTimeout(() =>"
        " {document.getElementById('b').style.background = '#ff0000'}, 900)</script>\"></iframe>",
        (200, 50),
        RED,
    ),
    "a frame with a process of its own": (
        "<body style='margin:0'><iframe sandbox=allow-scripts style='border:0' width=400 height=100 srcdoc=\"<body"
        " style='margin:0'><div id=b style='width:400px;height:100px'></div><script>setTimeout(() =>"
        " {document.getElementById('b').style.background = '#ff0000'}, 900)</script>\"></iframe>",
        (200, 50),
        RED,
    ),
    "a worker's answer": (
        script(
            "const w = new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(1), 50)'])));"
            f"w.onmessage = () => {{ {FILL} }}",
            CANVAS,
        ),
        (200, 50),
        BLACK,
    ),
    "an interval called off": (
        script(
            f"let n = 0; const i = setInterval(() => {{ if (++n === 5) {{ clearInterval(i); {FILL} }} }}, 80)", CANVAS
        ),
        (200, 50),
        BLACK,
    ),
}


@pytest.mark.parametrize("name", FINISHED)
def test_a_page_is_drawn_when_it_is_finished(draw: Draw, name: str) -> None:
    html, (x, y), colour = FINISHED[name]
    result = draw(html)
    assert pixel(result, x, y) == colour, (result.message, result.stderr_tail)
    assert draw(html).output == result.output


def test_a_page_sees_the_same_time_every_time(draw: Draw) -> None:
    code = """
const seen = [new Date().toISOString(), Date.now(), Date().slice(0, 15), new Date(2020, 1, 2).getDate(),
  new Date('2021-05-06').toISOString(), Date.UTC(2020, 0), new Date() instanceof Date, typeof Date.parse('2020-01-01'),
  new Intl.DateTimeFormat('en', {timeZone: 'UTC'}).format(), Intl.DateTimeFormat().resolvedOptions().timeZone,
  Intl.NumberFormat().resolvedOptions().locale, (class D extends Date {}).name,
  new (class D extends Date {})(5).getTime()];
setTimeout((a, b) => console.log(seen.join('|') + '|' + a + b + '|' + Math.round(performance.now())), 1000, 'x', 'y')
const gone = setTimeout(() => console.log('never'), 10); clearTimeout(gone);
cancelAnimationFrame(requestAnimationFrame(() => console.log('never')));
setTimeout("console.log('as text')", 2000); setTimeout(() => { throw new Error('in a timer') }, 3000);
"""
    result = draw(script(code))
    first, second = result.stdout_tail.splitlines()
    assert first.startswith("log: 2024-01-01T00:00:00.000Z|1704067200000|Mon Jan 01 2024|2|2021-05-06T00:00:00.000Z|")
    assert first.endswith("|1577836800000|true|number|1/1/2024|UTC|en-US|D|5|xy|1000")
    assert second == "log: as text"
    assert result.stderr_tail == "page error: Error: in a timer"
    assert draw(script(code)).stdout_tail == result.stdout_tail


def test_the_full_browser_draws_the_same_pixels(draw: Draw) -> None:
    full = shutil.which("chromium")
    if not full or not shutil.which("chromium-headless-shell"):
        pytest.skip("not both a chromium and a chromium-headless-shell on this machine")
    with LocalRunner(browser=Path(full), workers=1) as runner:
        result = runner.run(Program(PLAIN, 2, CodeType.HTML, Limits(wall_s=60)))
    assert result.output == draw(PLAIN).output


def test_the_same_page_gives_the_same_bytes(draw: Draw) -> None:
    page = script("document.body.append(new Date().toISOString())")
    assert draw(PLAIN).output == draw(PLAIN).output
    assert draw(page).status is RunStatus.OK


def test_an_empty_page_is_blank(draw: Draw) -> None:
    result = draw("<html><body style='background:#eee'></body></html>")
    assert (result.status, result.output) == (RunStatus.INVALID_OUTPUT, None)
    assert "blank" in result.message


def test_a_library_that_is_not_there_is_named(draw: Draw) -> None:
    url = "https://cdn.jsdelivr.net/npm/echarts@5/dist/echarts.min.js"
    result = draw(f"<script src='{url}'></script>" + script("echarts.init(document.body)"))
    assert result.status is RunStatus.OK  # the heading is there; whether it is the chart is for the judge
    assert f"refused (no network, no local copy): {url}" in result.message
    assert "echarts is not defined" in result.stderr_tail


def test_highcharts_is_not_served_and_that_is_said(draw: Draw) -> None:
    url = "https://code.highcharts.com/highcharts.js"
    result = draw(f"<script src='{url}'></script>" + script("Highcharts.chart('c', {})"))
    assert result.status is RunStatus.OK
    assert [(request.url, request.outcome) for request in result.requests] == [(url, "refused")]
    assert "Highcharts is not served: its licence asks" in result.message
    assert "DEEPCHART_CHART_LIBRARIES" in result.message


def test_a_local_library_is_served_and_what_it_drew_is_read(draw: Draw) -> None:
    url = "https://cdn.jsdelivr.net/npm/chart.js@4"
    chart = """new Chart(document.querySelector('canvas'), {type: 'bar', data: {labels: ['a', 'b'], datasets: [
        {label: 'Sales', data: [1.5, 2], backgroundColor: '#00ff00'}, {type: 'line', label: 'Trend', data: [3, null]}]},
        options: {plugins: {title: {text: 'Title'}}}})"""
    result = draw(f"<script src='{url}'></script>" + script(chart, "<canvas width=200 height=100></canvas>"))
    assert result.status is RunStatus.OK, result.message
    assert result.message == f"served: {url} by chart.js@4.6.1"
    assert result.versions["chart.js"] == "4.6.1"
    drawn: Any = result.drawn
    assert drawn["library"] == "chart.js"
    [axes] = drawn["figures"][0]["axes"]
    assert axes["title"] == "Title"
    bars, line = axes["marks"]
    assert (bars["label"], bars["color"], bars["categories"], bars["values"]) == (
        "Sales",
        "#00ff00",
        ["a", "b"],
        [1.5, 2],
    )
    assert (line["type"], line["label"], line["x"], line["y"]) == ("line", "Trend", ["a", "b"], [3, None])


def test_another_version_of_the_same_major_is_called_substituted(draw: Draw) -> None:
    url = "https://cdn.jsdelivr.net/npm/chart.js@4.2.0/dist/chart.umd.js"
    result = draw(f"<script src='{url}'></script>" + script(""))
    assert result.message == f"substituted: {url} by chart.js@4.6.1"


def test_a_browser_that_was_killed_is_replaced(page_runner: LocalRunner, draw: Draw, undisturbed: bytes) -> None:
    assert draw(PLAIN).output == undisturbed
    for process in _browsers_below(os.getpid()):
        os.kill(process, signal.SIGKILL)
    assert draw(PLAIN).output == undisturbed


def _browsers_below(ancestor: int) -> list[int]:
    """The browser processes that this process started, by their arguments and their parents."""
    parents: dict[int, int] = {}
    browsers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        if b"--host-resolver-rules" in command and b"--type=" not in command:
            browsers.append(int(folder.name))

    def is_below(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == ancestor:
                return True
        return False

    return [process for process in browsers if is_below(process)]


def test_the_browser_s_own_sandbox_is_on_where_this_user_may_have_it(draw: Draw) -> None:
    assert draw(PLAIN).status is RunStatus.OK
    found = browser.find_browser()
    assert found is not None
    state = browser.sandbox_of(found)
    commands = [Path(f"/proc/{process}/cmdline").read_bytes() for process in _browsers_below(os.getpid())]
    assert commands
    assert [b"--no-sandbox" in command for command in commands] == [not state.on] * len(commands)
    assert state.on or os.geteuid() == 0 or state.remedy


def test_a_browser_is_replaced_after_many_pages() -> None:
    found = browser.find_browser()
    if found is None:
        pytest.skip("no Chromium on this machine")

    async def count() -> list[int]:
        chromium = Chromium(found, pages_per_browser=2)
        seen = []
        for _ in range(5):
            async with chromium.for_one_page() as running:
                seen.append(id(running.process))
                assert running.process.alive
        await chromium.close()
        return seen

    seen = asyncio.run(count())
    assert seen[0] == seen[1] != seen[2] == seen[3] != seen[4]


def test_without_a_browser_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEEPCHART_CHROMIUM", str(tmp_path / "none"))
    with LocalRunner() as runner:
        assert runner.identity(2, CodeType.HTML)["chromium"] is None
        with pytest.raises(BrowserUnavailable, match="DEEPCHART_CHROMIUM"):
            runner.run(Program(PLAIN, 2, CodeType.HTML, Limits(wall_s=5)))


def test_the_remedy_is_one_that_this_user_can_carry_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPCHART_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "apt-get install chromium-headless-shell" in str(browser.browser_unavailable())
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "playwright install" in str(browser.browser_unavailable())


def test_a_browser_that_does_not_start_is_no_browser(tmp_path: Path) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho Chromium 999.1.2\n")
    fake.chmod(0o755)
    found = browser.find_browser(fake)
    assert found is not None
    assert found.major == "999"
    with LocalRunner(browser=fake) as runner, pytest.raises(BrowserUnavailable, match="does not start"):
        runner.run(Program(PLAIN, 2, CodeType.HTML, Limits(wall_s=5)))
