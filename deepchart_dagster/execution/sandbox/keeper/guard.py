"""Starts the program, waits for it, ends what it left behind, and collects its files.

The guard is the process between keeper and program. It sends the keeper one message, then exits; on SIGTERM it
ends everything and sends nothing.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import signal
import stat
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .request import SETUP_FAILED, Request, pack

DRAWN_NAME = "drawn.json"
PROGRAM_NAME = "this.py"
MAX_FILES = 4096
_STACK_BYTES = 8 << 20
_CHUNK = 1 << 20
KIB_PER_MIB = 1024
_BLOCK_BYTES = 512
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PROCESSORS = os.cpu_count() or 1
_REAP_PAUSE_S = 0.002
FIRST_OWN_DESCRIPTOR, LAST_DESCRIPTOR = 3, 4096
MOST_WORDS = 3000  # bytes, of why walls could not be raised
FOLDERS = 2  # that files are collected from


class Streams(NamedTuple):
    """Descriptors a guard works with: the program's stdout and stderr, and the way back to the keeper."""

    out: int
    err: int
    result: int


class Place(NamedTuple):
    """The folders of one program, as it sees them."""

    work: str
    temporary: str
    config: str
    drawn: str
    inside: str

    def environment(self) -> dict[str, str]:
        """All a program's environment. The last two are gone by the time the program's first line runs."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.work,
            "TMPDIR": self.temporary,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": self.config,
            # One thread each: their stacks count against the memory limit, and other programs want the cores.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "DEEPCHART_DRAWN": self.drawn,
            "PYTHONPATH": self.inside,
        }


class SetupError(Exception):
    """The walls could not be raised; the program was not started."""


def furnish(place: Place, source: bytes, font_list: str | None) -> None:
    """Puts the program and matplotlib's font list where the program looks for them."""
    _write(f"{place.work}/{PROGRAM_NAME}", source)
    if font_list:
        furnish_fonts(place, font_list)


def furnish_fonts(place: Place, font_list: str) -> None:
    _write(f"{place.config}/{Path(font_list).name}", Path(font_list).read_bytes())


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    write_all(file, content)
    os.close(file)


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
    return f"{type(error).__name__}: {error}".encode()[:MOST_WORDS]


def _await_start(pid: int, reason_end: int, reason: int) -> None:
    os.close(reason)
    complaint = _read_all(reason_end, 4000)
    os.close(reason_end)
    if complaint:
        os.waitpid(pid, 0)
        raise SetupError(complaint.decode("utf-8", "replace"))


def _become_program(request: Request, place: Place, streams: Streams, confine: Callable[[], None], reason: int) -> None:
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
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
    os.closerange(FIRST_OWN_DESCRIPTOR, reason)
    os.closerange(reason + 1, LAST_DESCRIPTOR)
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


class Used(NamedTuple):
    """Processor seconds of processes and of those that they reaped; the largest memory that one of them had."""

    cpu_s: float = 0.0
    max_rss_mb: float = 0.0


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


class Collected(NamedTuple):
    state: str
    data: bytes = b""


def collect(folder: int, name: str, limit: int) -> Collected:
    """The file ``name`` in the opened ``folder``: a regular file of its own, of at most ``limit`` bytes."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return Collected("missing")
    except OSError as error:
        return Collected("a link" if error.errno == errno.ELOOP else os.strerror(error.errno or 0))
    try:
        return _read_regular(file, limit)
    finally:
        os.close(file)


def _read_regular(file: int, limit: int) -> Collected:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return Collected("not a regular file")
    if status.st_nlink > 1:
        return Collected("a hard link")
    if status.st_size > limit:
        return Collected(f"{status.st_size} bytes large, {limit} are allowed")
    data = _read_all(file, limit)
    return Collected("ok", data)


def _read_all(file: int, limit: int) -> bytes:
    data = bytearray()
    while len(data) < limit and (chunk := os.read(file, min(_CHUNK, limit - len(data)))):
        data += chunk
    return bytes(data)


class Left(NamedTuple):
    """What a program left: a header with its files' states and sizes, and their bytes (request.Report)."""

    header: dict[str, Any]
    payload: bytes


def files_left(request: Request, wait_status: int, work: int, drawn: int) -> Left:
    """``work`` and ``drawn`` are the opened folders."""
    for folder in (work, drawn):
        _try(partial(os.fchmod, folder, 0o700))  # where the program has closed it to itself
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


def write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def own_memory_mb() -> float:
    """Of this process, with what it shares divided among those who share it."""
    return _own_bytes(os.getpid()) / (KIB_PER_MIB << 10)


def is_larger(folder: Path, limit: int) -> bool:
    """Whether what lies in ``folder`` takes more than ``limit`` bytes, or is more than MAX_FILES entries."""
    used = entries = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            for entry in os.scandir(waiting.pop()):
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                used += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                if used > limit or entries > MAX_FILES:
                    return True
        except OSError as error:  # gone meanwhile
            if error.errno == errno.ENAMETOOLONG:  # what lies so deep cannot be counted
                return True
    return False


def unlinked_bytes(pids: set[int], folder: Path) -> int:
    """What files take on disk that these processes have open or mapped and that have been removed from ``folder``."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            for entry in os.scandir(f"/proc/{pid}/fd"):
                status = entry.stat()
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK_BYTES
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                if line.endswith(" (deleted)") and f" {folder}/" in line:
                    place, _, _, device, node, *_ = line.split()
                    first, last = (int(end, 16) for end in place.split("-"))
                    major, minor = (int(number, 16) for number in device.split(":"))
                    sizes.setdefault((os.makedev(major, minor), int(node)), last - first)
        except OSError:  # it has ended, or is one of ours (programs cannot hide: seccomp)
            continue
    return sum(sizes.values())


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


def remove_tree(folder: Path) -> None:
    """Also where a program has closed its folders to itself, or put more into one another than a path can name: each
    is lifted to the top and emptied there. What resists is left to whoever clears the parent."""
    _try(partial(folder.chmod, 0o700))
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        removed = 1
        while removed:
            removed = sum(_remove_one(name, top) for name in os.listdir(top))  # noqa: PTH208
    finally:
        os.close(top)
    _try(folder.rmdir)


def _remove_one(name: str, top: int) -> bool:
    """A file, or a folder whose own folders come to stand beside it. False where it stays as it is."""
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
            os.unlink(name, dir_fd=top)
            return True
        os.chmod(name, 0o700, dir_fd=top)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        try:
            for entry in os.listdir(inner):  # noqa: PTH208
                if not stat.S_ISDIR(os.lstat(entry, dir_fd=inner).st_mode):
                    os.unlink(entry, dir_fd=inner)
                elif not _try(partial(os.rmdir, entry, dir_fd=inner)):
                    os.chmod(entry, 0o700, dir_fd=inner)
                    os.rename(entry, f"lifted-{os.urandom(8).hex()}", src_dir_fd=inner, dst_dir_fd=top)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)
    except OSError:
        return False
    return True


def _try(remove: Callable[[], None]) -> bool:
    try:
        remove()
    except OSError:
        return False
    return True
