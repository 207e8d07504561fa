"""Stored files against their recorded hashes: what is damaged or was edited by hand. Touches nothing.

Results and their files, the manifests made of them, the registered PDFs, and the benchmarks. What cannot even be
read is a finding like any other and ends nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.files import TEMPORARY_PREFIX
from deepchart_dagster.artifacts.results import InstanceResult, output_hash
from deepchart_dagster.artifacts.store import RESULT_NAME, ArtifactStore, hash_outputs
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import DESCRIPTION_NAME, QUERIES_NAME, Library, read_queries
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile, DeepChartError, StorageError
from deepchart_dagster.lineage.graph import NODES


@dataclass(frozen=True)
class Finding:
    file: Path
    message: str


@dataclass(frozen=True)
class Verification:
    n_results: int
    n_files: int
    findings: tuple[Finding, ...]


def verify(storage: Path) -> Verification:
    """Re-hashes what is stored. Reads everything: minutes on a large storage."""
    closed: list[Finding] = []
    results = [path for asset in NODES for path in _results(storage / asset.name, closed)]
    checked = [*closed, *(item for path in results for item in _check_result(path))]
    checked += [*_check_manifests(storage), *_check_documents(storage), *_check_benchmarks(storage)]
    findings = tuple(item for item in checked if item is not None)
    return Verification(len(results), len(checked) - len(findings), findings)


def _results(folder: Path, closed: list[Finding]) -> list[Path]:
    """Without what a step writes at this moment, or did when it was killed. An instance may be called as files are.

    A folder that this user may not look into is added to ``closed``.
    """

    def note(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # an asset that was never made
            closed.append(Finding(Path(error.filename), f"cannot be read: {error.strerror}"))

    found: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(TEMPORARY_PREFIX)]
        path = Path(parent, RESULT_NAME)
        if RESULT_NAME in files or (RESULT_NAME in folders and not (path / RESULT_NAME).exists()):
            found.append(path)
    return sorted(found)


def _check_result(path: Path) -> Iterator[Finding | None]:
    """None for each file that is as recorded, a finding for each that is not."""
    try:
        result = InstanceResult.model_validate_json(path.read_bytes())
        found = hash_outputs(path.parent)
    except ValidationError as error:
        yield Finding(path, f"is no readable result: {error.errors()[0]['msg']}")
        return
    except OSError as error:
        yield Finding(path, f"cannot be read: {error.strerror}")
        return
    except StorageError as error:
        yield Finding(path.parent, f"cannot be checked: {error.message}")
        return
    if output_hash(result.status, result.value, result.problem, result.files) != result.output_hash:
        yield Finding(path, "was edited: its output hash does not fit its content")
    for name in sorted(result.files.keys() | found.keys()):
        if name not in found:
            yield Finding(path.parent / name, "is missing")
        elif name not in result.files:
            yield Finding(path.parent / name, "is not part of the result")
        elif found[name] != result.files[name]:
            yield Finding(path.parent / name, _DIFFERS)
        else:
            yield None


_DIFFERS = "differs from what was recorded"


def _check_manifests(storage: Path) -> Iterator[Finding]:
    store = ArtifactStore(storage)
    for asset in NODES:
        for partition in store.manifests(asset.name):
            try:
                store.read_manifest(asset.name, partition)
            except DamagedFile as error:
                path = store.partition_path(asset.name, partition, ".jsonl")
                yield Finding(path, error.message.removeprefix(f"{path} "))


def _check_documents(storage: Path) -> Iterator[Finding | None]:
    documents = DocumentStore(storage)
    for record in documents.records():
        try:
            document = documents.get(record.parent.name)
            pdf = documents.pdf(document.id)
        except DeepChartError as error:
            yield Finding(record, error.message.removeprefix(f"{record} "))
        else:
            yield _check_file(pdf, document.sha256)


def _check_benchmarks(storage: Path) -> Iterator[Finding | None]:
    library = Library(storage)
    for folder in (library.folder(name) for name in library.names()):
        try:
            read_queries(folder / QUERIES_NAME, folder.name)
        except (BenchmarkFormatError, StorageError) as error:
            yield Finding(folder / QUERIES_NAME, f"is no list of queries: {error.message}")
        try:
            recorded = json.loads((folder / DESCRIPTION_NAME).read_bytes())["files"]
            hashes = {str(name): str(file["sha256"]) for name, file in recorded.items()}
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
            yield Finding(folder / DESCRIPTION_NAME, "names no files with their hashes")
            continue
        for name, sha256 in sorted(hashes.items()):
            yield _check_file(folder / name, sha256)


def _check_file(path: Path, sha256: str) -> Finding | None:
    if not path.is_file():
        return Finding(path, "is missing")
    try:
        return None if sha256_file(path) == sha256 else Finding(path, _DIFFERS)
    except OSError as error:
        return Finding(path, f"cannot be read: {error.strerror}")
