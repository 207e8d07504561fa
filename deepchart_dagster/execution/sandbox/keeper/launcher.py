"""The outer process of a fork server: raises the walls around it, starts its interpreter inside, watches it.

The server is an interpreter that was started as any program's is, in the place where a program stands; what makes
it a server is done by sitecustomize (server.py). Its programs are forks of it. This process stays outside: it ends
the server when the one who asked is gone, and clears up after it.

Started with the room as JSON and the numbers of its channels, which are sockets (server.py says what goes through).
"""

from __future__ import annotations

import os
import select
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from . import folders, linux, namespaces
from .files import remove_tree, write_all
from .guard import SetupError, heed_signals
from .place import PROGRAM_NAME, Place
from .processes import end_descendants
from .request import SETUP_FAILED, Room, pack, pack_room, unpack_room

SERVER_VARIABLE = "DEEPCHART_SERVER"
_FIRST_ARGUMENT = 2  # after the folder of the keeper's code


def main() -> None:
    os.umask(0o022)
    room = unpack_room(sys.argv[_FIRST_ARGUMENT].encode())
    channels = [int(number) for number in sys.argv[_FIRST_ARGUMENT + 1].split(",")]
    base = Path(room.scratch, f"server-{os.getpid()}")
    base.mkdir(mode=0o700)
    try:
        _hold(room._replace(scratch=str(base)), channels)
    finally:
        if room.tier != "namespaces":  # there it was a place to mount on, and is out of sight
            remove_tree(base)


class _Ended(Exception):
    """SIGTERM."""


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Ended


def _hold(room: Room, channels: list[int]) -> None:
    linux.adopt_orphans()
    signal.signal(signal.SIGTERM, _end)
    server = 0
    try:
        tier = namespaces if room.tier == "namespaces" else folders
        place = tier.prepare_server(room)
        linux.hide_memory()  # not before: an ordinary user could then not write the id maps
        server = os.fork()
        if server == 0:
            _become_server(room, place, channels)
        _watch(server, channels)
    except (SetupError, OSError) as error:
        _report_setup_error(channels, str(error))
    except _Ended:
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if server:
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)
        # A server's process namespace went with it, and this process sees the /proc of that one.
        if room.tier != "namespaces":
            end_descendants()


def _report_setup_error(channels: list[int], error: str) -> None:
    write_all(channels[0], pack({"ended": SETUP_FAILED, "error": error}, b""))


def _become_server(room: Room, place: Place, channels: list[int]) -> NoReturn:
    try:
        heed_signals()
        linux.die_with_parent(signal.SIGKILL)
        if room.tier == "namespaces":
            namespaces.enter_server(room)
        for channel in channels:
            os.set_inheritable(channel, True)
        started, start = os.pipe()
        os.set_inheritable(started, True)
        os.write(start, pack({"channels": channels}, pack_room(room)))
        os.close(start)
        os.chdir(place.work)
        arguments = [room.interpreter, PROGRAM_NAME, "output"]
        environment = place.environment() | {SERVER_VARIABLE: str(started)}
        os.execve(room.interpreter, arguments, environment)  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - whatever it is must reach the one who asked, and nothing may run on
        _report_setup_error(channels, f"{type(error).__name__}: {error}")
    finally:
        os._exit(126)


def _watch(server: int, channels: list[int]) -> None:
    """Until the server has ended, or the other end of a channel is closed."""
    ended = os.pidfd_open(server)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    for channel in channels:
        poll.register(channel, select.POLLRDHUP)
    poll.poll()
