"""The calls that are being made just now, by any process on this storage.

    storage/llm/asking/<key>.json    beside the lock that its asker holds; without a held lock it means nothing

Written when an attempt begins, removed when it ends; what a killed process leaves is passed over, and removed by
whoever reads next. ``deepchart status`` shows the oldest, and a run's log says it once a minute; budgets count what
the calls in flight may come to.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.artifacts.files import storage_errors
from deepchart_dagster.llm.locks import try_acquire
from deepchart_dagster.llm.model import Purpose

log = logging.getLogger(__name__)


class CallInFlight(BaseModel):
    """One attempt. ``about`` is the instance; ``may_cost_usd`` and ``may_take_tokens`` what a budget counts for it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    model: str
    purpose: Purpose
    about: str
    attempt: int
    since: str
    timeout_s: float
    process: int
    may_cost_usd: float | None = 0.0
    may_take_tokens: int = 0

    def seconds(self, now: datetime | None = None) -> float:
        """Since it began; 0 where the clock was set back behind that."""
        return max(0.0, ((now or datetime.now(UTC)) - datetime.fromisoformat(self.since)).total_seconds())

    def as_json(self) -> dict[str, JsonValue]:
        named = {"model", "purpose", "about", "attempt", "since", "timeout_s", "process", "key"}
        return {**self.model_dump(include=named), "seconds": round(self.seconds(), 1)}

    def in_words(self, seconds: float | None = None) -> str:
        """``seconds``: since it began, where that is better known than by the clock."""
        seconds = self.seconds() if seconds is None else seconds
        what = f"{self.model} {self.purpose}{f' {self.about}' if self.about else ''}"
        return f"{what}, attempt {self.attempt}, {seconds:.0f} of {self.timeout_s:.0f} s"


class Watch:
    """Says once a minute what the oldest call in flight of an event loop is, as soon as that is older than a minute."""

    def __init__(self, every_s: float = 60.0) -> None:
        self._every_s = every_s
        self._calls: dict[str, tuple[float, CallInFlight]] = {}
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def over(self, call: CallInFlight) -> Iterator[None]:
        self._calls[call.key] = (time.monotonic(), call)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            self._calls.pop(call.key, None)

    async def _look(self) -> None:
        """Ends when nothing is in flight, so that no loop ends with it."""
        while self._calls:
            await asyncio.sleep(self._every_s)
            begun, oldest = min(self._calls.values(), key=lambda call: call[0], default=(0.0, None))
            seconds = time.monotonic() - begun
            if oldest is not None and seconds >= self._every_s:
                log.warning("%d calls in flight; the oldest: %s", len(self._calls), oldest.in_words(seconds))


def asking_folder(storage: Path) -> Path:
    return storage / "llm" / "asking"


def lock_path(storage: Path, key: str) -> Path:
    return asking_folder(storage) / f"{key}.lock"


def _record_path(storage: Path, key: str) -> Path:
    return asking_folder(storage) / f"{key}.json"


@contextmanager
def recorded(storage: Path, call: CallInFlight) -> Iterator[None]:
    """The record is there while the block runs. The caller holds the key's lock."""
    path = _record_path(storage, call.key)
    with storage_errors(path, "write"):  # half a record is read as none, so it needs no temporary name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(in_unicode(call.model_dump_json()).encode())
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def calls_in_flight(storage: Path) -> list[CallInFlight]:
    """The oldest first."""
    calls = [call for path in asking_folder(storage).glob("k*.json") if (call := _read(path)) is not None]
    return sorted(calls, key=lambda call: call.since)


def _read(path: Path) -> CallInFlight | None:
    try:
        call = CallInFlight.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None  # gone meanwhile, or not there in full yet
    if call.process == os.getpid() or _is_held(path.with_suffix(".lock")):
        return call
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def _is_held(path: Path) -> bool:
    if not path.exists():
        return False
    lock = FileLock(path, thread_local=False)
    if not try_acquire(lock, path):
        return True
    with suppress(OSError):
        path.unlink(missing_ok=True)
    lock.release()
    return False
