"""HTML programs in a real Chromium."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import BrowserUnavailable
from deepchart_dagster.execution import browser
from deepchart_dagster.execution.chromium import Chromium
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner

pytestmark = pytest.mark.slow

Draw = Callable[..., RunResult]

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


@pytest.fixture
def draw(page_runner: LocalRunner) -> Draw:
    def render(html: str, wall_s: float = 60.0) -> RunResult:
        return page_runner.run(Program(html, 2, CodeType.HTML, Limits(wall_s=wall_s)))

    return render


@pytest.fixture(scope="module")
def undisturbed(page_runner: LocalRunner) -> bytes:
    """The picture of PLAIN before any mischief."""
    result = page_runner.run(Program(PLAIN, 2, CodeType.HTML, Limits(wall_s=60)))
    assert result.output is not None
    return result.output


def script(code: str, body: str = "<h1>Chart</h1>") -> str:
    return f"<!DOCTYPE html><html><body>{body}<script>{code}</script></body></html>"


def pixel(result: RunResult, x: int, y: int) -> tuple[int, ...]:
    assert result.output is not None, result.message
    return Image.open(io.BytesIO(result.output)).convert("RGB").getpixel((x, y))  # type: ignore[return-value]


PLAIN = "<body style='margin:0'><svg width=400 height=300><rect x=0 y=100 width=50 height=200 fill='#ff0000'/></svg>"


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
