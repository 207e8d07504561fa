"""Which filings a finance query needs, and what of them each variant shows (paper, 3.1).

A filing reports two or three fiscal years, so filings overlap: those that add no year of a statement the
query asks for are left out. Normal shows the statements' tables, long 20 lines of text more on either side
of each, ultra-long the selected filings whole. A line is one of the rebuilt markdown, a whole table is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import get_args

from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.contexts.loaded import ContextLine, OcrContext
from deepchart_dagster.contexts.model import StatementName
from deepchart_dagster.errors import BenchmarkFormatError, DocumentError

LINES_AROUND = 20

Need = tuple[StatementName, int]


@dataclass(frozen=True)
class Selection:
    """Filings to show, oldest first, and why each was taken or left out."""

    document_ids: tuple[str, ...]
    notes: tuple[str, ...]


def needed_statements(query: Query) -> tuple[StatementName, ...]:
    """From the query's evidence hint; without one, all three. Raises BenchmarkFormatError for another name."""
    names: tuple[StatementName, ...] = get_args(StatementName)
    hinted = query.evidence_hint.get("statements")
    if hinted is None:
        return names
    wanted = [hinted] if isinstance(hinted, str) else hinted
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise BenchmarkFormatError(
            f"{query.uid}: there is no statement {unknown[0]!r}.",
            remedy=f"evidence_hint.statements: {', '.join(names)}.",
        )
    return tuple(name for name in names if name in wanted)


def select_filings(query: Query, filings: Mapping[str, OcrContext]) -> Selection:
    """The fewest filings that show every asked year of every needed statement; of several such sets the newest.

    Years that no filing shows are noted. Raises DocumentError where no filing shows anything asked for.
    """
    statements = needed_statements(query)
    shows = {name: _shows(filing, statements) for name, filing in filings.items()}
    every = set().union(*shows.values())
    asked: set[Need] = {(name, year) for name in statements for year in query.years} if query.years else every
    wanted = frozenset(asked & every)
    if not wanted:
        raise DocumentError(
            f"{query.uid}: none of {', '.join(filings)} shows {', '.join(statements)} of the years asked for.",
            remedy=f"See deepchart contexts show {next(iter(filings))}.",
        )
    rank = {name: (_latest(needs), name) for name, needs in shows.items()}
    taken = fewest_covering(wanted, {name: frozenset(needs) for name, needs in shows.items()}, rank)
    ordered = sorted(taken, key=rank.__getitem__)
    return Selection(document_ids=tuple(ordered), notes=_notes(shows, wanted, ordered, asked - every))


def fewest_covering(
    wanted: frozenset[Need], shows: Mapping[str, frozenset[Need]], rank: Mapping[str, tuple[int, str]]
) -> tuple[str, ...]:
    """The smallest set of names that shows everything ``wanted``; of several, the one whose highest ranks are
    highest. Exact: every set that could be smaller is tried. ``wanted`` is shown by all names together.
    """
    offers = _undominated({name: needs & wanted for name, needs in shows.items() if needs & wanted}, rank)
    for size in range(1, len(offers) + 1):
        covers = list(_covers(wanted, offers, size))
        if covers:
            return max(covers, key=lambda names: sorted((rank[name] for name in names), reverse=True))
    return ()


def _undominated(offers: dict[str, frozenset[Need]], rank: Mapping[str, tuple[int, str]]) -> dict[str, frozenset[Need]]:
    """Without names in whose place another shows as much and ranks higher: no best set holds them."""
    return {
        name: needs
        for name, needs in offers.items()
        if not any(needs <= other and rank[better] > rank[name] for better, other in offers.items())
    }


