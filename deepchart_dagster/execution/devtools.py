"""Chromium's DevTools protocol over a pipe: the browser's process, its messages, and sessions with what it shows.

Spoken here and not through a driver process: a driver starts at more cost than the browser, and every byte that a
page is served would go through it twice. The pipe belongs to this process, so the browser ends when this process does.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Handler = Callable[[str, Event], None]

_MAX_MESSAGE_BYTES = 128 << 20  # a page can make one as long as its longest string
_PIPE_BYTES = 1 << 20
_FIRST_OWN_FD = 10  # 3 and 4 are the browser's ends of the pipe
_STDERR_BYTES = 4000
_REAP_S = 3.0
_TALK = (b'{"method":"Runtime.consoleAPICalled"', b'{"method":"Runtime.exceptionThrown"')
_TAIL_BYTES = 80


class DevToolsError(Exception):
    """The browser refuses a command, or cannot answer it any more (``gone``)."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class BrowserProcess(asyncio.Protocol):
    """A running browser: commands go in, answers and events come out. For one event loop."""

    def __init__(self) -> None:
        self._pid = 0
        self._commands: asyncio.WriteTransport | None = None
        self._pipes: list[asyncio.BaseTransport] = []
        self._received = bytearray()
        self._waiting: dict[int, asyncio.Future[Event]] = {}
        self._sessions: dict[str, Session] = {}
        self._last_id = 0
        self._ended = asyncio.Event()
        self._stderr = _Tail(_STDERR_BYTES)
        self.on_event: Handler = lambda _method, _event: None

    @classmethod
    async def start(cls, program: Path, arguments: list[str], environment: dict[str, str]) -> BrowserProcess:
        """Starts ``program``; it has not said anything yet. Raises OSError."""
        process = cls()
        loop = asyncio.get_running_loop()
        to_browser, from_browser, errors = _pipe(), _pipe(), _pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, errors[1], 2),
            (os.POSIX_SPAWN_DUP2, to_browser[0], 3),
            (os.POSIX_SPAWN_DUP2, from_browser[1], 4),
        ]
        try:
            process._pid = os.posix_spawn(
                program, [str(program), *arguments], environment, file_actions=actions, setpgroup=0
            )
        except OSError:
            for end in (to_browser[1], from_browser[0], errors[0]):
                os.close(end)
            raise
        finally:
            for end in (to_browser[0], from_browser[1], errors[1]):
                os.close(end)
        commands, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(to_browser[1], "wb", 0))
        answers, _ = await loop.connect_read_pipe(lambda: process, os.fdopen(from_browser[0], "rb", 0))
        said, _ = await loop.connect_read_pipe(lambda: process._stderr, os.fdopen(errors[0], "rb", 0))
        process._commands, process._pipes = commands, [commands, answers, said]
        return process

    @property
    def alive(self) -> bool:
        return not self._ended.is_set()

    @property
    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._stderr.text

    def send(self, method: str, session: str = "", body: bytes = b"", **parameters: Any) -> asyncio.Future[Event]:
        """A command; its answer may be awaited. ``body`` is the parameters as JSON where they are made already."""
        future = asyncio.get_running_loop().create_future()
        future.add_done_callback(_is_read)
        if self._commands is None or not self.alive:
            future.set_exception(DevToolsError("the browser has ended", gone=True))
            return future
        self._last_id += 1
        self._waiting[self._last_id] = future
        head = {"id": self._last_id, "method": method} | ({"sessionId": session} if session else {})
        self._commands.write(
            json.dumps(head)[:-1].encode() + b',"params":' + (body or json.dumps(parameters).encode()) + b"}\0"
        )
        return future

    def session(self, name: str, handler: Handler) -> Session:
        """The session ``name``, whose events go to ``handler`` from now on."""
        self._sessions[name] = Session(self, name, handler)
        return self._sessions[name]

    def data_received(self, data: bytes) -> None:
        searched = len(self._received)
        self._received += data
        while (end := self._received.find(b"\0", searched)) >= 0:
            message = bytes(self._received[:end])
            del self._received[: end + 1]
            searched = 0
            if not (message.startswith(_TALK) and self._is_muted(message)):
                self._take(json.loads(message))
        if len(self._received) > _MAX_MESSAGE_BYTES:
            self.kill()

    def _is_muted(self, message: bytes) -> bool:
        """The session's name stands at the end: what nobody listens to is not worth parsing."""
        name = message[-_TAIL_BYTES:].rpartition(b'"sessionId":"')[2].partition(b'"')[0].decode("ascii", "replace")
        return name in self._sessions and self._sessions[name].muted

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(DevToolsError("the browser has ended", gone=True))
        for session in list(self._sessions.values()):
            session.end("the browser has ended")

    def _take(self, message: Event) -> None:
        if "id" in message:
            future = self._waiting.pop(message["id"], None)
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(DevToolsError(str(message["error"].get("message", "refused"))))
            else:
                future.set_result(message.get("result", {}))
            return
        method, event = message["method"], message.get("params", {})
        if session := self._sessions.get(message.get("sessionId", "")):
            session.take(method, event)
        if method == "Target.detachedFromTarget" and (gone := self._sessions.pop(event["sessionId"], None)):
            gone.end("the page is gone")
        if not message.get("sessionId"):
            self.on_event(method, event)

    def kill(self) -> None:
        """Ends it and what it started, at once."""
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    async def close(self, limit_s: float) -> None:
        """Asks it to end, and ends it where it does not within ``limit_s``. Waits until it is gone."""
        self.send("Browser.close")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), limit_s)
        for pipe in self._pipes:
            pipe.close()
        if self.alive or not await asyncio.to_thread(_reap, self._pid):
            self.kill()
            await asyncio.to_thread(_reap, self._pid)
        self.kill()  # what it may have left behind
        self._ended.set()


