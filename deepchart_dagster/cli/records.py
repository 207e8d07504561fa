"""Dagster's records in SQLite, written without waiting: half the time of a short run goes into them otherwise.

For every event Dagster makes a database engine, opens a file, writes one row, closes the file, and forgets the engine.
A new engine compiles each statement anew, a new connection reads the schema anew, and whoever closes a file last has to
write it out and wait for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from sqlalchemy import Engine, QueuePool, event
from sqlalchemy import create_engine as new_engine

# Files that stay open: the index, the runs, and those of the last few runs.
_HELD_FILES = 8


@contextmanager
def quick_records() -> Iterator[None]:
    """While it lasts, engines and their connections are used again, and a commit does not wait for the disk.

    A loss of power may cost the last events of the history; no result of ours, and no file of Dagster's.
    """
    engines = _Engines()
    modules: tuple[Any, ...] = (sqlite_event_log, sqlite_run_storage)
    theirs = [module.create_engine for module in modules]
    for module in modules:
        module.create_engine = engines.create_engine
    try:
        yield
    finally:
        for module, create in zip(modules, theirs, strict=True):
            module.create_engine = create
        engines.close()


class _Pool(QueuePool):
    """Dagster disposes of an engine after each use; its connections stay all the same."""

    def dispose(self) -> None:
        """Nothing: see ``close``."""

    def recreate(self) -> _Pool:
        return self

    def close(self) -> None:
        super().dispose()


class _Engines:
    """Those used last, by address."""

    def __init__(self) -> None:
        self._kept: dict[str, Engine] = {}  # the one used last is the last

    def create_engine(
        self, url: str, *, poolclass: object = None, connect_args: Mapping[str, Any] | None = None
    ) -> Engine:
        """Takes what the two modules give; of two ways to connect to a file the one asked for first serves both."""
        engine = self._kept.pop(url, None) or _engine(url, connect_args or {})
        self._kept[url] = engine
        while len(self._kept) > _HELD_FILES:
            _close(self._kept.pop(next(iter(self._kept))))
        return engine

    def close(self) -> None:
        while self._kept:
            _close(self._kept.popitem()[1])


def _engine(url: str, connect_args: Mapping[str, Any]) -> Engine:
    engine = new_engine(url, poolclass=_Pool, connect_args=dict(connect_args))
    event.listen(engine, "connect", _do_not_wait)
    return engine


def _do_not_wait(connection: sqlite3.Connection, _record: object) -> None:
    with suppress(sqlite3.Error):  # what is wrong with the file is Dagster's to meet and to say
        connection.execute("PRAGMA synchronous = NORMAL")
        # Dagster sets this too, after it has made thirty tables and indexes and has waited for the disk after each.
        connection.execute("PRAGMA journal_mode = WAL")


def _close(engine: Engine) -> None:
    pool = engine.pool
    if isinstance(pool, _Pool):
        pool.close()
