"""What stands around the rows of the leaderboard: averages over models, the paper's figures, and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.metrics.leaderboard import METRICS, open_marts, records
from deepchart_dagster.scoring.agreement import Agreement


class CellPlace(NamedTuple):
    """A cell of the leaderboard; ``model`` is a slug."""

    benchmark: str
    model: str
    split: Split
    metric: str


@dataclass(frozen=True)
class PaperCell:
    """What the paper reports, the instances it stands on, and ours less that (None where ours is unscored)."""

    value: float
    n: int
    difference: float | None

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


@dataclass(frozen=True)
class Average:
    """The mean over models of each metric's means (paper, section 5.2), by metric; None where no model has one.

    ``paper`` is the same over the paper's models. Scripted models are averaged apart from others.
    """

    benchmark: str
    split: Split
    scripted: bool
    n_models: int
    values: Mapping[str, float | None]
    paper: Mapping[str, float | None]
    paper_n_models: int

    def as_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "split": self.split.value}


@dataclass(frozen=True)
class Mixture:
    """A cell of the leaderboard that not all models, or not all instances, were measured alike in.

    ``n_mixed``: instances on which models were asked or measured differently (task, rule, reference, rubric, judge);
    ``n_rules``: how many rules (versions, scorers, judges) there are among all instances.
    """

    benchmark: str
    split: Split
    metric: str
    n_mixed: int
    n_instances: int
    n_rules: int

    def as_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "split": self.split.value}


@dataclass(frozen=True)
class Unscored:
    """A model that was asked on a split and has no score there: ``n_error`` of ``n_instances`` are in error."""

    benchmark: str
    split: Split
    label: str
    n_instances: int
    n_error: int


@dataclass(frozen=True)
class Published:
    averages: tuple[Average, ...] = ()
    mixtures: tuple[Mixture, ...] = ()
    unscored: tuple[Unscored, ...] = ()
    paper: Mapping[CellPlace, PaperCell] | None = None

    def cell(self, place: CellPlace) -> PaperCell | None:
        return self.paper.get(place) if self.paper else None


def read_published(storage: Path, benchmark: str | None = None, *, compare: bool = False) -> Published:
    """``compare``: with the paper's figures.

    Raises UpstreamError where the marts have not been built, StorageError where the store cannot be read.
    """
    with open_marts(storage) as connection:

        def rows_of(mart: str) -> list[dict[str, Any]]:
            sql = f"from marts.{mart} where ? is null or benchmark = ? order by all"
            return records(connection, sql, [benchmark, benchmark])

        return Published(
            averages=tuple(_average(row) for row in rows_of("model_averages")),
            mixtures=tuple(
                _mixture(row)
                for row in rows_of("yardsticks")
                if (row["n_mixed"] or row["n_rules"] > 1) and row["metric"] in METRICS
            ),
            unscored=tuple(_unscored(row) for row in records(connection, _UNSCORED, [benchmark, benchmark])),
            paper={_place(row): _paper_cell(row) for row in rows_of("paper_comparison")} if compare else None,
        )


_UNSCORED = """
    select benchmark, split, model_name, scripted, count(*) as n_instances,
        count(*) filter (status = 'error') as n_error
    from staging.stg_executions
    where stage = 1 and (? is null or benchmark = ?)
        and (benchmark, split, model) not in (select (benchmark, split, model) from marts.leaderboard)
    group by benchmark, split, model, model_name, scripted
    order by all
"""


def read_paper_judges(storage: Path) -> list[Agreement]:
    """The paper's table 9. It does not say over how many items: their number is 0.

    Raises UpstreamError where there is no store, StorageError where it cannot be read.
    """
    with open_marts(storage) as connection:
        rows = records(connection, "select * from paper.paper_judge_agreement", [])
    return [
        Agreement(
            first=row["judge_a"],
            second=row["judge_b"],
            n_items=0,
            n_charts=180,
            n_single=0,
            accuracy=row["accuracy"],
            macro_f1=row["f1"],
            kappa=row["cohen_kappa"],
            pearson=row["pearson"],
            spearman=row["spearman"],
            mae=row["mae"],
        )
        for row in rows
    ]


def _unscored(row: dict[str, Any]) -> Unscored:
    label = f"{row['model_name']} (scripted)" if row["scripted"] else row["model_name"]
    return Unscored(row["benchmark"], Split(row["split"]), label, row["n_instances"], row["n_error"])


def _average(row: dict[str, Any]) -> Average:
    return Average(
        benchmark=row["benchmark"],
        split=Split(row["split"]),
        scripted=row["scripted"],
        n_models=row["n_models"],
        values={metric: row[f"{metric}_value"] for metric in METRICS},
        paper={metric: row[f"paper_{metric}"] for metric in METRICS},
        paper_n_models=row["paper_n_models"] or 0,
    )


def _mixture(row: dict[str, Any]) -> Mixture:
    return Mixture(
        benchmark=row["benchmark"],
        split=Split(row["split"]),
        metric=row["metric"],
        n_mixed=row["n_mixed"],
        n_instances=row["n_instances"],
        n_rules=row["n_rules"],
    )


def _place(row: dict[str, Any]) -> CellPlace:
    return CellPlace(row["benchmark"], row["model"], Split(row["split"]), row["metric"])


def _paper_cell(row: dict[str, Any]) -> PaperCell:
    return PaperCell(value=row["paper_value"], n=row["paper_n"], difference=row["difference"])
