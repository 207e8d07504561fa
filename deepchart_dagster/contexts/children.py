"""The parent's side of contexts.child: starts it, asks it, reads its answers under a deadline, ends it."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from deepchart_dagster.contexts.readings import INSPECTION, Inspection
from deepchart_dagster.errors import DocumentError
from deepchart_dagster.settings import DEFAULTS, PROJECT_ROOT

# Loading the OCR models takes seconds on a quiet machine, much longer on a busy one.
START_TIMEOUT_S = 180.0
# What a child needs of the environment: no provider keys among it but that of the OCR server.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
    "DEEPCHART_VL_API_KEY",
)
# onnxruntime reports the names of its models and the process to its maker unless it is told not to.
_SET = {"ORT_DISABLE_TELEMETRY": "1"}
_SHOWN_CHARACTERS = 300
# What Python writes before an exception's message: of use to nobody where it is ours or MuPDF's.
_EXCEPTION_NAME = re.compile(r"^(?:deepchart_dagster|pymupdf)(?:\.\w+)+: (?:code=\d+: )?")
_LOG_END = 20_000


class ChildFailedError(Exception):
    """A child crashed or ran over its time. ``n_done`` answers had come; ``started``: it was ready."""

    def __init__(self, reason: str, *, n_done: int, started: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.n_done = n_done
        self.started = started


def inspect_pdf(pdf: Path, *, max_pages: int | None = None) -> Inspection:
    """Page count and state of a PDF; pages are looked at one by one where there are no more than ``max_pages``.

    Raises DocumentError where even looking at it ends the child.
    """
    try:
        answers = list(run_child({"do": "inspect", "pdf": str(pdf), "max_pages": max_pages}))
    except ChildFailedError as failure:
        raise DocumentError(f"{pdf} cannot be opened: {failure.reason}.", remedy="Fetch the PDF again.") from failure
    return INSPECTION.validate_python(answers[0])


def run_child(task: dict[str, Any], *, item_timeout_s: float = DEFAULTS.page_timeout_s) -> Iterator[dict[str, Any]]:
    """The child's answers as they come. Raises ChildFailedError when it crashes or an item takes too long."""
    with Child(task) as child:
        while (answer := child.answer(item_timeout_s)) is not None:
            yield answer


class Child:
    """A child process with one task, ready for it. Use as a context manager: leaving it ends the process.

    The child must be used by the thread that started it: it dies with that thread (contexts.child).
    Raises ChildFailedError where it is not ready in time.
    """

    def __init__(self, task: dict[str, Any], *, memory_mb: int = DEFAULTS.page_memory_mb) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._n_done = 0
        self._started = False
        self._process = _start(self._log)
        threading.Thread(target=_pump, args=(self._process.stdout, self._lines), daemon=True).start()
        try:
            self.ask({**task, "memory_mb": memory_mb})
            self._line(START_TIMEOUT_S)
        except BaseException:
            self.close()
            raise
        self._started = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, question: dict[str, Any]) -> None:
        """One line on its stdin. A child that is gone is noticed when its answer is waited for."""
        stdin = self._process.stdin
        if stdin is None:
            raise TypeError("the child has no stdin")
        with suppress(BrokenPipeError):
            stdin.write(json.dumps(question).encode() + b"\n")
            stdin.flush()

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer, None when it has ended well. Raises ChildFailedError for a crash or ``timeout_s`` over."""
        line = self._line(timeout_s)
        if line is None:
            return None
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:  # half a line: it died while it wrote
            raise self._failure(_died(self._process.wait(), self._log)) from None
        self._n_done += 1
        return answer

    def _line(self, timeout_s: float) -> bytes | None:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise self._failure(f"no answer after {timeout_s:g} s") from None
        if line is None and ((code := self._process.wait()) or not self._started):
            raise self._failure(_died(code, self._log))
        return line

    def _failure(self, reason: str) -> ChildFailedError:
        return ChildFailedError(reason, n_done=self._n_done, started=self._started)

    def kill(self) -> None:
        """End it, from any thread: whoever waits for its answer gets a ChildFailedError."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()


def _start(log: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | _SET
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT_ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "deepchart_dagster.contexts.child", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=environment,
        start_new_session=True,
    )


def _pump(stream: IO[bytes] | None, lines: queue.SimpleQueue[bytes | None]) -> None:
    with suppress(ValueError):  # closed while it was read
        for line in stream or ():
            lines.put(line)
    lines.put(None)


def _died(code: int, log: IO[bytes]) -> str:
    """How the child ended: the signal's name, or the last thing it said."""
    if code < 0:
        return f"the reading process died of {signal.Signals(-code).name}"
    log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_END))
    said = log.read().decode("utf-8", "replace").strip().splitlines()
    last = said[-1] if said else f"exit code {code}"
    if own := _EXCEPTION_NAME.match(last):  # it says by itself what happened
        return last[own.end() :][:_SHOWN_CHARACTERS]
    return f"the reading process ended with {last[:_SHOWN_CHARACTERS]}"
