"""Which partitions a selection means, in which order they run, and what came out: for materialize and demo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from deepchart_dagster.benchmark.model import Backend, Split
from deepchart_dagster.cli.runs import Materialized, RunOutcome, Runs, model_backend_key, model_split_key
from deepchart_dagster.errors import DeepChartError, NoWorkPossible, UsageError
from deepchart_dagster.lineage.graph import BY_NAME, PartitionKey, PartitionKind
from deepchart_dagster.lineage.status import Cell, State, read_status
from deepchart_dagster.llm.yaml_file import did_you_mean
from deepchart_dagster.metrics.freshness import reports_are_fresh, rows_are_written
from deepchart_dagster.settings import PROJECT_ROOT
from deepchart_dagster.workbench import Workbench, keep_runners

if TYPE_CHECKING:
    import dagster as dg

ROOT = "benchmark_queries"
DBT_PROJECT = PROJECT_ROOT / "dbt_reports"
JUDGE_STUDY = ("validation_subset", "judge_verdicts", "judge_agreement")


@dataclass(frozen=True)
class RunGroup:
    """Assets that run together, for one partition (None: they have none)."""

    assets: tuple[str, ...]
    partition: str | None


@dataclass(frozen=True)
class Scope:
    """For which partitions: models and splits as asked for, documents all that are registered."""

    models: tuple[str, ...]
    splits: tuple[Split, ...]
    documents: tuple[str, ...]
    backends: tuple[Backend, ...] = ()
    judges: tuple[str, ...] = ()


@dataclass
class PipelineOutcome:
    rows: list[Materialized] = field(default_factory=list)
    failures: list[DeepChartError] = field(default_factory=list)

    @property
    def n_computed(self) -> int:
        return sum(row.n_computed for row in self.rows)

    @property
    def n_error(self) -> int:
        return sum(row.n_error for row in self.rows)

    @property
    def anything_done(self) -> bool:
        """Whether any instance has a result; tables and reports, which have none, count where nothing else ran."""
        instances = [row for row in self.rows if row.asset in BY_NAME]
        return any(row.n_done > 0 for row in instances) if instances else bool(self.rows)

    @property
    def exit_code(self) -> int:
        """1 where some instances are in error, 3 (2: a wrong setting) where nothing at all could be done."""
        if self.failures and not self.anything_done:
            codes = {failure.exit_code for failure in self.failures}
            return codes.pop() if len(codes) == 1 else NoWorkPossible.exit_code
        return 1 if self.failures or self.n_error else 0


def select_assets(runs: Runs, selection: str) -> list[str]:
    """Asset names that a selection means: Dagster's (``predicted_states+``, ``group:scores``, ``*``), or names
    with commas between them. In the order of the pipeline, and with what can only be made together with them.

    Raises UsageError where it cannot be read or means nothing.
    """
    graph = runs.definitions.resolve_asset_graph()
    order = [key.to_user_string() for key in graph.toposorted_asset_keys]
    chosen: set[str] = set()
    for part in selection.split(","):
        chosen |= _selected(graph, part.strip(), order)
    return [name for name in order if name in chosen]


def _quoted(selection: str, known: Sequence[str]) -> str:
    """``predicted_states+`` as ``key:"predicted_states"+``: a bare ``name+`` is an older syntax to Dagster, in which
    ``+`` reaches one step instead of all of them (as it does in the UI)."""
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    return re.sub(rf'(?<![\w/":])({names})(?![\w/":])', r'key:"\1"', selection)


def _selected(graph: dg.BaseAssetGraph[Any], selection: str, known: Sequence[str]) -> set[str]:
    import dagster as dg

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Dagster about its own selection classes
            everything = selection == "*"
            chosen: dg.AssetSelection = (
                dg.AssetSelection.all() if everything else dg.AssetSelection.from_string(_quoted(selection, known))
            )
            keys = (chosen | chosen.required_multi_asset_neighbors()).resolve(graph)
        names = {key.to_user_string() for key in keys}
    except dg.DagsterError:
        names = set()
    if not names:
        near = did_you_mean(selection, known)
        raise UsageError(
            f"the selection {selection!r} means no asset{near or '.'}",
            remedy=f"There are: {', '.join(known)}; 'name+' means what is made from it, '+name' what it is made from.",
        )
    return names


def run_groups(assets: Sequence[str], scope: Scope) -> Iterator[RunGroup]:
    """Runs in the order of the pipeline: benchmark, documents, splits, model × split, reports.

    The judge study stands apart: a wide selection (``*``, ``visual_accuracy+``) neither draws its subset, which is
    drawn once, nor asks its judges.
    """
    if set(assets) <= set(JUDGE_STUDY):
        yield from _judge_study(assets, scope)
        return
    assets = [name for name in assets if name not in JUDGE_STUDY]
    by_kind = {
        kind: tuple(name for name in assets if name in BY_NAME and BY_NAME[name].kind is kind) for kind in PartitionKind
    }
    if ROOT in assets:
        yield RunGroup((ROOT,), None)
    if names := by_kind[PartitionKind.DOCUMENT]:
        yield from (RunGroup(names, document) for document in scope.documents)
    if names := by_kind[PartitionKind.SPLIT]:
        yield from (RunGroup(names, split.value) for split in scope.splits)
    if names := by_kind[PartitionKind.MODEL_SPLIT]:
        for model in scope.models:
            yield from (RunGroup(names, model_split_key(model, split.value)) for split in scope.splits)
    if names := by_kind[PartitionKind.MODEL_BACKEND]:
        for model in scope.models:
            yield from (RunGroup(names, model_backend_key(model, backend.value)) for backend in scope.backends)
    if tail := tuple(name for name in assets if name != ROOT and name not in BY_NAME):
        yield RunGroup(tail, None)


def _judge_study(assets: Sequence[str], scope: Scope) -> Iterator[RunGroup]:
    subset, verdicts, agreement = JUDGE_STUDY
    if subset in assets:
        yield RunGroup((subset,), None)
    if verdicts in assets:
        yield from (RunGroup((verdicts,), judge) for judge in scope.judges)
    if agreement in assets:
        yield RunGroup((agreement,), None)


@dataclass(frozen=True)
class Place:
    """Which of how many runs, from 1."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"[{self.number:>{len(str(self.total))}}/{self.total}]"


