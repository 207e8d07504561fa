"""Ending asynchronous work in order: a request to end cancels it instead of breaking into whatever runs just then."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


def run_until_done(work: Coroutine[Any, Any, _Result]) -> _Result:
    """``asyncio.run``, in which SIGINT and SIGTERM cancel ``work`` and reach their handlers when it has ended.

    A handler that raises (Python's own, Dagster's) would otherwise raise inside a transport or a callback of
    the event loop, which reports it as a fault. Signals that are ignored or end the process at once stay so.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)  # signals reach the main thread only
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    received: list[signal.Signals] = []
    try:
        result = asyncio.run(
            _cancelled_by(work, [number for number in handlers if callable(handlers[number])], received)
        )
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if not received:
        return result
    signal.raise_signal(received[0])
    raise KeyboardInterrupt


async def _cancelled_by(
    work: Coroutine[Any, Any, _Result], numbers: list[signal.Signals], received: list[signal.Signals]
) -> _Result:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    for number in numbers:
        loop.add_signal_handler(number, cancel, number)
    return await work


async def in_thread(
    function: Callable[_Arguments, _Result], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """``asyncio.to_thread`` for what writes files: a request to end goes on only when the thread has ended.

    A thread cannot be cancelled; one that is left behind would write into a folder that is being removed.
    """
    running = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # taken note of: the request to end is what counts
        raise
