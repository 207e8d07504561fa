"""Which filings a finance query needs, and what of them each variant shows (paper, 3.1).

A filing reports two or three fiscal years, so filings overlap: those that add no year of a statement the
query asks for are left out. Normal shows the statements' tables, long 20 lines of text more on either side
of each, ultra-long the selected filings whole. A line is one of the rebuilt markdown, a whole table is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """The fewest filings, newest first, that show every asked year of every needed statement.

    The newest year still missing is taken from the filing that shows most of what is missing with it.
    Years that no filing shows are noted. Raises DocumentError where no filing shows anything asked for.
    """
    statements = needed_statements(query)
    shows = {name: _shows(filing, statements) for name, filing in filings.items()}
    every = set().union(*shows.values())
    asked: set[Need] = {(name, year) for name in statements for year in query.years} if query.years else every
    missing = asked & every
    if not missing:
        raise DocumentError(
            f"{query.uid}: none of {', '.join(filings)} shows {', '.join(statements)} of the years asked for.",
            remedy=f"See deepchart contexts show {next(iter(filings))}.",
        )
    taken: dict[str, set[Need]] = {}
    while missing:
        newest = max(missing, key=lambda need: (need[1], need[0]))
        best = max(
            (name for name in filings if newest in shows[name]),
            key=lambda name: (len(shows[name] & missing), _latest(shows[name]), name),
        )
        taken[best] = shows[best] & missing
        missing = missing - shows[best]
    ordered = sorted(taken, key=lambda name: (_latest(shows[name]), name))
    return Selection(document_ids=tuple(ordered), notes=_notes(filings, taken, asked - every))


def _shows(filing: OcrContext, statements: Sequence[StatementName]) -> set[Need]:
    years = filing.summary.statement_years
    return {(name, year) for name in statements for year in years[name]}


def _latest(needs: set[Need]) -> int:
    return max((year for _, year in needs), default=0)


def _notes(filings: Mapping[str, OcrContext], taken: Mapping[str, set[Need]], nowhere: set[Need]) -> tuple[str, ...]:
    notes = [
        f"{name}: taken for {_spoken(taken[name])}"
        if name in taken
        else f"{name}: left out, the other filings show every year asked for"
        for name in filings
    ]
    return (*notes, f"no filing shows {_spoken(nowhere)}") if nowhere else tuple(notes)


def _spoken(needs: set[Need]) -> str:
    """``balance_sheet 2022, 2021; cash_flow 2022``"""
    years: dict[str, list[int]] = {}
    for name, year in sorted(needs):
        years.setdefault(name, []).append(year)
    return "; ".join(f"{name} {', '.join(map(str, sorted(found, reverse=True)))}" for name, found in years.items())


# What of a filing is shown


def statement_lines(filing: OcrContext, name: StatementName) -> list[ContextLine]:
    """The statement's tables, on each page after the lines above its first table (title and unit)."""
    shown: list[ContextLine] = []
    for page in filing.summary.statements[name]:
        on_page = [line for line in filing.lines if line.page == page]
        tables = [at for at, line in enumerate(on_page) if line.kind == "table"]
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


def as_markdown(lines: Sequence[ContextLine]) -> str:
    return "\n\n".join(line.text for line in lines) + "\n"
