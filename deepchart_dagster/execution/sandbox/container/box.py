"""One container: its walls, and handing it one program after another over its stdin and stdout.

The engine closes a container's stdin when the connection of the one who attached is gone, however that came about;
the container then ends by itself, and the engine removes it.
"""

from __future__ import annotations

import select
import socket
import struct
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from deepchart_dagster.execution.sandbox.container import owner
from deepchart_dagster.execution.sandbox.container.engine import LABEL, OWNER_LABEL, Engine, EngineError, engine_errors
from deepchart_dagster.execution.sandbox.container.image import NAME, USER_ID, Image
from deepchart_dagster.execution.sandbox.keeper import contained
from deepchart_dagster.execution.sandbox.keeper.agent import ANSWER, IDLE_S, READY
from deepchart_dagster.execution.sandbox.keeper.files import MAX_FILES
from deepchart_dagster.execution.sandbox.keeper.request import Request

_MIB = 1 << 20
_SMALL_BYTES = 16 * _MIB
_OWN_MEMORY_BYTES = 64 * _MIB  # the first process, keeper and guard
_OWN_PROCESSES = 3
_FEWEST_PROCESSES = 16  # the engine's own start needs some
_CPUS = 2
_FIRST_TO_GO = 1000  # when the host runs out of memory
_START_LIMIT_S = 60.0
_MESSAGE_SLACK_BYTES = _MIB
_STDERR = 2
_FRAME = struct.Struct(">BxxxL")  # the engine's: which stream, how many bytes


class BoxEnded(Exception):
    """The container ended, or the connection to it. The message says what it complained of, where it did."""


@dataclass(frozen=True)
class Walls:
    """What a container is limited to; a program with other limits needs another container."""

    memory_bytes: int
    work_bytes: int
    processes: int

    @classmethod
    def of(cls, request: Request) -> Walls:
        return cls(request.memory_bytes, request.work_bytes, request.processes)

    def options(self, cpus: int) -> dict[str, Any]:
        large = (contained.PLACE.work, contained.PLACE.temporary, contained.SHARED_MEMORY)
        sizes = {folder: self.work_bytes if folder in large else _SMALL_BYTES for folder in contained.WRITABLE}
        memory = self.memory_bytes + sum(sizes.values()) + _OWN_MEMORY_BYTES
        return {
            "network_mode": "none",
            "ipc_mode": "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "read_only": True,
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": max(self.processes + _OWN_PROCESSES, _FEWEST_PROCESSES),
            "nano_cpus": min(_CPUS, cpus) * 10**9,
            "oom_score_adj": _FIRST_TO_GO,
            "tmpfs": {folder: _mount_options(size) for folder, size in sizes.items()},
        }


def _mount_options(size: int) -> str:
    return f"size={size},nr_inodes={MAX_FILES},mode=0700,uid={USER_ID},gid={USER_ID}"


