"""The keeper: reads one request, lets a guard hold the program, keeps the time, writes one report.

Reads the request from stdin and then watches it: when stdin ends, the one who asked is gone, and so is the
program. Writes the report to stdout.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from . import contained, folders, guard, linux, namespaces
from .files import is_larger, remove_tree, unlinked_bytes, write_all
from .guard import SetupError, Streams
from .processes import Used, descendants, memory_of, used_by
from .request import Report, Request, pack_report, read_request, unpack
from .streams import Stream

_READ_BYTES = 1 << 16
_TICK_S = 0.25
_GUARD_GRACE_S = 5.0
_KIB_PER_MIB = 1024
_HOLDERS = {"namespaces": namespaces.hold, "container": contained.hold}


def main() -> None:
    linux.die_with_parent(signal.SIGKILL)
    os.umask(0o022)
    request, source = read_request(sys.stdin.buffer)
    keeper = _Keeper(request)
    signal.signal(signal.SIGTERM, keeper.cancel)
    try:
        report = keeper.keep(source)
    finally:
        keeper.clean_up()
    write_all(1, pack_report(report))


class _Keeper:
    def __init__(self, request: Request) -> None:
        self._request = request
        self._base = Path(request.scratch, f"program-{os.getpid()}")
        self._base.mkdir(mode=0o700)
        self._ended = "exit"
        self._kill_at = float("inf")
        self._cancelled = False
        self._result = bytearray()
        self._used = Used()

    def keep(self, source: bytes) -> Report:
        out, err, result = os.pipe(), os.pipe(), os.pipe()
        start = time.monotonic()
        self._deadline = start + self._request.wall_s
        self._next_look = start + _TICK_S
        self._guard = self._start_guard(source, Streams(out[1], err[1], result[1]))
        for pipe in (out, err, result):
            os.close(pipe[1])
        self._out, self._err, self._result_end = Stream(out[0]), Stream(err[0]), result[0]
        self._watch()
        wall_s = time.monotonic() - start
        os.waitpid(self._guard, 0)
        return self._report(wall_s)

    def cancel(self, _number: int, _frame: FrameType | None) -> None:
        self._cancelled = True  # seen at the next tick

    def clean_up(self) -> None:
        remove_tree(self._base)

    def _start_guard(self, source: bytes, streams: Streams) -> int:
        pid = os.fork()
        if pid == 0:
            self._be_guard(source, streams)
        return pid

    def _be_guard(self, source: bytes, streams: Streams) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            hold = _HOLDERS.get(self._request.tier, folders.hold)
            hold(self._request, source, streams, self._base)
        except (SetupError, OSError) as error:
            guard.report_setup_error(streams, str(error))
        finally:
            os._exit(0)

    def _watch(self) -> None:
        """Until the guard closes its end of the result pipe, which is when it and all below it have ended."""
        poll = select.poll()
        streams = {stream.descriptor: stream for stream in (self._out, self._err)}
        for descriptor in (0, self._result_end, *streams):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll(self._patience_ms()):
                if descriptor == self._result_end:
                    chunk = os.read(descriptor, _READ_BYTES)
                    self._result += chunk
                    if not chunk:
                        self._drain(streams)
                        return
                elif descriptor == 0:
                    poll.unregister(0)
                    self._end("cancelled")
                elif not streams[descriptor].read():
                    poll.unregister(descriptor)
            self._check_budgets()

    def _patience_ms(self) -> int:
        next_event = min(self._deadline, self._kill_at) - time.monotonic()
        return max(1, int(1000 * min(_TICK_S, next_event)))

    def _drain(self, streams: dict[int, Stream]) -> None:
        for stream in streams.values():
            stream.drain(self._request.stream_bytes)

    def _check_budgets(self) -> None:
        now = time.monotonic()
        if now > self._kill_at:
            os.kill(self._guard, signal.SIGKILL)
        if self._ended != "exit":
            return
        if self._cancelled:
            self._end("cancelled")
        elif now > self._deadline:
            self._end("timeout")
        elif max(self._out.total, self._err.total) > self._request.stream_bytes:
            self._end("streams")
        elif now > self._next_look:
            self._next_look = now + _TICK_S
            self._look()

    def _look(self) -> None:
        processes, request = descendants(self._guard), self._request
        if memory_of(processes, request.memory_bytes) > request.memory_bytes:
            self._end("memory")
        elif request.tier in ("landlock", "trusted") and (
            is_larger(self._base, request.work_bytes) or unlinked_bytes(processes, self._base) > request.work_bytes
        ):
            self._end("disk")

    def _end(self, reason: str) -> None:
        if self._ended == "exit":
            self._ended = reason
            self._deadline = float("inf")
            self._kill_at = time.monotonic() + _GUARD_GRACE_S
            self._used = used_by({self._guard, *descendants(self._guard)})
            os.kill(self._guard, signal.SIGTERM)

    def _report(self, wall_s: float) -> Report:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        measured: dict[str, Any] = {
            "wall_s": wall_s,
            # Of two counts of the same: what was reaped, and what was seen before all of it was killed.
            "cpu_s": max(used.ru_utime + used.ru_stime, self._used.cpu_s),
            "max_rss_mb": max(used.ru_maxrss / _KIB_PER_MIB, self._used.max_rss_mb),
            "stdout_tail": self._out.text(),
            "stderr_tail": self._err.text(),
        }
        if self._ended != "exit" or not self._result:
            return Report(ended=self._ended if self._ended != "exit" else "lost", **measured)
        header, payload = unpack(bytes(self._result))
        return Report(**{"ended": "exit", **header, **measured, "payload": payload})
