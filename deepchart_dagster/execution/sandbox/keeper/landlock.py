"""Tier `landlock`: rules on paths for hosts that forbid user namespaces.

What it cannot hide is metadata: a program may learn that a path exists and how large it is, never what is in it.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from . import linux

MINIMUM_ABI = 4  # Linux 6.7: the first that refuses TCP connections
SIGNAL_ABI = 6  # Linux 6.12: the first that keeps signals and abstract sockets inside

# The same numbers on every architecture.
_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    return max(0, int(linux.libc.syscall(_SYS_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)))


def restrict(readable: Iterable[str], writable: Iterable[str], usable_files: Iterable[str]) -> None:
    """From here on this process reads only ``readable``, and changes only what lies below ``writable``.

    ``usable_files`` may be read and written but not replaced (/dev/null). Paths that do not exist are left
    out. Needs ``no_new_privileges`` before it. Raises OSError below MINIMUM_ABI.
    """
    version = abi()
    if version < MINIMUM_ABI:
        raise OSError(f"Landlock ABI {version} is below {MINIMUM_ABI}")
    handled = (1 << (16 if version >= 5 else 15)) - 1
    scoped = 0b11 if version >= SIGNAL_ABI else 0
    attributes = struct.pack("=QQQ", handled, 0b11, scoped)[: 24 if version >= SIGNAL_ABI else 16]
    ruleset = linux.check(
        int(linux.libc.syscall(_SYS_CREATE_RULESET, attributes, len(attributes), 0)), "landlock_create_ruleset"
    )
    written = handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _EXECUTE | _IOCTL_DEV)
    for path in readable:
        _allow(ruleset, path, _READ)
    for path in writable:
        _allow(ruleset, path, written)
    for path in usable_files:
        _allow(ruleset, path, _READ_FILE | _WRITE_FILE | _TRUNCATE)
    linux.check(int(linux.libc.syscall(_SYS_RESTRICT_SELF, ruleset, 0)), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not Path(path).is_dir():
        access &= _FOR_FILES
    rule = ctypes.create_string_buffer(struct.pack("=Qi", access, beneath))
    try:
        linux.check(
            int(linux.libc.syscall(_SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)), f"landlock_add_rule {path}"
        )
    finally:
        os.close(beneath)
