"""The Linux calls that Python 3.11 has no name for, each raising OSError with what was tried."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from pathlib import Path
from typing import NamedTuple

_CLONE_VM = 0x00000100
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_KEEPCAPS = 8
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2

CAP_DAC_READ_SEARCH = 2
CAP_SYS_CHROOT = 18
CAP_SYS_ADMIN = 21
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_POSSIBLE_CAPABILITY = 63

_MAP_PRIVATE, _MAP_ANONYMOUS, _MAP_FAILED = 0x02, 0x20, ctypes.c_void_p(-1).value
_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MADV_POPULATE_WRITE = 23
_MADV_COLLAPSE = 25
_PIDFD_SELF = -10000
_SYS_PROCESS_MADVISE = 440  # on every architecture
MOST_RUNS = 1024  # that one call takes
LARGE_PAGE = 2 << 20
_LONGS_OF_USAGE = 18  # struct rusage: two times of two each, then 14 counts
_STATUS_BITS = 0xFFFFFFFF
_FIELDS_BEFORE_A_NAME = 5  # of a line of /proc/…/maps

# These two have the same number on every architecture; pivot_root has not.
_SYS_MOUNT_SETATTR = 442
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4

libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
libc.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
libc.syscall.restype = ctypes.c_long
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mmap.restype = ctypes.c_void_p
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def check(result: int, what: str) -> int:
    """``result``, or OSError naming ``what`` where the call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    check(libc.unshare(flags), f"unshare({flags:#x})")


def enter(namespace: int, kind: int = 0) -> None:
    """``namespace`` is a descriptor of a file in /proc/…/ns. Of processes (CLONE_NEWPID) for the children to come."""
    check(libc.setns(namespace, kind), "setns")


def start_waiting(stack: ctypes.Array[ctypes.c_char]) -> int:
    """A process that only waits until it is killed, in the memory of this one, so that nothing is copied for it.

    It runs ``pause`` of the C library and no line of Python; ``stack`` must stay as long as it lives. No signal may
    have a handler here when it starts.
    """
    top = (ctypes.addressof(stack) + len(stack)) & ~0xF
    wait = ctypes.cast(libc.pause, ctypes.c_void_p)
    return check(libc.clone(wait, top, _CLONE_VM | signal.SIGCHLD, None), "clone")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    result = libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        flags,
        options.encode() if options else None,
    )
    check(result, f"mount {kind or 'bind'} {source} on {target}")


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd")]


def make_read_only(target: str) -> None:
    """The mount at ``target`` and everything mounted below it (Linux 5.12 and later)."""
    attributes = _MountAttributes(_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV, 0, 0, 0)
    result = libc.syscall(
        _SYS_MOUNT_SETATTR,
        _AT_FDCWD,
        ctypes.c_char_p(target.encode()),
        _AT_RECURSIVE,
        ctypes.byref(attributes),
        ctypes.sizeof(attributes),
    )
    check(result, f"mount_setattr {target}")


def bind(source: str, target: str) -> None:
    mount(source, target, None, MS_BIND | MS_REC)


def pivot_root(new_root: str, put_old: str) -> None:
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    check(libc.syscall(number, ctypes.c_char_p(new_root.encode()), ctypes.c_char_p(put_old.encode())), "pivot_root")


