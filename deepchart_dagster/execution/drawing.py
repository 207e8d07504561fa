"""Drawing one page: opened in a context of its own, run until nothing happens any more, photographed, read.

A page sees a clock that this moves on (page_clock.js), so timers and animations end at once, and the picture does not
depend on the machine's speed. What takes real time is waited for: files that are answered, fonts, frames.
"""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution.chromium import VIEWPORT_HEIGHT, VIEWPORT_WIDTH, Running
from deepchart_dagster.execution.devtools import DevToolsError, Event, Session
from deepchart_dagster.execution.visits import ADDRESS, Answers, Visit

RULES_VERSION = 1  # of how a page is drawn: in the keys of its pictures
_DRAWING_MS = 5000  # of the page's clock: what timers and animations of a page may take
_MORE_MS = 2000  # what those may take that begin when a file comes late
_REAL_S = 4.0  # of ours
_MAX_PASSES = 8
_LATE_S = 0.3  # a script that came late has yet to be compiled and run
_ELSEWHERE_S = 0.5  # a page that would go elsewhere while it loads may never say that it has loaded
_READ_S = 5.0
_MAX_TALK = 2000  # messages of a page that are listened to
_MAX_OPEN_REQUESTS = 10_000

_NOWHERE = "about:blank"
_HERE = Path(__file__).parent
_READERS = ("shape", "echarts", "chartjs", "plotly", "vega", "svg", "main")
_NOT_WAITED_FOR = ("Ping", "CSPViolationReport")


@dataclass(frozen=True)
class Drawing:
    png: bytes
    drawn: bytes


