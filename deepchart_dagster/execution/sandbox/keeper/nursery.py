"""A small process that raises the walls of a fork server's programs, each with a first process for its namespaces.

It is forked from the server before that imports anything, and is never forked itself: a fork pays for each page of
memory that it comes upon, here everything has been come upon before. So this process goes into each program's
namespaces, furnishes them, and comes back. The first process of a process namespace has nothing to do but to be there:
when it ends, the kernel ends all others. It waits in this process's memory (linux.start_waiting).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import socket
import struct
import traceback
from typing import NamedTuple, NoReturn, Protocol

from . import guard, linux
from .guard import SetupError
from .request import LENGTHS, pack, unpack
from .streams import ExactReader

_PID = struct.Struct("=i")
_STACK_BYTES = 16 << 10


class Walls(Protocol):
    """What stands around each program. ``namespaces`` maps names in /proc/self/ns to flags; processes come on top."""

    @property
    def namespaces(self) -> dict[str, int]: ...
    def raise_inside(self, work_bytes: int, source: bytes) -> tuple[int, ...]:
        """In new namespaces: furnishes them. Returns the opened folders to collect from. Raises SetupError, OSError."""
        ...


class Standing(NamedTuple):
    """Where a program is to stand, as the server sees it.

    first        the process id of the first process there, and ``first_end`` its pidfd
    processes    the namespace of processes, ``namespaces`` the others, in the order of ``Walls.namespaces``
    folders      as ``Walls.raise_inside`` opened them
    """

    first: int
    first_end: int
    processes: int
    namespaces: list[int]
    folders: list[int]

    def end(self) -> None:
        """With all processes there. ``first_end`` can be read when they are gone."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first_end, signal.SIGKILL)

    def close_ways_in(self) -> None:
        for descriptor in (self.processes, *self.namespaces):
            os.close(descriptor)

    def await_end(self) -> None:
        select.select([self.first_end], [], [])


class Nursery:
    def __init__(self, walls: Walls) -> None:
        self._count = len(walls.namespaces)
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            _serve(theirs, walls)
        theirs.close()

    def make_place(self, work_bytes: int, source: bytes) -> Standing:
        """Raises SetupError, and OSError where the nursery has ended."""
        self._socket.sendall(pack({"work_bytes": work_bytes}, source))
        answer, descriptors, _, _ = socket.recv_fds(self._socket, guard.MOST_WORDS, 2 + self._count + guard.FOLDERS)
        if not answer:
            raise OSError("the process that raises walls has ended")
        if not descriptors:
            raise SetupError(answer.decode("utf-8", "replace"))
        first_end, processes, *rest = descriptors
        (first,) = _PID.unpack(answer)
        return Standing(first, first_end, processes, rest[: self._count], rest[self._count :])


def _serve(asked: socket.socket, walls: Walls) -> NoReturn:
    try:
        linux.die_with_parent(signal.SIGKILL)
        os.dup2(asked.detach(), guard.FIRST_OWN_DESCRIPTOR)
        os.closerange(guard.FIRST_OWN_DESCRIPTOR + 1, guard.LAST_DESCRIPTOR)
        asked = socket.socket(fileno=guard.FIRST_OWN_DESCRIPTOR)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):  # programs may signal a first process, and this is its memory
                signal.signal(number, signal.SIG_IGN)
        _Builder(walls).serve(asked)
    except EOFError:  # the server has ended
        os._exit(0)
    except BaseException:  # noqa: BLE001 - it must not run on as a second server
        traceback.print_exc()
    finally:
        os._exit(1)


class _Builder:
    def __init__(self, walls: Walls) -> None:
        self._walls = walls
        self._flags = linux.CLONE_NEWPID | sum(walls.namespaces.values())
        self._home = {name: os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in walls.namespaces}
        self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._stacks: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def serve(self, asked: socket.socket) -> NoReturn:
        """Raises EOFError."""
        gc.freeze()
        reader = ExactReader(asked.fileno())
        while True:
            lengths = reader.read(LENGTHS.size)
            header, source = unpack(lengths + reader.read(sum(LENGTHS.unpack(lengths))))
            opened: list[int] = []
            try:
                first = self._build(header["work_bytes"], source, opened)
                socket.send_fds(asked, [_PID.pack(first)], opened)
            except (SetupError, OSError) as error:
                asked.sendall(str(error).encode()[: guard.MOST_WORDS])
            for descriptor in opened:
                os.close(descriptor)
            self._forget_ended()

    def _build(self, work_bytes: int, source: bytes, opened: list[int]) -> int:
        """The first process; ``opened`` gets the descriptors that belong to it. Raises SetupError, OSError."""
        linux.unshare(self._flags)
        try:
            folders = self._walls.raise_inside(work_bytes, source)
            first = self._start_first()
            opened.append(os.pidfd_open(first))
            for name in ("pid_for_children", *self._home):
                opened.append(os.open(f"/proc/self/ns/{name}", os.O_RDONLY))
            opened.extend(folders)
        finally:
            for name, namespace in self._home.items():
                linux.enter(namespace, self._walls.namespaces[name])
            linux.enter(self._own_processes, linux.CLONE_NEWPID)
        return first

    def _start_first(self) -> int:
        stack = ctypes.create_string_buffer(_STACK_BYTES)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans come to it, and end without its doing
        try:
            pid = linux.start_waiting(stack)
        finally:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._stacks[pid] = stack
        return pid

    def _forget_ended(self) -> None:
        try:
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                del self._stacks[pid]
        except ChildProcessError:  # also those that ended while nobody was to hear of it
            self._stacks.clear()
