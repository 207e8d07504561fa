"""Staleness in the Dagster UI, and refreshing by itself: both ask our own status, which reads files and asks nobody.

Dagster's own staleness reaches one hop and, for partitions, only where somebody clicks (its automation conditions see
an edge, which is lost when it falls between two ticks). These sensors look at how things are, not at what happened.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.outcome import FRESH
from deepchart_dagster.partitions import DOCUMENTS_NAME, MODELS_NAME, dagster_partition
from resources import (
    BenchmarkResource,
    JudgeResource,
    ModelsResource,
    OcrEngineResource,
    SandboxResource,
    StorageResource,
    open_workbench,
)

if TYPE_CHECKING:
    from deepchart_dagster.lineage.graph import PartitionKey
    from deepchart_dagster.lineage.refresh import Refresh
    from deepchart_dagster.lineage.status import Cell
    from deepchart_dagster.workbench import Workbench

REFRESH_TAG = "deepchart/refresh"
_REPORTED_AT_ONCE = 300
_JOBS = {
    "document": "rebuild_contexts_from_pdfs",
    "split": "prepare_split",
    "model_split": "evaluate_model",
    "model_backend": "compare_backends",
}
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


@dg.sensor(
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Keeps the check `fresh` of every partition current, as `deepchart status` sees it. Asks no model.",
)
def staleness(
    context: dg.SensorEvaluationContext,
    storage: StorageResource,
    benchmark: BenchmarkResource,
    models: ModelsResource,
    judge: JudgeResource,
    ocr: OcrEngineResource,
    sandbox: SandboxResource,
) -> dg.SensorResult | dg.SkipReason:
    with open_workbench(storage, benchmark, models, judge, ocr, sandbox) as bench:
        seen = {_name(cell.key): cell for cell in _cells(bench, context.instance)}
        said: dict[str, str] = json.loads(context.cursor or "{}")
        # A run reports the check as well: whoever wrote the partition's manifest since is looked at again.
        now = {name: _digest(bench, cell) for name, cell in seen.items()}
    told = {name: digest for name, digest in said.items() if name in now}
    changed = [name for name, digest in now.items() if told.get(name) != digest][:_REPORTED_AT_ONCE]
    if not changed:
        return dg.SkipReason(f"The {len(seen)} partitions are as they were.")
    told |= {name: now[name] for name in changed}
    return dg.SensorResult(asset_events=[_evaluation(seen[name]) for name in changed], cursor=json.dumps(told))


def refreshing(jobs: Sequence[UnresolvedAssetJobDefinition]) -> dg.SensorDefinition:
    """The sensor ``refresh_stale``; ``jobs`` are the code location's."""

    @dg.sensor(
        name="refresh_stale",
        jobs=[job for job in jobs if job.name in _JOBS.values()],
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Runs what is stale, furthest upstream first. Off by default: it spends money on model calls. "
        "Errors and what was never run are left alone, and nothing is run twice for the same reason.",
    )
    def refresh_stale(
        context: dg.SensorEvaluationContext,
        storage: StorageResource,
        benchmark: BenchmarkResource,
        models: ModelsResource,
        judge: JudgeResource,
        ocr: OcrEngineResource,
        sandbox: SandboxResource,
    ) -> dg.SensorResult | dg.SkipReason:
        if context.instance.get_runs_count(dg.RunsFilter(tags={REFRESH_TAG: "yes"}, statuses=_UNFINISHED)):
            return dg.SkipReason("A refresh is under way.")
        with open_workbench(storage, benchmark, models, judge, ocr, sandbox) as bench:
            cells = _cells(bench, context.instance)
        return _requests(cells, json.loads(context.cursor or "{}"))

    return refresh_stale


def _requests(cells: "Sequence[Cell]", tried: dict[str, str]) -> dg.SensorResult | dg.SkipReason:
    """``tried``: what was run before -> for which reason; forgotten when that is fresh again."""
    from deepchart_dagster.lineage.refresh import due, is_due

    behind = {_name(cell.key) for cell in cells if is_due(cell)}
    tried = {name: reason for name, reason in tried.items() if name in behind}
    wanted = [one for one in due(cells) if tried.get(_name(one.key)) != one.reason]
    if not wanted:
        return dg.SkipReason(
            f"{len(behind)} partitions are behind, all tried for the same reason." if behind else "Nothing is stale."
        )
    tried |= {_name(one.key): one.reason for one in wanted}
    return dg.SensorResult(run_requests=[_request(one) for one in wanted], cursor=json.dumps(tried))


def _name(key: "PartitionKey") -> str:
    return f"{key.asset} {dagster_partition(key)}"


def _cells(bench: "Workbench", instance: dg.DagsterInstance) -> "list[Cell]":
    """Begun partitions that Dagster knows. What was never made is shown as missing without our help."""
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.lineage.status import State, read_status

    known = set(instance.get_dynamic_partitions(MODELS_NAME))
    documents = set(instance.get_dynamic_partitions(DOCUMENTS_NAME))
    slugs = [slug for slug in bench.models if slug in known]
    silent = (State.MISSING, State.NOT_APPLICABLE, State.ORPHANED)
    return [
        cell
        for cell in read_status(bench, models=slugs, splits=list(Split))
        if cell.state not in silent and (cell.key.document is None or cell.key.document in documents)
    ]


def _digest(bench: "Workbench", cell: "Cell") -> str:
    from deepchart_dagster.artifacts.canonical import content_hash

    manifest = bench.artifacts.partition_path(cell.key.asset, cell.key.parts, ".jsonl")
    written = manifest.stat().st_mtime_ns if manifest.exists() else 0
    return content_hash([cell.state.value, list(cell.because), cell.n_done, written])[:16]


def _evaluation(cell: "Cell") -> dg.AssetCheckEvaluation:
    because = "\n".join(f"* {line}" for line in cell.because)
    metadata: Mapping[str, dg.MetadataValue] = {
        "state": dg.MetadataValue.text(cell.state.value),
        "n_total": dg.MetadataValue.int(cell.n_total),
        "n_done": dg.MetadataValue.int(cell.n_done),
        "n_behind": dg.MetadataValue.int(cell.n_behind),
        "n_error": dg.MetadataValue.int(cell.n_error),
        **({"because": dg.MetadataValue.md(because)} if because else {}),
    }
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(cell.key.asset),
        check_name=FRESH,
        passed=cell.state.value == FRESH,
        severity=dg.AssetCheckSeverity.WARN,
        description="" if cell.state.value == FRESH else f"{cell.state.value}: {'; '.join(cell.because)}"[:300],
        metadata=metadata,
        partition=dagster_partition(cell.key),
    )


def _request(one: "Refresh") -> dg.RunRequest:
    return dg.RunRequest(
        job_name=_JOBS[one.kind.value],
        partition_key=dagster_partition(one.key),
        asset_selection=[dg.AssetKey(name) for name in one.assets],
        tags={REFRESH_TAG: "yes", "deepchart/because": "; ".join(one.because)[:200]},
    )
