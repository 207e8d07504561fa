"""Children at work on one PDF: pages are handed out one at a time, so that all of them are busy to the end.

A child costs half a second of processor time to start, an OCR engine in it more: another one is
started only where what is left is worth it. A child that dies or hangs costs the page it was reading; a page
that fails is tried once more, by the next engine of the ladder (by the same one, in a new child, where a
crash left no other). What failed twice is an error of that page that names both.

An engine that could not be had at all (its server is down) is not asked again for the rest of the document, and is
none of a page's attempts. Its pages are read by the next engine; each reading says what it waits for.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deepchart_dagster.contexts.children import Child, ChildFailedError
from deepchart_dagster.contexts.engines import TEXT_LAYER, EngineConfig
from deepchart_dagster.contexts.model import EngineFailure
from deepchart_dagster.contexts.readings import READING, PageReading
from deepchart_dagster.errors import DocumentError

# What is left has to take the children at work this long before another one is worth its start.
_WORTH_A_CHILD_S = 4.0
_LOOK_EVERY_S = 0.5
# Pages from the text layer leave little behind in a child.
_TEXT_PAGES_FOR_ONE = 10
_ATTEMPTS = 2

OnPage = Callable[[PageReading], None]


@dataclass(frozen=True)
class Job:
    """A page to be read; ``tried`` are the engines that failed on it, ``crashed``: the last of them with its child.

    ``kept`` is what another engine made of the page when its own could not be had: it stands if that is so again.
    """

    page: int
    tried: tuple[EngineFailure, ...] = ()
    crashed: bool = False
    again: bool = False
    kept: PageReading | None = None

    @property
    def without(self) -> list[str]:
        return [] if self.again else sorted({failure.engine for failure in self.tried})

    @property
    def n_attempts(self) -> int:
        return sum(not failure.unavailable for failure in self.tried)

    def failed(self, failure: EngineFailure, *, crashed: bool) -> Job:
        return Job(self.page, (*self.tried, failure), crashed, kept=self.kept)

    def error(self) -> PageReading:
        """The page's reading when no attempt is left."""
        reasons = {f"{failure.engine}: {failure.reason}": failure.reason for failure in self.tried}
        text = "; ".join(reasons) if len(reasons) > 1 else next(iter(reasons.values()))
        return PageReading(number=self.page, engine=self.tried[-1].engine, error=text, tried=self.tried)


@dataclass(frozen=True)
class CrewPlan:
    """What children are told, and how many there may be; see PdfReader."""

    pdf: Path
    engine: EngineConfig
    figures: bool
    workers: int
    page_timeout_s: float
    pages_per_child: int
    memory_mb: int


