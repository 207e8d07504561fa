"""A program's stdout or stderr: everything is read, the tail is kept."""

from __future__ import annotations

import os

_TAIL_BYTES = 8 << 10
_READ_BYTES = 1 << 16


class Stream:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.total = 0
        self.tail = b""

    def read(self) -> bool:
        """False at its end."""
        chunk = os.read(self.descriptor, _READ_BYTES)
        self.total += len(chunk)
        self.tail = (self.tail + chunk)[-_TAIL_BYTES:]
        return bool(chunk)

    def drain(self, limit: int) -> None:
        """What is still in the pipe when nobody is left to write more; not past ``limit`` bytes in all."""
        os.set_blocking(self.descriptor, False)
        try:
            while self.total <= limit and self.read():
                pass
        except BlockingIOError:
            return

    def text(self) -> str:
        cut = f"[… {self.total - len(self.tail)} bytes before]\n" if self.total > len(self.tail) else ""
        return cut + self.tail.decode("utf-8", "replace")


class ExactReader:
    """Reads from a descriptor without a buffer, which takes what is not asked for, and without owning it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, size: int) -> bytes:
        """Raises EOFError."""
        data = bytearray()
        while len(data) < size:
            chunk = os.read(self._descriptor, min(_READ_BYTES, size - len(data)))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)
