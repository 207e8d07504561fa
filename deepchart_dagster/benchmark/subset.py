"""The fixed subset of finance-ultra-long that models are asked about (paper, section 5.3 and appendix B.3).

Full filings cost too much to ask every model about all of them: 50 instances stand for the split. Every indicator
and both chart families have their share of the full split (largest remainders, every indicator at least once), and of
many seeded draws the one is taken whose evidence counts and chart families come nearest to the full split's. The same
queries and the same seed give the same subset on every machine.

    <root>/subsets/<benchmark>/finance-ultra-long.json

holds what was drawn, so that all models share it. It is drawn anew only where a query in it is gone. A user's own list
of uids replaces it (``DEEPCHART_ULTRA_LONG=FILE``); ``DEEPCHART_ULTRA_LONG=all`` runs the whole split.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from deepchart_dagster.artifacts.files import path_segment, storage_errors, write_json
from deepchart_dagster.benchmark.model import Query, Split
from deepchart_dagster.errors import ConfigurationError

SUBSET_SPLIT = Split.FINANCE_ULTRA_LONG
SUBSET_SIZE = 50
SUBSET_SEED = 20260
SUBSET_FORMAT: Final = "deepchart-subset/1"

_DRAWS = 400
_MOST_BYTES = 4 << 20

Wanted: TypeAlias = Literal["subset", "all"] | Path


class Subset(BaseModel):
    """The uids of one benchmark that stand for a split, sorted; ``n_split`` is how many it was drawn from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-subset/1"] = SUBSET_FORMAT
    benchmark: str
    split: Split = SUBSET_SPLIT
    seed: int
    n_split: int
    uids: tuple[str, ...]


@dataclass(frozen=True)
class Selection:
    """What of finance-ultra-long is worked on, benchmark by benchmark.

    root    storage, where what was drawn is kept
    wanted  "subset" (drawn, kept), "all", or a file with a uid on each line
    """

    root: Path
    wanted: Wanted = "subset"

    def choose(self, queries: Sequence[Query]) -> frozenset[str]:
        """Uids of ``queries`` (all that the split has, of every benchmark) to work on.

        Raises ConfigurationError for a list that cannot be read, or that names what is not in the split.
        """
        uids = frozenset(query.uid for query in queries)
        if self.wanted == "all" or not queries:
            return uids
        if isinstance(self.wanted, Path):
            return check_listed(self.wanted, uids, SUBSET_SPLIT.value)
        return frozenset(
            uid for benchmark, members in _by_benchmark(queries) for uid in self.subset(benchmark, members).uids
        )

    def subset(self, benchmark: str, queries: Sequence[Query]) -> Subset:
        """The subset that is kept for ``benchmark``; drawn and kept where there is none that fits its queries."""
        kept, there = self._kept(benchmark), {query.uid for query in queries}
        if kept is not None and set(kept.uids) <= there and len(kept.uids) == min(SUBSET_SIZE, len(there)):
            return kept
        drawn = draw_subset(benchmark, queries)
        write_json(self.path(benchmark), drawn.model_dump(mode="json"))
        return drawn

    def path(self, benchmark: str) -> Path:
        return self.root / "subsets" / path_segment(benchmark) / f"{SUBSET_SPLIT.value}.json"

    def in_words(self, benchmark: str, queries: Sequence[Query]) -> str:
        """As a leaderboard says it: "all 290", "50 of 290, seed 20260", "12 of 290, by a list"."""
        if self.wanted == "all":
            return f"all {len(queries)}"
        if isinstance(self.wanted, Path):
            chosen = [query for query in queries if query.uid in read_uids(self.wanted)]
            return f"{len(chosen)} of {len(queries)}, by a list"
        subset = self.subset(benchmark, queries)
        if len(subset.uids) == len(queries):
            return f"all {len(queries)}"
        return f"{len(subset.uids)} of {len(queries)}, seed {subset.seed}"

    def _kept(self, benchmark: str) -> Subset | None:
        path = self.path(benchmark)
        if not path.is_file():
            return None
        with storage_errors(path, "read"):
            content = path.read_bytes()
        try:
            return Subset.model_validate_json(content)
        except ValidationError as error:
            raise ConfigurationError(
                f"{path} is no subset: {error.errors()[0]['msg']}.",
                remedy="Delete it: the same subset is then drawn again from its seed.",
            ) from error


def _by_benchmark(queries: Iterable[Query]) -> Iterator[tuple[str, list[Query]]]:
    groups: dict[str, list[Query]] = {}
    for query in queries:
        groups.setdefault(query.benchmark, []).append(query)
    return iter(groups.items())


def check_listed(path: Path, uids: Set[str], where: str = "the text splits") -> frozenset[str]:
    """The uids of a user's file. Raises ConfigurationError where one is not among ``uids``, those of ``where``."""
    listed = read_uids(path)
    if unknown := sorted(listed - uids):
        raise ConfigurationError(
            f"{path}: {len(unknown)} of {len(listed)} uids are not in {where}, first {unknown[0]!r}.",
            remedy="Correct the list, or select the benchmark that has them (DEEPCHART_BENCHMARKS).",
        )
    return listed


