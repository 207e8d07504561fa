"""Tiers `landlock` and `trusted`: the program works in a fresh folder of the host's file system.

`landlock` walls it in by rules; `trusted` only limits it (for programs the user vouches for). Neither has a
process namespace: the guard adopts what the program leaves behind and ends it.
"""

from __future__ import annotations

import bisect
import errno
import os
import resource
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from . import guard, landlock, linux, seccomp
from .files import remove_tree
from .guard import Left, SetupError, Streams
from .place import Place, furnish
from .processes import Used, await_program, descendants, end_descendants, process_status
from .request import Request, Room

# Outside the range of people and of services; one of 5,000, so that the process limit is a program's own.
_FIRST_ID, _IDS = 60000, 5000
_MOST_TASKS = 1 << 16
SYSTEM_READABLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/fonts",
    "/etc/alternatives",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
)


class _Ended(Exception):
    """SIGTERM: the keeper wants everything ended, and no report."""


def hold(request: Request, source: bytes, streams: Streams, base: Path) -> None:
    """In the guard: runs the program below the empty folder ``base`` and reports. Raises SetupError, OSError."""
    signal.signal(signal.SIGTERM, _end)
    linux.die_with_parent(signal.SIGTERM)
    linux.adopt_orphans()
    linux.hide_memory()
    try:
        _run(request, source, streams, base)
    except _Ended:
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_descendants()


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _run(request: Request, source: bytes, streams: Streams, base: Path) -> None:
    place = _place_below(base, request.inside)
    owner = _program_id(request)
    _make_folders(place, owner)
    base.chmod(0o711)
    furnish(place, source, request.font_list)
    work, drawn = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (place.work, place.drawn))
    processes = request.processes + _tasks_of(owner)
    program = guard.start_program(request, place, streams, lambda: _confine(request, place, owner, processes))
    status = await_program(program)
    end_descendants()
    guard.report_files(request, streams, status, work, drawn)


def _place_below(base: Path, inside: str) -> Place:
    return Place(
        work=str(base / "work"),
        temporary=str(base / "tmp"),
        config=str(base / "config"),
        drawn=str(base / "drawn"),
        inside=inside,
    )


def _make_folders(place: Place, owner: int) -> None:
    for folder in _own_folders(place):
        Path(folder).mkdir(mode=0o700)
        os.chown(folder, owner, owner if owner != os.geteuid() else -1)


def _own_folders(place: Place) -> tuple[str, ...]:
    return place.work, place.temporary, place.config, place.drawn


def prepare_server(room: Room) -> Place:
    """In the launcher: the folders of a fork server, in which its programs stand later, one at a time."""
    base = Path(room.scratch)
    place = _place_below(base, room.inside)
    _make_folders(place, os.geteuid())
    base.chmod(0o711)
    return place


class ServerWalls:
    """Around the program of a fork server: rules on paths, and folders that are made anew for each."""

    def __init__(self, room: Room, before_fork: Callable[[], None]) -> None:
        self.place = _place_below(Path(room.scratch), room.inside)
        self._before_fork = before_fork
        self._base = Path(room.scratch)
        self._fonts = room.font_list
        os.chdir(self._base)
        linux.adopt_orphans()

    def begin(self, request: Request, source: bytes, streams: Streams) -> _Held | None:
        """None in the process of the program."""
        self._before_fork()
        guard_pid = os.fork()
        if guard_pid:
            return _Held(guard_pid)
        try:
            if self._hold(request, source, streams) is None:
                return None
        except (SetupError, OSError) as error:
            guard.report_setup_error(streams, str(error))
        except BaseException:  # noqa: BLE001 - a copy of the server must not run on as a second one
            traceback.print_exc()
        os._exit(0)

    def clear(self) -> None:
        """In the server, after the guard's end: what it could not end any more, and the folders."""
        end_descendants()
        for folder in _own_folders(self.place):
            remove_tree(Path(folder))

    def _hold(self, request: Request, source: bytes, streams: Streams) -> int | None:
        """In the guard, which ends everything below it when it is told to or the server dies. None in the program."""
        signal.signal(signal.SIGTERM, _end_all)
        linux.die_with_parent(signal.SIGTERM)
        linux.adopt_orphans()
        owner = _program_id(request)
        processes = request.processes + _tasks_of(owner)
        _make_folders(self.place, owner)
        furnish(self.place, source, self._fonts)
        work, drawn = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (self.place.work, self.place.drawn))

        def confine() -> None:
            _confine(request, self.place, owner, processes)
            linux.show_memory()

        program = guard.fork_program(request, self.place, streams, confine)
        if program == 0:
            return None
        status = await_program(program)
        end_descendants()
        guard.report_files(request, streams, status, work, drawn)
        return status