class Session:
    """What is sent to one target (a page, a frame of another process), and what it says."""

    def __init__(self, process: BrowserProcess, name: str, handler: Handler) -> None:
        self.name = name
        self.muted = False  # what the page logs and throws is dropped
        self._process = process
        self._handler = handler
        self._open: set[asyncio.Future[Event]] = set()
        self._ended = ""

    def send(self, method: str, body: bytes = b"", **parameters: Any) -> asyncio.Future[Event]:
        """As BrowserProcess.send; the answer to a target that has ended is a DevToolsError."""
        return self._until_the_end(self._process.send(method, self.name, body, **parameters))

    def expect(self) -> asyncio.Future[Event]:
        """For something that the target will say; a DevToolsError when it ends before."""
        future = asyncio.get_running_loop().create_future()
        future.add_done_callback(_is_read)
        return self._until_the_end(future)

    def _until_the_end(self, future: asyncio.Future[Event]) -> asyncio.Future[Event]:
        if self._ended and not future.done():
            future.set_exception(DevToolsError(self._ended, gone=True))
        elif not future.done():
            self._open.add(future)
            future.add_done_callback(self._open.discard)
        return future

    def take(self, method: str, event: Event) -> None:
        if method in ("Inspector.targetCrashed", "Target.targetCrashed"):
            self.end("the page's process died")
        self._handler(method, event)

    def end(self, reason: str) -> None:
        """No answer will come any more."""
        self._ended = self._ended or reason
        for future in list(self._open):
            if not future.done():
                future.set_exception(DevToolsError(self._ended, gone=True))


class _Tail(asyncio.Protocol):
    """The last bytes of a stream that nobody else reads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._data = b""

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace").strip()

    def data_received(self, data: bytes) -> None:
        self._data = (self._data + data)[-self._size :]


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe, above the numbers that the browser's own ends take, and closed in other programs."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN_FD) for end in ends]
    for end in ends:
        os.close(end)
    with suppress(OSError):  # where this user has used up what pipes may hold, it is slower and no more
        fcntl.fcntl(moved[1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return moved[0], moved[1]


def _is_read(future: asyncio.Future[Event]) -> None:
    """Answers that nobody awaits are no errors that somebody has to see."""
    if not future.cancelled():
        future.exception()


def _reap(pid: int) -> bool:
    """Waits a while for a process to end; whether it has."""
    stop = time.monotonic() + _REAP_S
    while time.monotonic() < stop:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return True
        except ChildProcessError:
            return True
        time.sleep(0.01)
    return False
