"""Tier `namespaces`: user, mount, process, network, ipc and host name namespaces around one program.

The same code for root and for an ordinary user. The guard unshares, builds a root that holds nothing but what a
chart program needs, and forks the namespace's first process, which forks the program. When the first process
ends, the kernel ends all others in its process namespace.

Root maps itself into the user namespace to build the walls, and the program to an unprivileged id; an ordinary
user has one id to map, the program's.
"""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import NoReturn

from . import guard, linux, seccomp
from .files import MAX_FILES
from .forks import Forks, Order
from .guard import Left, SetupError, Streams
from .interpreter import Start, may_choose_its_exit_code
from .place import Place, furnish
from .places import Places, Standing
from .processes import KIB_PER_MIB, Used, await_program, descendants, has_children, reap_all, used_by
from .request import Request, Room

_NAMESPACES = (
    linux.CLONE_NEWUSER
    | linux.CLONE_NEWNS
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUTS
)
SANDBOX_ID = 60000  # the program's user and group inside
_OUTSIDE_ID_OF_ROOT = 65534  # what that is outside, where root starts it: nobody
_SMALL_BYTES = 16 << 20
_HOME = "/program"
PLACE = Place(
    work=f"{_HOME}/work",
    temporary="/tmp",  # noqa: S108 - the program's own
    config=f"{_HOME}/config",
    drawn=f"{_HOME}/drawn",
    inside=f"{_HOME}/hook",
)
_FONTS = f"{_HOME}/fonts"
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_ETC_FILES = ("ld.so.cache", "localtime", "mime.types")
_ETC_FOLDERS = ("fonts", "alternatives")


def hold(request: Request, source: bytes, streams: Streams, _base: Path) -> None:
    """In the guard: runs the program and reports. Raises SetupError, OSError."""
    _unshare()
    linux.die_with_parent(signal.SIGKILL)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    _build_root(request)
    first = os.fork()
    if first == 0:
        _run_as_first_process(request, source, streams)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(first, signal.SIGKILL))
    os.waitpid(first, 0)


def prepare_server(room: Room) -> Place:
    """In the launcher: namespaces and root of a fork server. Raises SetupError, OSError."""
    _unshare()
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    _build_root(room)
    return PLACE


def enter_server(room: Room) -> None:
    """In the server's process, the first of its namespace, before its interpreter starts.

    From here on it is as powerless as a program, except that it can make namespaces for its programs.
    """
    _enter_root(room.scratch)
    if os.geteuid() == 0:
        linux.keep_capabilities_over_user_change()
        os.setgroups([])
        os.setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
        os.setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
    linux.keep_capabilities(linux.CAP_SYS_ADMIN, linux.CAP_SYS_CHROOT)  # to make and to enter namespaces
    linux.die_with_parent(signal.SIGKILL)


class ServerWalls:
    """Around each program of a fork server: namespaces of its own, below those of the server.

    They are furnished by the server; the program is a fork of the large process, which enters them. Their first process
    only waits (places.py).
    """

    def __init__(self, room: Room, forks: Forks, *, is_rehearsal: bool = False) -> None:
        self._room = room
        self._is_rehearsal = is_rehearsal
        scratch = [f"{folder}/" for folder, _ in _scratch_folders(room.work_bytes)]
        # A virtual environment below /tmp, say: the program's own /tmp would hide it.
        self._hidden = [place for place in _shown(room) if f"{place}/".startswith(tuple(scratch))]
        self._forks = forks
        self._places = Places(self._furnish)

    def begin(self, request: Request, source: bytes, streams: Streams) -> _Held:
        """Raises SetupError, and OSError where the large process has ended."""
        try:
            standing = self._places.make(request.work_bytes, source)
        except OSError as error:
            raise SetupError(str(error)) from error
        start = Start(request.output_name, may_choose_its_exit_code(source), self._is_rehearsal)
        content = (tuple(request._replace(readable=())), tuple(start))
        descriptors = [*standing.namespaces, standing.network, *streams]
        program = self._forks.start(content, standing.processes, descriptors)
        standing.close_ways_in()
        return _Held(request, standing, program, self._forks, self._places)

    def clear(self) -> None:
        """The folders went with the namespace."""

    def _furnish(self, work_bytes: int, source: bytes) -> tuple[int, ...]:
        """Fresh folders over those of the server. Returns where the output and what is drawn come."""
        hidden = [(place, os.open(place, os.O_PATH)) for place in self._hidden]
        for folder, size in _scratch_folders(work_bytes):
            _mount_scratch(folder, size)
        for place, descriptor in hidden:
            _bind_read_only(f"/proc/self/fd/{descriptor}", place)
            os.close(descriptor)
        fonts = self._room.font_list
        furnish(PLACE, source, font_list_inside(fonts) if fonts else None)
        return _open_folders()