class Announcer(Protocol):
    """Told of every run before it (``result`` is None) and after it."""

    def __call__(self, place: Place, group: RunGroup, result: RunOutcome | None) -> None: ...


def run_all(
    runs: Runs,
    groups: Sequence[RunGroup],
    announce: Announcer,
    is_left_out: Callable[[RunGroup], bool] = lambda _: False,
) -> PipelineOutcome:
    """Run every group; a group that fails is kept as a failure and stops no other.

    ``is_left_out`` is asked when a group's turn comes: such a group starts no run, and counts as done. It is
    announced with an outcome without rows.
    """
    from deepchart_dagster.cli.records import quick_records

    outcome = PipelineOutcome()
    with keep_runners(), quick_records():
        for number, group in enumerate(groups, start=1):
            place = Place(number, len(groups))
            if is_left_out(group):
                outcome.rows.extend(_as_it_was(asset) for asset in group.assets)
                announce(place, group, RunOutcome(()))
                continue
            announce(place, group, None)
            result = runs.materialize(group.assets, group.partition)
            outcome.rows.extend((*result.rows, *result.in_error))
            if result.failure:
                outcome.failures.append(result.failure)
            announce(place, group, result)
    return outcome


def applicable_groups(bench: Workbench, groups: Iterable[RunGroup], scope: Scope) -> list[RunGroup]:
    """Without the splits that hold no instance, and the model × split partitions where the model has none to do."""
    idle = {split.value for split in scope.splits if not bench.library.instances(split)}
    idle |= {
        model_split_key(slug, split.value)
        for slug in scope.models
        for split in scope.splits
        if not bench.applicable(bench.model(slug), split)
    }
    return [group for group in groups if group.partition not in idle]


def n_instances(bench: Workbench, group: RunGroup) -> int | None:
    """Instances of a run's partition; None where it has none, or only its step counts them (the study of backends)."""
    from deepchart_dagster.generation.asking import asked_instances

    kind = BY_NAME[group.assets[0]].kind if group.assets[0] in BY_NAME else None
    if group.partition is None or kind not in (PartitionKind.SPLIT, PartitionKind.MODEL_SPLIT):
        return None
    model, _, split = group.partition.rpartition("|")
    if kind is PartitionKind.SPLIT:
        return len(bench.library.instances(Split(split)))
    return len(asked_instances(bench.library, Split(split), bench.model(model)))


