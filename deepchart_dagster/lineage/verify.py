"""Stored files against the hashes in their results: what is damaged or was edited by hand. Touches nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from deepchart_dagster.artifacts.results import InstanceResult, output_hash
from deepchart_dagster.artifacts.store import RESULT_NAME, hash_outputs
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
    """Re-hashes every result's files. Reads everything that is stored: minutes on a large storage."""
    n_results = n_files = 0
    findings: list[Finding] = []
    for asset in NODES:
        for path in sorted((storage / asset.name).rglob(RESULT_NAME)):
            n_results += 1
            checked = list(_check(path))
            n_files += sum(1 for item in checked if item is None)
            findings.extend(item for item in checked if item is not None)
    return Verification(n_results, n_files, tuple(findings))


def _check(path: Path) -> Iterator[Finding | None]:
    """None for each file that is as recorded, a finding for each that is not."""
    try:
        result = InstanceResult.model_validate_json(path.read_bytes())
    except (ValidationError, json.JSONDecodeError) as error:
        yield Finding(path, f"is no readable result: {str(error).splitlines()[0]}")
        return
    if output_hash(result.status, result.value, result.problem, result.files) != result.output_hash:
        yield Finding(path, "was edited: its output hash does not fit its content")
    found = hash_outputs(path.parent)
    for name in sorted(result.files.keys() | found.keys()):
        if name not in found:
            yield Finding(path.parent / name, "is missing")
        elif name not in result.files:
            yield Finding(path.parent / name, "is not part of the result")
        elif found[name] != result.files[name]:
            yield Finding(path.parent / name, "differs from what was recorded")
        else:
            yield None
