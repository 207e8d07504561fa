"""One visit to a page: what it asked for and what it said, within bounds, and the answers to its requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deepchart_dagster.execution.libraries import Answer, ChartLibraries
from deepchart_dagster.execution.model import PageRequest

if TYPE_CHECKING:
    from playwright.async_api import Route

ORIGIN = "http://chart.invalid/"
ADDRESS = f"{ORIGIN}page.html"
MAX_REQUESTS = 200
_MAX_LINES = 50
_MAX_LINE = 300
_MAX_URL = 500
_SHOWN = 10
# An image, a frame or a font is never one of a chart library's files.
_SERVABLE = ("script", "stylesheet", "fetch", "xhr", "other")
_NAMES = {"refused": "refused (no network, no local copy)"}


@dataclass
class Visit:
    html: str
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
        return "; ".join(groups)


def _shown(request: PageRequest) -> str:
    return f"{request.url} by {request.by}" if request.by else request.url


async def answer_request(route: Route, visit: Visit, libraries: ChartLibraries) -> None:
    """The page itself, a library's file, or nothing: no request goes any further."""
    from playwright.async_api import Error

    request = route.request
    try:
        if request.url == ADDRESS and request.is_navigation_request():
            html = libraries.without_integrity(visit.html)
            await route.fulfill(status=200, content_type="text/html; charset=utf-8", body=html)
        elif request.resource_type in _SERVABLE and (answer := libraries.answer(request.url)):
            visit.serve(answer)
            headers = {"Access-Control-Allow-Origin": "*"}
            await route.fulfill(status=200, body=answer.body, content_type=answer.content_type, headers=headers)
        else:
            visit.refuse(request.url)
            await route.abort("blockedbyclient")
    except Error:
        return  # the page is being closed
