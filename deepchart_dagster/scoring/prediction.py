"""What the stages read that look at a predicted state more closely than the scores do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.state import Side, content_of, load_state
from deepchart_dagster.generation.states import STATE_ASSET, STATE_NAME
from deepchart_dagster.scoring.tables import reference_data


@dataclass(frozen=True)
class PredictedState:
    """A stored state. Only one whose status is ok can be read."""

    store: ArtifactStore
    result: InstanceResult

    @classmethod
    def of(cls, store: ArtifactStore, scope: tuple[str, ...], uid: str) -> PredictedState:
        """Raises UpstreamError where there is none that can be used."""
        return cls(store, usable_result(store, STATE_ASSET, scope, uid))

    @property
    def identity(self) -> JsonValue:
        return output_identity(self.result, STATE_NAME)

    @property
    def unusable(self) -> Outcome | None:
        """Where the model left no valid state there is nothing to look at."""
        if self.result.status is Status.OK:
            return None
        kind = self.result.problem.kind if self.result.problem else self.result.status.value
        return Outcome.not_applicable("no_state", f"the model left no valid state ({kind})")

    def content(self, side: Side) -> object:
        """Raises UpstreamError for a file that is gone or was changed."""
        return content_of(load_state(read_output(self.store, self.result, STATE_NAME), name=STATE_NAME), side)


def output_identity(result: InstanceResult, name: str) -> JsonValue:
    """What a score depends on of a result: how it ended, and one file of its output."""
    return {
        "status": result.status.value,
        "problem": result.problem.kind if result.problem else None,
        "file": name,
        "sha256": result.files[name].sha256 if name in result.files else None,
    }


def reference_file(reference: InstanceResult, side: Side) -> str:
    """Name of the file with this side's data; without a suffix where there is none."""
    stem = f"d_{side}"
    return next((name for name in reference.files if Path(name).stem == stem), stem)


def reference_content(store: ArtifactStore, reference: InstanceResult, side: Side) -> object:
    """The side's data as parsed JSON or records; None where there is none.

    Raises UpstreamError, BenchmarkFormatError.
    """
    name = reference_file(reference, side)
    if name not in reference.files:
        return None
    return reference_data(read_output(store, reference, name), Path(name).suffix, side, name=name)