def unmount(target: str) -> None:
    check(libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def _prctl(option: int, first: int = 0, second: int = 0) -> None:
    check(libc.prctl(option, first, second, 0, 0), f"prctl({option})")


def die_with_parent(signal_number: int) -> None:
    """Cleared by the kernel when the process changes its user, so it is called after that."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def hide_memory() -> None:
    """No other process of this user can trace this one or read its memory or environment."""
    _prctl(_PR_SET_DUMPABLE, 0)


def show_memory() -> None:
    """As in a process that has just started: its user can look into it, and it can write its own id maps."""
    _prctl(_PR_SET_DUMPABLE, 1)


def adopt_orphans() -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def install_filter(program: ctypes.Structure) -> None:
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def take_addresses(size: int) -> int:
    """Where ``size`` bytes begin that now are nobody else's, and hold nothing. 0 where there are none."""
    start = libc.mmap(None, size, 0, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)
    return 0 if start in (None, _MAP_FAILED) else int(start)


def give_addresses_back(start: int, size: int) -> None:
    libc.munmap(start, size)


class Mapping(NamedTuple):
    """A line of /proc/self/maps; ``file`` is empty where it is memory alone, and in brackets for the heap and such."""

    start: int
    end: int
    access: str
    offset: int
    file: str

    def goes_on_in(self, after: Mapping) -> bool:
        """Whether both show one stretch of one file."""
        is_next = self.end == after.start and self.offset + self.end - self.start == after.offset
        return is_next and self.file == after.file != ""


def mappings() -> list[Mapping]:
    """Of this process, by address."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [_read_mapping(*line.split(maxsplit=_FIELDS_BEFORE_A_NAME)) for line in lines]


def _read_mapping(place: str, access: str, offset: str, _device: str, _node: str, file: str = "") -> Mapping:
    start, end = place.split("-")
    return Mapping(int(start, 16), int(end, 16), access, int(offset, 16), file)


def use_large_pages() -> None:
    """For what this process has in memory, where the kernel can (Linux 6.1): a fork then has less to copy."""
    for mapping in mappings():
        if mapping.access == "rw-p" and mapping.file in ("", "[heap]"):
            first = -(-mapping.start // LARGE_PAGE) * LARGE_PAGE
            for start in range(first, mapping.end - LARGE_PAGE + 1, LARGE_PAGE):
                collapse(start, LARGE_PAGE)


def join_mappings() -> None:
    """Has the parts of each library that differ in what may be done with them be two instead of five.

    A fork copies each mapping, and its end takes it apart; a large import set has six hundred. Constants may then be
    executed, and what the loader has written be written again: nothing that this process could not have done before.
    """
    known = mappings()
    for before, mapping, after in zip([None, *known], known, [*known[1:], None], strict=False):
        if mapping.access != "r--p":
            continue
        if after and after.access == "rw-p" and mapping.goes_on_in(after):
            _allow(mapping, _PROT_READ | _PROT_WRITE)
        elif (after and after.access == "r-xp" and mapping.goes_on_in(after)) or (
            before and before.access == "r-xp" and before.goes_on_in(mapping)
        ):
            _allow(mapping, _PROT_READ | _PROT_EXEC)


def _allow(mapping: Mapping, what: int) -> None:
    """Where the kernel refuses, all stays as it is."""
    libc.mprotect(ctypes.c_void_p(mapping.start), ctypes.c_size_t(mapping.end - mapping.start), what)


def collapse(start: int, length: int) -> None:
    """Makes large pages, this process's own, of what lies there, where the kernel can (Linux 6.1)."""
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_COLLAPSE)


def make_own(start: int, length: int) -> None:
    """Gives this process pages of its own there, for writing, where the kernel can (Linux 5.14)."""
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_POPULATE_WRITE)


def populate(runs: object, count: int) -> bool:
    """As ``make_own`` in one call; ``runs`` is an array of iovecs. False where it cannot (before Linux 6.14)."""
    done = libc.syscall(
        _SYS_PROCESS_MADVISE, _PIDFD_SELF, runs, ctypes.c_size_t(count), _MADV_POPULATE_WRITE, ctypes.c_uint(0)
    )
    return bool(done >= 0)


class Ended(NamedTuple):
    """How a process ended, and what it used: its wait status, processor seconds, and KiB of memory at most."""

    wait_status: int
    cpu_s: float
    max_rss_kib: int


_usage = (ctypes.c_long * (1 + _LONGS_OF_USAGE))()


def reap(pid: int) -> bytes:
    """Waits until a child has ended. To be read by ``read_ended``: os.wait4 imports a module for its answer."""
    check(libc.wait4(pid, ctypes.byref(_usage), 0, ctypes.byref(_usage, ctypes.sizeof(ctypes.c_long))), "wait4")
    return bytes(_usage)


def read_ended(packed: bytes) -> Ended:
    status, user_s, user_us, system_s, system_us, most_kib, *_ = struct.unpack(f"@{len(_usage)}l", packed)
    return Ended(status & _STATUS_BITS, user_s + system_s + (user_us + system_us) / 1e6, most_kib)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapabilityData(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


def keep_capabilities(*kept: int) -> None:
    """Drops every capability, now and for programs to come, except ``kept`` (which then survive exec)."""
    for capability in range(_LAST_POSSIBLE_CAPABILITY + 1):
        if capability not in kept and libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the last one this kernel knows, or not ours to drop (then we hold none either)
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    mask = sum(1 << capability for capability in kept)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)(_CapabilityData(mask, mask, mask), _CapabilityData(0, 0, 0))
    check(libc.capset(ctypes.byref(header), data), "capset")
    for capability in kept:
        check(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0), "prctl(ambient capability)")


def keep_capabilities_over_user_change() -> None:
    _prctl(_PR_SET_KEEPCAPS, 1)