class ProgramWalls:
    """The same from inside: what a fork of the large process does before it is a program."""

    def __init__(self) -> None:
        self._filter = seccomp.system_call_filter(landlock_tier=False)

    def raise_around(self, order: Order) -> Start:
        """Ends the process where they cannot be raised, and says why."""
        *namespaces, out, err, result = order.descriptors
        streams = Streams(out, err, result)
        try:
            request, start = order.content()
            for descriptor in namespaces:
                linux.enter(descriptor)
            _mount_proc("/proc")
            self._become_program(Request._make(request), streams)
            return Start._make(start)
        except BaseException as error:  # noqa: BLE001 - a copy of the large process must not run on as a second one
            guard.report_setup_error(streams, f"{type(error).__name__}: {error}")
            os._exit(1)

    def _become_program(self, request: Request, streams: Streams) -> None:
        guard.become_forked_program(request, PLACE, streams, lambda: self._confine(request), streams.result)

    def _confine(self, request: Request) -> None:
        """A user namespace of its own, so that the process limit counts the program's own processes alone."""
        linux.show_memory()
        linux.unshare(linux.CLONE_NEWUSER)
        _map_own_id()
        guard.limit_processes(request.processes)
        linux.keep_capabilities()
        linux.no_new_privileges()
        self._filter.install()


class _Held:
    """A program of a fork server, where it stands."""

    def __init__(self, request: Request, standing: Standing, program: int, forks: Forks, places: Places) -> None:
        self._request = request
        self._standing = standing
        self._program = program
        self._forks = forks
        self._places = places
        self._wait_status: int | None = None
        self.program_end: int | None = os.pidfd_open(program)
        self.all_end: int | None = standing.first_end
        self.used = Used()

    def processes(self) -> set[int]:
        return {self._program, *descendants(self._program), *descendants(self._standing.first)}

    def program_ended(self) -> None:
        """What it left behind has come to the first process, and ends with it."""
        ended = self._forks.reap(self._program)
        self._wait_status = ended.wait_status
        left = Used()
        if has_children(self._standing.first):
            left = used_by(descendants(self._standing.first))
        self.used = Used(ended.cpu_s + left.cpu_s, max(ended.max_rss_kib / KIB_PER_MIB, left.max_rss_mb))
        self.end()

    def end(self) -> None:
        self._standing.end()

    kill = end

    def left(self, *, wanted: bool) -> Left | None:
        self._standing.await_end()
        self._places.leave(self._standing)
        work, drawn = self._standing.folders
        try:
            if not wanted or self._wait_status is None:
                return None
            return guard.files_left(self._request, self._wait_status, work, drawn)
        finally:
            os.close(work)
            os.close(drawn)


