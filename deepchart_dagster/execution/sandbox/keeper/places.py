"""Where the programs of a fork server stand: namespaces that the server furnishes, each with a first process.

The server goes into a program's namespaces, furnishes them, and comes back. It is a small process that is never
forked: a fork pays for each page of memory that it comes upon, here everything has been come upon before. The first
process of a process namespace has nothing to do but to be there: when it ends, the kernel ends all others. It waits
in this process's memory (linux.start_waiting).

A namespace of the network serves one program after the other. Nothing is in it, no program may change it, and what a
program opens there ends with the program's processes; to make one takes as long as all the others.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
from collections.abc import Callable
from typing import NamedTuple

from . import linux

_STACK_BYTES = 16 << 10
_FRESH = {  # for each program, beside that of processes
    "mnt": linux.CLONE_NEWNS,
    "ipc": linux.CLONE_NEWIPC,
    "uts": linux.CLONE_NEWUTS,
}


class Standing(NamedTuple):
    """Where a program is to stand.

    first        the process id of the first process there, and ``first_end`` its pidfd
    processes    the namespace of processes
    namespaces   the others, to be entered by the program
    network      the one of them that is not the program's alone
    folders      as furnishing opened them
    """

    first: int
    first_end: int
    processes: int
    namespaces: list[int]
    network: int
    folders: tuple[int, ...]

    def end(self) -> None:
        """With all processes there. ``first_end`` can be read when they are gone."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first_end, signal.SIGKILL)

    def close_ways_in(self) -> None:
        for descriptor in (self.processes, *self.namespaces):
            os.close(descriptor)

    def await_end(self) -> None:
        select.select([self.first_end], [], [])


class Places:
    """Made in the process that makes them."""

    def __init__(self, furnish: Callable[[int, bytes], tuple[int, ...]]) -> None:
        """``furnish(work_bytes, source)`` is called in new namespaces and returns the folders to collect from, open."""
        self._furnish = furnish
        self._flags = linux.CLONE_NEWPID | sum(_FRESH.values())
        self._home = {name: _open_own(name) for name in _FRESH}
        self._own_processes = _open_own("pid")
        self._own_network = _open_own("net")
        self._networks: list[int] = []
        self._stacks: dict[int, ctypes.Array[ctypes.c_char]] = {}
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):  # programs may signal a first process, and this is its memory
                signal.signal(number, signal.SIG_IGN)

    def make(self, work_bytes: int, source: bytes) -> Standing:
        """Raises SetupError, OSError."""
        self._forget_ended()
        if not self._networks:
            self._networks.append(self._make_network())
        linux.unshare(self._flags)
        try:
            folders = self._furnish(work_bytes, source)
            first = self._start_first()
            processes, *fresh = (_open_own(name) for name in ("pid_for_children", *_FRESH))
        finally:
            for name, namespace in self._home.items():
                linux.enter(namespace, _FRESH[name])
            linux.enter(self._own_processes, linux.CLONE_NEWPID)
        network = self._networks.pop()
        return Standing(first, os.pidfd_open(first), processes, fresh, network, folders)

    def leave(self, standing: Standing) -> None:
        """When all processes there are gone."""
        self._networks.append(standing.network)

    def _make_network(self) -> int:
        linux.unshare(linux.CLONE_NEWNET)
        try:
            return _open_own("net")
        finally:
            linux.enter(self._own_network, linux.CLONE_NEWNET)

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
                self._stacks.pop(pid, None)
        except ChildProcessError:  # also those that ended while nobody was to hear of it
            self._stacks.clear()


def _open_own(name: str) -> int:
    return os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
