"""Fork servers, one for each set of libraries that programs import: started when needed, kept, retired.

A server that is in use is never ended for another one. Where a server dies under a program, the program is run once
more in a new one.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution.sandbox.keeper.request import (
    LENGTHS,
    SETUP_FAILED,
    Report,
    Request,
    Room,
    pack_request,
    pack_room,
    unpack,
    unpack_report,
)

# The launcher is started by path and alone: it must hold no secret and start in milliseconds.
_START_LAUNCHER = "import sys; sys.path.insert(0, sys.argv[1]); from keeper.launcher import main; main()"
_START_S = 120.0
_GRACE_S = 30.0
_END_S = 10.0
_READ_BYTES = 1 << 20


class ServerDied(Exception):
    """The server's end of a channel is closed, or says nothing any more."""


class SetupFailed(Exception):
    """The server could not be started; its text says why."""


class ForkServer:
    """One server: its process and the channels to it that are free."""

    def __init__(self, code: Path, room: Room, channels: int) -> None:
        """Starts it; ``wait_until_ready`` comes next. ``code`` is the folder that holds the keeper package."""
        self.room = room
        self.programs = 0
        self.memory_mb = 0.0
        self.in_use = 0
        self.retired = False
        pairs = [socket.socketpair() for _ in range(channels)]
        self._all = [ours for ours, _ in pairs]
        self.free = list(self._all)
        theirs = [end.fileno() for _, end in pairs]
        arguments = [str(code), pack_room(room).decode(), ",".join(map(str, theirs))]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START_LAUNCHER, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,  # nothing is written: the programs' stdout is to be made for a pipe
            stderr=subprocess.PIPE,
            env={},
            start_new_session=True,
            pass_fds=theirs,
        )
        for _, end in pairs:
            end.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Raises SetupFailed, ServerDied."""
        self._all[0].settimeout(_START_S)
        header, _ = unpack(_read_message(self._all[0]))
        if header.get("ended") == SETUP_FAILED:
            raise SetupFailed(header["error"])
        self.memory_mb = header["memory_mb"]

    def run(self, channel: socket.socket, request: Request, source: bytes) -> Report:
        """Blocks until the program and all it started have ended. Raises ServerDied."""
        channel.settimeout(request.wall_s + _GRACE_S)
        try:
            channel.sendall(pack_request(request, source))
            return unpack_report(_read_message(channel))
        except (OSError, ValueError) as error:
            raise ServerDied(str(error)) from error

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def complaint(self) -> str:
        """The last line that it wrote to stderr."""
        assert self._process.stderr is not None
        try:
            if not select.select([self._process.stderr], [], [], 0)[0]:
                return ""
            written = os.read(self._process.stderr.fileno(), _READ_BYTES)
        except (OSError, ValueError):  # another thread has ended it meanwhile
            return ""
        lines = written.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def end(self) -> None:
        """With all its programs. Returns when they are gone."""
        for channel in self._all:
            with suppress(OSError):  # wakes who waits for an answer; where the server has ended, it is woken already
                channel.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(OSError):  # the place that it was mounted on, where the launcher did not remove it
            Path(self.room.scratch, f"server-{self.pid}").rmdir()
        for end in (*self._all, self._process.stdout, self._process.stderr):
            if end is not None:
                end.close()


def _read_message(channel: socket.socket) -> bytes:
    """Header and payload with their lengths (request.py). Raises ServerDied."""
    try:
        lengths = _read(channel, LENGTHS.size)
        return lengths + _read(channel, sum(LENGTHS.unpack(lengths)))
    except OSError as error:
        raise ServerDied(str(error)) from error


def _read(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = channel.recv(min(_READ_BYTES, size - len(data)))
        if not chunk:
            raise ServerDied("it closed the channel")
        data += chunk
    return bytes(data)


class ForkServers:
    """The servers of one runner. Safe for several threads.

    memory_mb   what servers that wait may take together; those used longest ago go first
    programs    after so many programs a server makes way for a new one
    """

    def __init__(self, code: Path, *, workers: int, memory_mb: float, programs: int) -> None:
        self._code = code
        self._workers = workers
        self._memory_mb = memory_mb
        self._programs = programs
        self._changed = threading.Condition()
        self._servers: list[ForkServer] = []  # the one used last stands last
        self._starting: set[Room] = set()
        self._closed = False

    def run(self, room: Room, request: Request, source: bytes) -> Report:
        """Blocks until the program and all it started have ended.

        Raises InfrastructureError where its server died twice, or ``close`` ended it.
        """
        try:
            return self._run_once(room, request, source)
        except ServerDied:
            self._raise_if_closed()
        try:
            return self._run_once(room, request, source)
        except ServerDied as error:
            self._raise_if_closed()
            raise InfrastructureError(
                f"The process that holds generated programs died twice under one: {error}.",
                remedy="Run the step again; if it comes back, look for the kernel's memory killer in the system log.",
            ) from error

    def pids(self) -> set[int]:
        """The launchers of the servers that there are."""
        with self._changed:
            return {server.pid for server in self._servers}

    def close(self) -> None:
        """Ends all servers with all programs that run; their ``run`` raises."""
        with self._changed:
            self._closed = True
            servers, self._servers = self._servers, []
            self._changed.notify_all()
        for server in servers:
            server.end()

    def _raise_if_closed(self) -> None:
        if self._closed:
            raise InfrastructureError("The program runner is closed.")

    def _run_once(self, room: Room, request: Request, source: bytes) -> Report:
        try:
            with self._channel(room) as (server, channel):
                return server.run(channel, request, source)
        except SetupFailed as error:
            return Report(ended=SETUP_FAILED, error=str(error))

    @contextmanager
    def _channel(self, room: Room) -> Iterator[tuple[ForkServer, socket.socket]]:
        server, channel = self._take(room)
        try:
            yield server, channel
        except ServerDied as error:
            complaint = server.complaint()
            with self._changed:
                server.retired = True
            raise ServerDied(complaint or str(error)) from error
        finally:
            self._give_back(server, channel)

    def _take(self, room: Room) -> tuple[ForkServer, socket.socket]:
        with self._changed:
            while True:
                self._raise_if_closed()
                for server in reversed(self._servers):
                    if server.room == room and server.free and not server.retired:
                        return server, self._lease(server)
                if room not in self._starting:
                    self._starting.add(room)
                    break
                self._changed.wait()
        try:
            server = self._start(room)
        finally:
            with self._changed:
                self._starting.discard(room)
                self._changed.notify_all()
        with self._changed:
            if self._closed:
                server.end()
                self._raise_if_closed()
            self._servers.append(server)
            channel = self._lease(server)
        self._make_room()
        return server, channel

    def _lease(self, server: ForkServer) -> socket.socket:
        self._servers.remove(server)
        self._servers.append(server)
        server.in_use += 1
        server.programs += 1
        server.retired = server.programs >= self._programs
        return server.free.pop()

    def _start(self, room: Room) -> ForkServer:
        server = ForkServer(self._code, room, self._workers if room.tier == "namespaces" else 1)
        try:
            server.wait_until_ready()
        except (SetupFailed, ServerDied) as error:
            complaint = server.complaint()
            server.end()
            if isinstance(error, SetupFailed):
                raise
            raise ServerDied(complaint or str(error)) from error
        return server

    def _give_back(self, server: ForkServer, channel: socket.socket) -> None:
        with self._changed:
            server.free.append(channel)
            server.in_use -= 1
            self._changed.notify_all()
        self._make_room()

    def _make_room(self) -> None:
        """Ends servers that are retired, or too large together, and not in use."""
        with self._changed:
            idle = [server for server in self._servers if not server.in_use]
            leaving = [server for server in idle if server.retired]
            total = sum(server.memory_mb for server in self._servers if server not in leaving)
            for server in idle:
                if total > self._memory_mb and server not in leaving:
                    leaving.append(server)
                    total -= server.memory_mb
            self._servers = [server for server in self._servers if server not in leaving]
        for server in leaving:
            server.end()