def _map_own_id() -> None:
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{SANDBOX_ID} {SANDBOX_ID} 1"),
        ("gid_map", f"{SANDBOX_ID} {SANDBOX_ID} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, line.encode())
        os.close(file)


def _unshare() -> None:
    """Into new namespaces, with ids mapped by a helper that stays outside (root's two ids need that)."""
    unshared_end, unshared = os.pipe()
    guard_pid = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(unshared)
        _map_ids_and_exit(guard_pid, unshared_end)
    os.close(unshared_end)
    try:
        linux.unshare(_NAMESPACES)
        os.write(unshared, b"u")
    finally:
        os.close(unshared)
        _, status = os.waitpid(helper, 0)
    if status != 0:
        raise SetupError(f"cannot map the ids of the sandbox: {os.strerror(os.waitstatus_to_exitcode(status))}")


def _map_ids_and_exit(pid: int, unshared_end: int) -> NoReturn:
    try:
        if os.read(unshared_end, 1):
            _write_maps(pid)
        os._exit(0)
    except OSError as error:
        os._exit(error.errno or errno.EPERM)
    finally:
        os._exit(errno.EPERM)


def _write_maps(pid: int) -> None:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        maps = dict.fromkeys(("uid_map", "gid_map"), f"0 0 1\n{SANDBOX_ID} {_OUTSIDE_ID_OF_ROOT} 1\n")
    else:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
        maps = {"uid_map": f"{SANDBOX_ID} {user} 1", "gid_map": f"{SANDBOX_ID} {group} 1"}
    for name, lines in maps.items():
        Path(f"/proc/{pid}/{name}").write_text(lines)


def _run_as_first_process(request: Request, source: bytes, streams: Streams) -> NoReturn:
    """Process 1 of the namespace: the program is its child, so signals and abort() behave as usual there."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        linux.die_with_parent(signal.SIGKILL)
        linux.hide_memory()
        _enter_root(request.scratch)
        furnish(PLACE, source, request.font_list and font_list_inside(request.font_list))
        work, drawn = _open_folders()
        program = guard.start_program(request, PLACE, streams, lambda: _confine(request))
        status = await_program(program)
        _end_all_others()
        guard.report_files(request, streams, status, work, drawn)
    except (SetupError, OSError) as error:
        guard.report_setup_error(streams, str(error))
    finally:
        os._exit(0)


def font_list_inside(path: str) -> str:
    return f"{_FONTS}/{Path(path).name}"


def _end_all_others() -> None:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return
    reap_all()


def _confine(request: Request) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
        os.setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
    guard.limit_processes(request.processes)
    linux.keep_capabilities()
    linux.no_new_privileges()
    seccomp.refuse_system_calls(landlock_tier=False)


def _scratch_folders(work_bytes: int) -> tuple[tuple[str, int], ...]:
    return (
        (PLACE.work, work_bytes),
        (PLACE.temporary, work_bytes),
        (PLACE.config, _SMALL_BYTES),
        (PLACE.drawn, _SMALL_BYTES),
        ("/dev/shm", work_bytes),  # noqa: S108
    )


def _build_root(request: Request | Room) -> None:
    root = request.scratch
    linux.mount("root", root, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=4m,mode=755")
    for folder, size in _scratch_folders(request.work_bytes):
        Path(root + folder).mkdir(parents=True)
        _mount_scratch(root + folder, size)
        os.chown(root + folder, SANDBOX_ID, SANDBOX_ID)
    _bind_read_only("/usr", root + "/usr")
    for path in _SYSTEM_FOLDERS:
        _mirror(path, root)
    for place in _shown(request):
        _bind_read_only(place, root + place)
    _bind_read_only(request.inside, root + PLACE.inside)
    if request.font_list:
        _bind_read_only(str(Path(request.font_list).parent), root + _FONTS)
    _furnish_etc(Path(root, "etc"))
    _furnish_dev(Path(root, "dev"))
    Path(root, "proc").mkdir()
    Path(root, "old").mkdir()


def _open_folders() -> tuple[int, ...]:
    """Where the program leaves its output, and where what it draws is noted."""
    return tuple(os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (PLACE.work, PLACE.drawn))


def _mount_proc(target: str) -> None:
    """Of the process namespace that this process is in."""
    linux.mount("proc", target, "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)


def _mount_scratch(path: str, size: int) -> None:
    options = f"size={size},nr_inodes={MAX_FILES},mode=700"
    linux.mount("scratch", path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)


def _bind_read_only(source: str, target: str) -> None:
    if Path(source).is_dir():
        Path(target).mkdir(parents=True, exist_ok=True)
    else:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).touch()
    linux.bind(source, target)
    linux.make_read_only(target)


def _mirror(path: str, root: str) -> None:
    """/lib and its like: links into /usr on today's systems, folders on others."""
    if Path(path).is_symlink():
        Path(root + path).symlink_to(Path(path).readlink())
    elif Path(path).is_dir():
        _bind_read_only(path, root + path)


def _shown(request: Request | Room) -> list[str]:
    """What may be read, each at its own place, and where it leads to if that is elsewhere."""
    places = {place for path in request.readable for place in (path, str(Path(path).resolve()))}
    return [place for place in sorted(places) if Path(place).exists() and not f"{place}/".startswith("/usr/")]


def _furnish_etc(etc: Path) -> None:
    etc.mkdir()
    for name in _ETC_FILES:
        if Path("/etc", name).is_file():
            (etc / name).write_bytes(Path("/etc", name).read_bytes())
    for name in _ETC_FOLDERS:
        if Path("/etc", name).is_dir():
            _bind_read_only(f"/etc/{name}", str(etc / name))
    (etc / "passwd").write_text(f"program:x:{SANDBOX_ID}:{SANDBOX_ID}::{PLACE.work}:/bin/false\n")
    (etc / "group").write_text(f"program:x:{SANDBOX_ID}:\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n")


def _furnish_dev(dev: Path) -> None:
    for name in _DEVICES:
        (dev / name).touch()
        linux.bind(f"/dev/{name}", str(dev / name))
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (dev / name).symlink_to(f"/proc/self/fd{target}")


def _enter_root(root: str) -> None:
    _mount_proc(root + "/proc")
    linux.pivot_root(root, root + "/old")
    os.chdir("/")
    linux.unmount("/old")
    Path("/old").rmdir()
    linux.mount(
        "none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV
    )
