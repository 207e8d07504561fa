"""Writing files so that a reader never sees half of one, and saying what is wrong when it cannot be done."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote

from deepchart_dagster.errors import DamagedFile, StorageError, UsageError

TEMPORARY_PREFIX = ".tmp-"
_MARK = re.compile(r"(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{12}(\.\w+)*")
_ABANDONED_AFTER_S = 24 * 3600.0
_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+"
_MAX_SEGMENT_BYTES = 200


def path_segment(name: str) -> str:
    """One path component that stands for ``name`` and for nothing else.

    ``/`` becomes ``~``; other characters outside a safe set, and a leading ``.``, are percent-encoded.
    Raises UsageError for an empty name or one whose segment exceeds 200 bytes.
    """
    if not name:
        raise UsageError("an empty name has no place in storage.")
    if not name.isprintable():
        raise UsageError(f"the name {name!r} holds characters that cannot be shown.", remedy="Rename it.")
    segment = quote(name, safe=_SAFE + "/").replace("~", "%7E").replace("/", "~")
    if segment.startswith((".", "_")):
        segment = f"%{ord(segment[0]):02X}" + segment[1:]
    if len(segment) > _MAX_SEGMENT_BYTES:
        raise UsageError(f"the name {name[:60]!r}… is too long for storage ({len(segment)} bytes, 200 at most).")
    return segment


def name_from_segment(segment: str) -> str:
    """The inverse of path_segment."""
    return unquote(segment.replace("~", "/"))


@contextmanager
def storage_errors(path: Path, doing: str) -> Iterator[None]:
    """Turn an OSError into one clear line that names the file, the cause and the remedy."""
    try:
        yield
    except OSError as error:
        message, remedy = explain_os_error(error, doing=doing, path=path)
        raise StorageError(message, remedy=remedy) from error


def explain_os_error(error: OSError, *, doing: str = "use", path: Path | None = None) -> tuple[str, str]:
    """(what happened to which file, what to do about it)."""
    message = f"cannot {doing} {_lasting(error.filename, path)}: {error.strerror or error}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return message, "The disk is full: free space or choose another folder with --storage; what is stored is kept."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        permission = "read" if doing == "read" else "write"
        return message, f"Give this user {permission} permission, or choose another folder with --storage."
    return message, "Check the path and try again; what is stored is kept."


def unreadable(path: Path, error: OSError, *, remedy: str) -> DamagedFile:
    """``remedy`` is for what cannot be read by anybody: a file that this user may not read is not to be deleted."""
    if isinstance(error, PermissionError):
        message, permission = explain_os_error(error, doing="read", path=path)
        return DamagedFile(message, remedy=permission)
    return DamagedFile(f"cannot read {path}: {error.strerror}.", remedy=remedy)


def _lasting(named: str | bytes | int | None, path: Path | None) -> Path | str:
    """The place to name: what the error names, but no temporary file or folder, which is gone by now."""
    places = [Path(place) for place in (named, path) if isinstance(place, str | Path)]
    around = places[0].parents if places else ()
    lasting = (
        place for place in (*places, *around) if not any(part.startswith(TEMPORARY_PREFIX) for part in place.parts)
    )
    return next(lasting, "a file")


def write_bytes(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write ``data`` under a temporary name beside ``path``, sync, rename. Raises StorageError.

    Without ``sync`` a loss of power may leave an empty file: for what its reader checks and can make again.
    A device or a pipe is refused: it would be renamed away.
    """
    with storage_errors(path, "write"):
        if path.exists() and not path.is_file():
            raise StorageError(f"{path} is no file: nothing is written over it.", remedy="Name another file.")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / temporary_name()
        try:
            with temporary.open("wb") as stream:
                stream.write(data)
                stream.flush()
                if sync:
                    os.fsync(stream.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str, *, sync: bool = True) -> None:
    write_bytes(path, text.encode("utf-8", "surrogatepass"), sync=sync)


def write_json(path: Path, value: object, *, sync: bool = True) -> None:
    """Readable JSON, one trailing newline."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_bytes(path, _json_bytes(text), sync=sync)


def write_json_lines(path: Path, rows: Iterable[object]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    write_bytes(path, _json_bytes("".join(lines)))


def _json_bytes(text: str) -> bytes:
    """UTF-8 in any case: half a surrogate pair, which JSON can hold and UTF-8 cannot, becomes its escape."""
    return text.encode("utf-8", "backslashreplace")


@contextmanager
def new_folder(destination: Path) -> Iterator[Path]:
    """A temporary folder that takes the place of ``destination`` when the block ends without error.

    A kill in between leaves the old folder, the new one, or none: never a mixture. Raises StorageError.
    """
    with storage_errors(destination, "write"):
        destination.parent.mkdir(parents=True, exist_ok=True)
        temporary = destination.parent / temporary_name()
        temporary.mkdir()
    try:
        yield temporary
        with storage_errors(destination, "replace"):
            _swap_in(temporary, destination)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _swap_in(temporary: Path, destination: Path) -> None:
    if not destination.exists():
        temporary.rename(destination)
        return
    old = destination.parent / temporary_name()
    destination.rename(old)
    temporary.rename(destination)
    shutil.rmtree(old, ignore_errors=True)


def temporary_name(prefix: str = TEMPORARY_PREFIX) -> str:
    """A new name that says which process of which host works under it, so that only abandoned ones are removed."""
    return f"{prefix}{_host()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"


def _host() -> str:
    return sha256(platform.node().encode()).hexdigest()[:8]


def _is_abandoned(path: Path, prefix: str) -> bool:
    """Its process is gone; of another host's process nothing is known, so a day without change must do."""
    match = _MARK.fullmatch(path.name.removeprefix(prefix))
    try:
        if match is None or match["host"] != _host():
            return time.time() - path.lstat().st_mtime > _ABANDONED_AFTER_S
        os.kill(int(match["pid"]), 0)
    except ProcessLookupError:
        return True
    except (FileNotFoundError, PermissionError, OverflowError):  # removed meanwhile; another user's; no process number
        return False
    return False


def remove_leftovers(folder: Path, prefix: str = TEMPORARY_PREFIX) -> int:
    """Delete temporary files and folders that killed processes left directly in ``folder``; returns how many."""
    found = folder.glob(f"{prefix}*") if folder.is_dir() else ()
    leftovers = [path for path in found if _is_abandoned(path, prefix)]
    for leftover in leftovers:
        if leftover.is_dir() and not leftover.is_symlink():
            _remove_folder(leftover)
        else:
            leftover.unlink(missing_ok=True)
    return len(leftovers)


def _remove_folder(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # a program that was killed may have left thousands of folders in one another
        subprocess.run(["rm", "-rf", "--", folder], check=False)


def process_folder(purpose: str) -> Path:
    """A new folder, for this user alone, in the system's place for temporary files; its maker removes it.

    What processes that were killed left there under the same ``purpose`` is removed first. Raises StorageError.
    """
    place, prefix = Path(tempfile.gettempdir()), f"deepchart-{purpose}-"
    folder = place / temporary_name(prefix)
    with storage_errors(folder, "make"):
        with suppress(PermissionError):  # another user's, in a place that all users share
            remove_leftovers(place, prefix)
        folder.mkdir(mode=0o700)
    return folder


_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_slug(text: str) -> bool:
    """Whether ``text`` can be a Dagster partition key and a folder name alike: letters, digits, ``._-``."""
    return _SLUG.fullmatch(text) is not None
