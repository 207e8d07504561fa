"""How far the reading of a document is, for people: pages done, pages a second, time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from deepchart_dagster.artifacts.steps import Progress

_SECONDS_AN_HOUR = 3600
# A pace measured over less than this says nothing yet.
_MIN_SECONDS = 0.5


@dataclass(frozen=True)
class PageProgress:
    """``done`` of ``total`` pages, ``resumed`` of them from a run before, after ``seconds`` of this one."""

    done: int
    total: int
    resumed: int
    seconds: float

    @property
    def pages_per_second(self) -> float | None:
        """None while too little is known."""
        read = self.done - self.resumed
        return read / self.seconds if read > 0 and self.seconds >= _MIN_SECONDS else None

    @property
    def seconds_left(self) -> float | None:
        pace = self.pages_per_second
        return (self.total - self.done) / pace if pace else None

    def as_text(self) -> str:
        parts = [f"{self.done}/{self.total} pages"]
        if self.pages_per_second is not None:
            parts.append(_pace(self.pages_per_second))
        if self.seconds_left is not None and self.done < self.total:
            parts.append(f"{duration(self.seconds_left)} left")
        if self.resumed:
            parts.append(f"{self.resumed} kept from the run before")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """0:07, 12:34, 3:25:45."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // _SECONDS_AN_HOUR, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _pace(pages_per_second: float) -> str:
    if pages_per_second >= 1:
        return f"{pages_per_second:.1f} pages/s"
    return f"{1 / pages_per_second:.1f} s/page"


PageListener = Callable[[str, PageProgress], None]
_listeners: ContextVar[tuple[PageListener, ...]] = ContextVar("page_listeners", default=())


@contextmanager
def listening(listener: PageListener) -> Iterator[None]:
    """``listener`` hears of every page read inside the block, as others do that listen already.

    It is given the document's id and how far its reading is; called from other threads, one call at a time.
    """
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def spaced(say: Callable[[str], None], every_s: float) -> PageListener:
    """A listener that says a line every ``every_s`` seconds at most, and one at a document's end."""
    last = time.monotonic()

    def tell(document_id: str, progress: PageProgress) -> None:
        nonlocal last
        if progress.done < progress.total and time.monotonic() - last < every_s:
            return
        last = time.monotonic()
        say(f"{document_id}: {progress.as_text()}")

    return tell


class PageCounter:
    """Counts pages and tells who wants to know: the step's ``progress``, and the context's listener."""

    def __init__(self, document_id: str, total: int, resumed: int, progress: Progress | None) -> None:
        self._document_id = document_id
        self._total = total
        self._resumed = resumed
        self._done = resumed
        self._progress = progress
        self._listeners = _listeners.get()
        self._begun = time.monotonic()
        self._lock = threading.Lock()

    def count(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress:
                self._progress(self._done, self._total)
            for listener in self._listeners:
                listener(self._document_id, self.state)

    @property
    def state(self) -> PageProgress:
        return PageProgress(self._done, self._total, self._resumed, time.monotonic() - self._begun)
