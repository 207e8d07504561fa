"""A small process that makes the guards of a fork server's programs.

It is forked from the server before that imports anything: a guard needs no libraries, and a fork of an interpreter
that has them costs more than everything a guard does.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import traceback
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from . import guard, linux
from .guard import Streams
from .request import Request, pack_request, read_request
from .streams import ExactReader

_PID = struct.Struct("=i")
_DESCRIPTORS = 4  # that come with each request

# What a guard does, as the first process of a process namespace; the socket leads to the server.
Hold = Callable[[Request, bytes, Streams, socket.socket], None]


class Guard(NamedTuple):
    """As the server sees it: ``handle`` is its pidfd, ``control`` the socket that leads to it."""

    pid: int
    handle: int
    control: socket.socket

    def kill(self) -> None:
        """With all processes of its namespace."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def await_end(self) -> None:
        select.select([self.handle], [], [])
        os.close(self.handle)
        self.control.close()


class Nursery:
    def __init__(self, hold: Hold) -> None:
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            _make_guards(theirs, hold)
        theirs.close()

    def make(self, request: Request, source: bytes, streams: Streams) -> Guard:
        control, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._socket, [b"."], [*streams, theirs.fileno()])
        self._socket.sendall(pack_request(request, source))
        answer, handles, _, _ = socket.recv_fds(self._socket, _PID.size, 1)
        if not handles:
            raise OSError("the process that makes guards has ended")
        (pid,) = _PID.unpack(answer)
        return Guard(pid, handles[0], control)


class _Order(NamedTuple):
    request: Request
    source: bytes
    descriptors: list[int]


def _make_guards(asked: socket.socket, hold: Hold) -> NoReturn:
    try:
        linux.die_with_parent(signal.SIGKILL)
        os.dup2(asked.detach(), guard.FIRST_OWN_DESCRIPTOR)
        os.closerange(guard.FIRST_OWN_DESCRIPTOR + 1, guard.LAST_DESCRIPTOR)
        asked = socket.socket(fileno=guard.FIRST_OWN_DESCRIPTOR)
        own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        while True:
            _make_guard(_next_order(asked), asked, own_processes, hold)
    except EOFError:  # the server has ended
        os._exit(0)
    except BaseException:  # noqa: BLE001 - it must not run on as a second server
        traceback.print_exc()
    finally:
        os._exit(1)


def _next_order(asked: socket.socket) -> _Order:
    """Raises EOFError."""
    _, descriptors, _, _ = socket.recv_fds(asked, 1, _DESCRIPTORS)
    if not descriptors:
        raise EOFError
    return _Order(*read_request(ExactReader(asked.fileno())), descriptors)


def _make_guard(order: _Order, asked: socket.socket, own_processes: int, hold: Hold) -> None:
    linux.unshare(linux.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        os.close(own_processes)
        asked.close()
        _be_guard(order, hold)
    linux.enter(own_processes, linux.CLONE_NEWPID)
    handle = os.pidfd_open(pid)
    socket.send_fds(asked, [_PID.pack(pid)], [handle])
    for descriptor in (handle, *order.descriptors):
        os.close(descriptor)
    guard.reap_ended()


def _be_guard(order: _Order, hold: Hold) -> NoReturn:
    *ends, control = order.descriptors
    streams = Streams(*ends)
    try:
        linux.die_with_parent(signal.SIGKILL)
        with socket.socket(fileno=control) as server:
            hold(order.request, order.source, streams, server)
    except (guard.SetupError, OSError) as error:
        guard.report_setup_error(streams, str(error))
    except BaseException:  # noqa: BLE001 - it must not run on as a second one that makes guards
        traceback.print_exc()
    finally:
        os._exit(0)
