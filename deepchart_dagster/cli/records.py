"""Dagster's records in SQLite, written without waiting: half the time of a short run goes into them otherwise.

For every event Dagster makes a database engine, opens a file, writes one row, closes the file, and forgets the engine.
A new engine compiles each statement anew, and whoever closes a file last has to write it out and wait for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

# Files that stay open: the index, the runs, the schedules, and those of the last few runs.
_HELD_FILES = 8


@contextmanager
def quick_records() -> Iterator[None]:
    """While it lasts, engines are used again, files stay open once, and a commit does not wait for the disk.

    A loss of power may cost the last events of the history; no result of ours, and no file of Dagster's.
    """
    with _held_files(), _kept_engines():
        yield


@contextmanager
def _held_files() -> Iterator[None]:
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    held: dict[str, sqlite3.Connection] = {}

    def hold(connection: object, record: object) -> None:
        """One more connection to the file that is opened. What is wrong with it is Dagster's to meet and to say."""
        if not isinstance(connection, sqlite3.Connection):
            return
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA synchronous = NORMAL")
            path = connection.execute("PRAGMA database_list").fetchone()[2]
            if not path:
                return
            held[path] = held.pop(path) if path in held else _opened(path)  # the last one used is the last in line
            while len(held) > _HELD_FILES:
                held.pop(next(iter(held))).close()

    event.listen(Engine, "connect", hold)
    try:
        yield
    finally:
        event.remove(Engine, "connect", hold)
        for connection in held.values():
            connection.close()


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA schema_version")  # SQLite opens a file when it is first asked for something
    return connection


@contextmanager
def _kept_engines() -> Iterator[None]:
    """``create_engine`` of the two modules that ask for engines: an engine without a pool holds no connection, so one
    can serve a file again."""
    from dagster._core.storage.event_log.sqlite import sqlite_event_log
    from dagster._core.storage.runs.sqlite import sqlite_run_storage

    modules: tuple[Any, ...] = (sqlite_event_log, sqlite_run_storage)
    theirs: list[Callable[..., Any]] = [module.create_engine for module in modules]
    for module, create in zip(modules, theirs, strict=True):
        module.create_engine = _remembering(create)
    try:
        yield
    finally:
        for module, create in zip(modules, theirs, strict=True):
            module.create_engine = create


def _remembering(create: Callable[..., Any]) -> Callable[..., Any]:
    @lru_cache(maxsize=_HELD_FILES)
    def create_once(url: str, arguments: tuple[tuple[str, Any], ...], timeout: tuple[tuple[str, Any], ...]) -> Any:
        return create(url, **dict(arguments), connect_args=dict(timeout))

    def create_engine(url: str, connect_args: dict[str, Any] | None = None, **arguments: Any) -> Any:
        return create_once(url, tuple(sorted(arguments.items())), tuple(sorted((connect_args or {}).items())))

    return create_engine
