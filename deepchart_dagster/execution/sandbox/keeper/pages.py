"""Which pages of memory a fork of this process writes to, and having them copied all at once.

A fork shares its memory with the server until one of both writes: then the page is copied. Using a Python object is
writing, because its users are counted, so a program that does little writes to two thousand pages. Nearly all of them
are those of every such program: one call that names them costs half of what as many page faults do.
"""

from __future__ import annotations

import ctypes
import os
import struct

from . import linux

_PAGE = 4096
_LARGE = linux.LARGE_PAGE
_MANY = 96  # pages that take as long to copy one by one as a large page does
_ENTRY_BYTES = 8
_PRESENT, _EXCLUSIVE, _OF_A_FILE = 0x80, 0x01, 0x20  # in the highest byte of an entry of /proc/self/pagemap
_RUN = struct.Struct("=QQ")


class _Run(ctypes.Structure):
    """An iovec: where it begins, and its length."""

    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Pages:
    """Runs of pages that a fork is to have copied. Where many lie together, all around them is copied with them."""

    def __init__(self, packed: bytes = b"") -> None:
        """``packed`` comes from ``written`` in a fork: what this process has not mapped is left out."""
        mapped = writable()
        runs = [
            (start, length)
            for start, length in _RUN.iter_unpack(packed)
            if any(first <= start and start + length <= end for first, end in mapped)
        ]
        dense = _dense(runs, mapped)
        single = [run for run in runs if run[0] // _LARGE not in dense]
        self._runs = (_Run * len(single))(*(_Run(*run) for run in single))
        self._large = _joined(dense)

    def copy(self) -> None:
        """In the fork. A kernel that cannot leaves it to the page faults: single ones before Linux 6.14, large ones
        before 6.1."""
        for first in range(0, len(self._runs), linux.MOST_RUNS):
            count = min(linux.MOST_RUNS, len(self._runs) - first)
            linux.populate(ctypes.byref(self._runs, first * ctypes.sizeof(_Run)), count)
        for start, length in self._large:
            # Of each one part is written to first: it is not copied while it is a large page in the server as well.
            for large in range(start, start + length, _LARGE):
                linux.make_own(large, _PAGE)
            linux.collapse(start, length)


def _dense(runs: list[tuple[int, int]], mapped: list[tuple[int, int]]) -> list[int]:
    """Numbers of the large pages that lie in one mapping, and of which so many pages are in ``runs``."""
    counts: dict[int, int] = {}
    for start, length in runs:
        for place in range(start, start + length, _PAGE):
            counts[place // _LARGE] = counts.get(place // _LARGE, 0) + 1
    return sorted(
        large
        for large, count in counts.items()
        if count >= _MANY and any(first <= large * _LARGE and (large + 1) * _LARGE <= end for first, end in mapped)
    )


def _joined(dense: list[int]) -> list[tuple[int, int]]:
    """Where neighbours begin, and how long they are together."""
    joined: list[tuple[int, int]] = []
    for large in dense:
        if joined and sum(joined[-1]) == large * _LARGE:
            joined[-1] = (joined[-1][0], joined[-1][1] + _LARGE)
        else:
            joined.append((large * _LARGE, _LARGE))
    return joined


_common: Pages | None = None


def copy_after_fork(pages: Pages | None) -> None:
    """In the forks of this process, not in theirs."""
    global _common
    _common = pages


def _copy_common() -> None:
    if pages := _common:
        copy_after_fork(None)
        pages.copy()


os.register_at_fork(after_in_child=_copy_common)


def written(places: list[tuple[int, int]]) -> bytes:
    """Which pages there this process has to itself: what it has written to since it was forked."""
    entries = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    read = [
        os.pread(entries, (end - start) // _PAGE * _ENTRY_BYTES, start // _PAGE * _ENTRY_BYTES) for start, end in places
    ]  # all first: what follows writes itself
    os.close(entries)
    packed = bytearray()
    for (start, _), found in zip(places, read, strict=True):
        for first, last in _runs(found):
            packed += _RUN.pack(start + first * _PAGE, (last - first) * _PAGE)
    return bytes(packed)


def writable() -> list[tuple[int, int]]:
    """Where what this process may write to, and shares with nobody but its forks, begins and ends."""
    return [(one.start, one.end) for one in linux.mappings() if one.access in ("rw-p", "rwxp")]


def _runs(entries: bytes) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for page, flags in enumerate(entries[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]):
        if flags & _PRESENT and flags & _EXCLUSIVE and not flags & _OF_A_FILE:
            if runs and runs[-1][1] == page:
                runs[-1] = (runs[-1][0], page + 1)
            else:
                runs.append((page, page + 1))
    return runs
