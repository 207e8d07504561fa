"""The fork server: an interpreter that has imported a program's libraries, and what has it fork for each program.

It runs inside the import of sitecustomize. In the process of a program ``serve`` returns: the interpreter then goes
on to its script as any other does, so that the program's traceback, its `__main__` and its way out are the real ones.

A channel is a socket: requests go in, reports come out (request.py), one program at a time. Programs of different
channels run side by side. When the other end of a channel closes, the one who asked is gone and the server ends;
what it forked ends with it (its process namespace, or the launcher, which adopts all that is left).

In the tier `namespaces` the server is a small process beside the interpreter, which does nothing but fork (forks.py).
Elsewhere it is the interpreter itself.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn, Protocol

from . import folders, forks, linux, namespaces
from .files import is_larger, unlinked_bytes, write_all
from .guard import Left, SetupError, Streams
from .interpreter import Interpreter, Start, may_choose_its_exit_code
from .place import Place, furnish_fonts
from .processes import Used, memory_of, own_memory_mb, used_by
from .request import SETUP_FAILED, Report, Request, Room, pack, pack_report, read_request, unpack, unpack_room
from .streams import ExactReader, Stream
from .warmup import REHEARSAL

_READ_BYTES = 1 << 16
_TICK_S = 0.25
_GUARD_GRACE_S = 5.0
_REHEARSAL_CHANNEL = -1


def serve(start: int, known: frozenset[str]) -> Interpreter:
    """Returns in the process of a program, never in the server's own.

    ``start`` is a descriptor to read the room from, ``known`` what sys.modules held before this package came.
    """
    try:
        header, room = _read_start(start)
        linux.hide_memory()
        linux.die_with_parent(signal.SIGKILL)
        serve_here = _serve_with_namespaces if room.tier == "namespaces" else _serve_with_folders
        return serve_here(room, header["channels"], known)
    except BaseException:  # noqa: BLE001 - nothing may go on from here as the script of an interpreter without walls
        traceback.print_exc()
        os._exit(1)


def _serve_with_namespaces(room: Room, channels: list[int], known: frozenset[str]) -> Interpreter:
    _furnish(room, namespaces.PLACE)
    servers_end, orders = forks.channel()
    if os.fork() == 0:
        orders.close()
        _be_server(room, channels, forks.Forks(servers_end))
    for channel in (servers_end.detach(), *channels):
        os.close(channel)
    interpreter = _import_libraries(room, Interpreter(known))
    walls = namespaces.ProgramWalls()
    interpreter.begin(walls.raise_around(forks.serve(orders, interpreter.prepare)))
    return interpreter


def _be_server(room: Room, channels: list[int], large_process: forks.Forks) -> NoReturn:
    try:
        linux.die_with_parent(signal.SIGKILL)
        gc.freeze()
        pages_written = _Server(room, namespaces.ServerWalls(room, large_process, is_rehearsal=True), []).rehearse()
        memory_mb = large_process.copy_at_start(pages_written)
        _Server(room, namespaces.ServerWalls(room, large_process), channels).run(memory_mb)
    except BaseException:  # noqa: BLE001 - it must not run on as a second interpreter
        traceback.print_exc()
    finally:
        os._exit(1)


def _serve_with_folders(room: Room, channels: list[int], known: frozenset[str]) -> Interpreter:
    interpreter = Interpreter(known)
    walls = folders.ServerWalls(room, interpreter.prepare)
    _furnish(room, walls.place)
    _import_libraries(room, interpreter)
    walls.clear()
    interpreter.begin(_Server(room, walls, channels).run(own_memory_mb()))
    return interpreter


def _import_libraries(room: Room, interpreter: Interpreter) -> Interpreter:
    interpreter.import_libraries(room.imports)
    linux.join_mappings()
    linux.use_large_pages()
    return interpreter


def _read_start(start: int) -> tuple[dict[str, list[int]], Room]:
    with open(start, "rb") as stream:
        header, payload = unpack(stream.read())
    return header, unpack_room(payload)


def _furnish(room: Room, place: Place) -> None:
    """matplotlib reads its font list when it is imported."""
    if room.font_list:
        furnish_fonts(place, _font_list(room.font_list, room.tier))


def _font_list(path: str, tier: str) -> str:
    return namespaces.font_list_inside(path) if tier == "namespaces" else path


def _rehearsal_request(room: Room) -> Request:
    shared = {name: value for name, value in room._asdict().items() if name in Request._fields}
    return Request(
        **shared,
        output_name="output",
        wall_s=30.0,
        memory_bytes=4 << 30,
        output_bytes=room.work_bytes,
        processes=32,
        open_files=256,
        stream_bytes=room.work_bytes,
        drawn_bytes=room.work_bytes,
    )


class _Held(Protocol):
    """A program's processes, as its walls hold them.

    program_end   a descriptor that can be read when the program has ended; None where the server need not know
    all_end       one that can be read when all it started have ended too; None: then the pipe of results ends
    used          what of it no report says
    left          returns when all processes are gone; None where it is not wanted, or the pipe of results said it
    """

    @property
    def program_end(self) -> int | None: ...
    @property
    def all_end(self) -> int | None: ...
    @property
    def used(self) -> Used: ...
    def program_ended(self) -> None: ...
    def processes(self) -> set[int]: ...
    def end(self) -> None: ...
    def kill(self) -> None: ...
    def left(self, *, wanted: bool) -> Left | None: ...


class _Walls(Protocol):
    """``begin`` starts a program, and returns None in its process. ``clear`` removes what it left."""

    def begin(self, request: Request, source: bytes, streams: Streams) -> _Held | None: ...
    def clear(self) -> None: ...


class _Running:
    """A program, as the server sees it."""

    def __init__(self, request: Request, channel: int, held: _Held, ends: Streams) -> None:
        self.request = request
        self.channel = channel
        self.held = held
        self.program_end = held.program_end
        self.all_end = held.all_end
        self.result_end = ends.result
        self.streams = {ends.out: Stream(ends.out), ends.err: Stream(ends.err)}
        self.start = time.monotonic()
        self.deadline = self.start + request.wall_s
        self.kill_at = float("inf")
        self.next_look = self.start + _TICK_S
        self.ended = "exit"
        self.result = bytearray()
        self.used = Used()

    def descriptors(self) -> list[int]:
        ends = [*self.streams, self.result_end, self.program_end, self.all_end]
        return [descriptor for descriptor in ends if descriptor is not None]

    def report(self, wall_s: float, left: Left | None) -> Report:
        out, err = self.streams.values()
        seen: dict[str, Any] = {"wall_s": wall_s, "stdout_tail": out.text(), "stderr_tail": err.text()}
        if self.result:
            left = Left(*unpack(bytes(self.result)))
        if self.ended != "exit" or left is None:
            ended = self.ended if self.ended != "exit" else "lost"
            return Report(ended=ended, cpu_s=self.used.cpu_s, max_rss_mb=self.used.max_rss_mb, **seen)
        report = Report(**{"ended": "exit", **left.header, **seen, "payload": left.payload})
        used = self.held.used
        return report._replace(cpu_s=report.cpu_s + used.cpu_s, max_rss_mb=max(report.max_rss_mb, used.max_rss_mb))


def _rest_of(pipe: int) -> bytes:
    """Of a pipe that nobody writes to any more."""
    rest = bytearray()
    while chunk := os.read(pipe, _READ_BYTES):
        rest += chunk
    return bytes(rest)


class _Server:
    def __init__(self, room: Room, walls: _Walls, channels: list[int]) -> None:
        self._room = room
        self._walls = walls
        self._channels = channels
        self._running: dict[int, _Running] = {}  # by the descriptors of its pipes
        self._poll = select.poll()
        self._rehearsed = b""

    def rehearse(self) -> bytes:
        """Runs a program of ours. Returns what it left: which pages of memory programs write to."""
        self._start(_rehearsal_request(self._room), REHEARSAL, _REHEARSAL_CHANNEL)
        while self._running:
            self._turn()
        return self._rehearsed

    def run(self, memory_mb: float) -> Start:
        """Says that it is ready, and what it takes. Returns in the process of a program only."""
        write_all(self._channels[0], pack({"memory_mb": memory_mb}, b""))
        for channel in self._channels:
            self._poll.register(channel, select.POLLIN)
        while not (start := self._turn()):
            pass
        return start

    def _turn(self) -> Start | None:
        """None but in the process of a program."""
        for descriptor, _ in self._poll.poll(self._patience_ms()):
            if descriptor in self._channels:
                if start := self._take(descriptor):
                    return start
            elif running := self._running.get(descriptor):
                self._read(running, descriptor)
        for running in self._programs():
            self._check_budgets(running)
        return None

    def _programs(self) -> list[_Running]:
        return [running for descriptor, running in self._running.items() if descriptor == running.result_end]

    def _patience_ms(self) -> int | None:
        programs = self._programs()
        if not programs:
            return None
        next_event = min(min(running.deadline, running.kill_at) for running in programs) - time.monotonic()
        return max(1, int(1000 * min(_TICK_S, next_event)))

    def _take(self, channel: int) -> Start | None:
        """Starts the program that the channel asks for. None but in its process."""
        if any(running.channel == channel for running in self._programs()):
            self._end_server()  # nothing is asked while a program runs: the other end has closed
        try:
            request, source = read_request(ExactReader(channel))
        except EOFError:
            self._end_server()
        return self._start(request, source, channel)

    def _start(self, request: Request, source: bytes, channel: int) -> Start | None:
        """None but in the program's process."""
        out, err, result = os.pipe(), os.pipe(), os.pipe()
        inner, outer = Streams(out[1], err[1], result[1]), Streams(out[0], err[0], result[0])
        try:
            held = self._walls.begin(request, source, inner)
        except SetupError as error:
            for descriptor in (*inner, *outer):
                os.close(descriptor)
            self._answer(channel, Report(ended=SETUP_FAILED, error=str(error)))
            return None
        if held is None:
            return Start(request.output_name, may_choose_its_exit_code(source))
        for descriptor in inner:
            os.close(descriptor)
        running = _Running(request, channel, held, outer)
        for descriptor in running.descriptors():
            self._running[descriptor] = running
            self._poll.register(descriptor, select.POLLIN)
        return None

    def _end_server(self) -> NoReturn:
        self._walls.clear()
        os._exit(0)

    def _read(self, running: _Running, descriptor: int) -> None:
        if descriptor == running.program_end:
            self._reap(running)
        elif descriptor == running.all_end:
            self._finish(running)
        elif descriptor != running.result_end:
            if not running.streams[descriptor].read():
                self._poll.unregister(descriptor)
        elif chunk := os.read(descriptor, _READ_BYTES):
            running.result += chunk
        elif running.all_end is None:
            self._finish(running)
        else:
            self._poll.unregister(descriptor)  # the program's process holds it until its walls stand

    def _reap(self, running: _Running) -> None:
        assert running.program_end is not None
        self._forget(running.program_end)
        running.program_end = None
        running.held.program_ended()

    def _finish(self, running: _Running) -> None:
        """The program has ended and all it started, or is being ended."""
        if running.program_end is not None:
            self._reap(running)
        left = running.held.left(wanted=running.ended == "exit")
        wall_s = time.monotonic() - running.start
        for stream in running.streams.values():
            stream.drain(running.request.stream_bytes)
        if running.all_end is not None:
            running.result += _rest_of(running.result_end)
        for descriptor in running.descriptors():
            self._forget(descriptor)
        self._walls.clear()
        self._answer(running.channel, running.report(wall_s, left))

    def _answer(self, channel: int, report: Report) -> None:
        if channel == _REHEARSAL_CHANNEL:
            self._rehearsed = report.output
            return
        try:
            write_all(channel, pack_report(report))
        except BrokenPipeError:
            self._end_server()

    def _forget(self, descriptor: int) -> None:
        del self._running[descriptor]
        with contextlib.suppress(KeyError):  # where its end was seen before
            self._poll.unregister(descriptor)
        os.close(descriptor)

    def _check_budgets(self, running: _Running) -> None:
        now = time.monotonic()
        if now > running.kill_at:
            running.held.kill()
        if running.ended != "exit":
            return
        if now > running.deadline:
            self._end(running, "timeout")
        elif max(stream.total for stream in running.streams.values()) > running.request.stream_bytes:
            self._end(running, "streams")
        elif now > running.next_look:
            running.next_look = now + _TICK_S
            self._look_at(running)

    def _look_at(self, running: _Running) -> None:
        processes, request = running.held.processes(), running.request
        if memory_of(processes, request.memory_bytes) > request.memory_bytes:
            self._end(running, "memory")
        elif self._room.tier != "namespaces" and (
            is_larger(base := Path(self._room.scratch), request.work_bytes)
            or unlinked_bytes(processes, base) > request.work_bytes
        ):
            self._end(running, "disk")

    def _end(self, running: _Running, reason: str) -> None:
        running.ended = reason
        running.deadline = float("inf")
        running.kill_at = time.monotonic() + _GUARD_GRACE_S
        running.used = used_by(running.held.processes())
        running.held.end()
