"""Staleness in the Dagster UI, and refreshing by itself: both ask our own status, which reads files and asks nobody.

Dagster's own staleness reaches one hop and, for partitions, only where somebody clicks (its automation conditions see
an edge, which is lost when it falls between two ticks). These sensors look at how things are, not at what happened.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.fresh_checks import FreshChecks, Freshness
from assets.outcome import FRESH
from deepchart_dagster.partitions import DOCUMENTS_NAME, JUDGES_NAME, MODELS_NAME, dagster_partition
from resources import (
    BenchmarkResource,
    JudgeResource,
    ModelsResource,
    OcrEngineResource,
    SandboxResource,
    StorageResource,
    dbt_project,
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
    "judge": "judge_validation_subset",
}
REPORT = "report"
_REPORTS_JOB = "publish_reports"
_SHOWN_CHARACTERS = 200
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


@dataclass(frozen=True)
class _Look:
    """How something is, and what tells it from how it was."""

    freshness: Freshness
    digest: str


@dataclass(frozen=True)
class _Reports:
    """Tables and report, which have no partitions."""

    fresh: bool
    digest: str


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
) -> dg.SkipReason:
    with open_workbench(storage, benchmark, models, judge, ocr, sandbox) as bench:
        seen = {
            _name(cell.key): _Look(_freshness(cell), _digest(bench, cell)) for cell in _cells(bench, context.instance)
        }
        if reports := _reports(bench):
            seen[REPORT] = _Look(_report_freshness(reports), reports.digest)
    told = {name: digest for name, digest in json.loads(context.cursor or "{}").items() if name in seen}
    changed = [name for name, look in seen.items() if told.get(name) != look.digest][:_REPORTED_AT_ONCE]
    checks = FreshChecks(context.instance)
    said = [name for name in changed if checks.say(seen[name].freshness)]
    context.update_cursor(json.dumps(told | {name: seen[name].digest for name in said}))
    stale = sum(not look.freshness.passed for look in seen.values())
    return dg.SkipReason(f"{len(seen)} partitions, {stale} of them not fresh; {len(said)} changed since the last look.")


def refreshing(jobs: Sequence[UnresolvedAssetJobDefinition]) -> dg.SensorDefinition:
    """The sensor ``refresh_stale``; ``jobs`` are the code location's."""

    @dg.sensor(
        name="refresh_stale",
        jobs=[job for job in jobs if job.name in (*_JOBS.values(), _REPORTS_JOB)],
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Runs what is stale, furthest upstream first, then tables and report where they would come out "
        "differently. Off by default: it spends money on model calls. "
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
            cells, reports = _cells(bench, context.instance), _reports(bench)
        return _requests(cells, reports, json.loads(context.cursor or "{}"))

    return refresh_stale


def _requests(
    cells: "Sequence[Cell]", reports: "_Reports | None", tried: dict[str, str]
) -> dg.SensorResult | dg.SkipReason:
    """``tried``: what was run before -> for which reason; forgotten when that is fresh again. Reports come last."""
    from deepchart_dagster.lineage.refresh import due, is_due

    behind = {_name(cell.key) for cell in cells if is_due(cell)}
    tried = {name: reason for name, reason in tried.items() if name in behind or name == REPORT}
    wanted = [one for one in due(cells) if tried.get(_name(one.key)) != one.reason]
    if not wanted:
        if reports and not reports.fresh and tried.get(REPORT) != reports.digest:
            return dg.SensorResult(
                run_requests=[dg.RunRequest(job_name=_REPORTS_JOB, tags={REFRESH_TAG: "yes"})],
                cursor=json.dumps(tried | {REPORT: reports.digest}),
            )
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
    judges = set(instance.get_dynamic_partitions(JUDGES_NAME))
    silent = (State.MISSING, State.NOT_APPLICABLE, State.ORPHANED)
    return [
        cell
        for cell in read_status(bench, models=slugs, splits=list(Split))
        if cell.state not in silent
        and (cell.key.document is None or cell.key.document in documents)
        and (cell.key.judge is None or cell.key.judge in judges)
    ]


def _digest(bench: "Workbench", cell: "Cell") -> str:
    from deepchart_dagster.artifacts.canonical import content_hash

    manifest = bench.artifacts.partition_path(cell.key.asset, cell.key.parts, ".jsonl")
    written = manifest.stat().st_mtime_ns if manifest.exists() else 0
    return content_hash([cell.state.value, list(cell.because), cell.n_done, written])[:16]


def _freshness(cell: "Cell") -> Freshness:
    because = "\n".join(f"* {line}" for line in cell.because)
    passed = cell.state.value == FRESH
    return Freshness(
        asset=cell.key.asset,
        partition=dagster_partition(cell.key),
        passed=passed,
        description="" if passed else f"{cell.state.value}: {'; '.join(cell.because)}"[:300],
        metadata={
            "state": dg.MetadataValue.text(cell.state.value),
            "n_total": dg.MetadataValue.int(cell.n_total),
            "n_done": dg.MetadataValue.int(cell.n_done),
            "n_behind": dg.MetadataValue.int(cell.n_behind),
            "n_error": dg.MetadataValue.int(cell.n_error),
            **({"because": dg.MetadataValue.md(because)} if because else {}),
        },
    )


def _report_freshness(reports: "_Reports") -> Freshness:
    description = "" if reports.fresh else "stale: rows were written, or the dbt project changed, since it was built"
    return Freshness(REPORT, None, passed=reports.fresh, description=description)


def _reports(bench: "Workbench") -> "_Reports | None":
    """None where none was ever built."""
    from deepchart_dagster.artifacts.canonical import content_hash
    from deepchart_dagster.metrics.freshness import reports_are_fresh
    from deepchart_dagster.metrics.store import sources_hash
    from deepchart_dagster.reporting.report import report_path

    path = report_path(bench.settings.storage)
    if not path.exists():
        return None
    fresh = reports_are_fresh(bench.settings.storage, dbt_project.project_dir, path)
    made_of = [fresh, sources_hash(bench.settings.storage), path.stat().st_mtime_ns]
    return _Reports(fresh, content_hash(made_of)[:16])


def _request(one: "Refresh") -> dg.RunRequest:
    return dg.RunRequest(
        job_name=_JOBS[one.kind.value],
        partition_key=dagster_partition(one.key),
        asset_selection=[dg.AssetKey(name) for name in one.assets],
        tags={REFRESH_TAG: "yes", "deepchart/because": _shortened("; ".join(dict.fromkeys(one.because)))},
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
