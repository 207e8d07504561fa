"""Drawing HTML programs: one Chromium for all pages, a fresh context for each, and no network at all.

Every request is answered here: the page itself under a made-up origin, a chart library from a local folder where
there is one, and everything else is refused. What was asked and what became of it stands in the result. A virtual
clock runs timers and animations forward until the page has drawn, so the picture does not depend on the machine's
speed. Viewport 1400 × 1000 (paper, appendix B.1).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deepchart_dagster.artifacts.files import process_folder
from deepchart_dagster.benchmark import drawn
from deepchart_dagster.errors import BrowserUnavailable, InfrastructureError
from deepchart_dagster.execution import images
from deepchart_dagster.execution.browser import Browser, browser_unavailable
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, RunResult, RunStatus

if TYPE_CHECKING:
    from playwright.async_api import Browser as RunningBrowser
    from playwright.async_api import BrowserContext, Page, Playwright, Route

T = TypeVar("T")

VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1400, 1000
_ORIGIN = "http://chart.invalid/"
_ADDRESS = f"{_ORIGIN}page.html"
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)
_CLOCK_STARTS = "2024-01-01T00:00:00Z"
_DRAWING_MS = 5000  # virtual: what timers and animations of a page may take
_CLOCK_STEP_MS = 250
_CLOCK_WALL_S = 4.0
_CLOSE_S = 5.0
_LAUNCH_S = 60.0
_MAX_REQUESTS = 200
_MAX_LINES = 50
_MAX_LINE = 300
_SERVABLE = ("script", "stylesheet", "fetch", "xhr", "other")
# Dialogs would stop a page; popups are closed as they come.
_QUIET_DIALOGS = "window.alert=()=>{};window.confirm=()=>false;window.prompt=()=>null;window.print=()=>{};"
_READ_DRAWN = Path(__file__).with_name("page_drawn.js")


@dataclass
class _Visit:
    """One page: what it asked for and what it said."""

    html: str
    served: list[str] = field(default_factory=list)
    substituted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    def note(self, lines: list[str], text: str, limit: int = _MAX_LINES) -> None:
        if len(lines) < limit and text not in lines:
            lines.append(text[:_MAX_LINE])

    def requests(self) -> str:
        """One line: what the page asked for beyond itself, and what became of it."""
        groups = (
            ("served", self.served),
            ("substituted", self.substituted),
            ("refused (no network, no local copy)", self.refused),
        )
        return "; ".join(f"{name}: {', '.join(urls[:10])}" for name, urls in groups if urls)


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
        self._launching: asyncio.Lock | None = None
        self._playwright: Playwright | None = None
        self._running: RunningBrowser | None = None
        self._home: str | None = None
        self._closed = False

    def render(self, html: str, limits: Limits) -> RunResult:
        """The page as a PNG, or how it failed. Raises BrowserUnavailable, InfrastructureError."""
        if self._browser is None:
            raise browser_unavailable()
        return self._call(self._render(html, limits), limits.wall_s + _LAUNCH_S + 2 * _CLOSE_S)

    def close(self) -> None:
        """Ends the browser and its thread. Pages that are being drawn raise InfrastructureError."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), loop).result(3 * _CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_S)
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)

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
                self._launching = asyncio.Lock()
                self._thread = threading.Thread(target=self._loop.run_forever, name="deepchart-pages", daemon=True)
                self._thread.start()
            return self._loop

    async def _connected(self) -> RunningBrowser:
        assert self._launching is not None
        async with self._launching:
            if self._running is None or not self._running.is_connected():
                self._running = await self._launch()
            return self._running

    async def _launch(self) -> RunningBrowser:
        from playwright.async_api import Error, async_playwright

        assert self._browser is not None
        self._home = self._home or str(process_folder("browser"))
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        try:
            return await self._playwright.chromium.launch(
                executable_path=str(self._browser.path),
                args=list(_ARGUMENTS),
                chromium_sandbox=os.geteuid() != 0,  # it refuses to run under root
                handle_sigint=False,
                timeout=_LAUNCH_S * 1000,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self._home, "LANG": "C.UTF-8", "TZ": "UTC"},
            )
        except Error as error:
            raise BrowserUnavailable(
                f"{self._browser.path} does not start: {_first_line(error)}.",
                remedy="Start it by hand to see why; `deepchart doctor` shows which browser is used.",
            ) from error

    async def _shut_down(self) -> None:
        from playwright.async_api import Error

        if self._running is not None:
            try:
                await asyncio.wait_for(self._running.close(), _CLOSE_S)
            except (TimeoutError, Error):
                self._running = None  # stopping the driver below ends the browser's process
        if self._playwright is not None:
            await asyncio.wait_for(self._playwright.stop(), _CLOSE_S)

    async def _render(self, html: str, limits: Limits) -> RunResult:
        from playwright.async_api import Error

        browser = await self._connected()
        visit = _Visit(html)
        start = time.monotonic()
        context = await self._new_context(browser)
        drawing: _Drawing | None = None
        failure: tuple[RunStatus, str] | None = None
        try:
            drawing = await asyncio.wait_for(self._draw(context, visit), limits.wall_s)
        except TimeoutError:
            failure = (RunStatus.TIMEOUT, f"the page was not drawn within {limits.wall_s:g} s")
        except Error as error:
            failure = _failure(error, limits)
        finally:
            await self._close(context)
        return self._result(visit, drawing, failure, time.monotonic() - start)

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

    async def _draw(self, context: BrowserContext, visit: _Visit) -> _Drawing:
        await context.route("**/*", lambda route: self._answer(route, visit))
        await context.route_web_socket("**/*", lambda socket: socket.close())
        await context.clock.install(time=_CLOCK_STARTS)
        await context.add_init_script(_QUIET_DIALOGS)
        page = await context.new_page()
        context.on("page", lambda popup: asyncio.ensure_future(popup.close()))
        page.on("pageerror", lambda error: visit.note(visit.errors, f"page error: {_first_line(error)}"))
        page.on("console", lambda message: visit.note(visit.console, f"{message.type}: {message.text}"))
        page.set_default_timeout(0)  # the limit of the whole visit holds
        await page.goto(_ADDRESS, wait_until="load", timeout=0)
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

    async def _answer(self, route: Route, visit: _Visit) -> None:
        from playwright.async_api import Error

        request = route.request
        try:
            if request.url == _ADDRESS and request.is_navigation_request():
                await route.fulfill(status=200, content_type="text/html; charset=utf-8", body=visit.html)
            elif request.resource_type in _SERVABLE and (local := self._libraries.find(request.url)):
                visit.versions[local.package] = local.version
                answer = f"{request.url} by {local.package}@{local.version}"
                visit.note(visit.served if local.exact else visit.substituted, answer, _MAX_REQUESTS)
                kind = "text/css" if local.path.suffix == ".css" else "application/javascript"
                headers = {"Access-Control-Allow-Origin": "*"}
                await route.fulfill(status=200, path=local.path, content_type=kind, headers=headers)
            else:
                visit.note(visit.refused, request.url, _MAX_REQUESTS)
                await route.abort("blockedbyclient")
        except Error:
            return  # the page is being closed

    async def _close(self, context: BrowserContext) -> None:
        """A context that does not close takes the browser with it: the next page gets a new one."""
        from playwright.async_api import Error

        try:
            await asyncio.wait_for(context.close(), _CLOSE_S)
        except (TimeoutError, Error):
            if self._running is not None:
                running, self._running = self._running, None
                await asyncio.wait({asyncio.ensure_future(running.close())}, timeout=_CLOSE_S)

    def _result(
        self, visit: _Visit, drawing: _Drawing | None, failure: tuple[RunStatus, str] | None, wall_s: float
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
            message="; ".join(filter(None, (message, visit.requests()))),
            output=drawing.png if drawing and ok else None,
            drawn=drawn.read(drawing.drawn) if drawing and ok else None,
            versions={"chromium": self._browser.version, **visit.versions},
        )


async def _read_drawn(page: Page) -> bytes:
    """What the chart libraries on the page hold, as bytes to be judged; empty where the page resists."""
    from playwright.async_api import Error

    try:
        text = await asyncio.wait_for(page.evaluate(_READ_DRAWN.read_text(encoding="utf-8")), _CLOSE_S)
    except (TimeoutError, Error):
        return b""
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _failure(error: Exception, limits: Limits) -> tuple[RunStatus, str]:
    text = _first_line(error)
    if "Timeout" in text:
        return RunStatus.TIMEOUT, f"the page was not drawn within {limits.wall_s:g} s"
    return RunStatus.CRASH, f"the page could not be drawn: {text}"


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [""])[0][:_MAX_LINE]
