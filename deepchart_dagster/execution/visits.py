"""One visit to a page: what it asked for and what it said, within bounds, and the answers to its requests."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from deepchart_dagster.execution.devtools import Event, Session
from deepchart_dagster.execution.libraries import Answer, ChartLibraries, parse_address
from deepchart_dagster.execution.model import PageRequest

Given = Literal["page", "file", "nothing", "elsewhere"]

ORIGIN = "http://chart.invalid/"
ADDRESS = f"{ORIGIN}page.html"
MAX_REQUESTS = 200
_MAX_LINES = 50
_MAX_LINE = 300
_MAX_URL = 500
_SHOWN = 10
_KEPT_BYTES = 64 << 20
_WITHIN_THE_PAGE = ("data:", "blob:", "about:")
# An image, a frame or a font is never one of a chart library's files.
_SERVABLE = ("script", "stylesheet", "fetch", "xhr", "other")
_LICENSED = (
    "Highcharts is not served: its licence asks for one of the user's own; who has one adds it to a folder of chart"
    " libraries and names that in DEEPCHART_CHART_LIBRARIES"
)
_NAMES = {"refused": "refused (no network, no local copy)"}


@dataclass
class Visit:
    """``opened``: the page itself has been served; it is once, a page that loads itself again stays as it is."""

    html: str
    opened: bool = False
    requests: dict[str, PageRequest] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    def note(self, lines: list[str], text: str) -> None:
        if len(lines) < _MAX_LINES and text not in lines:
            lines.append(text[:_MAX_LINE])

    def refuse(self, url: str) -> None:
        self._record(PageRequest(url[:_MAX_URL], "refused"))

    def serve(self, answer: Answer) -> None:
        for part in answer.parts:
            if part.file is None:
                self.refuse(part.url)
                continue
            self.versions[part.file.package] = part.file.version
            outcome = PageRequest(
                part.url[:_MAX_URL],
                "served" if part.file.exact else "substituted",
                f"{part.file.package}@{part.file.version}",
            )
            self._record(outcome)

    def _record(self, request: PageRequest) -> None:
        if len(self.requests) < MAX_REQUESTS:
            self.requests.setdefault(request.url, request)

    def summary(self) -> str:
        """One line: what the page asked for beyond itself, and what became of it."""
        groups = []
        for outcome in ("served", "substituted", "refused"):
            found = [_shown(request) for request in self.requests.values() if request.outcome == outcome]
            if found:
                groups.append(f"{_NAMES.get(outcome, outcome)}: {', '.join(found[:_SHOWN])}")
        if any(_is_licensed(request) for request in self.requests.values()):
            groups.append(_LICENSED)
        return "; ".join(groups)


def _is_licensed(request: PageRequest) -> bool:
    asked = parse_address(request.url) if request.outcome == "refused" else None
    return asked is not None and asked.package.startswith("highcharts")


def _shown(request: PageRequest) -> str:
    return f"{request.url} by {request.by}" if request.by else request.url


class Answers:
    """Answers to what pages ask for, ready to be sent; those of libraries are kept, the least used go first."""

    def __init__(self, libraries: ChartLibraries) -> None:
        self._libraries = libraries
        self._ready: OrderedDict[str, tuple[Answer, bytes]] = OrderedDict()
        self._bytes = 0

    def give(self, session: Session, paused: Event, visit: Visit, main_frame: str) -> Given:
        """The page itself, a library's file, or nothing: no request goes any further."""
        url, kind = paused["request"]["url"], paused["resourceType"].lower()
        is_page = kind == "document" and paused.get("frameId") == main_frame
        name = json.dumps(paused["requestId"]).encode()
        if is_page and url == ADDRESS and not visit.opened:
            visit.opened = True
            html = self._libraries.without_integrity(visit.html).encode("utf-8", "replace")
            session.send("Fetch.fulfillRequest", _fulfilled(name, "text/html; charset=utf-8", b64encode(html)))
            return "page"
        if kind in _SERVABLE and (found := self._find(url)):
            answer, body = found
            visit.serve(answer)
            session.send("Fetch.fulfillRequest", _fulfilled(name, answer.content_type, body))
            return "file"
        if url.startswith(_WITHIN_THE_PAGE):
            session.send("Fetch.continueRequest", requestId=paused["requestId"])
            return "file"
        visit.refuse(url)
        # A page that wants to go elsewhere stays as it is.
        reason = "Aborted" if is_page else "BlockedByClient"
        session.send("Fetch.failRequest", requestId=paused["requestId"], errorReason=reason)
        return "elsewhere" if is_page else "nothing"

    def _find(self, url: str) -> tuple[Answer, bytes] | None:
        if url in self._ready:
            self._ready.move_to_end(url)
            return self._ready[url]
        answer = self._libraries.answer(url)
        if answer is None:
            return None
        self._ready[url] = ready = (answer, b64encode(answer.body))
        self._bytes += len(ready[1])
        while self._bytes > _KEPT_BYTES:
            _, (_, oldest) = self._ready.popitem(last=False)
            self._bytes -= len(oldest)
        return ready


def _fulfilled(name: bytes, content_type: str, body: bytes) -> bytes:
    """The parameters of Fetch.fulfillRequest, made without another look at each of the millions of characters."""
    headers = [
        {"name": "Content-Type", "value": content_type},
        {"name": "Access-Control-Allow-Origin", "value": "*"},
    ]
    head = b'{"requestId":' + name + b',"responseCode":200,"responseHeaders":' + json.dumps(headers).encode()
    return head + b',"body":"' + body + b'"}'
