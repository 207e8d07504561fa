"""What a keeper is asked and what it reports, and how both travel through its pipes.

A message is two lengths, a JSON object and a run of bytes: asked with the program's source, answered with the
output file followed by what the drawing hook left.

Named tuples, here and in the whole package, because a keeper starts for every program and importing dataclasses
would be a fifth of its start.
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple, Protocol

LENGTHS = struct.Struct("=QQ")
SETUP_FAILED = "setup_failed"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Request(NamedTuple):
    """One program and its walls. Sizes in bytes, times in seconds.

    interpreter     the Python that runs the program
    readable        host folders and files the program's interpreter needs
    inside          folder with sitecustomize.py, on PYTHONPATH of the program
    scratch         an empty folder of ours: mount point (namespaces), parent of work folders (other tiers)
    font_list       matplotlib's font cache to put into the program's MPLCONFIGDIR
    output_name     the program's only argument, a file name
    """

    tier: str
    interpreter: str
    readable: tuple[str, ...]
    inside: str
    scratch: str
    output_name: str
    wall_s: float
    memory_bytes: int
    output_bytes: int
    work_bytes: int
    processes: int
    open_files: int
    stream_bytes: int
    drawn_bytes: int
    font_list: str | None = None


class Room(NamedTuple):
    """Where a fork server and its programs live; ``imports`` are the libraries that it has ready.

    The other fields are those of a request.
    """

    tier: str
    interpreter: str
    readable: tuple[str, ...]
    inside: str
    scratch: str
    work_bytes: int
    font_list: str | None
    imports: tuple[str, ...]


class Report(NamedTuple):
    """How a program ended.

    ended           "exit", or what the keeper ended it for: "timeout", "streams", "disk", "memory", "cancelled";
                    "setup_failed": the walls could not be raised and the program did not start
    wait_status     as os.waitpid gives it; None where the program was ended by the keeper
    output_state    "ok", "missing", or why the file is not taken
    """

    ended: str
    wait_status: int | None = None
    error: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_mb: float = 0.0
    output_state: str = "missing"
    output_size: int = 0
    drawn_size: int = 0
    stdout_tail: str = ""
    stderr_tail: str = ""
    payload: bytes = b""

    @property
    def output(self) -> bytes:
        return self.payload[: self.output_size]

    @property
    def drawn(self) -> bytes:
        return self.payload[self.output_size : self.output_size + self.drawn_size]


def pack(header: dict[str, Any], payload: bytes) -> bytes:
    encoded = json.dumps(header).encode()
    return LENGTHS.pack(len(encoded), len(payload)) + encoded + payload


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """Raises ValueError for a message that is cut off."""
    if len(message) < LENGTHS.size:
        raise ValueError("the message is cut off")
    header_length, payload_length = LENGTHS.unpack_from(message)
    start = LENGTHS.size + header_length
    if len(message) < start + payload_length:
        raise ValueError("the message is cut off")
    return json.loads(message[LENGTHS.size : start]), message[start : start + payload_length]


def pack_request(request: Request, source: bytes) -> bytes:
    return pack(request._asdict(), source)


def read_request(stream: _Readable) -> tuple[Request, bytes]:
    """Reads exactly one request: what follows on the stream is left alone (its end means: cancelled)."""
    header_length, payload_length = LENGTHS.unpack(stream.read(LENGTHS.size))
    values = json.loads(stream.read(header_length))
    values["readable"] = tuple(values["readable"])
    return Request(**values), stream.read(payload_length)


def pack_room(room: Room) -> bytes:
    return json.dumps(room._asdict()).encode()


def unpack_room(message: bytes) -> Room:
    values = json.loads(message)
    values |= {name: tuple(values[name]) for name in ("readable", "imports")}
    return Room(**values)


def pack_report(report: Report) -> bytes:
    header = report._asdict()
    del header["payload"]
    return pack(header, report.payload)


def unpack_report(message: bytes) -> Report:
    """Raises ValueError where the keeper died before it had reported."""
    header, payload = unpack(message)
    return Report(**header, payload=payload)
