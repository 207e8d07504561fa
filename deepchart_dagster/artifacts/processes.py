"""Processes of this machine: whether one is still at work, and how one ends with the one that started it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_PROC = Path("/proc")
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat behind the name, which stands in brackets
_OVER = "ZX"  # a zombie has ended and waits for its parent; X: it is just going
_CLOCK_S = 2.0  # what the time of the machine's start, in whole seconds, may be off by
_PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a process gets when its parent is gone


def is_at_work(pid: int, since: float) -> bool:
    """Whether the process that had the number ``pid`` at ``since`` (seconds of the epoch) has not ended yet.

    Numbers are given away again: a process of that number that started later is another one. Where the system does not
    say when a process started (no /proc), any process of that number counts.
    """
    if not (_PROC / "stat").exists():
        return _answers(pid)
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    if fields[_STATE] in _OVER:
        return False
    started = _machine_started() + int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return started <= since + _CLOCK_S


def _machine_started() -> float:
    lines = (_PROC / "stat").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("btime "))


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def end_with_parent() -> None:
    """For a child before it becomes its program: asked to end (SIGTERM) when its parent is gone, however that went."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
