"""What a materialization would run and ask, before it runs: for ``materialize --dry-run`` and ``--stale-only``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.estimate import estimate_text
from deepchart_dagster.cli.pipeline import Cells, RunGroup, Scope
from deepchart_dagster.lineage.estimate import ASKING, Estimate, Estimator, Total
from deepchart_dagster.workbench import Workbench


@dataclass(frozen=True)
class PlannedStep:
    """One asset of one run. ``n_to_compute`` instances are made in any case, ``n_behind`` more where what they read
    comes out differently; the rest of ``n_total`` is reused. Assets without instances have None everywhere."""

    asset: str
    partition: str
    state: str | None
    n_total: int | None
    n_to_compute: int | None
    n_behind: int | None
    because: tuple[str, ...]


@dataclass(frozen=True)
class Forecast:
    steps: tuple[PlannedStep, ...]
    estimates: tuple[Estimate, ...]

    @property
    def n_to_compute(self) -> int:
        return sum(step.n_to_compute or 0 for step in self.steps)

    @property
    def n_behind(self) -> int:
        return sum(step.n_behind or 0 for step in self.steps)

    def as_json(self) -> dict[str, object]:
        return {
            "would_run": [asdict(step) for step in self.steps],
            "estimate": {
                "estimates": [one.as_json() for one in self.estimates],
                "total": Total.of(self.estimates).as_json(),
            },
        }

    def in_words(self) -> str:
        """A line for each step, then what would be asked."""
        lines = [_line(step) for step in self.steps if step.n_total is not None]
        if whole := [step.asset for step in self.steps if step.n_total is None]:
            lines.append(f"made anew, without a model: {', '.join(whole)}")
        lines = lines or ["Nothing would run."]
        if asking := [one for one in self.estimates if one.calls.high]:
            lines += ["", estimate_text(asking, Total.of(asking))]
        else:
            lines.append("No model would be asked.")
        if self.n_behind:
            lines.append(f"{self.n_behind} instances more are made again if what they read comes out changed.")
        return "\n".join(lines)


def forecast(bench: Workbench, groups: Sequence[RunGroup], scope: Scope, cells: Cells) -> Forecast:
    """Of these runs. Reads files and counts requests; asks nobody."""
    steps = tuple(_step(asset, group, cells) for group in groups for asset in group.assets)
    wanted = {step.asset for step in steps if step.n_to_compute}
    asking = [asset for asset in ASKING if asset in wanted]
    partitions = {step.partition for step in steps if step.n_to_compute}
    splits = [split for split in scope.splits if any(_names(split, partition) for partition in partitions)]
    estimates = Estimator(bench).estimate(asking, scope.models, splits) if asking else []
    return Forecast(steps, tuple(one for one in estimates if one.backend is None or one.backend in scope.backends))


def _names(split: Split, partition: str) -> bool:
    """Whether a partition, as Dagster names it, is of this split; those of the study of backends are of all."""
    parts = partition.split("|")
    return split.value in parts or not any(other.value in parts for other in Split)


def _step(asset: str, group: RunGroup, cells: Cells) -> PlannedStep:
    partition = group.partition or ""
    cell = cells.get((asset, partition))
    if cell is None:
        return PlannedStep(asset, partition, None, None, None, None, ())
    to_compute = cell.n_total - cell.n_done
    return PlannedStep(asset, partition, cell.state.value, cell.n_total, to_compute, cell.n_behind, cell.because)


def _line(step: PlannedStep) -> str:
    more = f" (and {step.n_behind} if what they read changes)" if step.n_behind else ""
    why = f"  {'; '.join(step.because)}" if step.because else ""
    counts = f"{step.n_to_compute} of {step.n_total} to make{more}"
    return f"{step.asset:20} {step.partition:40} {step.state:10} {counts}{why}"
