"""What Ctrl-C, SIGTERM and SIGHUP do at the two ends of a command, where KeyboardInterrupt would print its trace."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

INTERRUPTED = 130

_Handler = Callable[[int, FrameType | None], object]
_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def leave_at_ctrl_c() -> None:
    """From here on Ctrl-C ends this process at once and without a word: nothing has begun, or all of it is done.

    A KeyboardInterrupt would be raised in the middle of an import, or of what Python does last. Signals that do
    something else than Ctrl-C by now (ignored by nohup, handled by a caller) keep doing it.
    """
    _turn(signal.default_int_handler, _leave)


def raise_at_ctrl_c() -> None:
    """Takes leave_at_ctrl_c back: Ctrl-C raises KeyboardInterrupt."""
    _turn(_leave, signal.default_int_handler)


def _turn(handler: _Handler, other: _Handler) -> None:
    for number in _REQUESTS:
        if signal.getsignal(number) is handler:
            signal.signal(number, other)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
