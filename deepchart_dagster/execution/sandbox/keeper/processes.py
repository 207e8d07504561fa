"""The processes below a guard: who they are, what they use, and their end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

KIB_PER_MIB = 1024
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_REAP_PAUSE_S = 0.002


def await_program(pid: int) -> int:
    """Its wait status. Reaps whatever else ends meanwhile (the guard adopts orphans)."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return status


def reap_all() -> None:
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


def end_descendants() -> None:
    """Stops, then kills everything below this process, which adopts orphans; also what is being forked meanwhile."""
    while _has_children():
        seen: set[int] = set()
        while new := descendants(os.getpid()) - seen:
            for pid in new:
                _signal(pid, signal.SIGSTOP)  # a stopped process forks no more
            seen |= new
        for pid in seen:
            _signal(pid, signal.SIGKILL)
        if not reap_ended():
            time.sleep(_REAP_PAUSE_S)


def reap_ended() -> bool:
    """False where none had ended."""
    reaped = False
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            reaped = True
    except ChildProcessError:
        return True
    return reaped


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def descendants(root: int) -> set[int]:
    """Process ids of all that lives below ``root``."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (status := process_status(int(entry.name))) and status.state not in "ZX":
            children.setdefault(status.parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = list(children.get(root, ()))
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        waiting += children.get(pid, ())
    return found


class ProcessStatus(NamedTuple):
    state: str
    parent: int
    threads: int


def process_status(pid: int) -> ProcessStatus | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended between being listed and being read
        return None
    return ProcessStatus(state=fields[0], parent=int(fields[1]), threads=int(fields[17]))


def has_children(pid: int) -> bool:
    """True where the kernel does not say."""
    try:
        children = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return bool(os.read(children, 1))
        finally:
            os.close(children)
    except OSError:
        return True


class Used(NamedTuple):
    """Processor seconds of processes and of those that they reaped; the largest memory that one of them had."""

    cpu_s: float = 0.0
    max_rss_mb: float = 0.0


def used_by(pids: set[int]) -> Used:
    """What these processes have used up to now. The kernel tells a parent only of children that it reaped, and whoever
    is killed with its whole namespace is reaped by nobody."""
    seconds = [_cpu_s(pid) for pid in pids]
    return Used(cpu_s=sum(seconds), max_rss_mb=max((_largest_mb(pid) for pid in pids), default=0.0))


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended: whoever reaps it counts it
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _largest_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / KIB_PER_MIB for line in lines if line.startswith("VmHWM:")), 0.0)


def own_memory_mb() -> float:
    """Of this process, with what it shares divided among those who share it."""
    return _own_bytes(os.getpid()) / (KIB_PER_MIB << 10)


def memory_of(pids: set[int], limit: int) -> int:
    """Bytes that these processes have together. What they share is divided among them where the sum is above ``limit``
    without that: the kernel takes longer to tell."""
    total = sum(_resident_bytes(pid) for pid in pids)
    return total if total <= limit else sum(_own_bytes(pid) for pid in pids)


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0


def _own_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended, or hides itself
        return _resident_bytes(pid)
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
