"""Output files of the steps before, read only where they still are what the step left."""

from __future__ import annotations

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.scoring.inputs import output_file


def read_output(store: ArtifactStore, result: InstanceResult, name: str) -> bytes:
    """An output file's bytes. Raises UpstreamError where it is gone, was never made, or was changed."""
    path = output_file(store, result, name)
    remedy = f"Delete that folder and materialise {result.asset} again."
    if name not in result.files:
        raise UpstreamError(f"{result.uid}: {result.asset} left no {name} in {path.parent}.", remedy=remedy)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UpstreamError(f"{result.uid}: {path} cannot be read: {error.strerror}.", remedy=remedy) from error
    if sha256_bytes(data) != result.files[name].sha256:
        raise UpstreamError(f"{result.uid}: {path} was changed after {result.asset} made it.", remedy=remedy)
    return data