def read_uids(path: Path) -> frozenset[str]:
    """The uids of a user's file: one a line, ``#`` begins a remark. Raises ConfigurationError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigurationError(f"{path} is too large for a list of uids.", remedy="A line holds one uid.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the list of uids {path} cannot be read: {error}.",
            remedy="It is a text file with a uid on each line (DEEPCHART_ULTRA_LONG may be subset or all as well).",
        ) from error
    uids = frozenset(text for line in lines if (text := line.partition("#")[0].strip()))
    if not uids:
        raise ConfigurationError(f"{path} lists no uid.", remedy="Write one on each line.")
    return uids


# Drawing


def draw_subset(
    benchmark: str, queries: Sequence[Query], *, size: int = SUBSET_SIZE, seed: int = SUBSET_SEED
) -> Subset:
    """``size`` of ``queries`` (all of them where there are no more), drawn as the module says."""
    ordered = sorted(queries, key=lambda query: query.uid)
    if len(ordered) <= size:
        chosen = ordered
    else:
        groups = _by_indicator(ordered)
        shares = shares_of({name: len(members) for name, members in groups.items()}, size)
        chance = random.Random(f"{seed}/{benchmark}")  # noqa: S311 - has to repeat
        draws = (
            [query for name, members in groups.items() for query in chance.sample(members, shares[name])]
            for _ in range(_DRAWS)
        )
        split = _profile(ordered)
        chosen = min(draws, key=lambda draw: _distance(_profile(draw), split))
    uids = tuple(sorted(query.uid for query in chosen))
    return Subset(benchmark=benchmark, seed=seed, n_split=len(ordered), uids=uids)


def _by_indicator(queries: Iterable[Query]) -> dict[str, list[Query]]:
    groups: dict[str, list[Query]] = {}
    for query in queries:
        groups.setdefault(_indicator(query), []).append(query)
    return dict(sorted(groups.items()))


def shares_of(counts: Mapping[str, int], size: int) -> dict[str, int]:
    """How many of ``size`` each group gets: in proportion, at least one and at most all that it has.

    Where there are more groups than ``size`` the smallest groups get none.
    """
    total = sum(counts.values())
    exact = {name: size * count / total for name, count in counts.items()}
    shares = {name: min(counts[name], max(1, int(exact[name]))) for name in counts}
    by_need = sorted(counts, key=lambda name: (shares[name] - exact[name], name))
    while sum(shares.values()) < min(size, total):
        name = next(name for name in by_need if shares[name] < counts[name])
        shares[name] += 1
        by_need.sort(key=lambda name: (shares[name] - exact[name], name))
    least = 1 if len(counts) <= size else 0
    while sum(shares.values()) > size:
        spare = [name for name in shares if shares[name] > least]
        shares[max(spare, key=lambda name: (shares[name] - exact[name], name))] -= 1
    return shares


_Profile: TypeAlias = dict[str, float | None]


def _distance(draw: _Profile, split: _Profile) -> float:
    """How far a draw is from the split: relative differences of evidence counts, differences of chart shares."""
    return sum(_apart(draw.get(name), value) for name, value in split.items())


def _profile(queries: Sequence[Query]) -> _Profile:
    families = Counter(_family(query) for query in queries)
    shares = {f"chart type {name}": count / len(queries) for name, count in sorted(families.items())}
    return {
        "source values": _mean(query.evidence.source_values for query in queries),
        "derived values": _mean(query.evidence.derived_values for query in queries),
        **shares,
    }


def _apart(mine: float | None, full: float | None) -> float:
    if full is None:
        return 0.0
    if mine is None:
        return 1.0
    return abs(mine - full) / full if full > 1 else abs(mine - full)


def _mean(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _indicator(query: Query) -> str:
    return query.query_type or query.indicator or "unknown"


def _family(query: Query) -> str:
    return query.chart_family or query.chart_type or "unknown"


# How well it stands for the split


@dataclass(frozen=True)
class Likeness:
    """One line of the table that compares what is run with its split (paper, B.3).

    subset, split    a mean over the instances where the value is known, or a count of instances
    n_subset, n_split   over how many instances a mean goes; for a count, how many instances there are
    n_instances      how many the split has
    """

    what: str
    is_mean: bool
    subset: float | None
    split: float | None
    n_subset: int
    n_split: int
    n_instances: int

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


def likeness(chosen: Sequence[Query], full: Sequence[Query], tokens: Mapping[str, int]) -> list[Likeness]:
    """Tokens of the context, evidence counts, chart families and indicators: what is run against the split.

    ``tokens`` are those of the contexts that are there, by uid.
    """
    means = [
        ("mean tokens of the context", [tokens.get(query.uid) for query in full]),
        ("mean source values", [query.evidence.source_values for query in full]),
        ("mean derived values", [query.evidence.derived_values for query in full]),
    ]
    inside = {query.uid for query in chosen}
    rows = [_mean_row(what, values, full, inside) for what, values in means]
    for title, name_of in (("chart type", _family), ("indicator", _indicator)):
        all_, mine = Counter(map(name_of, full)), Counter(map(name_of, chosen))
        rows += [
            Likeness(f"{title} {name}", False, mine[name], count, len(chosen), len(full), len(full))
            for name, count in sorted(all_.items(), key=lambda item: (-item[1], item[0]))
        ]
    return rows


def _mean_row(what: str, values: Sequence[int | None], full: Sequence[Query], inside: set[str]) -> Likeness:
    known = [(query.uid, value) for query, value in zip(full, values, strict=True) if value is not None]
    mine = [value for uid, value in known if uid in inside]
    return Likeness(
        what,
        is_mean=True,
        subset=fmean(mine) if mine else None,
        split=fmean(value for _, value in known) if known else None,
        n_subset=len(mine),
        n_split=len(known),
        n_instances=len(full),
    )
