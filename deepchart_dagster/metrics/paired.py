"""Two models on the same instances: the mean of the differences, with its interval by the paired bootstrap.

Instances differ in difficulty more than models do. A difference within each instance takes that out: its
interval says whether one model is better where the intervals of the two means overlap widely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import UsageError
from deepchart_dagster.metrics.bootstrap import mean_interval
from deepchart_dagster.metrics.leaderboard import METRIC_NAMES, METRICS, open_marts, records


@dataclass(frozen=True)
class PairedDifference:
    """Two models, ``first`` and ``second``, on one split by one metric.

    Means and ``difference`` (first less second) are over the ``n`` instances on which both are scored by the same
    yardstick; ``low`` and ``high`` bound the middle 95 % of the resampled differences. ``n_unlike`` instances are
    scored for both, but not alike, ``n_single`` for one of the two only.
    """

    benchmark: str
    split: Split
    metric: str
    n: int
    first_mean: float | None
    second_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    n_first_better: int
    n_equal: int
    n_second_better: int
    n_unlike: int
    n_single: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "split": self.split.value, "decided": self.decided}


@dataclass(frozen=True)
class InstancePair:
    """What two models have on one instance; None where one is not scored."""

    first: float | None
    second: float | None
    alike: bool


def paired_difference(benchmark: str, split: Split, metric: str, pairs: Sequence[InstancePair]) -> PairedDifference:
    both = [
        (pair.first, pair.second) for pair in pairs if pair.alike and pair.first is not None and pair.second is not None
    ]
    differences = [first - second for first, second in both]
    interval = mean_interval(differences) if differences else None
    return PairedDifference(
        benchmark=benchmark,
        split=split,
        metric=metric,
        n=len(both),
        first_mean=fmean(first for first, _ in both) if both else None,
        second_mean=fmean(second for _, second in both) if both else None,
        difference=fmean(differences) if differences else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n_first_better=sum(difference > 0 for difference in differences),
        n_equal=sum(difference == 0 for difference in differences),
        n_second_better=sum(difference < 0 for difference in differences),
        n_unlike=sum(not pair.alike for pair in pairs),
        n_single=sum((pair.first is None) != (pair.second is None) for pair in pairs),
    )


# A yardstick of null is a failure: 0 by any, so it compares with everything.
_PAIRS = """
with scored as (
    select * from staging.stg_scores where is_scored and list_contains(?, metric) and (? is null or split = ?)
)
select
    coalesce(one.benchmark, two.benchmark) as benchmark,
    coalesce(one.split, two.split) as split,
    coalesce(one.metric, two.metric) as metric,
    one.value as first,
    two.value as second,
    coalesce(one.yardstick = two.yardstick, true) as alike
from (select * from scored where model = ?) as one
full join (select * from scored where model = ?) as two using (benchmark, split, metric, uid)
order by 1, 2, 3, coalesce(one.uid, two.uid)
"""


def compare_models(storage: Path, first: str, second: str, split: Split | None = None) -> list[PairedDifference]:
    """A difference for every benchmark, split and metric that either model has, by slug.

    Raises UsageError for a model that has no score, UpstreamError where the marts have not been built, StorageError
    where the store cannot be read.
    """
    wanted = split.value if split else None
    with open_marts(storage) as connection:
        for model in (first, second):
            if not records(connection, "select 1 from staging.stg_scores where model = ? limit 1", [model]):
                known = records(connection, "select distinct model from staging.stg_scores order by 1", [])
                raise UsageError(
                    f"{model} has no scores.",
                    remedy=f"These have: {', '.join(row['model'] for row in known) or 'none'}.",
                )
        rows = records(connection, _PAIRS, [list(METRICS), wanted, wanted, first, second])
    return sorted(_differences(rows), key=_order)


def _differences(rows: Iterable[dict[str, Any]]) -> Iterable[PairedDifference]:
    for (benchmark, split, metric), group in groupby(
        rows, key=lambda row: (row["benchmark"], row["split"], row["metric"])
    ):
        pairs = [InstancePair(row["first"], row["second"], row["alike"]) for row in group]
        yield paired_difference(benchmark, Split(split), metric, pairs)


def _order(row: PairedDifference) -> tuple[str, int, int]:
    return (row.benchmark, list(Split).index(row.split), METRICS.index(row.metric))


def format_comparison(first: str, second: str, rows: Sequence[PairedDifference]) -> str:
    if not rows:
        return f"{first} and {second} have no instance in common."
    width = max(len(first), len(second), 8)
    head = (
        f"{'':8} {first.rjust(width)} {second.rjust(width)}   difference, 95 % interval     better/equal/worse      n"
    )
    lines: list[str] = []
    for (benchmark, split), group in groupby(rows, key=lambda row: (row.benchmark, row.split)):
        lines += ["", f"{split.value} · benchmark {benchmark}", head]
        lines += [_line(row, width) for row in group]
    note = f"Difference: {first} less {second}, where both are scored alike; * where its interval leaves 0 out."
    return "\n".join([*lines[1:], "", note])


def _line(row: PairedDifference, width: int) -> str:
    name = METRIC_NAMES[row.metric].ljust(8)
    if row.difference is None or row.first_mean is None or row.second_mean is None:
        return f"{name} no instance in common{_left_out(row)}"
    means = f"{row.first_mean:.3f}".rjust(width) + " " + f"{row.second_mean:.3f}".rjust(width)
    interval = f"{row.difference:+.3f} [{row.low:+.3f}, {row.high:+.3f}]{'*' if row.decided else ' '}"
    counts = f"{row.n_first_better}/{row.n_equal}/{row.n_second_better}"
    return f"{name} {means}   {interval:<28}   {counts:>16}   {row.n:>6}{_left_out(row)}"


def _left_out(row: PairedDifference) -> str:
    said = [f"{row.n_single} scored for one only"] if row.n_single else []
    said += [f"{row.n_unlike} not measured alike"] if row.n_unlike else []
    return f" ({', '.join(said)})" if said else ""
