"""Locks on files that a task waits for without a thread. A killed process holds none."""

from __future__ import annotations

import asyncio
from pathlib import Path

from filelock import FileLock, Timeout

from deepchart_dagster.artifacts.files import storage_errors

_FIRST_POLL_S = 0.02
_LONGEST_POLL_S = 0.5


async def acquire(lock: FileLock, path: Path) -> None:
    """Raises StorageError."""
    poll_s = _FIRST_POLL_S
    while not try_acquire(lock, path):
        await asyncio.sleep(poll_s)
        poll_s = min(_LONGEST_POLL_S, poll_s * 1.5)


def try_acquire(lock: FileLock, path: Path) -> bool:
    with storage_errors(path, "lock"):
        try:
            lock.acquire(blocking=False)
        except Timeout:  # an OSError, too: caught first
            return False
        return True
