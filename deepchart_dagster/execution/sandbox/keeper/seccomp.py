"""System calls that no chart needs, refused by a small filter (seccomp, classic BPF).

A second wall: the tiers hold without it, except that Landlock says nothing about datagrams, local sockets,
modes and owners of files, or (before ABI 6) signals; there this filter is the wall.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import NamedTuple

from . import linux


class _Numbers(NamedTuple):
    x86_64: int | None
    aarch64: int | None


_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_ALWAYS_REFUSED = {
    "ptrace": _Numbers(101, 117),
    "mount": _Numbers(165, 40),
    "umount2": _Numbers(166, 39),
    "pivot_root": _Numbers(155, 41),
    "chroot": _Numbers(161, 51),
    "unshare": _Numbers(272, 97),
    "setns": _Numbers(308, 268),
    "open_tree": _Numbers(428, 428),
    "move_mount": _Numbers(429, 429),
    "fsopen": _Numbers(430, 430),
    "fsmount": _Numbers(432, 432),
    "mount_setattr": _Numbers(442, 442),
    "process_vm_readv": _Numbers(310, 270),
    "process_vm_writev": _Numbers(311, 271),
    "pidfd_getfd": _Numbers(438, 438),
    "kcmp": _Numbers(312, 272),
    "bpf": _Numbers(321, 280),
    "perf_event_open": _Numbers(298, 241),
    "add_key": _Numbers(248, 217),
    "request_key": _Numbers(249, 218),
    "keyctl": _Numbers(250, 219),
    "userfaultfd": _Numbers(323, 282),
    "io_uring_setup": _Numbers(425, 425),
    "io_uring_enter": _Numbers(426, 426),
    "io_uring_register": _Numbers(427, 427),
    "kexec_load": _Numbers(246, 104),
    "kexec_file_load": _Numbers(320, 294),
    "init_module": _Numbers(175, 105),
    "finit_module": _Numbers(313, 273),
    "delete_module": _Numbers(176, 106),
    "open_by_handle_at": _Numbers(304, 265),
    "fanotify_init": _Numbers(300, 262),
    "quotactl": _Numbers(179, 60),
    "reboot": _Numbers(169, 142),
    "swapon": _Numbers(167, 224),
    "swapoff": _Numbers(168, 225),
    "syslog": _Numbers(103, 116),
    "acct": _Numbers(163, 89),
    "settimeofday": _Numbers(164, 170),
    "clock_settime": _Numbers(227, 112),
    "adjtimex": _Numbers(159, 171),
    "clock_adjtime": _Numbers(305, 266),
    "sethostname": _Numbers(170, 161),
    "setdomainname": _Numbers(171, 162),
    "personality": _Numbers(135, 92),
    # Memory that belongs to no process and no file system, so that no limit holds for it.
    "memfd_create": _Numbers(319, 279),
    "memfd_secret": _Numbers(447, 447),
}

_CONNECTIONS = {
    "socket": _Numbers(41, 198),
    "connect": _Numbers(42, 203),
    "bind": _Numbers(49, 200),
}

_MESSAGE_QUEUES = {
    "shmget": _Numbers(29, 194),
    "shmat": _Numbers(30, 196),
    "msgget": _Numbers(68, 186),
    "semget": _Numbers(64, 190),
    "mq_open": _Numbers(240, 180),
}

# Answered with success and not done: programs copy modes along with files and would stop at an error.
_FILE_METADATA = {
    "chmod": _Numbers(90, None),
    "fchmodat": _Numbers(268, 53),
    "fchmodat2": _Numbers(452, 452),
    "chown": _Numbers(92, None),
    "lchown": _Numbers(94, None),
    "fchownat": _Numbers(260, 54),
    "utime": _Numbers(132, None),
    "utimes": _Numbers(235, None),
    "utimensat": _Numbers(280, 88),
    "futimesat": _Numbers(261, None),
    "setxattr": _Numbers(188, 5),
    "lsetxattr": _Numbers(189, 6),
    "removexattr": _Numbers(197, 14),
    "lremovexattr": _Numbers(198, 15),
}

# abort() and raise() use tgkill on themselves and keep working.
_SIGNALS = {
    "kill": _Numbers(62, 129),
    "tkill": _Numbers(200, 130),
    "rt_sigqueueinfo": _Numbers(129, 138),
    "rt_tgsigqueueinfo": _Numbers(297, 240),
    "pidfd_open": _Numbers(434, 434),
    "pidfd_send_signal": _Numbers(424, 424),
    "process_madvise": _Numbers(440, 440),
}

_OFFSET_FIRST_ARGUMENT, _OFFSET_SECOND_ARGUMENT = 16, 24

# What a process may do to itself and, unless it is kept from it, to all others of its user: its guard, the pipeline.
# Each with the arguments that are 0 where it means itself.
_ON_ITSELF = (
    (_Numbers(302, 261), (_OFFSET_FIRST_ARGUMENT,)),  # prlimit64
    (_Numbers(203, 122), (_OFFSET_FIRST_ARGUMENT,)),  # sched_setaffinity
    (_Numbers(144, 119), (_OFFSET_FIRST_ARGUMENT,)),  # sched_setscheduler
    (_Numbers(142, 118), (_OFFSET_FIRST_ARGUMENT,)),  # sched_setparam
    (_Numbers(314, 274), (_OFFSET_FIRST_ARGUMENT,)),  # sched_setattr
    (_Numbers(141, 140), (_OFFSET_FIRST_ARGUMENT, _OFFSET_SECOND_ARGUMENT)),  # setpriority
    (_Numbers(251, 30), (_OFFSET_SECOND_ARGUMENT,)),  # ioprio_set
)

_SOCKET = _Numbers(41, 198)
_SOCKETPAIR = _Numbers(53, 199)
_CLONE = _Numbers(56, 220)
_CLONE3 = _Numbers(435, 435)
_PRCTL = _Numbers(157, 167)
_SET_DUMPABLE = 4
_LOCAL_FAMILIES = (1, 2, 10)  # unix, inet, inet6: all private to the network namespace
_NAMESPACE_FLAGS = 0x7E020000

_SOCKET_TYPE_MASK, _DATAGRAM = 0xF, 2

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH = 0, 4
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


def supported() -> bool:
    return os.uname().machine in _AUDIT_ARCH


class Filter:
    """Made once, installed in each process that it is for."""

    def __init__(self, instructions: list[_Instruction]) -> None:
        self._array = (_Instruction * len(instructions))(*instructions)
        self._program = _Program(len(instructions), self._array)

    def install(self) -> None:
        """For this process and all it starts, for good."""
        linux.install_filter(self._program)


def system_call_filter(*, landlock_tier: bool, signals_stay_inside: bool = True) -> Filter:
    """``landlock_tier`` adds what namespaces would have held."""
    return Filter(_instructions(landlock_tier, signals_stay_inside))


def refuse_system_calls(*, landlock_tier: bool, signals_stay_inside: bool = True) -> None:
    system_call_filter(landlock_tier=landlock_tier, signals_stay_inside=signals_stay_inside).install()


def _instructions(landlock_tier: bool, signals_stay_inside: bool) -> list[_Instruction]:
    machine = os.uname().machine
    filter_ = [
        _Instruction(_LOAD, 0, 0, _OFFSET_ARCH),
        _Instruction(_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        _Instruction(_RETURN, 0, 0, _KILL),
        _Instruction(_LOAD, 0, 0, _OFFSET_NUMBER),
    ]
    if machine == "x86_64":
        filter_ += [_Instruction(_JUMP_AT_LEAST, 0, 1, _X32_BIT), _Instruction(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    refused = _ALWAYS_REFUSED | _MESSAGE_QUEUES
    if landlock_tier:
        refused |= _CONNECTIONS
        filter_ += _answer(_FILE_METADATA, 0, machine)
    if not signals_stay_inside:
        refused |= _SIGNALS
    filter_ += _answer(refused, errno.EPERM, machine)
    filter_ += _answer({"clone3": _CLONE3}, errno.ENOSYS, machine)  # its flags are out of sight: libc falls back
    sockets = _no_datagram_pairs(machine) if landlock_tier else _local_sockets(machine)
    for call, arguments in _ON_ITSELF:
        filter_ += _on_itself(getattr(call, machine), arguments)
    hiding = _no_hiding(machine) if landlock_tier else []
    return [*filter_, *_no_new_namespaces(machine), *hiding, *sockets, _Instruction(_RETURN, 0, 0, _ALLOW)]


def _answer(calls: dict[str, _Numbers], error: int, machine: str) -> list[_Instruction]:
    numbers = [number for call in calls.values() if (number := getattr(call, machine)) is not None]
    return [
        instruction
        for number in numbers
        for instruction in (
            _Instruction(_JUMP_EQUAL, 0, 1, number),
            _Instruction(_RETURN, 0, 0, _ERRNO | error),
        )
    ]


def _no_new_namespaces(machine: str) -> list[_Instruction]:
    return [
        _Instruction(_JUMP_EQUAL, 0, 4, getattr(_CLONE, machine)),
        _Instruction(_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
        _Instruction(_JUMP_SET, 0, 1, _NAMESPACE_FLAGS),
        _Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    ]


def _on_itself(number: int, arguments: tuple[int, ...]) -> list[_Instruction]:
    """Allowed where all ``arguments`` are 0."""
    body: list[_Instruction] = []
    for left, offset in zip(reversed(range(len(arguments))), arguments, strict=True):
        when_zero, otherwise = (0, 2 * left) if left else (1, 0)
        body += [_Instruction(_LOAD, 0, 0, offset), _Instruction(_JUMP_EQUAL, when_zero, otherwise, 0)]
    body += [_Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM), _Instruction(_RETURN, 0, 0, _ALLOW)]
    return [_Instruction(_JUMP_EQUAL, 0, len(body), number), *body]


def _no_hiding(machine: str) -> list[_Instruction]:
    """Who is not dumpable keeps its open files to itself, and what it has on disk (guard.unlinked_bytes)."""
    return [
        _Instruction(_JUMP_EQUAL, 0, 6, getattr(_PRCTL, machine)),
        _Instruction(_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
        _Instruction(_JUMP_EQUAL, 0, 3, _SET_DUMPABLE),
        _Instruction(_LOAD, 0, 0, _OFFSET_SECOND_ARGUMENT),
        _Instruction(_JUMP_EQUAL, 0, 1, 0),
        _Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    ]


def _local_sockets(machine: str) -> list[_Instruction]:
    """vsock, packet, netlink and the like reach past a network namespace or into rarely used kernel code."""
    allowed = [
        instruction
        for family in _LOCAL_FAMILIES
        for instruction in (_Instruction(_JUMP_EQUAL, 0, 1, family), _Instruction(_RETURN, 0, 0, _ALLOW))
    ]
    body = [_Instruction(_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT), *allowed]
    body.append(_Instruction(_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT))
    return [_Instruction(_JUMP_EQUAL, 0, len(body), getattr(_SOCKET, machine)), *body]


def _no_datagram_pairs(machine: str) -> list[_Instruction]:
    """One end of a datagram pair can still send to any local socket by its path."""
    return [
        _Instruction(_JUMP_EQUAL, 0, 4, getattr(_SOCKETPAIR, machine)),
        _Instruction(_LOAD, 0, 0, _OFFSET_SECOND_ARGUMENT),
        _Instruction(_AND, 0, 0, _SOCKET_TYPE_MASK),
        _Instruction(_JUMP_EQUAL, 0, 1, _DATAGRAM),
        _Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM),
    ]
