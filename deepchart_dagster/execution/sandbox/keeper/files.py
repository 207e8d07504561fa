"""Files that a program left: read without trust in them, counted, and removed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

MAX_FILES = 4096
_CHUNK = 1 << 20
_BLOCK_BYTES = 512


def write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


class Collected(NamedTuple):
    state: str
    data: bytes = b""


def collect(folder: int, name: str, limit: int) -> Collected:
    """The file ``name`` in the opened ``folder``: a regular file of its own, of at most ``limit`` bytes."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return Collected("missing")
    except OSError as error:
        return Collected("a link" if error.errno == errno.ELOOP else os.strerror(error.errno or 0))
    try:
        return _read_regular(file, limit)
    finally:
        os.close(file)


def _read_regular(file: int, limit: int) -> Collected:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return Collected("not a regular file")
    if status.st_nlink > 1:
        return Collected("a hard link")
    if status.st_size > limit:
        return Collected(f"{status.st_size} bytes large, {limit} are allowed")
    data = read_all(file, limit)
    return Collected("ok", data)


def read_all(file: int, limit: int) -> bytes:
    data = bytearray()
    while len(data) < limit and (chunk := os.read(file, min(_CHUNK, limit - len(data)))):
        data += chunk
    return bytes(data)


def is_larger(folder: Path, limit: int) -> bool:
    """Whether what lies in ``folder`` takes more than ``limit`` bytes, or is more than MAX_FILES entries."""
    used = entries = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            for entry in os.scandir(waiting.pop()):
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                used += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                if used > limit or entries > MAX_FILES:
                    return True
        except OSError as error:  # gone meanwhile
            if error.errno == errno.ENAMETOOLONG:  # what lies so deep cannot be counted
                return True
    return False


def unlinked_bytes(pids: set[int], folder: Path) -> int:
    """What files take on disk that these processes have open or mapped and that have been removed from ``folder``."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            for entry in os.scandir(f"/proc/{pid}/fd"):
                status = entry.stat()
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK_BYTES
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                if line.endswith(" (deleted)") and f" {folder}/" in line:
                    place, _, _, device, node, *_ = line.split()
                    first, last = (int(end, 16) for end in place.split("-"))
                    major, minor = (int(number, 16) for number in device.split(":"))
                    sizes.setdefault((os.makedev(major, minor), int(node)), last - first)
        except OSError:  # it has ended, or is one of ours (programs cannot hide: seccomp)
            continue
    return sum(sizes.values())


def remove_tree(folder: Path) -> None:
    """Also where a program has closed its folders to itself, or put more into one another than a path can name: each
    is lifted to the top and emptied there. What resists is left to whoever clears the parent."""
    try_to(partial(folder.chmod, 0o700))
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        removed = 1
        while removed:
            removed = sum(_remove_one(name, top) for name in os.listdir(top))  # noqa: PTH208
    finally:
        os.close(top)
    try_to(folder.rmdir)


def _remove_one(name: str, top: int) -> bool:
    """A file, or a folder whose own folders come to stand beside it. False where it stays as it is."""
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
            os.unlink(name, dir_fd=top)
            return True
        os.chmod(name, 0o700, dir_fd=top)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        try:
            for entry in os.listdir(inner):  # noqa: PTH208
                if not stat.S_ISDIR(os.lstat(entry, dir_fd=inner).st_mode):
                    os.unlink(entry, dir_fd=inner)
                elif not try_to(partial(os.rmdir, entry, dir_fd=inner)):
                    os.chmod(entry, 0o700, dir_fd=inner)
                    os.rename(entry, f"lifted-{os.urandom(8).hex()}", src_dir_fd=inner, dst_dir_fd=top)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)
    except OSError:
        return False
    return True


def try_to(remove: Callable[[], None]) -> bool:
    try:
        remove()
    except OSError:
        return False
    return True
