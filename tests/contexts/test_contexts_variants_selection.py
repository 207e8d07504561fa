"""Which filings a query needs: the fewest, the newest of several such sets. Compared with trying every set."""

from __future__ import annotations

from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deepchart_dagster.contexts.filings import Need, fewest_covering

_NAMES = [f"f{number}" for number in range(8)]
_needs = st.tuples(st.sampled_from(["balance_sheet", "cash_flow"]), st.integers(2015, 2022))
_shows = st.dictionaries(st.sampled_from(_NAMES), st.frozensets(_needs, max_size=6), min_size=1)


def by_trying_all(
    wanted: frozenset[Need], shows: dict[str, frozenset[Need]], rank: dict[str, tuple[int, str]]
) -> set[str]:
    for size in range(1, len(shows) + 1):
        covers = [c for c in combinations(sorted(shows), size) if wanted <= frozenset().union(*(shows[n] for n in c))]
        if covers:
            return set(max(covers, key=lambda c: sorted((rank[name] for name in c), reverse=True)))
    raise AssertionError("wanted is not shown by all together")


@settings(deadline=None, max_examples=400)
@given(_shows, st.data())
def test_the_selection_is_that_of_trying_every_set(shows: dict[str, frozenset[Need]], data: st.DataObject) -> None:
    every = sorted(frozenset().union(*shows.values()))
    assume(every)
    wanted = frozenset(data.draw(st.sets(st.sampled_from(every), min_size=1)))
    rank = {name: (max((year for _, year in needs), default=0), name) for name, needs in shows.items()}
    assert set(fewest_covering(wanted, shows, rank)) == by_trying_all(wanted, shows, rank)


def test_taking_what_shows_most_first_is_not_the_fewest() -> None:
    """2018 to 2023 in two filings of three years; the one that shows four of them would make it three."""
    income = {year: ("income_statement", year) for year in range(2018, 2024)}
    shows = {
        "early": frozenset(income[year] for year in (2018, 2019, 2020)),
        "late": frozenset(income[year] for year in (2021, 2022, 2023)),
        "middle": frozenset(income[year] for year in (2019, 2020, 2021, 2022)),
    }
    rank = {"early": (2020, "early"), "late": (2023, "late"), "middle": (2022, "middle")}
    assert set(fewest_covering(frozenset(income.values()), shows, rank)) == {"early", "late"}


def test_thirty_equal_filings_are_one_and_the_newest() -> None:
    need = ("balance_sheet", 2020)
    shows = {f"f{n:02}": frozenset({need}) for n in range(30)}
    assert fewest_covering(frozenset({need}), shows, {name: (2020, name) for name in shows}) == ("f29",)
