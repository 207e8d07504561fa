"""The rows of an asset partition: what its results say, one row per instance and metric or program.

    <root>/metrics/parquet/<asset>/<split>/<model>.parquet

A file holds the partition as its manifest has it: writing it again replaces it. Files are derived; the
results are the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import path_segment
from deepchart_dagster.artifacts.results import InstanceResult, Status
from deepchart_dagster.artifacts.store import ArtifactStore, materialize_command
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query, Split
from deepchart_dagster.errors import UpstreamError, UsageError
from deepchart_dagster.llm.registry import SCRIPTED_PREFIX, ModelSpec
from deepchart_dagster.metrics.parquet import parquet_files, parquet_folder, write_if_new
from deepchart_dagster.metrics.tables import DIAGNOSES, EXECUTIONS, SCORES, Table
from deepchart_dagster.stage_versions import ROWS_VERSION

_SCORER = "paper"  # the one that goes without saying
ASPECTS = ("instruction_compliance", "data_mapping_topology", "presentation_quality")

# asset -> {member of the result's value: name of the metric}
SCORE_ASSETS: dict[str, dict[str, str]] = {
    "source_fidelity": {"f1": "f1_src", "precision": "precision_src", "recall": "recall_src"},
    "derived_fidelity": {"f1": "f1_der", "precision": "precision_der", "recall": "recall_der"},
    "grounding": {"grounding": "grounding"},
    "drawn_fidelity": {"f1_drawn": "f1_drawn", "f1_drawn_reference": "f1_drawn_reference"},
    "execution_rate": {"executed": "er"},
    "visual_accuracy": {"vas": "vas", **{aspect: f"vas_{aspect}" for aspect in ASPECTS}},
}
# Rows of its own (metrics.backend_rows).
BACKEND_SCORES = "backend_scores"
# Parts of a score's key that say what it was measured with, not what was measured; and of a state's, what was asked.
_MEASURES = ("version", "scorer", "reference", "needs_derived", "rubric", "judge")
_ASKED = ("intent", "context", "prompt")
STAGE_OF = {"predicted_states": 1, "rendered_charts": 2}
_STATE_ASSET, _CHART_ASSET = STAGE_OF
_CHART_SCORES = ("drawn_fidelity", "execution_rate", "visual_accuracy")
DIAGNOSIS = "diagnosis"
# Assets by model and split that have rows, in the order of their tables.
EXPORTED = (*SCORE_ASSETS, *STAGE_OF, DIAGNOSIS)


def exported_table(asset: str) -> Table:
    """The table that an asset's rows belong to. Raises UsageError for an asset without rows."""
    if asset in SCORE_ASSETS:
        return SCORES
    if asset in STAGE_OF:
        return EXECUTIONS
    if asset == DIAGNOSIS:
        return DIAGNOSES
    raise UsageError(f"{asset} has no rows to export.", remedy=f"These have: {', '.join(EXPORTED)}.")


def partition_file(storage: Path, asset: str, partition: tuple[str, ...]) -> Path:
    *folders, last = (path_segment(part) for part in partition)
    return parquet_folder(storage).joinpath(asset, *folders, f"{last}.parquet")


def list_time(store: ArtifactStore, asset: str, partition: tuple[str, ...]) -> int:
    """When the list of a partition's results was written, nanoseconds; 0 where there is none."""
    path = store.partition_path(asset, partition, ".jsonl")
    return path.stat().st_mtime_ns if path.exists() else 0


def export_partition(
    store: ArtifactStore, library: Library, models: Mapping[str, ModelSpec], asset: str, partition: tuple[str, str]
) -> Path:
    """Write the rows of ``asset`` for ``partition`` = (split, model) and return the file.

    Writes nothing where the file holds exactly this already. Queries that the library no longer has, or that are
    not among those chosen of their split, are left out. Raises UpstreamError where the partition has no manifest, or
    a result it names is gone.
    """
    table = exported_table(asset)
    list_ns = list_time(store, asset, partition)  # before it is read: it may be replaced meanwhile
    manifest = store.read_manifest(asset, partition)
    if manifest is None:
        raise UpstreamError(
            f"{asset} {'|'.join(partition)} has not been made.",
            remedy=f"Make it: {materialize_command(asset, partition)}.",
        )
    split = Split(partition[0])
    queries = {instance.uid: instance.query for instance in library.instances(split)}
    benchmarks = {query.benchmark for query in queries.values()}
    selections = {benchmark: library.selection_in_words(split, benchmark) for benchmark in benchmarks}
    path = partition_file(store.root, asset, partition)
    results = [
        stored_result(store, asset, partition, str(row["uid"])) for row in manifest.rows if str(row["uid"]) in queries
    ]
    export = _Export(store, models.get(partition[1]), partition, selections)
    rows = [row for result in results for row in export.rows(result, queries[result.uid])]
    source = content_hash({"version": ROWS_VERSION, "rows": rows})
    write_if_new(path, table, rows, source, list_ns=list_ns)
    return path


def stored_result(store: ArtifactStore, asset: str, scope: tuple[str, ...], uid: str) -> InstanceResult:
    result = store.read(asset, scope, uid)
    if result is None:
        raise UpstreamError(
            f"{asset} {'|'.join(scope)}: the result of {uid} is gone.",
            remedy=f"Make it again: {materialize_command(asset, scope)}.",
        )
    return result


def export_all(store: ArtifactStore, library: Library, models: Mapping[str, ModelSpec]) -> list[Path]:
    """Write every partition that has a manifest, remove the files of those that have none; returns the files."""
    files = [
        export_partition(store, library, models, asset, (split, model))
        for asset in EXPORTED
        for split, model in store.manifests(asset)
    ]
    others = parquet_files(parquet_folder(store.root) / BACKEND_SCORES)
    for path in set(parquet_files(parquet_folder(store.root))) - set(files) - set(others):
        path.unlink()
    return files


