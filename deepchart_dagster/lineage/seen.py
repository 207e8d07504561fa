"""What was seen of partitions at the last look, kept for as long as nothing that it stands on has changed.

    <root>/lineage/seen.json

Planning and reading 100,000 results takes a minute, asking the file system when they were last changed a second. A
look is kept with the times, sizes and inodes of every result that it read or planned from, and of everything else
that a key may be made of: settings, models, judges, prompts, benchmarks, documents, our own code, the installed
libraries, the machine's last start (a loss of power may empty files without a trace). Whatever differs is looked at
anew; ``status --anew`` looks at everything. Results take the place of old ones by rename, so none changes unseen; only
an output file that somebody edits in place does, and `deepchart verify` is what finds those.
"""

from __future__ import annotations

import json
import os
import stat
import sysconfig
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import write_bytes
from deepchart_dagster.artifacts.store import RESULT_NAME
from deepchart_dagster.benchmark.model import CodeType, Split
from deepchart_dagster.errors import StorageError
from deepchart_dagster.lineage.graph import BY_NAME, NODES, AssetNode, PartitionKey, PartitionKind
from deepchart_dagster.lineage.looks import Look, State, look
from deepchart_dagster.settings import PROJECT_ROOT
from deepchart_dagster.workbench import Workbench

_FORMAT = 3
_AT_ONCE = 2  # folders that are read; more do not pay, since Python's part of it is done one at a time
_PLAIN_FOLDER = 2  # links to a folder that holds files alone: its name and its own "."
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# Folders of the storage that people put things into, and that plans read.
_INPUTS = ("benchmarks", "documents", "subsets", "given_rubrics")
# Partitions of these kinds are few or small; their stages read from all over the storage.
_ALWAYS_READ = frozenset(PartitionKind) - {PartitionKind.DOCUMENT, PartitionKind.SPLIT, PartitionKind.MODEL_SPLIT}


class Seen:
    """Looks at partitions, from memory where that still holds. ``save`` keeps what was looked at."""

    def __init__(self, bench: Workbench, *, anew: bool = False) -> None:
        self._bench = bench
        self._path = bench.settings.storage / "lineage" / "seen.json"
        self._known: dict[str, Any] = {} if anew else self._load()
        self._kept: dict[str, Any] = dict(self._known)
        self._signatures: dict[Path, str] = {}
        self._places: dict[tuple[Split | None, str | None], list[Path]] = {}
        self._changed = False

    def prefetch(self, keys: Iterable[PartitionKey]) -> None:
        """Asks the file system about everything that these partitions stand on, several folders at a time: it is what
        a look takes where nothing has changed."""
        wanted = {
            folder for key in keys if BY_NAME[key.asset].kind not in _ALWAYS_READ for folder in self._folders(key)
        }
        missing = sorted(wanted - self._signatures.keys())
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            self._signatures.update(zip(missing, pool.map(_results_signature, missing), strict=True))

    def look(self, key: PartitionKey) -> Look:
        if BY_NAME[key.asset].kind in _ALWAYS_READ:
            return look(self._bench, key)
        name = f"{key.asset} {key}"
        signature = self._signature(key)  # before the look: what changes meanwhile is seen the next time
        stored = self._known.get(name)
        if stored is not None and stored["signature"] == signature:
            return _read(key, stored["look"])
        found = look(self._bench, key)
        self._kept[name] = {"signature": signature, "look": _written(found)}
        self._changed = True
        return found

    def save(self) -> None:
        """Where it cannot be written the next look takes as long as this one."""
        if not self._changed:
            return
        text = json.dumps({"format": _FORMAT, "looks": self._kept}, separators=(",", ":"))
        try:
            write_bytes(self._path, text.encode(), sync=False)
        except StorageError:
            return

    def _load(self) -> dict[str, Any]:
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        looks = stored.get("looks") if isinstance(stored, dict) and stored.get("format") == _FORMAT else None
        return looks if isinstance(looks, dict) else {}

    # What a look stands on

    def _signature(self, key: PartitionKey) -> str:
        manifest = self._bench.artifacts.partition_path(key.asset, key.parts, ".jsonl")
        read = [self._of_results(folder) for folder in self._folders(key)]
        return content_hash([self._world, _stat_words(manifest), *read])

    def _folders(self, key: PartitionKey) -> list[Path]:
        """Where the results lie that a partition of ``key`` may read: its own split and model alone."""
        place = (key.split, key.model)
        if place not in self._places:
            found = [self._folder(asset, *place) for asset in NODES if asset.kind not in _ALWAYS_READ]
            self._places[place] = [folder for folder in found if folder]
        return self._places[place]

    def _folder(self, asset: AssetNode, split: Split | None, model: str | None) -> Path | None:
        root = self._bench.settings.storage / asset.name
        if asset.kind is PartitionKind.DOCUMENT or asset.shared:
            return root
        if asset.kind is PartitionKind.SPLIT:
            return root / split.value if split else None
        return root / split.value / model if split and model else None

    def _of_results(self, folder: Path) -> str:
        if folder not in self._signatures:
            self._signatures[folder] = _results_signature(folder)
        return self._signatures[folder]

    @cached_property
    def _world(self) -> str:
        bench, settings = self._bench, self._bench.settings
        kinds = {instance.code_types for instance in bench.library.queries()}
        html = any(CodeType.HTML in types and CodeType.PYTHON not in types for types in kinds)
        return content_hash(
            {
                "settings": settings.model_dump(mode="json"),
                "environment": {name: value for name, value in os.environ.items() if name.startswith("DEEPCHART_")},
                "prompts": _tree_signature([settings.prompts] if settings.prompts else []),
                "files": _tree_signature([settings.models_file, settings.judges_file]),
                "inputs": _tree_signature(settings.storage / name for name in _INPUTS),
                "models_of_ocr": _tree_signature(
                    folder for folder in (settings.paddle_models, settings.vl_models) if folder
                ),
                "uids": _tree_signature(
                    path for path in (settings.ultra_long, settings.backend_study) if isinstance(path, Path)
                ),
                "code": _tree_signature([PROJECT_ROOT / "deepchart_dagster"]),
                "libraries": _stat_words(Path(sysconfig.get_path("purelib"))),
                "programs": [bench.runner.identity(1, CodeType.PYTHON), bench.runner.identity(2, CodeType.PYTHON)],
                "pages": bench.runner.identity(2, CodeType.HTML) if html else None,
                "start": _BOOT.read_text() if _BOOT.exists() else None,
            }
        )


