"""Model files by content. Hashes are kept beside size and time of change, so that asking again costs nothing."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.errors import ConfigurationError, StorageError

_HIDDEN = "."


def folder_hashes(folder: Path) -> dict[str, str]:
    """Path relative to ``folder`` -> sha256, for every file below it but hidden ones. Raises ConfigurationError."""
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        shown = [path for path in files if not _is_hidden(path.relative_to(folder))]
        return {path.relative_to(folder).as_posix(): file_hash(path) for path in shown}
    except OSError as error:
        raise ConfigurationError(
            f"the model folder {folder} cannot be read: {error.strerror or error}.", remedy="Run deepchart doctor."
        ) from error


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.parts)


def file_hash(path: Path) -> str:
    """sha256 of the file's bytes; read once for a size and a time of change."""
    stat = path.stat()
    return _hash(str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ino)


@cache
def _hash(path: str, size: int, changed_ns: int, inode: int) -> str:
    facts = f"{size}-{changed_ns}-{inode}"
    known = _remembered()
    entry = known.get(path)
    if entry is not None and entry["facts"] == facts:
        return entry["sha256"]
    digest = sha256_file(Path(path))
    _remember(path, {"facts": facts, "sha256": digest})
    return digest


def _memory() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("deepchart-dagster") / "model-hashes.json"


def _remembered() -> dict[str, dict[str, str]]:
    """What earlier processes hashed; a file that cannot be read or says something else is no memory."""
    try:
        found = json.loads(_memory().read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        path: entry
        for path, entry in found.items()
        if isinstance(entry, dict) and isinstance(entry.get("facts"), str) and isinstance(entry.get("sha256"), str)
    }


def _remember(path: str, entry: dict[str, str]) -> None:
    """Two processes at once may each forget what the other one adds: that costs a hash, never a wrong one."""
    kept = {name: known for name, known in _remembered().items() if Path(name).exists()}
    try:
        write_json(_memory(), {**kept, path: entry})
    except (OSError, StorageError):
        return  # no cache folder: hashed again next time