class _Held:
    """A program of a fork server, below its guard."""

    program_end: int | None = None  # the guard sees it, and reports all
    all_end: int | None = None
    used = Used()

    def __init__(self, guard_pid: int) -> None:
        self._guard = guard_pid

    def program_ended(self) -> None:
        """The guard has seen it."""

    def processes(self) -> set[int]:
        return {self._guard, *descendants(self._guard)}

    def end(self) -> None:
        os.kill(self._guard, signal.SIGTERM)

    def kill(self) -> None:
        os.kill(self._guard, signal.SIGKILL)

    def left(self, *, wanted: bool) -> Left | None:
        """The guard has reported it."""
        os.waitpid(self._guard, 0)
        return None


def _end_all(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_descendants()
    os._exit(0)


def _program_id(request: Request) -> int:
    """Root gives the program an id of its own; an ordinary user has only theirs."""
    if request.tier == "landlock" and os.geteuid() == 0:
        return _FIRST_ID + os.getpid() % _IDS
    return os.geteuid()


def _tasks_of(user: int) -> int:
    """Threads this user runs now: the kernel's process limit counts them all."""
    return _tasks_counted() if user == os.geteuid() != 0 else _tasks_seen(user)


def _tasks_counted() -> int:
    """Of this process's user, who is not root. /proc would show too many: also those who are this user only for who
    looks from outside of their user namespace. So the kernel is asked whether there may be one more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = _MOST_TASKS if hard == resource.RLIM_INFINITY else min(hard, _MOST_TASKS)
    try:
        return bisect.bisect_left(range(most), True, key=lambda count: _may_be_one_more(count + 1, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def _may_be_one_more(limit: int, hard: int) -> bool:
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
    try:
        os.posix_spawn("/", ["/"], {})  # shares this process's memory, and ends when it cannot be executed
    except OSError as error:
        return error.errno != errno.EAGAIN
    return True


def _tasks_seen(user: int) -> int:
    total = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (status := process_status(int(entry.name))):
            try:
                total += status.threads if entry.stat().st_uid == user else 0
            except FileNotFoundError:
                continue
    return total


def _confine(request: Request, place: Place, owner: int, processes: int) -> None:
    linux.die_with_parent(signal.SIGKILL)
    if request.tier == "trusted":
        guard.limit_processes(processes)
        return
    reads_closed_folders = False
    if owner != os.geteuid():
        reads_closed_folders = any(_is_closed(Path(path)) for path in (*request.readable, request.inside, place.work))
        _become(owner, keep_reading=reads_closed_folders)
    guard.limit_processes(processes)
    linux.keep_capabilities(*([linux.CAP_DAC_READ_SEARCH] if reads_closed_folders else []))
    linux.die_with_parent(signal.SIGKILL)
    linux.no_new_privileges()
    readable = (*SYSTEM_READABLE, *request.readable, request.inside)
    landlock.restrict(readable, (place.work, place.temporary, place.config, place.drawn), ("/dev/null", "/dev/full"))
    signals_stay_inside = landlock.abi() >= landlock.SIGNAL_ABI
    seccomp.refuse_system_calls(landlock_tier=True, signals_stay_inside=signals_stay_inside)


def _is_closed(path: Path) -> bool:
    """An interpreter below /root: nobody but root may pass. Landlock still decides what may be read."""
    return any(folder.exists() and not folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def _become(user: int, *, keep_reading: bool) -> None:
    if keep_reading:
        linux.keep_capabilities_over_user_change()
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
