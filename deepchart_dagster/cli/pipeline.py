"""Which partitions a selection means, in which order they run, and what came out: for materialize and demo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.runs import Materialized, RunOutcome, Runs, model_split_key
from deepchart_dagster.errors import DeepChartError, NoWorkPossible, UsageError
from deepchart_dagster.lineage.graph import BY_NAME, NODES, PartitionKey, PartitionKind
from deepchart_dagster.lineage.status import Cell, State, read_status
from deepchart_dagster.workbench import Workbench

ROOT = "benchmark_queries"


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
    def exit_code(self) -> int:
        """1 where some instances are in error, 3 (2: a wrong setting) where nothing at all could be done."""
        if self.failures and not self.rows:
            codes = {failure.exit_code for failure in self.failures}
            return codes.pop() if len(codes) == 1 else NoWorkPossible.exit_code
        return 1 if self.failures or self.n_error else 0


def select_assets(runs: Runs, selection: str) -> list[str]:
    """Asset names that a Dagster selection means (``predicted_states+``, ``group:scores``, ``*``).

    Raises UsageError where it cannot be read or means nothing.
    """
    import dagster as dg

    graph = runs.definitions.resolve_asset_graph()
    try:
        chosen = dg.AssetSelection.all() if selection == "*" else dg.AssetSelection.from_string(selection)
        keys = chosen.resolve(graph)
    except (dg.DagsterInvalidDefinitionError, dg.DagsterInvalidSubsetError, dg.DagsterError) as error:
        raise UsageError(f"the selection {selection!r} cannot be read: {str(error).splitlines()[0]}") from error
    if not keys:
        raise UsageError(f"the selection {selection!r} means no asset.", remedy="deepchart status lists assets.")
    order = [key.to_user_string() for key in graph.toposorted_asset_keys]
    return [name for name in order if name in {key.to_user_string() for key in keys}]


def run_groups(assets: Sequence[str], scope: Scope) -> Iterator[RunGroup]:
    """Runs in the order of the pipeline: benchmark, documents, splits, model × split, reports."""
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
    if tail := tuple(name for name in assets if name != ROOT and name not in BY_NAME):
        yield RunGroup(tail, None)


def run_all(
    runs: Runs, groups: Iterable[RunGroup], announce: Callable[[RunGroup, RunOutcome], None]
) -> PipelineOutcome:
    """Run every group; a group that fails is kept as a failure and stops no other."""
    outcome = PipelineOutcome()
    for group in groups:
        result = runs.materialize(group.assets, group.partition)
        outcome.rows.extend(result.rows)
        if result.failure:
            outcome.failures.append(result.failure)
        announce(group, result)
    return outcome


def applicable_groups(bench: Workbench, groups: Iterable[RunGroup], scope: Scope) -> list[RunGroup]:
    """Without the model × split partitions in which the model has nothing to do."""
    idle = {
        model_split_key(slug, split.value)
        for slug in scope.models
        for split in scope.splits
        if not bench.applicable(bench.model(slug), split)
    }
    return [group for group in groups if group.partition not in idle]


@dataclass(frozen=True)
class Sorted:
    """Groups that have something to do, and rows that stand for those that have nothing to do."""

    behind: tuple[RunGroup, ...]
    fresh: tuple[Materialized, ...]


def sort_by_state(bench: Workbench, groups: Iterable[RunGroup], scope: Scope, wanted: frozenset[State]) -> Sorted:
    """Groups of which some partition is in one of the ``wanted`` states; groups without partitions stay."""
    cells: dict[tuple[str, str | None], Cell] = {
        (cell.key.asset, _dagster_key(cell.key)): cell
        for cell in read_status(bench, models=scope.models, splits=scope.splits, assets=NODES)
    }
    behind: list[RunGroup] = []
    fresh: list[Materialized] = []
    for group in groups:
        own = [cells[asset, group.partition] for asset in group.assets if (asset, group.partition) in cells]
        if group.partition is None or any(cell.state in wanted for cell in own):
            behind.append(group)
        else:
            fresh.extend(_untouched(cell) for cell in own)
    return Sorted(tuple(behind), tuple(fresh))


def _untouched(cell: Cell) -> Materialized:
    return Materialized(
        asset=cell.key.asset,
        partition=_dagster_key(cell.key),
        n_computed=0,
        n_reused=cell.n_done,
        n_error=cell.n_error,
        calls=0,
        seconds=0.0,
    )


def _dagster_key(key: PartitionKey) -> str:
    if key.model and key.split:
        return model_split_key(key.model, key.split.value)
    return key.document or (key.split.value if key.split else "")
