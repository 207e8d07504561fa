"""Starts the program with its limits, and says what it left.

The guard is the process between keeper and program. It sends the keeper one message, then exits; on SIGTERM it
ends everything and sends nothing.
"""

from __future__ import annotations

import math
import os
import resource
import signal
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .files import collect, read_all, try_to, write_all
from .place import DRAWN_NAME, PROGRAM_NAME, Place
from .processes import KIB_PER_MIB
from .request import SETUP_FAILED, Request, pack

_FIRST_OWN_DESCRIPTOR, _LAST_DESCRIPTOR = 3, 4096
_STACK_BYTES = 8 << 20
_PROCESSORS = os.cpu_count() or 1
_MOST_WORDS = 3000  # bytes, of why walls could not be raised


class Streams(NamedTuple):
    """Descriptors a guard works with: the program's stdout and stderr, and the way back to the keeper."""

    out: int
    err: int
    result: int


class SetupError(Exception):
    """The walls could not be raised; the program was not started."""


def start_program(request: Request, place: Place, streams: Streams, confine: Callable[[], None]) -> int:
    """The process id of the program, in an interpreter of its own. ``confine`` runs last before that starts.

    Raises SetupError with the reason where anything before the interpreter's start failed.
    """
    reason_end, reason = os.pipe()  # closed by exec: an empty read means the interpreter runs
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program may send it to this process
    pid = os.fork()
    if pid == 0:
        try:
            _become_program(request, place, streams, confine, reason)
        except BaseException as error:  # noqa: BLE001 - whatever it is must reach the keeper, and nothing may run on
            os.write(reason, _words(error))
        finally:
            os._exit(126)
    _await_start(pid, reason_end, reason)
    return pid


def fork_program(request: Request, place: Place, streams: Streams, confine: Callable[[], None]) -> int:
    """As ``start_program``, but the program's process is a copy of this one: there it returns 0, behind the walls."""
    reason_end, reason = os.pipe()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = os.fork()
    if pid:
        _await_start(pid, reason_end, reason)
        return pid
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        become_forked_program(request, place, streams, confine, reason)
    except BaseException as error:  # noqa: BLE001 - as above
        os.write(reason, _words(error))
        os._exit(126)
    return 0


def become_forked_program(
    request: Request, place: Place, streams: Streams, confine: Callable[[], None], reason: int
) -> None:
    """In the fork of an interpreter: behind the walls when it returns. ``reason`` stays open until they stand."""
    _arrange(request, place, streams, reason)
    confine()
    os.close(reason)


def _words(error: BaseException) -> bytes:
    return f"{type(error).__name__}: {error}".encode()[:_MOST_WORDS]


def _await_start(pid: int, reason_end: int, reason: int) -> None:
    os.close(reason)
    complaint = read_all(reason_end, 4000)
    os.close(reason_end)
    if complaint:
        os.waitpid(pid, 0)
        raise SetupError(complaint.decode("utf-8", "replace"))


def heed_signals() -> None:
    """For what will be an interpreter: a pipeline that nohup or a script began in the background ignores some, and
    its programs would inherit that."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _become_program(request: Request, place: Place, streams: Streams, confine: Callable[[], None], reason: int) -> None:
    heed_signals()
    _arrange(request, place, streams, reason)
    confine()
    arguments = [request.interpreter, PROGRAM_NAME, request.output_name]
    os.execve(request.interpreter, arguments, place.environment())  # noqa: S606


def _arrange(request: Request, place: Place, streams: Streams, reason: int) -> None:
    """Session, descriptors, folder and limits of a program; beside the three, ``reason`` alone stays open."""
    os.setsid()
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (streams.out, 1), (streams.err, 2)):
        os.dup2(source, target)
    os.closerange(_FIRST_OWN_DESCRIPTOR, reason)
    os.closerange(reason + 1, _LAST_DESCRIPTOR)
    os.chdir(place.work)
    os.umask(0o022)
    _set_limits(request)


def _set_limits(request: Request) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: request.memory_bytes,
        resource.RLIMIT_FSIZE: request.work_bytes,
        resource.RLIMIT_NOFILE: request.open_files,
        resource.RLIMIT_STACK: _STACK_BYTES,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        # A process that escapes the keeper's clock still ends.
        resource.RLIMIT_CPU: math.ceil(request.wall_s) * _PROCESSORS + 10,
    }
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def limit_processes(count: int) -> None:
    """Counted by the kernel per user and user namespace: to be called when the program's user is set."""
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


class Left(NamedTuple):
    """What a program left: a header with its files' states and sizes, and their bytes (request.Report)."""

    header: dict[str, Any]
    payload: bytes


def files_left(request: Request, wait_status: int, work: int, drawn: int) -> Left:
    """``work`` and ``drawn`` are the opened folders."""
    for folder in (work, drawn):
        try_to(partial(os.fchmod, folder, 0o700))  # where the program has closed it to itself
    output = collect(work, request.output_name, request.output_bytes)
    hook = collect(drawn, DRAWN_NAME, request.drawn_bytes)
    header = {
        "wait_status": wait_status,
        "output_state": output.state,
        "output_size": len(output.data),
        "drawn_size": len(hook.data),
    }
    return Left(header, output.data + hook.data)


def report_files(request: Request, streams: Streams, wait_status: int, work: int, drawn: int) -> None:
    left = files_left(request, wait_status, work, drawn)
    own, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    used = {
        "cpu_s": own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime,
        "max_rss_mb": below.ru_maxrss / KIB_PER_MIB,
    }
    write_all(streams.result, pack({**left.header, **used}, left.payload))


def report_setup_error(streams: Streams, error: str) -> None:
    write_all(streams.result, pack({"ended": SETUP_FAILED, "error": error}, b""))