class Box:
    """``walls`` and ``runs`` (programs held up to now) are the pool's to look at."""

    def __init__(self, engine: Engine, container: str, walls: Walls) -> None:
        self.walls = walls
        self.runs = 0
        self._container = container
        self._asked_at = 0.0
        self._waits_since = time.monotonic()
        self._engine = engine
        self._line: _Line | None = None

    @classmethod
    def start(cls, engine: Engine, image: Image, walls: Walls, cpus: int) -> Box:
        """Raises EngineError."""
        with engine_errors(engine.address):
            box = cls(engine, _create(engine, image, walls, cpus), walls)
            try:
                box._begin()
            except BaseException:
                box.remove()
                raise
            return box

    def _begin(self) -> None:
        parameters = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._line = _Line(self._engine.api.attach_socket(self._container, parameters))
        self._engine.api.start(self._container)
        try:
            ready, _ = self._line.receive(len(READY), time.monotonic() + _START_LIMIT_S)
        except (BoxEnded, TimeoutError) as error:
            raise EngineError(f"a container did not start: {error or f'no sign in {_START_LIMIT_S:g} s'}") from error
        if ready != READY:
            raise EngineError("a container runs something else than this project's keeper")

    def run(self, message: bytes, request: Request, limit_s: float) -> tuple[bytes, bool]:
        """The keeper's report, and whether the container may be used again. Raises BoxEnded, TimeoutError."""
        assert self._line is not None
        self.runs += 1
        self._asked_at = time.time()
        deadline = time.monotonic() + limit_s
        self._line.send(message, deadline)
        largest = request.output_bytes + request.drawn_bytes + _MESSAGE_SLACK_BYTES
        answer = self._line.receive(largest, deadline)
        self._waits_since = time.monotonic()
        return answer

    def waits(self) -> bool:
        """For a program. False where it has ended (one that waits has nothing to say), or soon will of itself."""
        waited_s = time.monotonic() - self._waits_since
        return self._line is not None and waited_s < IDLE_S / 2 and not self._line.has_something()

    def ran_out_of_memory(self) -> bool:
        """Whether anything in it did, since it was last handed a program. Raises EngineError."""
        return self._engine.ran_out_of_memory(self._container, self._asked_at, time.time())

    def remove(self) -> None:
        """Ends what runs in it. Raises EngineError."""
        try:
            with engine_errors(self._engine.address):
                self._engine.remove(self._container)
        finally:
            if self._line:
                self._line.close()


def _create(engine: Engine, image: Image, walls: Walls, cpus: int) -> str:
    from docker.types import LogConfig

    host = engine.api.create_host_config(
        auto_remove=True, mounts=list(image.mounts), log_config=LogConfig(type="none"), **walls.options(cpus)
    )
    # Not detached: the engine then closes stdin with the connection.
    created = engine.api.create_container(
        image=image.name,
        entrypoint=image.command(),
        command=[],
        user=f"{USER_ID}:{USER_ID}",
        working_dir="/",
        name=f"{NAME}-{uuid.uuid4().hex[:12]}",
        labels={LABEL: "1", OWNER_LABEL: owner.this_process()},
        network_disabled=True,
        stdin_open=True,
        detach=False,
        host_config=host,
    )
    return str(created["Id"])


class _Line:
    """The connection to a container's stdin, stdout and stderr."""

    def __init__(self, attached: Any) -> None:
        self._attached = attached  # kept: the socket is closed with it
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._out = bytearray()
        self._complaint = b""

    def send(self, message: bytes, deadline: float) -> None:
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(message)
        except TimeoutError:
            raise
        except OSError as error:
            raise BoxEnded(self._last_words()) from error

    def receive(self, largest: int, deadline: float) -> tuple[bytes, bool]:
        length, as_new = ANSWER.unpack(self._take(ANSWER.size, deadline))
        if length > largest:
            raise BoxEnded(f"it answered with {length} bytes, {largest} are possible")
        return self._take(length, deadline), as_new

    def has_something(self) -> bool:
        return bool(self._out) or bool(select.select([self._socket], [], [], 0)[0])

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._attached.close()
        self._socket.close()

    def _take(self, count: int, deadline: float) -> bytes:
        while len(self._out) < count:
            self._read_frame(deadline)
        taken = bytes(self._out[:count])
        del self._out[:count]
        return taken

    def _read_frame(self, deadline: float) -> None:
        stream, length = _FRAME.unpack(self._read(_FRAME.size, deadline))
        content = self._read(length, deadline)
        if stream == _STDERR:
            self._complaint = (self._complaint + content)[-4000:]
        else:
            self._out += content

    def _read(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            self._socket.settimeout(_left(deadline))
            try:
                chunk = self._socket.recv(count - len(data))
            except ConnectionError:
                chunk = b""
            if not chunk:
                raise BoxEnded(self._last_words())
            data += chunk
        return bytes(data)

    def _last_words(self) -> str:
        lines = self._complaint.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
