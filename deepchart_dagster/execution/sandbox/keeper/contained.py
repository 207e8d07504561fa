"""Tier `container`: the keeper runs inside a container, whose walls stand before it starts.

The engine gave it no network, no capabilities, a root that cannot be written and a memory file system for each
folder of the program (execution/sandbox/container). Inside, the program gets the walls of the `landlock` tier on
top, because it shares a user with the keeper and a container with the programs before and after it; where the
kernel has no Landlock, the container and the filter hold without it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from . import folders, guard, landlock, linux, seccomp
from .guard import Streams
from .place import Place, furnish
from .processes import await_program, end_descendants
from .request import Request

HOME = "/program"
PLACE = Place(
    work=f"{HOME}/work",
    temporary="/tmp",  # noqa: S108 - the container's own
    config=f"{HOME}/config",
    drawn=f"{HOME}/drawn",
    inside=f"{HOME}/hook",
)
CODE = f"{HOME}/code"
SCRATCH = f"{HOME}/keeper"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the container's own
_THE_PROGRAMS = (PLACE.work, PLACE.temporary, PLACE.config, PLACE.drawn, SHARED_MEMORY)
WRITABLE = (*_THE_PROGRAMS, SCRATCH)  # all that can be written: memory file systems


def hold(request: Request, source: bytes, streams: Streams, _base: Path) -> None:
    """In the guard: runs the program and reports. Raises SetupError, OSError.

    Ended by SIGTERM without more ado: what is left behind then is ended by the container's first process (agent).
    """
    linux.die_with_parent(signal.SIGKILL)
    linux.adopt_orphans()
    furnish(PLACE, source, request.font_list)
    work, drawn = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (PLACE.work, PLACE.drawn))
    program = guard.start_program(request, PLACE, streams, lambda: _confine(request))
    status = await_program(program)
    end_descendants()
    guard.report_files(request, streams, status, work, drawn)


def _confine(request: Request) -> None:
    """The number of processes is the container's to limit: the kernel would count this user's on the whole host."""
    linux.die_with_parent(signal.SIGKILL)
    linux.keep_capabilities()
    linux.no_new_privileges()
    version = landlock.abi()
    if version >= landlock.MINIMUM_ABI:
        readable = (*folders.SYSTEM_READABLE, *request.readable, PLACE.inside)
        landlock.restrict(readable, _THE_PROGRAMS, ("/dev/null", "/dev/full"))
    seccomp.refuse_system_calls(landlock_tier=True, signals_stay_inside=version >= landlock.SIGNAL_ABI)