@dataclass(frozen=True)
class _Export:
    """One partition's export. ``model`` is None where models.yaml has it no longer; ``selections`` by benchmark."""

    store: ArtifactStore
    model: ModelSpec | None
    partition: tuple[str, str]
    selections: Mapping[str, str | None]

    def rows(self, result: InstanceResult, query: Query) -> Iterator[dict[str, JsonValue]]:
        common = self._common(result, query)
        if result.asset in STAGE_OF:
            yield {**common, **_execution(result)}
            return
        if result.asset == DIAGNOSIS:
            yield from ({**common, **counted} for counted in _classes(result))
            return
        judge = judge_of(result) if result.asset == "visual_accuracy" else _NO_JUDGE
        yardstick = self._yardstick(result)
        for member, metric in SCORE_ASSETS[result.asset].items():
            value = _value(result, member)
            yield {
                **common,
                "status": _metric_status(result, value),
                "metric": metric,
                "metric_version": _rule(result),
                "yardstick": yardstick,
                "value": value,
                "judge": judge.slug,
                "judge_scripted": judge.scripted,
            }

    def _common(self, result: InstanceResult, query: Query) -> dict[str, JsonValue]:
        split, slug = self.partition
        return {
            "uid": result.uid,
            "benchmark": query.benchmark,
            "domain": query.domain.value,
            "split": split,
            "model": slug,
            "model_name": self.model.name or slug if self.model else slug,
            "family": self.model.family if self.model else "other",
            "scripted": self.model.scripted if self.model else False,
            "asset": result.asset,
            "input_key": result.input_key,
            "status": result.status.value,
            "problem_kind": result.problem.kind if result.problem else None,
            "backend": self._backend(result),
            "query_type": query.query_type,
            "chart_family": query.chart_family,
            "selection": self.selections[query.benchmark],
        }

    def _yardstick(self, result: InstanceResult) -> str | None:
        """Equal where two models were asked and measured alike on an instance. None where one failed: that is 0 by
        any."""
        if result.status is not Status.OK:
            return None
        measures = {name: result.key_parts[name] for name in _MEASURES if name in result.key_parts}
        state = self.store.read(_STATE_ASSET, self.partition, result.uid)
        asked = {name: state.key_parts[name] for name in _ASKED if name in state.key_parts} if state else {}
        return content_hash({**measures, "asked": asked})

    def _backend(self, result: InstanceResult) -> str | None:
        """The chart program's language; the stages before a chart know none."""
        if result.asset in _CHART_SCORES:
            chart = self.store.read(_CHART_ASSET, self.partition, result.uid)
            return _backend_of(chart) if chart else None
        return _backend_of(result) if result.asset == _CHART_ASSET else None


def _backend_of(chart: InstanceResult) -> str | None:
    return text_in(chart.value.get("backend")) or text_in(chart.key_parts.get("backend"))


def _value(result: InstanceResult, member: str) -> float | None:
    """A failed instance scores 0 in every metric (paper, B.1), also where its result does not spell it out."""
    if result.status not in (Status.OK, Status.FAILED):
        return None
    value = number_in(result.value.get(member))
    return 0.0 if value is None and result.status is Status.FAILED else value


def _rule(result: InstanceResult) -> str | None:
    """What is the same on all instances that are measured alike: "2", "2 upstream", "1 judge 0c5a4d1f"."""
    version, scorer, judge = (result.key_parts.get(name) for name in ("version", "scorer", "judge"))
    words = [text_in(version), text_in(scorer) if scorer != _SCORER else None]
    words += [f"judge {content_hash(judge)[-8:]}"] if isinstance(judge, dict) else []
    return " ".join(word for word in words if word) or None


def _metric_status(result: InstanceResult, value: float | None) -> str:
    """A scored instance may lack one metric, an aspect without valid questions: not applicable there."""
    if result.status is Status.OK and value is None:
        return Status.NOT_APPLICABLE.value
    return result.status.value


@dataclass(frozen=True)
class _Judge:
    slug: str | None
    scripted: bool | None


_NO_JUDGE = _Judge(slug=None, scripted=None)


def judge_of(result: InstanceResult) -> _Judge:
    """The judge that the result's key names: {"slug" or "model", …}, or a name."""
    part = result.key_parts.get("judge")
    names = [part.get("slug"), part.get("model")] if isinstance(part, dict) else [part]
    texts = [name for name in names if isinstance(name, str)]
    if not texts:
        return _NO_JUDGE
    return _Judge(slug=texts[0], scripted=any(text.startswith(SCRIPTED_PREFIX) for text in texts))


def _classes(result: InstanceResult) -> Iterator[dict[str, JsonValue]]:
    """One row for each side and class that occurs."""
    counted = result.value.get("classes")
    for row in counted if isinstance(counted, list) else []:
        if isinstance(row, dict):
            yield {"side": row["side"], "value_of": row["of"], "class": row["class"], "n": row["n"]}


def _execution(result: InstanceResult) -> dict[str, JsonValue]:
    seen = result.observations
    return {
        "stage": STAGE_OF[result.asset],
        "wall_s": number_in(seen.get("program_seconds")),
        "cpu_s": number_in(seen.get("cpu_s")),
        "max_rss_mb": number_in(seen.get("max_rss_mb")),
        "tier": text_in(seen.get("tier")),
        "seconds": result.seconds,
    }


def number_in(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def text_in(value: JsonValue) -> str | None:
    return None if value is None else str(value)
