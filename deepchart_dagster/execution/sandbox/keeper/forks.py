"""The process that programs are forks of, and how the server has it fork.

An interpreter with its libraries is a large process: a fork copies its tables of pages, and of a page that both have,
the one who writes to it first makes a copy. So this process does as little as can be: it forks when it is told to, and
waits again. All else about programs is done by the server, a small process (server.py) that is forked from this one
before it imports anything, and never forks itself.

An order is one message: a letter, and what belongs to it. Descriptors travel along.
"""

from __future__ import annotations

import marshal
import os
import socket
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from . import linux, pages
from .files import write_all
from .processes import own_memory_mb

_FORK, _REAP, _COPY = b"f", b"r", b"c"
_MOST_BYTES = 1 << 14
_MOST_DESCRIPTORS = 16
_DESCRIPTOR_BYTES = 4
_PID = struct.Struct("=i")
_MEMORY = struct.Struct("=d")


class Order(NamedTuple):
    """In a fork: what it was made for, and the descriptors that came along."""

    packed: bytes
    descriptors: list[int]

    def content(self) -> tuple[Any, ...]:
        return marshal.loads(self.packed)  # type: ignore[no-any-return]  # noqa: S302 - it comes from the server


class Forks:
    """The server's end."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders

    def start(self, content: tuple[Any, ...], processes: int, descriptors: list[int]) -> int:
        """The process id of a fork in the namespace ``processes`` of processes, which begins with what is given.

        ``content`` is of strings, numbers and tuples. Raises OSError where the large process has ended.
        """
        message = _FORK + marshal.dumps(content)
        socket.send_fds(self._orders, [message], [processes, *descriptors])
        (pid,) = _PID.unpack(self._answer())
        return int(pid)

    def reap(self, pid: int) -> linux.Ended:
        """Waits until it has ended. Raises OSError."""
        self._orders.send(_REAP + _PID.pack(pid))
        return linux.read_ended(self._answer())

    def copy_at_start(self, runs: bytes) -> float:
        """Has forks begin with pages of their own (pages.written). Returns MiB that the large process takes."""
        file = os.memfd_create("pages")
        write_all(file, runs)
        socket.send_fds(self._orders, [_COPY], [file])
        os.close(file)
        (memory_mb,) = _MEMORY.unpack(self._answer())
        return float(memory_mb)

    def _answer(self) -> bytes:
        if not (answer := self._orders.recv(_MOST_BYTES)):
            raise OSError("the process that programs are forks of has ended")
        return answer


def channel() -> tuple[socket.socket, socket.socket]:
    """Two ends; each message arrives whole."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def serve(orders: socket.socket, before_fork: Callable[[], None]) -> Order:
    """In the large process. Returns in its forks only; ends with the server."""
    own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * _DESCRIPTOR_BYTES)
    while True:
        message, ancillary, _, _ = orders.recvmsg(_MOST_BYTES, room, socket.MSG_CMSG_CLOEXEC)
        descriptors = [number for _, _, packed in ancillary for (number,) in _PID.iter_unpack(packed)]
        kind = message[:1]
        if kind == _FORK:
            before_fork()
            linux.enter(descriptors[0], linux.CLONE_NEWPID)
            pid = os.fork()
            if pid == 0:
                orders.detach()  # its descriptor is closed with all others
                return Order(message[1:], descriptors[1:])
            linux.enter(own_processes, linux.CLONE_NEWPID)
            orders.send(_PID.pack(pid))
        elif kind == _REAP:
            orders.send(linux.reap(*_PID.unpack(message[1:])))
        elif kind == _COPY:
            pages.copy_after_fork(pages.Pages(os.pread(descriptors[0], os.fstat(descriptors[0]).st_size, 0)))
            linux.use_large_pages()  # once more, where the rehearsal has broken them up
            orders.send(_MEMORY.pack(own_memory_mb()))
        else:
            os._exit(0)  # the server has ended
        for descriptor in descriptors:
            os.close(descriptor)
