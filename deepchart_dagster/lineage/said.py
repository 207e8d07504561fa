"""What was answered about an instance: a model's first lines, and the questions that a judge did not affirm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.inputs import output_file, read_output
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.generation.asking import ANSWER_NAME
from deepchart_dagster.scoring.visual import VERDICTS_NAME

_LINES = 5
_WIDTH = 200


@dataclass(frozen=True)
class Said:
    """``file`` holds all of it. ``lines`` are its first that are not blank (of verdicts: those that are not Yes), each
    cut to 200 characters; ``n_more`` are left out."""

    file: Path
    lines: tuple[str, ...]
    n_more: int

    def as_json(self) -> dict[str, JsonValue]:
        return {"file": str(self.file), "lines": list(self.lines), "n_more": self.n_more}


def said(store: ArtifactStore, result: InstanceResult) -> Said | None:
    """None where the step asks nobody, or nobody had answered. A file that is gone or was changed is said in place of
    its lines."""
    for name, lines_of in ((ANSWER_NAME, _of_answer), (VERDICTS_NAME, _of_verdicts)):
        if name in result.files:
            file = output_file(store, result, name)
            try:
                lines = list(lines_of(read_output(store, result, name)))
            except UpstreamError as error:
                return Said(file, (error.message,), 0)
            return Said(file, tuple(map(_cut, lines[:_LINES])), max(0, len(lines) - _LINES))
    return None


def _of_answer(data: bytes) -> Iterator[str]:
    return (line.rstrip() for line in data.decode("utf-8", "replace").splitlines() if line.strip())


def _of_verdicts(data: bytes) -> Iterator[str]:
    rows = (json.loads(line) for line in data.decode("utf-8").splitlines())
    return (f"{row['verdict']}: {row['question']}" for row in rows if row["verdict"] != "yes")


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…"
