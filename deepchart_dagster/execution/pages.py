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
from typing import Any, TypeVar

from deepchart_dagster.benchmark import drawn
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution import images
from deepchart_dagster.execution.browser import Browser, browser_unavailable
from deepchart_dagster.execution.chromium import Chromium, first_line
from deepchart_dagster.execution.devtools import DevToolsError
from deepchart_dagster.execution.drawing import Drawing, PageDrawing
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, RunResult, RunStatus
from deepchart_dagster.execution.visits import Answers, Visit

T = TypeVar("T")

_CLOSE_S = 5.0
_START_S = 90.0  # what starting the browser, twice, may add


class PageRenderer:
    """Renders pages; safe to use from several threads. The browser starts with the first page."""

    def __init__(self, browser: Browser | None, libraries: ChartLibraries) -> None:
        self._browser = browser
        self._answers = Answers(libraries)
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
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(_CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_S)
        if not thread.is_alive():
            loop.close()

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
        """A browser that dies may have been killed by a neighbour: the page is then drawn once more, alone."""
        assert self._browser is not None
        if self._chromium is None:
            self._chromium = Chromium(self._browser)
        for alone in (False, True):
            if result := await self._attempt(self._chromium, html, limits, alone):
                return result
        return self._result(Visit(html), None, (RunStatus.CRASH, "the browser died drawing the page"), 0.0)

    async def _attempt(self, chromium: Chromium, html: str, limits: Limits, alone: bool) -> RunResult | None:
        """The page's result; None where the browser itself died."""
        visit = Visit(html)
        start = time.monotonic()
        async with chromium.for_one_page(alone=alone) as running:
            page = PageDrawing(running, visit, self._answers)
            try:
                drawing, failure = await self._visit(page, limits)
                if failure and failure[0] is RunStatus.TIMEOUT:
                    # What it keeps busy may be the process that draws for all pages.
                    running.process.kill()
                elif failure and not running.process.alive:
                    return None
            finally:
                if not await page.close(_CLOSE_S):
                    chromium.retire(running)
        return self._result(visit, drawing, failure, time.monotonic() - start)

    async def _visit(self, page: PageDrawing, limits: Limits) -> tuple[Drawing | None, tuple[RunStatus, str] | None]:
        try:
            return await asyncio.wait_for(page.draw(), limits.wall_s), None
        except TimeoutError:
            return None, (RunStatus.TIMEOUT, f"the page was not drawn within {limits.wall_s:g} s")
        except DevToolsError as error:
            return None, (RunStatus.CRASH, f"the page could not be drawn: {first_line(error)}")

    def _result(
        self, visit: Visit, drawing: Drawing | None, failure: tuple[RunStatus, str] | None, wall_s: float
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
