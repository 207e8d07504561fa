"""The browser of a run: started with the first page, replaced when it dies, hangs, or has drawn many pages.

Each page has a context of its own, so that the next one finds nothing of it. A browser that is replaced takes no new
pages and is closed when its last one is done.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepchart_dagster.artifacts.files import process_folder
from deepchart_dagster.errors import BrowserUnavailable
from deepchart_dagster.execution.browser import Browser, sandbox_of
from deepchart_dagster.execution.devtools import BrowserProcess, DevToolsError, Event

VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1400, 1000

# How it draws, and what it leaves alone. In any harness that pictures are compared with, too.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-hang-monitor",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--mute-audio",
    "--hide-scrollbars",
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--force-prefers-reduced-motion",
    "--font-render-hinting=none",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--js-flags=--max-old-space-size=512",
)
# No network, three times over: requests are answered before they leave (visits.py), no name and no number leads
# anywhere, and what asks past both (WebRTC, connections in advance, reports) is sent to a proxy that is not there.
_CLOSED = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://proxy.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# What one process of the browser may allocate: buffers and canvases count here, not in V8's heap.
_DATA_KIB = 3 << 20
_LAUNCH_S = 60.0
_CLOSE_S = 5.0
PAGES_PER_BROWSER = 200


@dataclass(eq=False)
class Running:
    """One browser process. ``newcomers``: who is told of targets that appear in a context, by the context's name."""

    process: BrowserProcess
    profile: Path
    is_shell: bool
    started: int = 0  # pages so far
    in_use: int = 0
    retired: bool = False
    newcomers: dict[str, Callable[[Event], None]] = field(default_factory=dict)

    def notice(self, method: str, event: Event) -> None:
        """Targets start halted. What no page of ours waits for (workers that are shared) is never let go."""
        if method == "Target.attachedToTarget":
            newcomer = self.newcomers.get(event["targetInfo"].get("browserContextId", ""))
            if newcomer:
                newcomer(event)

    async def close(self) -> None:
        await self.process.close(_CLOSE_S)
        shutil.rmtree(self.profile, ignore_errors=True)


class Chromium:
    """Hands out a running browser. For one event loop."""

    def __init__(self, browser: Browser, pages_per_browser: int = PAGES_PER_BROWSER) -> None:
        self._browser = browser
        self._pages_per_browser = pages_per_browser
        self._launching = asyncio.Lock()
        self._launched = 0
        self._current: Running | None = None
        self._all: set[Running] = set()
        self._home: Path | None = None
        self._program: Path | None = None

    @asynccontextmanager
    async def for_one_page(self, *, alone: bool = False) -> AsyncIterator[Running]:
        """A running browser for one page, with others or ``alone``. Raises BrowserUnavailable where none starts."""
        running = await (self._launch() if alone else self._fresh_enough())
        running.retired = alone
        running.in_use += 1
        running.started += 1
        try:
            yield running
        finally:
            running.in_use -= 1
            if running.retired and not running.in_use:
                await self._end(running)

    def retire(self, running: Running) -> None:
        """No further page goes to it."""
        running.retired = True
        if self._current is running:
            self._current = None

    async def close(self) -> None:
        self._current = None
        for running in list(self._all):
            await self._end(running)
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)

    async def _end(self, running: Running) -> None:
        self._all.discard(running)
        await running.close()

    async def _fresh_enough(self) -> Running:
        async with self._launching:
            current = self._current
            if current is not None and (not current.process.alive or current.started >= self._pages_per_browser):
                self.retire(current)
                if not current.in_use:
                    await self._end(current)
            if self._current is None:
                self._current = await self._launch()
            return self._current

    async def _launch(self) -> Running:
        """With Chromium's own sandbox where this user may have it (never root)."""
        if os.geteuid() != 0:
            try:
                return await self._start(own_sandbox=True)
            except BrowserUnavailable:
                if (await asyncio.to_thread(sandbox_of, self._browser)).on:
                    raise
        return await self._start(own_sandbox=False)

    async def _start(self, *, own_sandbox: bool) -> Running:
        if self._home is None or self._program is None:
            self._home = process_folder("browser")
            self._program = _bounded(self._browser.path, self._home)  # once: another browser may be starting from it
        self._launched += 1
        profile = self._home / f"profile-{self._launched}"
        arguments = [
            "--headless",
            "--remote-debugging-pipe",
            "--no-startup-window",
            f"--user-data-dir={profile}",
            f"--window-size={VIEWPORT_WIDTH},{VIEWPORT_HEIGHT}",
            *ARGUMENTS,
            *_CLOSED,
            *([] if own_sandbox else ["--no-sandbox"]),
        ]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self._home), "LANG": "C.UTF-8", "TZ": "UTC"}
        try:
            process = await BrowserProcess.start(self._program, arguments, environment)
        except OSError as error:
            raise self._does_not_start(str(error)) from error
        running = Running(process, profile, self._browser.is_shell)
        self._all.add(running)
        process.on_event = running.notice
        try:
            auto: dict[str, Any] = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
            await asyncio.wait_for(process.send("Target.setAutoAttach", **auto), _LAUNCH_S)
        except (DevToolsError, TimeoutError) as error:
            await self._end(running)
            raise self._does_not_start(process.last_words or str(error) or "it does not answer") from error
        return running

    def _does_not_start(self, why: str) -> BrowserUnavailable:
        return BrowserUnavailable(
            f"{self._browser.path} does not start: {first_line(why)}.",
            remedy="Start it by hand to see why; `deepchart doctor` shows which browser is used.",
        )


def _bounded(browser: Path, home: Path) -> Path:
    """A script that starts the browser with a limit on memory that every process of it inherits."""
    script = home / "chromium"
    script.write_text(f'#!/bin/sh\nulimit -d {_DATA_KIB}\nulimit -c 0\nexec {shlex.quote(str(browser))} "$@"\n')
    script.chmod(stat.S_IRWXU)
    return script


def first_line(error: object, limit: int = 300) -> str:
    return (str(error).strip().splitlines() or [""])[0][:limit]
