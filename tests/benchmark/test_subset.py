"""The fixed subset of finance-ultra-long, on a record set with the distribution of the paper's tables 6 and 8."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, EvidenceCounts, Query, Split
from deepchart_dagster.benchmark.subset import Selection, draw_subset, likeness, shares_of
from deepchart_dagster.errors import ConfigurationError

# Paper, table 6: indicators of the finance domain and how many queries each has.
INDICATORS = {
    "NNWC": 22,
    "Earnings quality spread": 22,
    "DIR": 21,
    "EBITDA": 21,
    "Piotroski F-Score": 21,
    "ROIC": 20,
    "EVA": 20,
    "Quality of income ratio": 20,
    "IGR": 19,
    "Altman Z-Score": 19,
    "Reinvestment rate": 19,
    "Sloan ratio": 14,
    "DuPont ROE": 14,
    "CCC": 13,
    "Cash burn runway": 13,
    "SGR": 12,
}
PAPER_TABLE = Path(__file__).parents[3] / "shared" / "paper" / "tables" / "query_types.csv"
N_BARS = 152  # of 290, table 8


def made_queries(benchmark: str = "published") -> list[Query]:
    """290 queries: table 6's indicators, table 8's chart types, evidence counts around the paper's means."""
    chance = random.Random(7)
    indicators = [name for name, count in INDICATORS.items() for _ in range(count)]
    families = ["Bar Chart"] * N_BARS + ["Line Chart"] * (len(indicators) - N_BARS)
    chance.shuffle(families)
    return [
        Query(
            uid=f"finance/{number}",
            benchmark=benchmark,
            domain=Domain.FINANCE,
            query_type=indicator,
            chart_family=family,
            chart_purpose="Draw it.",
            variants=(ContextVariant.NORMAL, ContextVariant.ULTRA_LONG),
            evidence=EvidenceCounts(
                source_values=round(chance.gammavariate(2.0, 41.5)) + 1, derived_values=chance.randint(4, 32)
            ),
        )
        for number, (indicator, family) in enumerate(zip(indicators, families, strict=True), start=1)
    ]


@pytest.mark.skipif(not PAPER_TABLE.is_file(), reason="../shared/paper is not there")
def test_the_made_records_have_the_papers_distribution() -> None:
    with PAPER_TABLE.open(encoding="utf-8") as stream:
        counts = sorted(int(row["queries"]) for row in csv.DictReader(stream) if row["domain"] == "finance")
    assert counts == sorted(INDICATORS.values())
    assert sum(counts) == 290


def test_fifty_of_290_cover_every_indicator_and_both_chart_types_in_proportion() -> None:
    queries = made_queries()
    drawn = draw_subset("published", queries)
    chosen = [query for query in queries if query.uid in drawn.uids]
    assert len(chosen) == len(set(drawn.uids)) == 50
    per_indicator = Counter(query.query_type for query in chosen)
    # 50/290 of 22 is 3.8, of 12 is 2.1: three or four of the large ones, two of the small ones.
    assert per_indicator.keys() == INDICATORS.keys()
    assert {per_indicator["NNWC"], per_indicator["Earnings quality spread"]} <= {3, 4}
    assert per_indicator["SGR"] == 2
    bars = sum(query.chart_family == "Bar Chart" for query in chosen)
    assert abs(bars / 50 - N_BARS / 290) < 0.05


def test_the_evidence_counts_are_those_of_the_split_within_a_few_percent() -> None:
    queries = made_queries()
    uids = draw_subset("published", queries).uids
    chosen = [query for query in queries if query.uid in uids]
    for name in ("source_values", "derived_values"):
        full = fmean(getattr(query.evidence, name) for query in queries)
        mine = fmean(getattr(query.evidence, name) for query in chosen)
        assert mine == pytest.approx(full, rel=0.05), name


def test_the_same_seed_draws_the_same_and_another_seed_another() -> None:
    queries = made_queries()
    shuffled = random.Random(1).sample(queries, len(queries))
    assert draw_subset("published", queries) == draw_subset("published", shuffled)
    assert draw_subset("published", queries, seed=1).uids != draw_subset("published", queries, seed=2).uids


def test_a_small_benchmark_is_run_whole() -> None:
    queries = made_queries()[:7]
    assert draw_subset("mini", queries).uids == tuple(sorted(query.uid for query in queries))


def test_without_indicators_and_counts_there_is_still_a_subset() -> None:
    bare = [
        query.model_copy(update={"query_type": None, "chart_family": None, "evidence": EvidenceCounts()})
        for query in made_queries()
    ]
    assert len(draw_subset("published", bare).uids) == 50


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 200)
)
def test_shares_add_up_and_leave_no_group_out_while_there_is_room(counts: dict[str, int], size: int) -> None:
    shares = shares_of(counts, size)
    assert sum(shares.values()) == min(size, sum(counts.values()))
    assert all(0 <= shares[name] <= counts[name] for name in counts)
    if len(counts) <= size:
        assert all(shares[name] >= 1 for name in counts)


