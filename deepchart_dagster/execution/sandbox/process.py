"""Hands one program to a keeper and reads its report."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution.sandbox.keeper.request import Report, Request, pack_request, unpack_report

# The keeper is started by path and alone: importing the package around it would cost more than it does.
_START_KEEPER = "import sys; sys.path.insert(0, sys.argv[1]); from keeper.main import main; main()"
_GRACE_S = 30.0


class Keepers:
    """Starts keepers and knows those that run, so that they can all be ended. Safe for several threads."""

    def __init__(self, code: Path) -> None:
        """``code`` is the folder that holds the keeper package."""
        self._code = code
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def run(self, request: Request, source: bytes) -> Report:
        """Blocks until the program and all it started have ended.

        Raises InfrastructureError where the keeper itself died, or was ended by ``close``.
        """
        with self._keeper() as keeper:
            message = _converse(keeper, pack_request(request, source), request.wall_s + _GRACE_S)
            complaint = _complaint(keeper)
        try:
            report = unpack_report(message)
        except ValueError as error:
            raise InfrastructureError(
                f"The process that holds generated programs died: {complaint or 'it said nothing'}.",
                remedy="Run the step again; if it comes back, look for the kernel's memory killer in the system log.",
            ) from error
        if report.ended in ("cancelled", "lost"):
            raise InfrastructureError(f"A generated program was ended from outside ({report.ended}).")
        return report

    def close(self) -> None:
        """Ends all programs that run; their ``run`` raises."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for keeper in running:
            keeper.terminate()

    @contextmanager
    def _keeper(self) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            if self._closed:
                raise InfrastructureError("The program runner is closed.")
            keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START_KEEPER, str(self._code)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                start_new_session=True,
            )
            self._running.add(keeper)
        try:
            with keeper:
                yield keeper
        finally:
            with self._lock:
                self._running.discard(keeper)


def _converse(keeper: subprocess.Popen[bytes], message: bytes, limit_s: float) -> bytes:
    """The keeper's answer. Its stdin stays open until then: it ends the program when that closes."""
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    watchdog = threading.Timer(limit_s, keeper.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        keeper.stdin.write(message)
        keeper.stdin.flush()
        return keeper.stdout.read()
    except BrokenPipeError:
        return b""
    finally:
        watchdog.cancel()


def _complaint(keeper: subprocess.Popen[bytes]) -> str:
    assert keeper.stderr is not None
    lines = keeper.stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
