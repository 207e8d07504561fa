"""As many containers as programs run at a time, each used for many programs with the same limits, then replaced."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.execution.sandbox.container.box import Box, BoxEnded, Walls
from deepchart_dagster.execution.sandbox.container.engine import Engine, EngineError, ImageGone, engine_errors
from deepchart_dagster.execution.sandbox.container.image import Host, prepare
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.keeper import contained
from deepchart_dagster.execution.sandbox.keeper.agent import FONTS
from deepchart_dagster.execution.sandbox.keeper.request import (
    SETUP_FAILED,
    Report,
    Request,
    pack_request,
    unpack_report,
)

_PROGRAMS_PER_CONTAINER = 100
_GRACE_S = 30.0
_MIB = 1 << 20
_SAY_VERSIONS = """
import json, platform, sys
from importlib.metadata import PackageNotFoundError, version
found = {{"python": platform.python_version()}}
for name in {names}:
    try: found[name] = version(name)
    except PackageNotFoundError: pass
json.dump(found, open(sys.argv[1], "w"))
"""
_AGAIN = "Run the step again; if it comes back, look into the engine's log."


class Containers:
    """Runs programs in containers. Safe for several threads. Nothing is asked of an engine before the first one."""

    def __init__(self, options: ContainerOptions, code: Path, inside: Path, versions: dict[str, str]) -> None:
        """``code`` holds the keeper package, ``inside`` is the drawing hook's folder. An image with a Python of its
        own must have what ``versions`` says: results say so, and keys hold it."""
        self._options = options
        self._versions = versions
        self._checked: set[str] = set()  # images
        self._code, self._inside = code, inside
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._connection: _Connection | None = None
        self._idle: list[Box] = []
        self._busy: set[Box] = set()
        self._closed = False

    def run(self, request: Request, source: bytes) -> Report:
        """Blocks until the program and all it started have ended. Where the engine cannot hold it, the report says so.

        Raises InfrastructureError where the container ended in the middle, or was ended by ``close``.
        """
        try:
            box = self._take(request)
        except EngineError as error:
            return Report(ended=SETUP_FAILED, error=str(error))
        start = time.monotonic()
        try:
            message, as_new = box.run(_message(request, source, bool(self._options.image)), request, _limit_s(request))
        except TimeoutError as error:
            self._discard(box)
            raise InfrastructureError("A container gave no answer in time.", remedy=_AGAIN) from error
        except BoxEnded as error:
            self._discard(box)
            return self._what_ended(box, request, error, time.monotonic() - start)
        self._give_back(box, as_new)
        return _read(message)

    def close(self) -> None:
        """Ends and removes all containers; the ``run`` of those that were busy raises."""
        with self._lock:
            self._closed = True
            boxes = [*self._idle, *self._busy]
            self._idle.clear()
        for box in boxes:
            _remove(box)
        with self._connecting:
            if self._connection:
                with suppress(EngineError), engine_errors(self._connection.engine.address):
                    self._connection.engine.remove_unused_images()
                self._connection.engine.close()

    def _take(self, request: Request) -> Box:
        """An idle container with the walls that are asked for, else a new one. Raises EngineError."""
        walls = Walls.of(request)
        unfit = []
        with self._lock:
            self._check_open()
            while self._idle:
                box = self._idle.pop()
                if box.walls == walls and box.waits():
                    self._busy.add(box)
                    return box
                unfit.append(box)
        for box in unfit:
            _remove(box)
        box = self._start(walls, request)
        with self._lock:
            self._busy.add(box)
            if not self._closed:
                return box
        self._discard(box)
        raise _closed()

    def _start(self, walls: Walls, request: Request) -> Box:
        engine, cpus = self._connect()
        host = Host(self._code, self._inside, request.interpreter, request.readable)
        for attempt in (1, 2):
            image = prepare(engine, self._options.image, host)
            try:
                box = Box.start(engine, image, walls, cpus)
                break
            except ImageGone:  # another pipeline saw nobody use it, and removed it
                if attempt == 2:
                    raise
        if image.own_python and image.name not in self._checked:
            self._check_versions(box, request)
            self._checked.add(image.name)
        return box

    def _check_versions(self, box: Box, request: Request) -> None:
        source = _SAY_VERSIONS.format(names=[name for name in self._versions if name != "python"])
        try:
            message, _ = box.run(_message(request, source.encode(), True), request, _limit_s(request))
            report = unpack_report(message)
        except (BoxEnded, TimeoutError, ValueError) as error:
            _remove(box)
            raise EngineError(f"the image {self._options.image!r} runs no Python program: {error}") from error
        if report.output_state != "ok":
            _remove(box)
            reason = " ".join((report.error or report.stderr_tail or report.ended).split())
            raise EngineError(f"the image {self._options.image!r} runs no Python program: {reason}")
        found = json.loads(report.output)
        wrong = [
            f"{name} {found.get(name) or 'missing'} for {wanted}"
            for name, wanted in self._versions.items()
            if found.get(name) != wanted
        ]
        if wrong:
            _remove(box)
            raise EngineError(
                f"the image {self._options.image!r} has other versions than this environment ({', '.join(wrong)}); "
                "build it with the same Python and packages"
            )

    def _connect(self) -> _Connection:
        with self._connecting:
            if self._connection is None:
                engine = Engine.connect(self._options.engine)
                engine.sweep()
                self._connection = _Connection(engine, engine.cpus())
            return self._connection

    def _give_back(self, box: Box, as_new: bool) -> None:
        with self._lock:
            reuse = as_new and not self._closed and box.runs < _PROGRAMS_PER_CONTAINER
            if reuse:
                self._busy.discard(box)
                self._idle.append(box)
        if not reuse:
            self._discard(box)

    def _discard(self, box: Box) -> None:
        with self._lock:
            self._busy.discard(box)
        _remove(box)

    def _what_ended(self, box: Box, request: Request, error: BoxEnded, wall_s: float) -> Report:
        """The program, where it took all the memory and so took its keeper along; else an error of ours."""
        with self._lock:
            self._check_open()
        try:
            out_of_memory = box.ran_out_of_memory()
        except EngineError as gone:
            raise InfrastructureError(f"A container was lost while a program ran: {gone}.", remedy=_AGAIN) from error
        if not out_of_memory:
            reason = str(error) or "it said nothing"
            raise InfrastructureError(f"A container ended while a program ran: {reason}.", remedy=_AGAIN) from error
        return Report(
            ended="exit",
            wait_status=signal.SIGKILL,
            wall_s=wall_s,
            stderr_tail=f"ended for want of memory ({request.memory_bytes // _MIB} MiB and its files are allowed)",
        )

    def _check_open(self) -> None:
        if self._closed:
            raise _closed()


class _Connection(NamedTuple):
    engine: Engine
    cpus: int


def _closed() -> InfrastructureError:
    return InfrastructureError("The program runner is closed.")


def _limit_s(request: Request) -> float:
    return request.wall_s + _GRACE_S


def _message(request: Request, source: bytes, image_has_python: bool) -> bytes:
    """The request as the keeper inside needs it, with the bytes of the font list before the source."""
    fonts = Path(request.font_list) if request.font_list else None
    content = fonts.read_bytes() if fonts else b""
    inside = request._replace(scratch=contained.SCRATCH, font_list=fonts.name if fonts else None)
    if image_has_python:
        inside = inside._replace(interpreter="", readable=())
    return pack_request(inside, FONTS.pack(len(content)) + content + source)


def _read(message: bytes) -> Report:
    try:
        report = unpack_report(message)
    except ValueError as error:
        raise InfrastructureError("The process that holds a program in a container died.", remedy=_AGAIN) from error
    if report.ended in ("cancelled", "lost"):
        raise InfrastructureError(f"A generated program was ended from outside ({report.ended}).")
    return report


def _remove(box: Box) -> None:
    """What an engine that is gone cannot remove ends by itself: its stdin is closed."""
    with suppress(EngineError):
        box.remove()
