"""What a score is made from: the results of the steps before, or the reason why they cannot be used."""

from __future__ import annotations

from pathlib import Path

from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.generation.asking import asked_instances as asked_instances


def usable_result(store: ArtifactStore, asset: str, scope: tuple[str, ...], uid: str) -> InstanceResult:
    """The stored result. Raises UpstreamError, saying what to do, where there is none or it is an error."""
    result = store.read(asset, scope, uid)
    place = " ".join((asset, "|".join(scope))).strip()
    if result is None:
        raise UpstreamError(f"{uid} has no result in {place}.", remedy=f"Materialise {place} first.")
    if result.is_error:
        reason = result.problem.message if result.problem else "no reason was kept"
        raise UpstreamError(f"{uid} is an error in {place}: {reason}", remedy=f"Materialise {place} again.")
    return result


def output_file(store: ArtifactStore, result: InstanceResult, name: str) -> Path:
    return store.folder(result.asset, result.scope, result.uid) / name
