"""A PDF from anywhere, copied into the storage as it is: once, in blocks, hashed on the way.

The copy is what is registered. A file that is no PDF is refused before anything is written; one that grew, was
changed or was replaced while it was copied is refused afterwards, and its copy removed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from deepchart_dagster.artifacts.files import storage_errors, temporary_name
from deepchart_dagster.errors import UsageError

# A PDF may carry a few bytes of wrapping (a mail header, a byte order mark) before its header.
_HEADER_WINDOW = 1024
_ZIP = b"PK\x03\x04"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Copied:
    """The copy, for its maker to move away; ``sha256`` and ``n_bytes`` are those of the copy."""

    path: Path
    sha256: str
    n_bytes: int


@contextmanager
def copied_pdf(source: Path, folder: Path) -> Iterator[Copied]:
    """A temporary copy of ``source`` in ``folder``, removed at the end unless it was moved.

    Raises UsageError for a source that is no PDF, cannot be read or changes; StorageError for what cannot be written.
    """
    with _opened(source) as stream:
        before = _state(os.fstat(stream.fileno()))
        _check_header(source, stream)
        copy = folder / temporary_name()
        try:
            digest = _copy(source, stream, copy)
            copied = Copied(copy, digest, copy.stat().st_size)
            if before != _state(os.fstat(stream.fileno())) or before != _state_of(source):
                raise UsageError(
                    f"{source} changed while it was read.", remedy="Add it again when nothing writes to it any more."
                )
            yield copied
        finally:
            with storage_errors(folder, "write"):
                copy.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # A pipe without a writer would be waited for.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise UsageError(f"{path}: there is no such file.", remedy="Check the path.") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise _no_file(path, mode)
    with os.fdopen(descriptor, "rb") as stream:
        yield stream


def _no_file(path: Path, mode: int) -> UsageError:
    if stat.S_ISDIR(mode):
        return UsageError(f"{path} is a folder.", remedy="Name the PDF files in it.")
    return UsageError(f"{path} is a pipe or a device, not a file.", remedy="Save it as a file first.")


def _unreadable(path: Path, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else error
    remedy = (
        "Give this user read permission." if isinstance(error, PermissionError) else "Check the path and the device."
    )
    return UsageError(f"cannot read {path}: {reason}.", remedy=remedy)


def _check_header(path: Path, stream: BinaryIO) -> None:
    try:
        start = stream.read(_HEADER_WINDOW)
        stream.seek(0)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not start:
        raise UsageError(f"{path} is empty.", remedy="Fetch the PDF again.")
    if start.startswith(_ZIP):  # of which a PDF may be the first part, stored as it is
        raise UsageError(f"{path} is a ZIP archive, not a PDF.", remedy="Unpack it and give the PDFs in it.")
    if b"%PDF-" not in start or start.lstrip()[:1] == b"<":
        raise UsageError(
            f"{path} is not a PDF (no %PDF- header in its first {_HEADER_WINDOW} bytes).",
            remedy="Give the PDF itself, not a web page or an archive that leads to it.",
        )


def _copy(source: Path, stream: BinaryIO, copy: Path) -> str:
    """The SHA-256 of what was written to ``copy``."""
    digest = sha256()
    with storage_errors(copy.parent, "write"):
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as target:
            for block in _blocks(source, stream):
                digest.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
    return digest.hexdigest()


def _blocks(source: Path, stream: BinaryIO) -> Iterator[bytes]:
    """No more than the file was long at first: one that grows faster than it is copied would have no end."""
    left = os.fstat(stream.fileno()).st_size
    while left > 0:
        try:
            block = stream.read(min(_BLOCK, left))
        except OSError as error:
            raise _unreadable(source, error) from error
        if not block:
            return
        left -= len(block)
        yield block


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _state_of(path: Path) -> tuple[int, ...] | None:
    try:
        return _state(path.stat())
    except OSError:
        return None