def test_shares_are_largest_remainders() -> None:
    # 10 of 30: 5.0, 3.33, 1.67 -> 5, 3, 2
    assert shares_of({"a": 15, "b": 10, "c": 5}, 10) == {"a": 5, "b": 3, "c": 2}


# In the library


def library_with(tmp_path: Path, wanted: str | Path = "subset") -> Library:
    storage, source = tmp_path / "storage", tmp_path / "source"
    source.mkdir(exist_ok=True)
    Library(storage).add("published", made_queries(), source)
    return Library(storage, selection=Selection(storage, wanted))  # type: ignore[arg-type]


def test_the_split_has_fifty_instances_and_the_others_all(tmp_path: Path) -> None:
    library = library_with(tmp_path)
    assert len(library.instances(Split.FINANCE_ULTRA_LONG)) == 50
    assert len(library.instances(Split.FINANCE_NORMAL)) == 290
    assert library.selection_in_words(Split.FINANCE_ULTRA_LONG, "published") == "50 of 290, seed 20260"
    assert library.selection_in_words(Split.FINANCE_NORMAL, "published") is None


def test_all_is_all(tmp_path: Path) -> None:
    library = library_with(tmp_path, "all")
    assert len(library.instances(Split.FINANCE_ULTRA_LONG)) == 290
    assert library.selection_in_words(Split.FINANCE_ULTRA_LONG, "published") == "all 290"


def test_what_was_drawn_stays_when_the_benchmark_grows(tmp_path: Path) -> None:
    library = library_with(tmp_path)
    before = [instance.uid for instance in library.instances(Split.FINANCE_ULTRA_LONG)]
    more = [query.model_copy(update={"uid": f"new/{query.uid}"}) for query in made_queries()]
    library.add("published", more, tmp_path / "source", keep_others=True)
    assert [instance.uid for instance in library.instances(Split.FINANCE_ULTRA_LONG)] == before
    assert library.selection_in_words(Split.FINANCE_ULTRA_LONG, "published") == "50 of 580, seed 20260"


def test_a_query_that_is_gone_is_replaced(tmp_path: Path) -> None:
    library = library_with(tmp_path)
    gone = library.instances(Split.FINANCE_ULTRA_LONG)[0].uid
    left = [query for query in made_queries() if query.uid != gone]
    library.add("published", left, tmp_path / "source")
    now = {instance.uid for instance in library.instances(Split.FINANCE_ULTRA_LONG)}
    assert gone not in now
    assert len(now) == 50


def test_a_users_list_replaces_the_subset(tmp_path: Path) -> None:
    listed = tmp_path / "uids.txt"
    listed.write_text("# two of them\nfinance/290\nfinance/3  # the second\n\n", encoding="utf-8")
    library = library_with(tmp_path, listed)
    assert [instance.uid for instance in library.instances(Split.FINANCE_ULTRA_LONG)] == ["finance/290", "finance/3"]
    assert library.selection_in_words(Split.FINANCE_ULTRA_LONG, "published") == "2 of 290, by a list"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("finance/3\nfinance/9999\n", "1 of 2 uids are not in finance-ultra-long, first 'finance/9999'"),
        ("# nothing\n", "lists no uid"),
        (None, "cannot be read"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    listed = tmp_path / "uids.txt"
    if content is not None:
        listed.write_text(content, encoding="utf-8")
    library = library_with(tmp_path, listed)
    with pytest.raises(ConfigurationError, match=said):
        library.instances(Split.FINANCE_ULTRA_LONG)


def test_a_damaged_subset_is_named(tmp_path: Path) -> None:
    library = library_with(tmp_path)
    library.instances(Split.FINANCE_ULTRA_LONG)
    kept = tmp_path / "storage" / "subsets" / "published" / "finance-ultra-long.json"
    kept.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no subset"):
        library.instances(Split.FINANCE_ULTRA_LONG)


def test_likeness_compares_means_and_counts() -> None:
    queries = made_queries()
    chosen = queries[:22]  # all of the first indicator
    rows = {row.what: row for row in likeness(chosen, queries, {"finance/1": 700_000, "finance/290": 500_000})}
    tokens = rows["mean tokens of the context"]
    assert (tokens.subset, tokens.n_subset, tokens.split, tokens.n_split) == (700_000, 1, 600_000, 2)
    assert (rows["indicator NNWC"].subset, rows["indicator NNWC"].split) == (22, 22)
    assert (rows["indicator SGR"].subset, rows["indicator SGR"].split) == (0, 12)
    assert rows["chart type Bar Chart"].split == N_BARS
