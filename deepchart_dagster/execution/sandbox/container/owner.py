"""Which process a container belongs to, as the value of a label."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_START_TIME = 19  # field 22 of /proc/PID/stat, counted after the name


def this_process() -> str:
    return f"{_world()}/{os.getpid()}/{_start_time(os.getpid())}"


def is_gone(owner: str) -> bool:
    """Whether the owner surely runs no more. Of a process of another machine, boot or process namespace nothing is
    known, so it is not gone."""
    world, _, process = owner.rpartition("/")[0].rpartition("/")
    start_time = owner.rpartition("/")[2]
    if world != _world() or not process.isdigit():
        return False
    return _start_time(int(process)) != start_time


@cache
def _world() -> str:
    """Where a process number means the same process."""
    return f"{_BOOT.read_text().strip()}/{Path('/proc/self/ns/pid').readlink()}"


def _start_time(pid: int) -> str:
    """Tells a process from a later one with its number; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_START_TIME]
    except OSError:
        return ""
