"""CPU seconds a page: one browser with a context each and a virtual clock, against a browser each and a fixed wait.

    python benchmarks/execution_pages.py [--rounds 3]

Both draw the same pages in the same run, with the same Chromium (what `deepchart doctor` names), arguments and library
files. The other way is what a plain harness does, with Playwright: start a browser, load the page, wait 3 s, take the
picture, close. CPU seconds are those of this process and of every process it started, those that outlive a browser too.
What starting and ending our one browser costs is measured alone and spread over the pages that a browser draws in its
life; ``ratio_html_of_these_pages_alone`` has all of it on the pages of this run. The last line of stdout is one JSON
object; ``ratio_html`` is the other way's CPU seconds by ours,
``identical`` whether every page has the same pixels both ways and every time. ``--browser`` names another Chromium for
both: the full one costs a plain harness more.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution import chromium
from deepchart_dagster.execution.browser import Browser, find_browser
from deepchart_dagster.execution.chromium import VIEWPORT_HEIGHT, VIEWPORT_WIDTH
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, Program, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.keeper import linux
from deepchart_dagster.execution.visits import ADDRESS

FIXED_WAIT_MS = 3000
JSDELIVR = "https://cdn.jsdelivr.net/npm/"
DIV = "<div id=c style='width:1000px;height:700px'></div>"


def _page(script: str, body: str, code: str) -> str:
    return f"<!DOCTYPE html><html><head><script src='{script}'></script></head><body>{body}<script>{code}</script>"


PAGES = {
    "echarts": _page(
        f"{JSDELIVR}echarts@5",
        DIV,
        "echarts.init(document.getElementById('c')).setOption({title: {text: 'Revenue'}, legend: {}, xAxis:"
        " {type: 'category', data: ['2021', '2022', '2023']}, yAxis: {}, series: ["
        "{type: 'bar', name: 'A', data: [12.5, 18.3, 9.7]}, {type: 'line', name: 'B', data: [3, 9, 14]}]})",
    ),
    "chart.js": _page(
        f"{JSDELIVR}chart.js@4",
        "<div style='width:900px'><canvas id=c></canvas></div>",
        "new Chart(document.getElementById('c'), {type: 'bar', data: {labels: ['2021', '2022', '2023'],"
        " datasets: [{label: 'A', data: [12.5, 18.3, 9.7]}]}})",
    ),
    "plotly": _page(
        "https://cdn.plot.ly/plotly-2.27.0.min.js",
        DIV,
        "Plotly.newPlot('c', [{type: 'bar', x: ['2021', '2022', '2023'], y: [12.5, 18.3, 9.7]}])",
    ),
    "d3": _page(
        "https://d3js.org/d3.v7.min.js",
        "<svg id=c width=900 height=500></svg>",
        "const y = d3.scaleLinear([0, 20], [450, 20]); const s = d3.select('#c');"
        "s.append('g').attr('transform', 'translate(50,0)').call(d3.axisLeft(y));"
        "s.selectAll('rect').data([12.5, 18.3, 9.7]).join('rect').attr('x', (d, i) => 80 + i * 100).attr('width', 80)"
        ".attr('y', 450).attr('height', 0).attr('fill', 'teal')"
        ".transition().duration(800).attr('y', y).attr('height', d => 450 - y(d))",
    ),
}


def _cpu_s() -> float:
    """CPU seconds so far: of this process, and of all that it started, once every one of them has ended."""
    stop = time.monotonic() + 30
    while time.monotonic() < stop:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
        except ChildProcessError:
            break
    else:
        raise SystemExit("a process that was started does not end: its CPU seconds are not known")
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def browser_each(browser: Browser, libraries: ChartLibraries, html: str) -> bytes:
    """The page as a plain harness draws it."""
    from playwright.sync_api import Route, sync_playwright

    def answer(route: Route) -> None:
        if route.request.url == ADDRESS:
            route.fulfill(status=200, content_type="text/html; charset=utf-8", body=html)
        elif found := libraries.answer(route.request.url):
            route.fulfill(status=200, body=found.body, content_type=found.content_type)
        else:
            route.abort()

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(browser.path), args=list(chromium.ARGUMENTS), chromium_sandbox=os.geteuid() != 0
        )
        page = started.new_page(
            viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT}, reduced_motion="reduce", timezone_id="UTC"
        )
        page.route("**/*", answer)
        page.goto(ADDRESS)
        page.wait_for_timeout(FIXED_WAIT_MS)
        picture = page.screenshot(animations="disabled")
        started.close()
    return picture


def _pixels(picture: bytes) -> str:
    with Image.open(io.BytesIO(picture)) as image:
        return f"{image.size} {hashlib.sha256(image.convert('RGBA').tobytes()).hexdigest()}"


def _measure(draw: Callable[[str], bytes], rounds: int, hashes: dict[str, set[str]]) -> int:
    """Draws every page ``rounds`` times and notes its pixels; returns how many pages that were."""
    for _ in range(rounds):
        for name, html in PAGES.items():
            picture = draw(html)
            hashes.setdefault(name, set()).add(_pixels(picture))
            if folder := os.environ.get("DEEPCHART_BENCHMARK_PICTURES"):
                Path(folder, f"{name}-{len(hashes[name])}.png").write_bytes(picture)
    return rounds * len(PAGES)


def _one_browser(browser: Browser, rounds: int, hashes: dict[str, set[str]]) -> tuple[float, float, int]:
    """CPU seconds of a runner from its start to its end, an empty page first; wall seconds a page, and the pages."""
    start = _cpu_s()
    with LocalRunner(workers=1, browser=browser.path) as runner:

        def draw(html: str) -> bytes:
            result = runner.run(Program(html, 2, CodeType.HTML, Limits(wall_s=120)))
            assert result.status is RunStatus.OK, result.message
            return result.output or b""

        draw("<p>x")
        wall = time.monotonic()
        pages = _measure(draw, rounds, hashes)
        wall = time.monotonic() - wall
    return _cpu_s() - start, wall / max(pages, 1), pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each page is drawn in either way")
    parser.add_argument("--browser", type=Path, help="a Chromium; default: the one that would be used")
    asked = parser.parse_args()
    rounds: int = asked.rounds
    browser, libraries = find_browser(asked.browser), ChartLibraries.from_folder(None)
    if browser is None or not libraries.versions():
        raise SystemExit("needs a Chromium and the chart libraries: deepchart doctor")
    linux.adopt_orphans()  # what a browser leaves behind is ended, and counted, here
    hashes: dict[str, set[str]] = {}
    first, _, _ = _one_browser(browser, 0, hashes)
    whole, our_wall, pages = _one_browser(browser, rounds, hashes)
    ours = (whole - first) / pages + first / chromium.PAGES_PER_BROWSER
    start, wall = _cpu_s(), time.monotonic()
    _measure(lambda html: browser_each(browser, libraries, html), rounds, hashes)
    each, each_wall = (_cpu_s() - start) / pages, (time.monotonic() - wall) / pages
    for name, found in hashes.items():
        print(f"{name}: {'same pixels' if len(found) == 1 else f'{len(found)} different pictures'}")
    print(
        json.dumps(
            {
                "benchmark": "execution_pages",
                "pages": pages,
                "chromium": browser.version,
                "headless_shell": browser.is_shell,
                "cpu_s_one_browser": round(ours, 3),
                "cpu_s_start_and_end": round(first, 3),
                "cpu_s_browser_each": round(each, 3),
                "wall_s_one_browser": round(our_wall, 3),
                "wall_s_browser_each": round(each_wall, 3),
                "ratio_html": round(each / ours, 2),
                "ratio_html_of_these_pages_alone": round(each / (whole / pages), 2),
                "identical": all(len(found) == 1 for found in hashes.values()),
            }
        )
    )


if __name__ == "__main__":
    main()
