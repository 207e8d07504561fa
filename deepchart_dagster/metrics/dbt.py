"""The dbt models, built on a copy of the raw store and published as a whole.

    <root>/metrics/.tmp-…/deepchart.duckdb    the copy that dbt builds in
    <root>/metrics/deepchart.duckdb           what readers see: raw tables, staging, marts

A build that fails leaves the published store as it was. The copy bears the final name from the start: a
view names the catalog that it was made in, and the catalog is called like the file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from deepchart_dagster.artifacts.files import TEMPORARY_PREFIX, remove_leftovers, storage_errors, temporary_name
from deepchart_dagster.errors import InfrastructureError, StorageError, UpstreamError
from deepchart_dagster.metrics.store import RAW_NAME, metrics_folder

DATABASE_NAME = "deepchart.duckdb"
DATABASE_VARIABLE = "DEEPCHART_DUCKDB"
_SOURCE_PATTERNS = ("dbt_project.yml", "profiles.yml", "models/**/*", "macros/**/*", "tests/**/*", "seeds/**/*")


@dataclass(frozen=True)
class DbtNode:
    """A model or test that did not succeed."""

    name: str
    status: str
    message: str


class DbtBuildFailed(InfrastructureError):
    """``nodes`` are the models and tests that failed; empty where dbt did not come that far."""

    def __init__(self, message: str, nodes: tuple[DbtNode, ...], *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.nodes = nodes


def prepare_build_copy(storage: Path) -> Path:
    """A copy of raw.duckdb for dbt to build in; hand it to ``publish`` or remove its folder.

    Raises UpstreamError where there is no raw store yet, StorageError where it cannot be copied.
    """
    folder = metrics_folder(storage)
    raw = folder / RAW_NAME
    if not raw.is_file():
        raise UpstreamError(f"{raw} is not there.", remedy="Make it: deepchart materialize metrics/scores.")
    copy = folder / temporary_name() / DATABASE_NAME
    with storage_errors(copy, "write"):
        remove_leftovers(folder)  # of killed builds
        copy.parent.mkdir()
        shutil.copyfile(raw, copy)
    return copy


def publish(copy: Path, storage: Path) -> Path:
    """Put a built copy in the place of the published store, whose readers keep what they have open.

    Raises StorageError where the copy is damaged or cannot be moved; the published store then stays.
    """
    import duckdb

    published = metrics_folder(storage) / DATABASE_NAME
    try:
        with duckdb.connect(copy) as connection:
            connection.execute("checkpoint")  # what dbt left in the write-ahead log belongs into the file
    except duckdb.Error as error:
        raise StorageError(f"{copy} cannot be published: {error}", remedy="Build the marts again.") from error
    with storage_errors(published, "replace"):
        copy.replace(published)
    shutil.rmtree(copy.parent, ignore_errors=True)
    return published


def build_marts(storage: Path, project_dir: Path) -> Path:
    """Run ``dbt build`` (models, their tests, unit tests) on a copy and publish it.

    Raises DbtBuildFailed naming the nodes that failed, UpstreamError, StorageError; the old store is kept.
    """
    copy = prepare_build_copy(storage)
    try:
        target = copy.parent / "target"
        completed = _run_dbt("build", project_dir, target, copy)
        if completed.returncode != 0:
            raise _failure(completed, _failed_nodes(target / "run_results.json"))
        return publish(copy, storage)
    finally:
        shutil.rmtree(copy.parent, ignore_errors=True)


def _run_dbt(command: str, project_dir: Path, target: Path, database: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own: dbt keeps global state, and its imports cost seconds."""
    arguments = ["--project-dir", str(project_dir), "--profiles-dir", str(project_dir), "--target-path", str(target)]
    environment = {**os.environ, DATABASE_VARIABLE: str(database), "DBT_LOG_PATH": str(target / "logs")}
    return subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", command, *arguments],
        env=environment,
        cwd=project_dir,
        capture_output=True,
        text=True,
        check=False,
    )


def _failed_nodes(results: Path) -> tuple[DbtNode, ...]:
    try:
        rows = json.loads(results.read_text(encoding="utf-8"))["results"]
    except (OSError, ValueError, KeyError):
        return ()
    return tuple(
        DbtNode(name=row["unique_id"], status=row["status"], message=str(row.get("message") or "").strip())
        for row in rows
        if row["status"] in ("error", "fail")
    )


def _failure(completed: subprocess.CompletedProcess[str], nodes: tuple[DbtNode, ...]) -> DbtBuildFailed:
    if nodes:
        said = "; ".join(f"{node.name} ({node.status}: {' '.join(node.message.split())[:200]})" for node in nodes)
    else:
        said = " ".join((completed.stdout or completed.stderr).strip().splitlines()[-3:]) or "no output"
    return DbtBuildFailed(f"dbt build failed: {said}.", nodes, remedy="The store published before is kept.")


def ensure_manifest(project_dir: Path) -> Path:
    """``target/manifest.json`` of the dbt project, made by ``dbt parse`` where it is missing or older than a source.

    Cheap where it is fresh. Raises DbtBuildFailed where the project cannot be parsed.
    """
    manifest = project_dir / "target" / "manifest.json"
    if _is_fresh(manifest, project_dir):
        return manifest
    with storage_errors(manifest, "write"):
        manifest.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(manifest.parent / ".parse.lock"):
            if not _is_fresh(manifest, project_dir):  # another process may have made it meanwhile
                _parse(project_dir, manifest)
    return manifest


def _parse(project_dir: Path, manifest: Path) -> None:
    """Parse into a folder of our own, then rename: a reader never sees half a manifest."""
    with tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=manifest.parent) as name:
        folder = Path(name)
        completed = _run_dbt("parse", project_dir, folder, folder / DATABASE_NAME)
        if completed.returncode != 0:
            said = " ".join((completed.stdout or completed.stderr).strip().splitlines()[-3:])
            raise DbtBuildFailed(f"dbt cannot parse {project_dir}: {said}", (), remedy="Correct the project.")
        (folder / manifest.name).replace(manifest)


def _is_fresh(manifest: Path, project_dir: Path) -> bool:
    if not manifest.is_file():
        return False
    made = manifest.stat().st_mtime_ns
    return all(path.stat().st_mtime_ns <= made for path in project_sources(project_dir))


def project_sources(project_dir: Path) -> Iterator[Path]:
    for pattern in _SOURCE_PATTERNS:
        yield from project_dir.glob(pattern)