class PageDrawing:
    """One page in a context of its own. Methods raise DevToolsError where the page, or the browser, is gone,
    InfrastructureError where the browser does not do what it is asked."""

    def __init__(self, running: Running, visit: Visit, answers: Answers) -> None:
        self._running = running
        self._visit = visit
        self._answers = answers
        self._context = ""
        self._main_frame = ""
        self._page: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._loaded: asyncio.Future[Event] | None = None
        self._frames: dict[tuple[Session, int], None] = {}  # where scripts of frames run
        self._in_flight: set[str] = set()
        self._asked = 0
        self._late_asked = False
        self._talk = 0

    async def draw(self) -> Drawing:
        """The page as it is when it has finished drawing."""
        send = self._running.process.send
        self._context = (await send("Target.createBrowserContext", disposeOnDetach=True))["browserContextId"]
        self._running.newcomers[self._context] = self._meet
        opening = send(
            "Target.createTarget",
            url=ADDRESS if self._running.is_shell else _NOWHERE,
            browserContextId=self._context,
            width=VIEWPORT_WIDTH,
            height=VIEWPORT_HEIGHT,
        )
        opening.add_done_callback(self._could_open)
        page = await self._page
        if self._running.is_shell:
            self._loaded = page.expect()
            await asyncio.gather(opening, *self._prepare(page))
        else:  # a browser with windows asks for the address before it can be listened to
            await asyncio.gather(opening, *self._prepare(page))
            self._loaded = page.expect()
            page.send("Page.navigate", url=ADDRESS)
        await self._loaded
        if not self._visit.opened:
            raise InfrastructureError("The browser did not ask for the page.", remedy="Name another Chromium.")
        await asyncio.gather(*self._watch(page))
        await self._settle(page)
        shot = await page.send("Page.captureScreenshot", format="png", optimizeForSpeed=True)
        return Drawing(b64decode(shot["data"]), await _read_drawn(page))

    async def close(self, limit_s: float) -> bool:
        """Whether its context could be closed: one whose page never yields takes its browser out of use."""
        self._running.newcomers.pop(self._context, None)
        if not self._context:
            return self._running.process.alive
        closing = self._running.process.send("Target.disposeBrowserContext", browserContextId=self._context)
        try:
            await asyncio.wait_for(closing, limit_s)
        except (TimeoutError, DevToolsError):
            return False
        return True

    def _could_open(self, opening: asyncio.Future[Event]) -> None:
        if not self._page.done() and not opening.cancelled() and (error := opening.exception()):
            self._page.set_exception(error)

    def _meet(self, event: Event) -> None:
        """The first target of the context is the page, halted before its first request; others (popups) end here."""
        target = event["targetInfo"]
        if target["type"] == "page" and not self._page.done():
            self._main_frame = target["targetId"]
            self._page.set_result(self._session(event["sessionId"]))
        else:
            self._running.process.send("Target.closeTarget", targetId=target["targetId"])
            self._running.process.send("Runtime.runIfWaitingForDebugger", event["sessionId"])  # its opener waits for it

    def _session(self, name: str) -> Session:
        session = self._running.process.session(name, lambda method, event: self._hear(session, method, event))
        return session

    def _prepare(self, session: Session) -> list[asyncio.Future[Event]]:
        """What a page, and a frame that has a process of its own, must have before anything of it runs."""
        kinds = [{"type": "iframe"}, {"type": "worker"}]
        return [
            session.send("Page.enable"),
            session.send("Fetch.enable", patterns=[{"urlPattern": "*"}]),
            session.send("Page.addScriptToEvaluateOnNewDocument", source=_clock()),
            session.send(
                "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True, filter=kinds
            ),
            *self._sized(session),
            session.send("Runtime.runIfWaitingForDebugger"),
        ]

    def _watch(self, session: Session) -> list[asyncio.Future[Event]]:
        """From here on it is known what is fetched and where scripts run; what was logged and thrown is told again.

        Not before a page has loaded: while this is on, the browser takes twice as long to compile a large library.
        """
        return [
            session.send("Runtime.enable"),
            session.send("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0),
        ]

    def _sized(self, session: Session) -> list[asyncio.Future[Event]]:
        """A browser with a window takes the window's frame off the viewport, the headless shell has none."""
        if self._running.is_shell:
            return []
        size: Event = {"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        return [session.send("Emulation.setDeviceMetricsOverride", **size)]

    def _hear(self, session: Session, method: str, event: Event) -> None:
        match method:
            case "Fetch.requestPaused":
                self._asked += 1
                self._late_asked |= self._is_late(event["resourceType"])
                if self._answers.give(session, event, self._visit, self._main_frame) == "elsewhere":
                    asyncio.get_running_loop().call_later(_ELSEWHERE_S, self._has_loaded, event)
            case "Network.requestWillBeSent":
                if event.get("type") not in _NOT_WAITED_FOR and len(self._in_flight) < _MAX_OPEN_REQUESTS:
                    self._in_flight.add(event["requestId"])
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._in_flight.discard(event["requestId"])
            case "Page.loadEventFired" if self._visit.opened or self._running.is_shell:
                self._has_loaded(event)
            case "Page.javascriptDialogOpening":
                session.send("Page.handleJavaScriptDialog", accept=False)
            case "Target.attachedToTarget":
                self._adopt(event)
            case "Runtime.executionContextCreated" if event["context"]["auxData"].get("isDefault"):
                if event["context"]["auxData"].get("frameId") != self._main_frame:
                    self._frames[session, event["context"]["id"]] = None
            case "Runtime.executionContextDestroyed":
                self._frames.pop((session, event["executionContextId"]), None)
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self._listen(session, event)

    def _is_late(self, kind: str) -> bool:
        """Whether it is asked for by a script, and what comes of it may take a while."""
        return kind in ("XHR", "Fetch") or (kind == "Script" and self._loaded is not None and self._loaded.done())

    def _has_loaded(self, event: Event) -> None:
        if self._loaded and not self._loaded.done():
            self._loaded.set_result(event)

    def _adopt(self, event: Event) -> None:
        """A frame with a process of its own, or a worker."""
        session = self._session(event["sessionId"])
        if event["targetInfo"]["type"] == "iframe":
            self._prepare(session)
            self._watch(session)
        else:
            self._late_asked = True
            session.send("Runtime.runIfWaitingForDebugger")

    def _listen(self, session: Session, event: Event) -> None:
        self._talk += 1
        if self._talk > _MAX_TALK:
            session.muted = True
        elif "exceptionDetails" in event:
            self._visit.note(self._visit.errors, f"page error: {_thrown(event['exceptionDetails'])}")
        else:
            said = " ".join(str(part.get("value", part.get("description", ""))) for part in event["args"])
            self._visit.note(self._visit.console, f"{event['type']}: {said}")

    async def _settle(self, page: Session) -> None:
        """Passes until nothing has happened in one and nothing is being fetched; a page that goes on gets no more."""
        stop = time.monotonic() + _REAL_S
        until = _DRAWING_MS
        for _ in range(_MAX_PASSES):
            asked = self._asked
            happened = await self._pass(page, until, stop)
            while self._in_flight and time.monotonic() < stop:
                await asyncio.sleep(0.01)
            late, self._late_asked = self._late_asked, False
            if late:
                await asyncio.sleep(_LATE_S)
            if not (happened or late or asked != self._asked) or time.monotonic() > stop:
                return
            until += _MORE_MS if late else 0

    async def _pass(self, page: Session, until: int, stop: float) -> int:
        """Moves the clocks of all frames on; returns how much happened."""
        wall_ms = max(stop - time.monotonic(), 0.1) * 1000
        script = f"__deepchartClock({until},{wall_ms:.0f})"
        asked: Event = {"expression": script, "awaitPromise": True, "returnByValue": True}
        frames = [session.send("Runtime.evaluate", contextId=context, **asked) for session, context in self._frames]
        answers = await asyncio.gather(page.send("Runtime.evaluate", **asked), *frames, return_exceptions=True)
        first = answers[0]
        if isinstance(first, DevToolsError) and not first.gone:
            return 1  # the page went elsewhere meanwhile
        if isinstance(first, BaseException):
            raise first
        return sum(_counted(answer) for answer in answers)


@cache
def _clock() -> str:
    return (_HERE / "page_clock.js").read_text(encoding="utf-8")


@cache
def _reading_script() -> str:
    """One function of the files in page_drawn/, in this order. Runs beside the page's own scripts."""
    parts = [(_HERE / "page_drawn" / f"{name}.js").read_text(encoding="utf-8") for name in _READERS]
    return "(() => {\n" + "\n".join(parts) + "})()"


async def _read_drawn(page: Session) -> bytes:
    """What the chart libraries on the page hold, as bytes to be judged; empty where the page resists."""
    asked = page.send("Runtime.evaluate", expression=_reading_script(), returnByValue=True)
    try:
        answer = await asyncio.wait_for(asked, _READ_S)
    except (TimeoutError, DevToolsError):
        return b""
    text = answer.get("result", {}).get("value")
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _counted(answer: Event | BaseException) -> int:
    """How much happened in a frame; nothing in one that is gone, or that has replaced what the clock needs."""
    value = answer.get("result", {}).get("value") if isinstance(answer, dict) else None
    return int(value) if isinstance(value, int | float) else 0


def _thrown(details: Event) -> str:
    exception = details.get("exception", {})
    said = exception.get("description") or str(exception.get("value", "")) or details.get("text", "")
    return str(said).splitlines()[0] if said else ""
