"""Drawing HTML programs: one Chromium for all pages, a fresh context for each, and no network at all.

Every request is answered here: the page itself under a made-up origin, a chart library from a local folder where
there is one, and everything else is refused. What was asked and what became of it stands in the result. A virtual
clock runs timers and animations forward until the page has drawn, so the picture does not depend on the machine's
speed. Viewport 1400 × 1000 (paper, appendix B.1).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deepchart_dagster.benchmark import drawn
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution import images
from deepchart_dagster.execution.browser import Browser, browser_unavailable
from deepchart_dagster.execution.chromium import Chromium, first_line
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, RunResult, RunStatus
from deepchart_dagster.execution.visits import ADDRESS, Visit, answer_request

if TYPE_CHECKING:
    from playwright.async_api import Browser as RunningBrowser
    from playwright.async_api import BrowserContext, Page

T = TypeVar("T")

VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1400, 1000
_CLOCK_STARTS = "2024-01-01T00:00:00Z"
_DRAWING_MS = 5000  # virtual: what timers and animations of a page may take
_CLOCK_STEP_MS = 250
_CLOCK_WALL_S = 4.0
_CLOSE_S = 5.0
_START_S = 90.0  # what starting the browser, twice, may add
# Dialogs would stop a page; popups are closed as they come.
_QUIET_DIALOGS = "window.alert=()=>{};window.confirm=()=>false;window.prompt=()=>null;window.print=()=>{};"
_READ_DRAWN = Path(__file__).with_name("page_drawn")
_READERS = ("shape", "echarts", "chartjs", "plotly", "vega", "svg", "main")


@dataclass(frozen=True)
class _Drawing:
    png: bytes
    drawn: bytes


class PageRenderer:
    """Renders pages; safe to use from several threads. The browser starts with the first page."""

    def __init__(self, browser: Browser | None, libraries: ChartLibraries) -> None:
        self._browser = browser
        self._libraries = libraries
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._chromium: Chromium | None = None
        self._closed = False

    def render(self, html: str, limits: Limits) -> RunResult:
        """The page as a PNG, or how it failed. Raises BrowserUnavailable, InfrastructureError."""
        if self._browser is None:
            raise browser_unavailable()
        return self._call(self._render(html, limits), 2 * limits.wall_s + _START_S + 4 * _CLOSE_S)

    def close(self) -> None:
        """Ends the browser and its thread. Pages that are being drawn raise InfrastructureError."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = None
        if loop is None or thread is None:
            return
        if self._chromium is not None:
            asyncio.run_coroutine_threadsafe(self._chromium.close(), loop).result(4 * _CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_S)

    def _call(self, work: Coroutine[Any, Any, T], limit_s: float) -> T:
        try:
            loop = self._started_loop()
        except InfrastructureError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(limit_s)
        except TimeoutError as error:
            future.cancel()
            raise InfrastructureError("The browser stopped answering.", remedy="Run the step again.") from error

    def _started_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise InfrastructureError("The page renderer is closed.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="deepchart-pages", daemon=True)
                self._thread.start()
            return self._loop

    async def _render(self, html: str, limits: Limits) -> RunResult:
        """A browser that dies may have been killed by a neighbour: the page is then drawn once more."""
        assert self._browser is not None
        if self._chromium is None:
            self._chromium = Chromium(self._browser)
        result = await self._attempt(self._chromium, html, limits)
        return result if result is not None else await self._last_attempt(self._chromium, html, limits)

    async def _last_attempt(self, chromium: Chromium, html: str, limits: Limits) -> RunResult:
        result = await self._attempt(chromium, html, limits)
        return result or self._result(Visit(html), None, (RunStatus.CRASH, "the browser died drawing the page"), 0.0)

    async def _attempt(self, chromium: Chromium, html: str, limits: Limits) -> RunResult | None:
        """The page's result; None where the browser itself died."""
        from playwright.async_api import Error

        visit = Visit(html)
        start = time.monotonic()
        async with chromium.for_one_page() as running:
            try:
                context = await self._new_context(running.browser)
            except Error:
                chromium.retire(running)
                return None
            try:
                ended = await self._visit(context, visit, limits)
            finally:
                if not await _closes(context):
                    chromium.retire(running)
            if isinstance(ended, tuple) and not running.browser.is_connected():
                return None
        drawing, failure = (None, ended) if isinstance(ended, tuple) else (ended, None)
        return self._result(visit, drawing, failure, time.monotonic() - start)

    async def _visit(self, context: BrowserContext, visit: Visit, limits: Limits) -> _Drawing | tuple[RunStatus, str]:
        from playwright.async_api import Error

        try:
            return await asyncio.wait_for(self._draw(context, visit), limits.wall_s)
        except TimeoutError:
            return RunStatus.TIMEOUT, f"the page was not drawn within {limits.wall_s:g} s"
        except Error as error:
            return _failure(error, limits)

    async def _new_context(self, browser: RunningBrowser) -> BrowserContext:
        return await browser.new_context(
            viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT},
            device_scale_factor=1,
            service_workers="block",
            accept_downloads=False,
            reduced_motion="reduce",
            locale="en-US",
            timezone_id="UTC",
            permissions=[],
        )

    async def _draw(self, context: BrowserContext, visit: Visit) -> _Drawing:
        await context.route("**/*", lambda route: answer_request(route, visit, self._libraries))
        await context.route_web_socket("**/*", lambda socket: socket.close())
        await context.clock.install(time=_CLOCK_STARTS)
        await context.add_init_script(_QUIET_DIALOGS)
        page = await context.new_page()
        context.on("page", lambda popup: asyncio.ensure_future(popup.close()))
        page.on("pageerror", lambda error: visit.note(visit.errors, f"page error: {first_line(error)}"))
        page.on("console", lambda message: visit.note(visit.console, f"{message.type}: {message.text}"))
        page.set_default_timeout(0)  # the limit of the whole visit holds
        await page.goto(ADDRESS, wait_until="load", timeout=0)
        await self._let_it_draw(page)
        png = await page.screenshot(animations="disabled", timeout=0)
        return _Drawing(png, await _read_drawn(page))

    async def _let_it_draw(self, page: Page) -> None:
        """Runs the page's clock forward in steps; a page that keeps the processor busy gets fewer of them."""
        stop = time.monotonic() + _CLOCK_WALL_S
        for _ in range(_DRAWING_MS // _CLOCK_STEP_MS):
            await page.clock.run_for(_CLOCK_STEP_MS)
            if time.monotonic() > stop:
                break
        await page.evaluate("document.fonts.ready.then(() => 1)")
        await page.clock.run_for(_CLOCK_STEP_MS)

    def _result(
        self, visit: Visit, drawing: _Drawing | None, failure: tuple[RunStatus, str] | None, wall_s: float
    ) -> RunResult:
        assert self._browser is not None
        status, message = failure or (RunStatus.OK, "")
        if drawing and (problem := images.judge_png(drawing.png).problem):
            status, message = RunStatus.INVALID_OUTPUT, problem
        ok = drawing is not None and status is RunStatus.OK
        return RunResult(
            status=status,
            exit_code=None,
            signal=None,
            wall_s=wall_s,
            cpu_s=None,
            max_rss_mb=None,
            tier="browser",
            stderr_tail="\n".join(visit.errors),
            stdout_tail="\n".join(visit.console),
            message="; ".join(filter(None, (message, visit.summary()))),
            output=drawing.png if drawing and ok else None,
            drawn=drawn.read(drawing.drawn) if drawing and ok else None,
            versions={"chromium": self._browser.version, **visit.versions},
            requests=tuple(visit.requests.values()),
        )


@cache
def _reading_script() -> str:
    """One function of the files in page_drawn/, in this order. Runs beside the page's own scripts."""
    parts = [(_READ_DRAWN / f"{name}.js").read_text(encoding="utf-8") for name in _READERS]
    return "() => {\n" + "\n".join(parts) + "}"


async def _closes(context: BrowserContext) -> bool:
    """Whether a context could be closed: one whose page never yields takes its browser out of use."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(context.close(), _CLOSE_S)
    except (TimeoutError, Error):
        return False
    return True


async def _read_drawn(page: Page) -> bytes:
    """What the chart libraries on the page hold, as bytes to be judged; empty where the page resists."""
    from playwright.async_api import Error

    try:
        text = await asyncio.wait_for(page.evaluate(_reading_script()), _CLOSE_S)
    except (TimeoutError, Error):
        return b""
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _failure(error: Exception, limits: Limits) -> tuple[RunStatus, str]:
    text = first_line(error)
    if "Timeout" in text:
        return RunStatus.TIMEOUT, f"the page was not drawn within {limits.wall_s:g} s"
    return RunStatus.CRASH, f"the page could not be drawn: {text}"
