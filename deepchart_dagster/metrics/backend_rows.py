"""The rows of the study of rendering backends: one for each query and setting that it counts in.

<root>/metrics/parquet/backend_scores/<backend>/<model>.parquet
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.results import InstanceResult, Status
from deepchart_dagster.artifacts.store import ArtifactStore, materialize_command
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Backend, Query
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.metrics.parquet import write_if_new
from deepchart_dagster.metrics.rows import (
    BACKEND_SCORES,
    judge_of,
    list_time,
    number_in,
    partition_file,
    stored_result,
    text_in,
)
from deepchart_dagster.metrics.tables import BACKENDS
from deepchart_dagster.stage_versions import ROWS_VERSION

ASSET = BACKEND_SCORES


def export_backends(
    store: ArtifactStore, library: Library, models: Mapping[str, ModelSpec], backend: Backend, model: str
) -> Path:
    """Write the rows of one partition and return the file; nothing is written where it holds exactly this.

    Raises UpstreamError where the partition has no manifest, or a result it names is gone.
    """
    partition = (backend.value, model)
    list_ns = list_time(store, ASSET, partition)
    manifest = store.read_manifest(ASSET, partition)
    if manifest is None:
        raise UpstreamError(
            f"{ASSET} {'|'.join(partition)} has not been made.",
            remedy=f"Make it: {materialize_command(ASSET, partition)}.",
        )
    queries = {query.uid: query for query in library.queries()}
    uids = [str(row["uid"]) for row in manifest.rows if str(row["uid"]) in queries]
    named = _named(models.get(model), model)
    rows = [
        row for uid in uids for row in _rows(stored_result(store, ASSET, partition, uid), queries[uid], backend, named)
    ]
    path = partition_file(store.root, ASSET, partition)
    source = content_hash({"version": ROWS_VERSION, "rows": rows})
    write_if_new(path, BACKENDS, rows, source, list_ns=list_ns)
    return path


def _named(spec: ModelSpec | None, slug: str) -> dict[str, JsonValue]:
    """``spec`` is None where models.yaml has the model no longer."""
    return {
        "model": slug,
        "model_name": spec.name or slug if spec else slug,
        "family": spec.family if spec else "other",
        "scripted": spec.scripted if spec else False,
    }


def _rows(
    result: InstanceResult, query: Query, backend: Backend, named: dict[str, JsonValue]
) -> Iterator[dict[str, JsonValue]]:
    scored = result.status in (Status.OK, Status.FAILED)
    judge = judge_of(result)
    splits = result.key_parts.get("splits")
    for split in splits if isinstance(splits, list) else []:
        yield {
            "uid": result.uid,
            "benchmark": query.benchmark,
            "split": split,
            **named,
            "backend": backend.value,
            "chosen_backend": text_in(result.value.get("chosen_backend")),
            "status": result.status.value,
            "input_key": result.input_key,
            "executed": number_in(result.value.get("executed")) if scored else None,
            "vas": number_in(result.value.get("vas")) if scored else None,
            "judge": judge.slug,
            "judge_scripted": judge.scripted,
        }
