"""What the report shows, as values: tables, runs, gallery. Read from the metrics store and the stored results.

Paths are relative to the storage root; the page links to them from <root>/report/.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, Query, Split
from deepchart_dagster.metrics.backends import BackendRow, read_backends
from deepchart_dagster.metrics.diagnoses import ClassCount, read_classes
from deepchart_dagster.metrics.hallucinations import HiddenRow, Thresholds, read_hidden
from deepchart_dagster.metrics.leaderboard import (
    METRICS,
    PROTOCOLS,
    LeaderboardRow,
    database_path,
    open_marts,
    read_leaderboard,
)

if TYPE_CHECKING:
    import duckdb

CHART_NAME = "chart.png"
# metric -> the asset whose result.json holds the number
METRIC_ASSETS = {
    "er": "execution_rate",
    "f1_src": "source_fidelity",
    "f1_der": "derived_fidelity",
    "vas": "visual_accuracy",
}


@dataclass(frozen=True)
class SplitTable:
    """The leaderboard of one benchmark on one split, in the order of the printed one."""

    benchmark: str
    protocol: str
    split: Split
    rows: tuple[LeaderboardRow, ...]


@dataclass(frozen=True)
class Endings:
    """How a model's programs of one stage ended: (kind, how often), the most frequent first."""

    name: str
    scripted: bool
    stage: int
    kinds: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Mismatches:
    """Why values of a model's source or derived data (``side``: src, der) did not match, the most frequent class first.
    ``n_reference`` values of the references were not matched, ``n_predicted`` of the predictions matched nothing."""

    benchmark: str
    split: str
    name: str
    scripted: bool
    side: str
    classes: tuple[ClassCount, ...]

    @property
    def n_reference(self) -> int:
        return sum(each.n_reference for each in self.classes)

    @property
    def n_predicted(self) -> int:
        return sum(each.n_predicted for each in self.classes)


@dataclass(frozen=True)
class Calls:
    """Attempts at model calls by purpose. ``price_usd`` is what is known; ``n_unpriced`` calls have no known price."""

    purpose: str
    scripted: bool
    n_calls: int
    n_cached: int
    n_errors: int
    price_usd: float
    n_unpriced: int


@dataclass(frozen=True)
class Score:
    """One number of one instance. ``value`` is None where it is unscored; ``path`` is where it came from."""

    metric: str
    value: float | None
    status: str
    problem_kind: str | None
    path: str


@dataclass(frozen=True)
class ModelChart:
    """What a model made of an instance. ``chart`` is None where it drew nothing; ``why`` then says the reason."""

    label: str
    scripted: bool
    chart: Path | None
    why: str | None
    folder: str
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class GalleryItem:
    """An instance: the reference chart (None where there is none) beside each model's."""

    query: Query
    purpose: str
    split: Split
    reference: Path | None
    reference_folder: str
    models: tuple[ModelChart, ...]


@dataclass(frozen=True)
class Gallery:
    """``n_instances`` is how many there are to choose from. Shown are, of each split, first charts that look right and
    are not, then instances on which the models' scores differ most; a query in one split only."""

    items: tuple[GalleryItem, ...]
    n_instances: int


@dataclass(frozen=True)
class ReportContent:
    tables: tuple[SplitTable, ...]
    backends: tuple[BackendRow, ...]
    hidden: tuple[HiddenRow, ...]
    thresholds: Thresholds
    mismatches: tuple[Mismatches, ...]
    endings: tuple[Endings, ...]
    calls: tuple[Calls, ...]
    gallery: Gallery
    database: str

    @property
    def rows(self) -> tuple[LeaderboardRow, ...]:
        return tuple(row for table in self.tables for row in table.rows)

    @property
    def rows_with_hidden(self) -> tuple[HiddenRow, ...]:
        return tuple(row for row in self.hidden if row.instances)

    @property
    def models_without_hidden(self) -> str:
        """In words, how many of the judged models have no such chart on any split."""
        judged = {row.model for row in self.hidden}
        without = len(judged - {row.model for row in self.rows_with_hidden})
        return f"{without} of {len(judged)} judged models {'has' if without == 1 else 'have'} none"


def read_content(storage: Path, hidden: Thresholds, *, gallery_per_split: int) -> ReportContent:
    """Raises UpstreamError where the marts have not been built, StorageError for damaged files."""
    tables = _tables(read_leaderboard(storage))
    hidden_rows = tuple(read_hidden(storage, hidden))
    database = database_path(storage)
    with open_marts(storage) as connection:
        scores = _instance_scores(connection)
        endings, calls = _endings(connection), _calls(connection)
    return ReportContent(
        tables=tables,
        backends=tuple(read_backends(storage)),
        hidden=hidden_rows,
        thresholds=hidden,
        mismatches=_mismatches(read_classes(storage)),
        endings=endings,
        calls=calls,
        gallery=_gallery(storage, tables, scores, _hidden_instances(hidden_rows), gallery_per_split),
        database=str(database.relative_to(storage)),
    )


def _tables(rows: Sequence[LeaderboardRow]) -> tuple[SplitTable, ...]:
    return tuple(
        SplitTable(benchmark=benchmark, protocol=protocol, split=split, rows=members)
        for benchmark in dict.fromkeys(row.benchmark for row in rows)
        for protocol, splits in PROTOCOLS
        for split in splits
        if (members := tuple(row for row in rows if row.benchmark == benchmark and row.split is split))
    )


def _mismatches(counts: Sequence[ClassCount]) -> tuple[Mismatches, ...]:
    return tuple(
        Mismatches(*place, classes=tuple(members))
        for place, members in groupby(counts, lambda row: (row.benchmark, row.split, row.name, row.scripted, row.side))
    )


