"""What a step is made from: results of the steps before and their files, or the reason why they cannot be used."""

from __future__ import annotations

from pathlib import Path

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore, materialize_command
from deepchart_dagster.errors import UpstreamError


def usable_result(store: ArtifactStore, asset: str, scope: tuple[str, ...], uid: str) -> InstanceResult:
    """The stored result. Raises UpstreamError, saying what to do, where there is none or it is an error."""
    result = store.read(asset, scope, uid)
    place = " ".join((asset, "|".join(scope))).strip()
    if result is None:
        raise UpstreamError(f"{uid} has no result in {place}.", remedy=f"Make it: {materialize_command(asset, scope)}.")
    if result.is_error:
        reason = result.problem.message if result.problem else "no reason was kept"
        raise UpstreamError(
            f"{uid} is an error in {place}: {reason}", remedy=f"Try again: {materialize_command(asset, scope)}."
        )
    return result


def output_file(store: ArtifactStore, result: InstanceResult, name: str) -> Path:
    return store.folder(result.asset, result.scope, result.uid) / name


def read_output(store: ArtifactStore, result: InstanceResult, name: str) -> bytes:
    """An output file's bytes. Raises UpstreamError where it is gone, was never made, or was changed."""
    path = output_file(store, result, name)
    remedy = f"Delete that folder, then: {materialize_command(result.asset, result.scope)}."
    if name not in result.files:
        raise UpstreamError(f"{result.uid}: {result.asset} left no {name} in {path.parent}.", remedy=remedy)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UpstreamError(f"{result.uid}: {path} cannot be read: {error.strerror}.", remedy=remedy) from error
    if sha256_bytes(data) != result.files[name].sha256:
        raise UpstreamError(f"{result.uid}: {path} was changed after {result.asset} made it.", remedy=remedy)
    return data