def _results_signature(folder: Path) -> str:
    """Of every instance in ``folder``: when its folder, its result and the folders in it were last changed.

    Names are relative to an open folder: on a large storage half the time would go into following paths.
    """
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return ""
    try:
        return blake2b(repr(_instances(folder, place)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    finally:
        os.close(place)


def _instances(folder: Path, place: int) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for name in sorted(os.listdir(place)):
        if name.startswith((".", "_")):
            continue
        try:
            own, result = os.stat(name, dir_fd=place), os.stat(f"{name}/{RESULT_NAME}", dir_fd=place)
            rows.append((name, own.st_ino, own.st_mtime_ns, result.st_ino, result.st_mtime_ns, result.st_size))
            if own.st_nlink != _PLAIN_FOLDER:  # there are folders in it, or the file system does not count them
                rows.append(tuple(_inner_folders(f"{folder}/{name}")))
        except OSError:
            rows.append((name,))  # no result in it, or none any more
    return rows


def _inner_folders(folder: str) -> Iterator[tuple[str, int, int]]:
    for parent, folders, _ in os.walk(folder):
        folders.sort()
        for name in folders:
            found = os.lstat(f"{parent}/{name}")
            yield name, found.st_ino, found.st_mtime_ns


def _tree_signature(roots: Iterable[Path]) -> str:
    """Of every file below ``roots``: place, size, time of change, inode."""
    digest = blake2b(digest_size=16)
    for root in roots:
        if not root.is_dir():
            digest.update(f"{root} {_stat_words(root)}\n".encode())
            continue
        for parent, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                path = Path(parent, name)
                digest.update(f"{path} {_stat_words(path)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _stat_words(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "none"
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    return f"{found.st_ino} {found.st_mtime_ns} {size}"


# A look as JSON


def _written(found: Look) -> dict[str, Any]:
    return {
        "state": found.state.value,
        "uids": sorted(found.uids),
        "others": sorted(found.uids - found.standing),
        "in_error": sorted(found.in_error),
        "waiting": sorted(found.waiting),
        "n_failed": found.n_failed,
        "because": list(found.because),
        "cause": found.cause,
        "oldest": found.oldest,
        "newest": found.newest,
        "reads": {name: sorted(uids) for name, uids in found.reads.items()},
    }


def _read(key: PartitionKey, stored: dict[str, Any]) -> Look:
    uids = frozenset(stored["uids"])
    return Look(
        key,
        State(stored["state"]),
        uids=uids,
        standing=uids.difference(stored["others"]),
        in_error=frozenset(stored["in_error"]),
        waiting=frozenset(stored["waiting"]),
        n_failed=stored["n_failed"],
        because=tuple(stored["because"]),
        cause=stored["cause"],
        oldest=stored["oldest"],
        newest=stored["newest"],
        reads={name: frozenset(read) for name, read in stored["reads"].items()},
    )