def _covers(missing: frozenset[Need], offers: Mapping[str, frozenset[Need]], size: int) -> Iterator[tuple[str, ...]]:
    """Every set of at most ``size`` names that shows what is ``missing``: it holds one that shows the rarest need."""
    if not missing:
        yield ()
        return
    if size == 0 or size * max(len(needs & missing) for needs in offers.values()) < len(missing):
        return
    rarest = min(missing, key=lambda need: (sum(need in needs for needs in offers.values()), need))
    for name, needs in offers.items():
        if rarest in needs:
            yield from ((name, *others) for others in _covers(missing - needs, offers, size - 1))


def _shows(filing: OcrContext, statements: Sequence[StatementName]) -> set[Need]:
    years = filing.summary.statement_years
    return {(name, year) for name in statements for year in years[name]}


def _latest(needs: set[Need]) -> int:
    return max((year for _, year in needs), default=0)


def _notes(
    shows: Mapping[str, set[Need]], wanted: frozenset[Need], taken: Sequence[str], nowhere: set[Need]
) -> tuple[str, ...]:
    """Why each filing is there, the newest that shows a year answering for it, or why it is not."""
    left = set(wanted)
    reasons: dict[str, str] = {}
    for name in reversed(taken):
        alone = wanted & shows[name] - set().union(*(shows[other] for other in taken if other != name))
        only = f", alone with {_spoken(alone)}" if alone and alone != shows[name] & left and len(taken) > 1 else ""
        reasons[name] = f"taken for {_spoken(shows[name] & left)}{only}"
        left -= shows[name]
    for name, needs in shows.items():
        if name not in reasons:
            useful = needs & wanted
            reasons[name] = "left out, " + (
                "the other filings show every year asked for" if useful else "it shows no year asked for"
            )
    notes = [f"{name}: {reasons[name]}" for name in shows]
    return (*notes, f"no filing shows {_spoken(nowhere)}") if nowhere else tuple(notes)


def _spoken(needs: Set[Need]) -> str:
    """``balance_sheet 2022, 2021; cash_flow 2022``"""
    years: dict[str, list[int]] = {}
    for name, year in sorted(needs):
        years.setdefault(name, []).append(year)
    return "; ".join(f"{name} {', '.join(map(str, sorted(found, reverse=True)))}" for name, found in years.items())


# What of a filing is shown


def statement_lines(filing: OcrContext, name: StatementName) -> list[ContextLine]:
    """The statement's tables, on each page after the lines above its first table (title and unit).

    A page whose table was joined to that of the page before has nothing of its own to show; one without any
    table is shown whole, so that its values are not lost.
    """
    shown: list[ContextLine] = []
    for page in filing.summary.statements[name]:
        on_page = [line for line in filing.lines if line.page == page]
        tables = [at for at, line in enumerate(on_page) if line.kind == "table"]
        if not tables and any(number.page == page for line in shown for number in line.numbers):
            continue
        first = tables[0] if tables else len(on_page)
        shown += on_page[:first] + [on_page[at] for at in tables]
    return shown


def lines_around(filing: OcrContext, names: Sequence[StatementName]) -> list[ContextLine]:
    """The tables of the statements with LINES_AROUND lines above and below each; windows that meet are one.

    Page marks are kept and not counted.
    """
    pages = {page for name in names for page in filing.summary.statements[name]}
    counted = [at for at, line in enumerate(filing.lines) if line.kind != "page"]
    place = {at: rank for rank, at in enumerate(counted)}
    shown: set[int] = set()
    for at, line in enumerate(filing.lines):
        if line.kind == "table" and line.page in pages:
            first = counted[max(0, place[at] - LINES_AROUND)]
            last = counted[min(len(counted) - 1, place[at] + LINES_AROUND)]
            shown |= set(range(first, last + 1))
    return [filing.lines[at] for at in sorted(_with_marks(filing, shown))]


def _with_marks(filing: OcrContext, shown: set[int]) -> set[int]:
    """The page mark of every page that is shown in part."""
    pages = {filing.lines[at].page for at in shown}
    return shown | {at for at, line in enumerate(filing.lines) if line.kind == "page" and line.page in pages}
