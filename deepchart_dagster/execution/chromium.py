"""The browser of a run: started with the first page, replaced when it dies, hangs, or has drawn many pages.

Each page has a context of its own, so that the next one finds nothing of it. A browser that is replaced takes no new
pages and is closed when its last one is done: a page that hangs costs its neighbours nothing.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deepchart_dagster.artifacts.files import process_folder
from deepchart_dagster.errors import BrowserUnavailable
from deepchart_dagster.execution.browser import Browser

if TYPE_CHECKING:
    from playwright.async_api import Browser as RunningBrowser
    from playwright.async_api import Playwright

ARGUMENTS = (
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
# What one process of the browser may allocate: buffers and canvases count here, not in V8's heap.
_DATA_KIB = 3 << 20
_LAUNCH_S = 60.0
_CLOSE_S = 5.0
_PAGES_PER_BROWSER = 200


@dataclass
class _Running:
    browser: RunningBrowser
    started: int = 0  # pages so far
    in_use: int = 0
    retired: bool = False


class Chromium:
    """Hands out a running browser. For one event loop."""

    def __init__(self, browser: Browser, pages_per_browser: int = _PAGES_PER_BROWSER) -> None:
        self._browser = browser
        self._pages_per_browser = pages_per_browser
        self._launching = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._current: _Running | None = None
        self._home: Path | None = None

    @asynccontextmanager
    async def for_one_page(self) -> AsyncIterator[_Running]:
        """A running browser for one page. Raises BrowserUnavailable where none starts."""
        running = await self._fresh_enough()
        running.in_use += 1
        running.started += 1
        try:
            yield running
        finally:
            running.in_use -= 1
            if running.retired and not running.in_use:
                await _close(running.browser)

    def retire(self, running: _Running) -> None:
        """No further page goes to it."""
        running.retired = True
        if self._current is running:
            self._current = None

    async def close(self) -> None:
        if self._current is not None:
            await _close(self._current.browser)
        if self._playwright is not None:
            await asyncio.wait_for(self._playwright.stop(), _CLOSE_S)  # ends a browser that did not close
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)

    async def _fresh_enough(self) -> _Running:
        async with self._launching:
            current = self._current
            if current is not None and (
                not current.browser.is_connected() or current.started >= self._pages_per_browser
            ):
                self.retire(current)
                if not current.in_use:
                    await _close(current.browser)
            if self._current is None:
                self._current = _Running(await self._launch())
            return self._current

    async def _launch(self) -> RunningBrowser:
        from playwright.async_api import Error, async_playwright

        self._home = self._home or process_folder("browser")
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        try:
            return await self._playwright.chromium.launch(
                executable_path=str(_bounded(self._browser.path, self._home)),
                args=list(ARGUMENTS),
                chromium_sandbox=os.geteuid() != 0,  # it refuses to run under root
                handle_sigint=False,
                timeout=_LAUNCH_S * 1000,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self._home), "LANG": "C.UTF-8", "TZ": "UTC"},
            )
        except Error as error:
            raise BrowserUnavailable(
                f"{self._browser.path} does not start: {first_line(error)}.",
                remedy="Start it by hand to see why; `deepchart doctor` shows which browser is used.",
            ) from error


def _bounded(browser: Path, home: Path) -> Path:
    """A script that starts the browser with a limit on memory that every process of it inherits."""
    script = home / "chromium"
    script.write_text(f'#!/bin/sh\nulimit -d {_DATA_KIB}\nulimit -c 0\nexec {shlex.quote(str(browser))} "$@"\n')
    script.chmod(stat.S_IRWXU)
    return script


async def _close(browser: RunningBrowser) -> None:
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(browser.close(), _CLOSE_S)
    except (TimeoutError, Error):
        return  # stopping the driver ends its process


def first_line(error: object, limit: int = 300) -> str:
    return (str(error).strip().splitlines() or [""])[0][:limit]