def nothing_to_do(bench: Workbench, assets: Sequence[str], scope: Scope) -> NoWorkPossible:
    """Why a selection came to no run at all."""
    kinds = {BY_NAME[name].kind for name in assets if name in BY_NAME}
    if kinds == {PartitionKind.DOCUMENT}:
        return NoWorkPossible(
            "no documents are registered.", remedy="Add some: deepchart documents add FILE.pdf --domain finance."
        )
    if not bench.library.names():
        return NoWorkPossible(
            f"{bench.settings.storage} holds no benchmark.", remedy="Get one: deepchart import PATH, or deepchart demo."
        )
    splits = ", ".join(split.value for split in scope.splits)
    if kinds == {PartitionKind.MODEL_SPLIT}:
        return NoWorkPossible(
            f"there is nothing for {', '.join(scope.models)} in {splits}.",
            remedy="models.yaml says which benchmarks and which kind of context (protocols) a model takes.",
        )
    return NoWorkPossible(
        f"there is no instance in {splits}.", remedy=f"Benchmarks: {', '.join(bench.library.names())}."
    )


Cells = dict[tuple[str, str], Cell]


@dataclass(frozen=True)
class Sorted:
    """Groups that have something to do, and rows that stand for those that have nothing to do."""

    behind: tuple[RunGroup, ...]
    fresh: tuple[Materialized, ...]


def is_behind(cell: Cell) -> bool:
    return cell.state in (State.STALE, State.MISSING, State.PARTIAL, State.FAILED)


def has_errors(cell: Cell) -> bool:
    return cell.n_error > 0


def read_cells(bench: Workbench, scope: Scope) -> Cells:
    """The status of every partition of the scope, by asset and partition as Dagster names it."""
    cells = read_status(bench, models=scope.models, splits=scope.splits, backends=scope.backends, judges=scope.judges)
    return {(cell.key.asset, dagster_key(cell.key)): cell for cell in cells}


def sort_groups(
    bench: Workbench,
    groups: Iterable[RunGroup],
    scope: Scope,
    wanted: Callable[[Cell], bool],
    cells: Cells | None = None,
) -> Sorted:
    """Groups of which some partition is ``wanted``, or was done by a run that ended before it wrote its rows; groups
    without partitions stay. ``cells`` is the status where it was read already."""
    cells = read_cells(bench, scope) if cells is None else cells
    behind: list[RunGroup] = []
    fresh: list[Materialized] = []
    for group in groups:
        own = _own_cells(group, cells)
        if group.partition is None or any(wanted(cell) or not _has_rows(bench, cell) for cell in own):
            behind.append(group)
        else:
            fresh.extend(_untouched(cell) for cell in own)
    return Sorted(tuple(behind), tuple(fresh))


def _own_cells(group: RunGroup, cells: Cells) -> list[Cell]:
    keys = [(asset, group.partition or "") for asset in group.assets]
    return [cells[key] for key in keys if key in cells]


def _has_rows(bench: Workbench, cell: Cell) -> bool:
    """Whether a run would write nothing of this partition anew: its rows, and the list of a split whose results, which
    other splits share, were all made with theirs (status takes it for fresh; Dagster never heard of it)."""
    listed = bench.artifacts.partition_path(cell.key.asset, cell.key.parts, ".jsonl")
    if cell.state is State.FRESH and BY_NAME[cell.key.asset].shared and not listed.exists():
        return False
    return rows_are_written(bench.artifacts, cell.key.asset, cell.key.parts)


def tables_as_they_were(bench: Workbench, groups: Sequence[RunGroup]) -> Callable[[RunGroup], bool]:
    """Whether a group is the tables and the report, which would come out as they are, behind the partitions that were
    asked for. Where nothing but tables is asked for they are made, whatever there is."""
    partitions = any(group.partition is not None for group in groups)

    def as_they_were(group: RunGroup) -> bool:
        is_tables = group.partition is None and not {ROOT, *JUDGE_STUDY}.intersection(group.assets)
        return partitions and is_tables and not reports_are_due(bench, ())

    return as_they_were


def reports_are_due(bench: Workbench, behind: Iterable[RunGroup]) -> bool:
    """Whether tables and report may come out differently: something is to be made, or they are of what was."""
    from deepchart_dagster.reporting.report import report_path

    storage = bench.settings.storage
    work = any(group.partition is not None for group in behind)
    return work or not reports_are_fresh(storage, DBT_PROJECT, report_path(storage))


def _untouched(cell: Cell) -> Materialized:
    return replace(
        _as_it_was(cell.key.asset), partition=dagster_key(cell.key), n_reused=cell.n_done, n_error=cell.n_error
    )


def _as_it_was(asset: str) -> Materialized:
    return Materialized(asset=asset, partition="", n_computed=0, n_reused=0, n_error=0, calls=0, seconds=0.0)


def dagster_key(key: PartitionKey) -> str:
    from deepchart_dagster.partitions import dagster_partition

    return dagster_partition(key)