def _endings(connection: duckdb.DuckDBPyConnection) -> tuple[Endings, ...]:
    rows = connection.execute(
        "with counted as (select model, min(model_name) as name, bool_or(scripted) as scripted, stage, "
        "coalesce(problem_kind, status) as kind, count(*) as n "
        "from staging.stg_executions group by model, stage, kind) "
        "select min(name), bool_or(scripted), stage, list(kind order by n desc, kind), list(n order by n desc, kind) "
        "from counted group by model, stage order by bool_or(scripted), lower(min(name)), model, stage"
    ).fetchall()
    return tuple(
        Endings(name=name, scripted=scripted, stage=stage, kinds=tuple(zip(kinds, counts, strict=True)))
        for name, scripted, stage, kinds, counts in rows
    )


def _calls(connection: duckdb.DuckDBPyConnection) -> tuple[Calls, ...]:
    rows = connection.execute(
        "select purpose, scripted, count(*) filter (status <> 'cached'), count(*) filter (is_cached), "
        "count(*) filter (status in ('error', 'cancelled')), coalesce(sum(price_usd), 0), "
        "count(*) filter (status = 'ok' and price_usd is null) "
        "from staging.stg_calls group by purpose, scripted order by purpose desc, scripted"
    ).fetchall()
    return tuple(Calls(*row) for row in rows)


_InstanceScores = dict[tuple[str, str, str, str], tuple[float | None, str, str | None]]


def _instance_scores(connection: duckdb.DuckDBPyConnection) -> _InstanceScores:
    """(split, model, uid, metric) -> value, status, problem kind."""
    rows = connection.execute(
        "select split, model, uid, metric, value, status, problem_kind from staging.stg_scores "
        "where list_contains(?, metric)",
        [list(METRICS)],
    ).fetchall()
    return {(split, model, uid, metric): tuple(rest) for split, model, uid, metric, *rest in rows}


def _hidden_instances(rows: Sequence[HiddenRow]) -> set[tuple[str, str]]:
    """(split, uid) where some model's chart looks right and is not."""
    return {(row.split, one.uid) for row in rows for one in row.instances}


def _gallery(
    storage: Path,
    tables: Sequence[SplitTable],
    scores: _InstanceScores,
    hidden: set[tuple[str, str]],
    per_split: int,
) -> Gallery:
    queries = {query.uid: query for query in Library(storage).queries()}
    store = ArtifactStore(storage)
    items: list[GalleryItem] = []
    n_instances = 0
    for table in tables:
        scored = _scored(table.split.value, scores)
        uids = [uid for uid in sorted(scored) if uid in queries and queries[uid].benchmark == table.benchmark]
        n_instances += len(uids)
        shown = {item.query.uid for item in items}
        telling = sorted(
            (uid for uid in uids if uid not in shown),
            key=lambda uid: ((table.split.value, uid) not in hidden, -_spread(scored[uid])),
        )
        items += [_item(store, queries[uid], table, scores) for uid in telling[:per_split]]
    return Gallery(items=tuple(items), n_instances=n_instances)


def _scored(split: str, scores: _InstanceScores) -> dict[str, dict[str, list[float]]]:
    """Of one split: uid -> metric -> the models' values, without those in error or not applicable."""
    found: dict[str, dict[str, list[float]]] = {}
    for (of, _, uid, metric), (value, _, _) in scores.items():
        if of == split:
            values = found.setdefault(uid, {}).setdefault(metric, [])
            if value is not None:
                values.append(value)
    return found


def _spread(by_metric: dict[str, list[float]]) -> float:
    """How far the models are apart, over the metrics; 0 where all have the same scores, or only one has any."""
    return sum(max(values) - min(values) for values in by_metric.values() if values)


def _item(store: ArtifactStore, query: Query, table: SplitTable, scores: _InstanceScores) -> GalleryItem:
    reference = store.read("references", (), query.uid)
    folder = store.folder("references", (), query.uid)
    return GalleryItem(
        query=query,
        purpose=query.purpose_for(CodeType.PYTHON),
        split=table.split,
        reference=_chart(folder, reference),
        reference_folder=str(folder.relative_to(store.root)),
        models=tuple(_model_chart(store, query, row, scores) for row in table.rows),
    )


def _chart(folder: Path, result: InstanceResult | None) -> Path | None:
    """The chart that a result left: a file that no result names is not shown."""
    return folder / CHART_NAME if result is not None and CHART_NAME in result.files else None


def _model_chart(store: ArtifactStore, query: Query, row: LeaderboardRow, scores: _InstanceScores) -> ModelChart:
    scope = (row.split.value, row.model)
    folder = store.folder("rendered_charts", scope, query.uid)
    result = store.read("rendered_charts", scope, query.uid)
    chart = _chart(folder, result)
    return ModelChart(
        label=row.label,
        scripted=row.scripted,
        chart=chart,
        why=None if chart else _why(result),
        folder=str(folder.relative_to(store.root)),
        scores=tuple(_score(store, query.uid, scope, metric, scores) for metric in METRICS),
    )


def _why(result: InstanceResult | None) -> str:
    if result is None:
        return "not made yet"
    return result.problem.kind.replace("_", " ") if result.problem else result.status.value


def _score(store: ArtifactStore, uid: str, scope: tuple[str, str], metric: str, scores: _InstanceScores) -> Score:
    value, status, kind = scores.get((*scope, uid, metric), (None, "missing", None))
    path = store.folder(METRIC_ASSETS[metric], scope, uid) / "result.json"
    return Score(metric, value, status, kind, str(path.relative_to(store.root)))


def chart_facts(query: Query) -> list[str]:
    """What is known of the chart that was asked for, for a caption."""
    facts: list[Any] = [query.chart_type, query.query_type, query.company]
    return [str(fact) for fact in facts if fact]
