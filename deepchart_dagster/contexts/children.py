"""The parent's side of contexts.child: starts it, reads its answers under a deadline, ends it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from deepchart_dagster.contexts.readings import INSPECTION, Inspection
from deepchart_dagster.errors import DocumentError
from deepchart_dagster.settings import PROJECT_ROOT

# Loading the OCR models takes seconds on a quiet machine, much longer on a busy one.
START_TIMEOUT_S = 180.0
ITEM_TIMEOUT_S = 180.0
# What a child needs of the environment: no provider keys among it.
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")


class ChildFailedError(Exception):
    """A child crashed or ran over its time. ``n_done`` answers had come; ``started``: it was ready."""

    def __init__(self, reason: str, *, n_done: int, started: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.n_done = n_done
        self.started = started


def inspect_pdf(pdf: Path) -> Inspection:
    """Page count and state of a PDF. Raises DocumentError where even looking at it ends the child."""
    try:
        answers = list(run_child({"do": "inspect", "pdf": str(pdf)}))
    except ChildFailedError as failure:
        raise DocumentError(f"{pdf} cannot be opened: {failure.reason}.", remedy="Fetch the PDF again.") from failure
    return INSPECTION.validate_python(answers[0])


def run_child(task: dict[str, Any], *, item_timeout_s: float = ITEM_TIMEOUT_S) -> Iterator[dict[str, Any]]:
    """The child's answers as they come. Raises ChildFailedError when it crashes or an item takes too long."""
    with tempfile.TemporaryFile() as log:
        process = _start(task, log)
        try:
            yield from _answers(process, log, item_timeout_s)
        finally:
            _end(process)


def _start(task: dict[str, Any], log: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT_ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "deepchart_dagster.contexts.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=environment,
        start_new_session=True,
    )
    if process.stdin is None:
        raise TypeError("the child has no stdin")
    with suppress(BrokenPipeError):  # it died at once: its exit tells
        process.stdin.write(json.dumps(task).encode())
        process.stdin.close()
    return process


def _answers(process: subprocess.Popen[bytes], log: IO[bytes], item_timeout_s: float) -> Iterator[dict[str, Any]]:
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
    n_done, started = 0, False
    while True:
        limit = item_timeout_s if started else START_TIMEOUT_S
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            raise ChildFailedError(f"no answer after {limit:.0f} s", n_done=n_done, started=started) from None
        if line is None:
            if code := process.wait():
                raise ChildFailedError(_died(code, log), n_done=n_done, started=started)
            return
        if not started:
            started = True
            continue
        yield json.loads(line)
        n_done += 1


def _pump(stream: IO[bytes] | None, lines: queue.SimpleQueue[bytes | None]) -> None:
    for line in stream or ():
        lines.put(line)
    lines.put(None)


def _died(code: int, log: IO[bytes]) -> str:
    """How the child ended: the signal's name, or the last thing it said."""
    if code < 0:
        return f"the reading process died of {signal.Signals(-code).name}"
    log.seek(0)
    said = log.read().decode("utf-8", "replace").strip().splitlines()
    return f"the reading process ended with {said[-1] if said else f'exit code {code}'}"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()