@dataclass
class Crew:
    """One reading of some pages of a PDF. ``on_page`` is called for one page at a time, in order of finishing."""

    plan: CrewPlan
    on_page: OnPage
    stop: threading.Event
    _jobs: deque[Job] = field(default_factory=deque)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _children: set[Child] = field(default_factory=set)
    _down: dict[str, str] = field(default_factory=dict)
    _workers: int = 0
    _n_read: int = 0
    _cpu_s: float = 0.0
    _slow: bool = False
    _last: float = 0.0
    _failed: bool = False

    def read(self, pages: Iterable[int], kept: Mapping[int, PageReading]) -> None:
        """Raises DocumentError where no child starts, and what ``on_page`` raises. ``kept``: see Job."""
        self._jobs.extend(Job(page, kept=kept.get(page)) for page in pages)
        self._last = time.monotonic()
        with ThreadPoolExecutor(max_workers=self.plan.workers) as pool:
            workers: list[Future[None]] = []
            try:
                while self._wants_another():
                    self._workers += 1
                    workers.append(pool.submit(self._worker))
            except BaseException:
                self._end()
                raise
        _raise_first(workers)

    def _wants_another(self) -> bool:
        """Waits until one more worker is worth it (True) or all is done (False)."""
        started = self._workers > 0
        while True:
            with self._changed:
                if started:
                    self._changed.wait(_LOOK_EVERY_S)
                if self.stop.is_set():
                    self._end()
                if self._is_over(started):
                    return False
                if not started or (self._workers < self.plan.workers and self._is_worth_another()):
                    return True

    def _is_over(self, started: bool) -> bool:
        return self._failed or not (self._workers if started else self._jobs)

    def _is_worth_another(self) -> bool:
        if not self._jobs:
            return False
        if self._slow or time.monotonic() - self._last > _WORTH_A_CHILD_S:
            return True
        a_page = self._cpu_s / self._n_read if self._n_read else 0.0
        return a_page * len(self._jobs) / max(1, self._workers) > _WORTH_A_CHILD_S

    def _end(self) -> None:
        with self._changed:
            self._failed = True
            for child in self._children:
                child.kill()
            self._changed.notify_all()

    # A worker: one child after another

    def _worker(self) -> None:
        try:
            while self._jobs and not self._failed:
                self._one_child()
        except BaseException:
            self._end()
            raise
        finally:
            with self._changed:
                self._workers -= 1
                self._changed.notify_all()

    def _one_child(self) -> None:
        try:
            child = self._start()
        except ChildFailedError as failure:
            if self._failed:
                return
            raise DocumentError(
                f"{self.plan.pdf}: pages cannot be read with {self.plan.engine.name}: {failure.reason}.",
                remedy="Run deepchart doctor.",
            ) from failure
        with child:
            try:
                self._serve(child)
            finally:
                with self._changed:
                    self._children.discard(child)

    def _start(self) -> Child:
        task = {
            "do": "read",
            "pdf": str(self.plan.pdf),
            "engine": self.plan.engine.model_dump(mode="json"),
            "figures": self.plan.figures,
        }
        child = Child(task, memory_mb=self.plan.memory_mb)
        with self._changed:
            self._children.add(child)
            if self._failed:
                child.kill()
        return child

    def _serve(self, child: Child) -> None:
        """Pages to one child until it is worn out, gone, or there are none."""
        wear = 0
        while wear < self.plan.pages_per_child * _TEXT_PAGES_FOR_ONE and (job := self._take()):
            conversation = _Conversation(child, job, dict(self._down), self._announced)
            try:
                answer = conversation.hold(self.plan.page_timeout_s)
            except ChildFailedError as failure:
                if not self._failed:
                    self._retry(job, EngineFailure(engine=conversation.engine, reason=failure.reason), crashed=True)
                return
            self._settle(job, answer)
            wear += 1 if conversation.engine == TEXT_LAYER else _TEXT_PAGES_FOR_ONE

    def _take(self) -> Job | None:
        with self._changed:
            return self._jobs.popleft() if self._jobs and not self._failed else None

    def _announced(self, engine: str) -> None:
        with self._changed:
            self._slow = self._slow or engine != TEXT_LAYER
            self._changed.notify_all()

    def _settle(self, job: Job, answer: dict[str, Any]) -> None:
        if "reading" not in answer:
            again = Job(job.page, job.tried, crashed=False, again=True, kept=job.kept)
            self._put_back(again) if job.crashed else self._deliver(job.error())
            return
        with self._changed:
            self._cpu_s += float(answer["cpu"])
            self._n_read += 1
        reading = replace(READING.validate_json(answer["reading"]), tried=job.tried)
        if reading.error is None:
            self._deliver(reading)
        else:
            unavailable = bool(answer["unavailable"])
            failure = EngineFailure(engine=reading.engine, reason=reading.error, unavailable=unavailable)
            self._retry(job, failure, crashed=False)

    def _retry(self, job: Job, failure: EngineFailure, *, crashed: bool) -> None:
        if failure.unavailable:
            self._down.setdefault(failure.engine, failure.reason)
            if job.kept is not None and job.kept.waits_for == failure.engine:
                self._deliver(job.kept)
                return
        failed = job.failed(failure, crashed=crashed)
        self._put_back(failed) if failed.n_attempts < _ATTEMPTS else self._deliver(failed.error())

    def _put_back(self, job: Job) -> None:
        with self._changed:
            self._jobs.appendleft(job)

    def _deliver(self, reading: PageReading) -> None:
        with self._changed:
            if self._failed:
                return
            self._last = time.monotonic()
            self.on_page(reading)


@dataclass
class _Conversation:
    """About one page with one child; ``engine`` is the one that it said was at work, ``down`` are those not to ask."""

    child: Child
    job: Job
    down: Mapping[str, str]
    announced: Callable[[str], None]
    engine: str = TEXT_LAYER

    def hold(self, timeout_s: float) -> dict[str, Any]:
        """The child's last word on the page. Raises ChildFailedError, by the deadline at the latest."""
        deadline = time.monotonic() + timeout_s
        self.child.ask({"page": self.job.page, "without": self.job.without, "down": self.down})
        while True:
            try:
                answer = self.child.answer(max(0.0, deadline - time.monotonic()))
            except ChildFailedError as failure:
                raise _named(failure, timeout_s) from failure
            if answer is None:
                raise ChildFailedError("the reading process ended by itself", n_done=0, started=True)
            if "at" not in answer:
                return answer
            self.engine = str(answer["at"])
            self.announced(self.engine)


def _named(failure: ChildFailedError, timeout_s: float) -> ChildFailedError:
    """A time-out names the time of the whole page, not what was left of it after the last announcement."""
    late = failure.reason.startswith("no answer after")
    reason = f"no answer after {timeout_s:g} s" if late else failure.reason
    return ChildFailedError(reason, n_done=failure.n_done, started=True)


def _raise_first(workers: Sequence[Future[None]]) -> None:
    for worker in workers:
        worker.result()
