"""Where results lie, and what is derived from them.

    <root>/<asset>/<scope…>/<uid>/result.json        the truth, beside the instance's output files
    <root>/<asset>/_partitions/<partition…>.jsonl    a partition's manifest, derived when its step ends
    <root>/<asset>/_partitions/<partition…>.lock     held while a step works on that partition

``scope`` is what an instance's result depends on beside its uid: (split, model) for what a model makes,
(split,) for contexts, () for documents, references and rubrics, which all variants of a query share.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import content_hash, sha256_file
from deepchart_dagster.artifacts.files import (
    new_folder,
    path_segment,
    storage_errors,
    unreadable,
    write_json,
    write_json_lines,
)
from deepchart_dagster.artifacts.results import InstanceResult, OutputFile
from deepchart_dagster.errors import DamagedFile, StorageError

log = logging.getLogger(__name__)

RESULT_NAME = "result.json"
_PARTITIONS = "_partitions"
_OF_DOCUMENTS = frozenset({"raw_documents", "ocr_contexts"})


@dataclass(frozen=True)
class Manifest:
    """A partition's instances as they stood when its step ended."""

    asset: str
    partition: tuple[str, ...]
    rows: tuple[dict[str, JsonValue], ...]

    @property
    def data_version(self) -> str:
        """Hash of what downstream can see of every instance: an identical rebuild has the same one."""
        seen = [[row["uid"], row["output_hash"]] for row in self.rows]
        return content_hash(sorted(seen, key=lambda pair: str(pair[0])))


@dataclass(frozen=True)
class ArtifactStore:
    """The files of one storage root. Cheap to make; holds no state.

    only_errors   steps try again what is in error and leave every other result as it is, stale or not
    """

    root: Path
    only_errors: bool = False

    def folder(self, asset: str, scope: tuple[str, ...], uid: str) -> Path:
        return self._scope_folder(asset, scope) / path_segment(uid)

    def _scope_folder(self, asset: str, scope: tuple[str, ...]) -> Path:
        return self.root.joinpath(asset, *(path_segment(part) for part in scope))

    def read(self, asset: str, scope: tuple[str, ...], uid: str) -> InstanceResult | None:
        """The stored result, or None where there is none. Raises DamagedFile for one that cannot be read."""
        path = self.folder(asset, scope, uid) / RESULT_NAME
        remedy = "Delete that folder; the next run makes it again."
        try:
            return InstanceResult.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(path, error, remedy=remedy) from error
        except ValidationError as error:
            raise DamagedFile(f"{path} is damaged ({error.errors()[0]['msg']}).", remedy=remedy) from error

    @contextmanager
    def writing(self, asset: str, scope: tuple[str, ...], uid: str) -> Iterator[Path]:
        """A folder for the instance's outputs; it replaces the stored one when the block ends well."""
        with new_folder(self.folder(asset, scope, uid)) as folder:
            yield folder

    def partition_path(self, asset: str, partition: tuple[str, ...], suffix: str) -> Path:
        names = [path_segment(part) for part in partition] or ["all"]
        return self.root.joinpath(asset, _PARTITIONS, *names[:-1], names[-1] + suffix)

    def write_manifest(self, asset: str, partition: tuple[str, ...], results: Iterable[InstanceResult]) -> Manifest:
        rows = tuple(
            sorted(
                (_manifest_row(result) for result in results),
                key=lambda row: str(row["uid"]),
            )
        )
        write_json_lines(self.partition_path(asset, partition, ".jsonl"), rows)
        return Manifest(asset=asset, partition=partition, rows=rows)

    def read_manifest(self, asset: str, partition: tuple[str, ...]) -> Manifest | None:
        """None where there is none. Raises DamagedFile, naming it, for one that cannot be read."""
        path = self.partition_path(asset, partition, ".jsonl")
        try:
            rows = tuple(_read_manifest_row(line) for line in path.read_bytes().splitlines())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise DamagedFile(
                f"{path} is damaged: {error}.",
                remedy=f"Results are kept; write it again: {materialize_command(asset, partition)}.",
            ) from error
        return Manifest(asset=asset, partition=partition, rows=rows)

    def manifests(self, asset: str) -> list[tuple[str, ...]]:
        """The partitions of ``asset`` that have a manifest, sorted."""
        base = self.root / asset / _PARTITIONS
        return sorted((*path.relative_to(base).parts[:-1], path.stem) for path in base.rglob("*.jsonl"))

    @contextmanager
    def lock(self, asset: str, partition: tuple[str, ...], *, wait_s: float = 3600.0) -> Iterator[None]:
        """Only one step works on a partition at a time; a second one says that it waits, and when it gives up."""
        path = self.partition_path(asset, partition, ".lock")
        with storage_errors(path, "lock"):
            path.parent.mkdir(parents=True, exist_ok=True)
        held = f"{asset} {'|'.join(partition)} is being materialised by another process ({path} is locked)"
        lock = FileLock(path)
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                log.warning("deepchart: %s; waiting for it to end.", held)
                lock.acquire(timeout=wait_s)
        except Timeout as error:
            raise StorageError(f"{held}.", remedy="Wait for it to end, then run this again.") from error
        try:
            yield
        finally:
            lock.release()


def materialize_command(asset: str, partition: tuple[str, ...] = ()) -> str:
    """The command that makes a partition: (document), (split) or (split, model); all of them where it is ()."""
    names = ("--document",) if asset in _OF_DOCUMENTS else ("--split", "--model")
    options = (f" {name} {value}" for name, value in zip(names, partition, strict=False))
    return f"deepchart materialize {asset}{''.join(options)}"


def _manifest_row(result: InstanceResult) -> dict[str, JsonValue]:
    return {
        "uid": result.uid,
        "status": result.status.value,
        "input_key": result.input_key,
        "output_hash": result.output_hash,
        "problem": result.problem.kind if result.problem else None,
    }


def _read_manifest_row(line: bytes) -> dict[str, JsonValue]:
    """Raises ValueError for what is none."""
    row = json.loads(line)
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("uid", "output_hash")):
        raise ValueError(f"{line[:40]!r} names no instance and its output")
    return row


def save_result(folder: Path, result: InstanceResult) -> None:
    write_json(folder / RESULT_NAME, result.model_dump(mode="json"))


def hash_outputs(folder: Path) -> dict[str, OutputFile]:
    """Relative name -> hash and size of every file in ``folder`` other than result.json."""
    with storage_errors(folder, "read"):
        return {
            str(path.relative_to(folder)): OutputFile(sha256=sha256_file(path), bytes=path.stat().st_size)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != RESULT_NAME
        }
