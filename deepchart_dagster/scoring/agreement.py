"""How far two raters agree: judges with each other, a judge with people (paper, appendix B.4 and table 9).

Items are rubric questions about charts; Yes is 1, No and unclear are 0, as in VAS. At the level of items: accuracy,
macro-F1, Cohen's κ. At the level of charts, whose score is the share of 1: Pearson, Spearman and the mean absolute
difference. Only items that both have answered count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from pydantic import JsonValue


class Item(NamedTuple):
    """One question about one chart."""

    chart: str
    question: str


Points = Mapping[Item, int]


@dataclass(frozen=True)
class Agreement:
    """Of two raters. κ and the correlations are None where they are not defined: a rater that always says the same.

    ``n_single`` items were answered by one of the two only, and are left out.
    """

    first: str
    second: str
    n_items: int
    n_charts: int
    n_single: int
    accuracy: float | None
    macro_f1: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None
    mae: float | None

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def agreement(first: str, one: Points, second: str, two: Points) -> Agreement:
    """Agreement of rater ``first``, who gave ``one``, with ``second``; all figures None without a common item."""
    items = sorted(one.keys() & two.keys())
    mine, theirs = [one[item] for item in items], [two[item] for item in items]
    counts = (len(items), len({item.chart for item in items}), len(one.keys() ^ two.keys()))
    if not items:
        return Agreement(first, second, *counts, None, None, None, None, None, None)
    charts = list(zip(_by_chart(items, mine), _by_chart(items, theirs), strict=True))
    return Agreement(
        first,
        second,
        *counts,
        accuracy=fmean(a == b for a, b in zip(mine, theirs, strict=True)),
        macro_f1=_macro_f1(mine, theirs),
        kappa=_kappa(mine, theirs),
        pearson=_correlation("pearsonr", charts),
        spearman=_correlation("spearmanr", charts),
        mae=fmean(abs(a - b) for a, b in charts),
    )


def all_pairs(raters: Mapping[str, Points]) -> list[Agreement]:
    return [agreement(one, raters[one], two, raters[two]) for one, two in combinations(raters, 2)]


def _by_chart(items: list[Item], points: list[int]) -> list[float]:
    """The share of 1 for each chart, in order of charts."""
    charts: dict[str, list[int]] = defaultdict(list)
    for item, point in zip(items, points, strict=True):
        charts[item.chart].append(point)
    return [fmean(charts[name]) for name in sorted(charts)]


def _macro_f1(mine: list[int], theirs: list[int]) -> float:
    """Over the answers that either gave: an answer that neither gave has no F1."""
    from sklearn.metrics import f1_score

    return float(f1_score(theirs, mine, labels=sorted({*mine, *theirs}), average="macro", zero_division=0.0))


def _kappa(mine: list[int], theirs: list[int]) -> float | None:
    from sklearn.metrics import cohen_kappa_score

    if len({*mine, *theirs}) < 2:  # agreement by chance is 1 then, and κ is 0/0
        return None
    return _known(float(cohen_kappa_score(mine, theirs)))


def _correlation(name: str, charts: list[tuple[float, float]]) -> float | None:
    from scipy import stats

    mine, theirs = [a for a, _ in charts], [b for _, b in charts]
    if len(set(mine)) < 2 or len(set(theirs)) < 2:
        return None
    return _known(float(getattr(stats, name)(mine, theirs).statistic))


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
