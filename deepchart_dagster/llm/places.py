"""Places at a provider, shared by all processes on one storage.

    storage/llm/places/<provider>/<n>.lock    held by a call in flight; as many as models.yaml allows

A provider limits an account, whichever of its models are asked and however many runs ask them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock

from deepchart_dagster.artifacts.files import path_segment, storage_errors
from deepchart_dagster.llm.locks import try_acquire

_POLL_S = 0.05


@asynccontextmanager
async def place_at(storage: Path, provider: str, most: int, turn: asyncio.Lock) -> AsyncIterator[None]:
    """One of ``most`` places. ``turn``: only one task of a loop looks for one at a time. Raises StorageError."""
    folder = storage / "llm" / "places" / path_segment(provider)
    with storage_errors(folder, "make"):
        folder.mkdir(parents=True, exist_ok=True)
    async with turn:
        while (lock := _free(folder, most)) is None:
            await asyncio.sleep(_POLL_S)
    try:
        yield
    finally:
        lock.release()


def _free(folder: Path, most: int) -> FileLock | None:
    for number in range(most):
        path = folder / f"{number}.lock"
        lock = FileLock(path, thread_local=False)
        if try_acquire(lock, path):
            return lock
    return None
