"""The three statements of a 10-K filing, found jointly.

Every page is scored for each statement by its title and by what only that statement speaks of; then the
three pages that are best *together* are taken. They stand near each other, which rules out indexes,
restated statements and parent-only schedules that a ranking one by one falls for. A statement that goes on
over the next page brings that page along.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from deepchart_dagster.contexts.model import StatementName
from deepchart_dagster.contexts.readings import PageReading

STATEMENTS_VERSION = 2
NAMES: tuple[StatementName, ...] = get_args(StatementName)

_TITLES: Mapping[StatementName, tuple[str, ...]] = {
    "balance_sheet": (r"balance sheets?", r"statements? of financial (?:position|condition)"),
    "income_statement": (
        r"income statements?",
        r"statements? of (?:consolidated )?(?:operations|income|earnings|net income)"
        r"(?: and comprehensive (?:income|loss))?",
    ),
    "cash_flow": (r"cash flows? statements?", r"statements? of (?:consolidated )?cash flows?"),
}
_ANCHORS: Mapping[StatementName, tuple[str, ...]] = {
    "balance_sheet": (
        r"total assets",
        r"total liabilities",
        r"(?:stock|share)(?:holders|owners)['’ ]*s?['’ ]*(?:equity|deficit)",
        r"total current liabilities",
        r"accounts payable",
    ),
    "income_statement": (
        r"net sales|revenues?",
        r"operating (?:income|earnings)|(?:income|earnings|loss) from operations",
        r"per (?:common )?share|diluted",
        r"income tax(?:es)?",
        r"net (?:income|earnings|loss)",
    ),
    "cash_flow": (
        r"operating activities|net cash from operations",
        r"investing activities",
        r"financing activities",
        r"depreciation|amortization",
        r"end of (?:the )?(?:period|year)|ending balances?",
    ),
}
# What opens and closes a statement: a page without it may have begun before, or go on over the next one.
_OPENING: Mapping[StatementName, str] = {
    "balance_sheet": r"total assets",
    "income_statement": r"net sales|revenues?",
    "cash_flow": r"operating activities|net cash from operations",
}
_CLOSING: Mapping[StatementName, str] = {
    "balance_sheet": r"total liabilities(?:,| and)[^|]{0,80}(?:equity|deficit|capital)",
    "income_statement": r"per (?:common )?share|diluted|net (?:income|earnings|loss)",
    "cash_flow": r"end of (?:the )?(?:period|year)|ending balances?",
}
# Of the parent alone: where the group's own statement was not read, none is better than that one.
_PARENT_ALONE = re.compile(r"parent[- ](?:company[- ])?only|condensed financial information", re.IGNORECASE)
_OLDER_OR_A_PART = re.compile(r"\bas restated\b|schedule (?:i\b|1\b)", re.IGNORECASE)
_UNIT_FROM: tuple[StatementName, ...] = ("income_statement", "balance_sheet", "cash_flow")
_UNIT = re.compile(
    r"\bin (?:\w+ of )?(?:u\.?s\.? )?(?:dollars in )?(thousands|millions|billions)\b"
    r"|(?:^|\()\W*(thousands|millions|billions) of (?:u\.?s\.? )?(?:dollars|euros|pounds|yen)\b"
    r"|[$€£¥]\s?(000,000|000|mm?)[’\']?s?\b",
    re.IGNORECASE,
)
_SHORT_UNITS = {"000": "thousands", "000,000": "millions", "m": "millions", "mm": "millions"}
_YEAR = re.compile(r"\b(?:19[5-9]\d|20\d\d)\b")
_HEADER_CELL = re.compile(r"<th[^>]*>(.*?)</th>")

_MIN_NUMBERS = 15
_CANDIDATES = 8
_PROSE_WORDS = 350
_NEAR_PAGES = 3
_MAX_CONTINUED = 4
_FAR_PENALTY = 1.0
_LATE_PENALTY = 0.05


@dataclass(frozen=True)
class Statements:
    """Pages (physical, from 1) of each statement, the fiscal years in its headers (newest first), the unit."""

    pages: dict[StatementName, tuple[int, ...]]
    years: dict[StatementName, tuple[int, ...]]
    unit: str | None

    @property
    def fiscal_years(self) -> tuple[int, ...]:
        return tuple(sorted({year for years in self.years.values() for year in years}, reverse=True))


NO_STATEMENTS = Statements(pages=dict.fromkeys(NAMES, ()), years=dict.fromkeys(NAMES, ()), unit=None)


@dataclass(frozen=True)
class _Candidate:
    page: int
    score: float


@dataclass(frozen=True)
class _Text:
    """A page as the finder sees it."""

    number: int
    low: str
    top: tuple[str, ...]
    n_numbers: int
    squeezed: str


def find_statements(readings: Sequence[PageReading]) -> Statements:
    """The statements of a filing; one that is not there has no pages."""
    texts = {reading.number: _text(reading) for reading in readings}
    by_number = {reading.number: reading for reading in readings}
    first = _best_together({name: _candidates(name, list(texts.values())) for name in NAMES})
    pages = {name: _with_continuation(name, page, texts, set(first.values())) for name, page in first.items()}
    return Statements(
        pages={name: pages.get(name, ()) for name in NAMES},
        years={name: _years([by_number[page] for page in pages.get(name, ())]) for name in NAMES},
        unit=_unit([texts[page] for name in _UNIT_FROM for page in pages.get(name, ())]),
    )


def _text(reading: PageReading) -> _Text:
    low = reading.plain.lower()
    return _Text(
        number=reading.number,
        low=low,
        top=reading.top_rows,
        n_numbers=reading.n_numbers,
        squeezed=low.replace(" ", ""),
    )


def _candidates(name: StatementName, texts: Sequence[_Text]) -> list[_Candidate]:
    found = []
    for text in texts:
        anchors = sum(_has(text, anchor) for anchor in _ANCHORS[name])
        title = _title_score(name, text.top)
        if anchors < (2 if title else 3) or text.n_numbers < _MIN_NUMBERS:
            continue
        if any(_PARENT_ALONE.search(row) for row in text.top):
            continue
        prose = max(0, len(re.findall(r"[a-z]{3,}", text.low)) - _PROSE_WORDS) / 100
        other = 6.0 if any(_OLDER_OR_A_PART.search(row) for row in text.top) else 0.0
        score = 2 * anchors + title + min(text.n_numbers, 120) / 40 - prose - other
        found.append(_Candidate(text.number, score))
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.page))[:_CANDIDATES]


def _has(text: _Text, pattern: str) -> bool:
    """With blanks, or without any: some producers cut words in two."""
    return bool(re.search(pattern, text.low) or re.search(pattern.replace(" ", ""), text.squeezed))


def _title_score(name: StatementName, top: Sequence[str]) -> float:
    """8 for a title on the first row, less farther down; half of that for a row that only holds it."""
    best = 0.0
    for at, row in enumerate(top):
        plain = re.sub(r"[(\[—–].*$|\s-\s.*$", "", row).strip(" :.").lower()
        plain = re.sub(r"^(?:item 8\.?|part ii)\s*|^(?:condensed )?consolidated ", "", plain)
        for title in _TITLES[name]:
            whole = re.fullmatch(title.replace(" ", ""), plain.replace(" ", ""))
            holds = (
                re.search(title, plain) and len(plain) < 80 and not re.search(r"notes? to|\bsee\b|refer|index", plain)
            )
            score = (8.0 if whole else 4.0 if holds else 0.0) - 0.3 * at
            best = max(best, score if whole or holds else 0.0)
    return best


def _best_together(candidates: Mapping[StatementName, list[_Candidate]]) -> dict[StatementName, int]:
    """The combination of pages with the best sum of scores, less for standing apart and for coming late."""
    names = [name for name in NAMES if candidates[name]]
    best: tuple[float, dict[StatementName, int]] = (float("-inf"), {})
    for choice in itertools.product(*(candidates[name] for name in names)):
        pages = [candidate.page for candidate in choice]
        apart = max(pages, default=0) - min(pages, default=0)
        score = sum(candidate.score for candidate in choice)
        score -= _FAR_PENALTY * max(0, apart - _NEAR_PAGES) + _LATE_PENALTY * min(pages, default=0)
        if score > best[0]:
            best = (score, dict(zip(names, pages, strict=True)))
    return best[1]


def _with_continuation(name: StatementName, page: int, texts: Mapping[int, _Text], taken: set[int]) -> tuple[int, ...]:
    """``page`` with the pages before it, back to where the statement opens, and behind it, on to where it closes."""
    before = _pages_towards(-1, name, page, texts, taken)
    after = _pages_towards(1, name, page, texts, taken)
    return (*reversed(before), page, *after)


def _pages_towards(
    step: int, name: StatementName, page: int, texts: Mapping[int, _Text], taken: set[int]
) -> tuple[int, ...]:
    """Pages that follow one another from ``page``; none where the statement's end in that direction is on it."""
    end = (_OPENING if step < 0 else _CLOSING)[name]
    pages: list[int] = []
    while len(pages) < _MAX_CONTINUED and not _has(texts[page], end):
        page += step
        if not _belongs(name, page, texts, taken, end):
            break
        pages.append(page)
    return tuple(pages)


def _belongs(name: StatementName, page: int, texts: Mapping[int, _Text], taken: set[int], holding: str) -> bool:
    text = texts.get(page)
    if text is None or page in taken or text.n_numbers < _MIN_NUMBERS:
        return False
    titled = _title_score(name, text.top) > 0
    return titled or (_has(text, holding) and not _other_title(name, text))


def _other_title(name: StatementName, text: _Text) -> bool:
    return any(_title_score(other, text.top) > 0 for other in NAMES if other != name)


def _years(readings: Sequence[PageReading]) -> tuple[int, ...]:
    """Years in the header cells of the statement's tables, else in the rows above, newest first."""
    headers = [cell for reading in readings for cell in _HEADER_CELL.findall(reading.markdown)]
    found = {int(year) for cell in headers for year in _YEAR.findall(cell)}
    if not found:
        found = {int(year) for reading in readings for row in reading.top_rows for year in _YEAR.findall(row)}
    return tuple(sorted(found, reverse=True))


def _unit(texts: Sequence[_Text]) -> str | None:
    for text in texts:
        for row in text.top:
            if match := _UNIT.search(row):
                written = str(next(filter(None, match.groups()))).lower()
                return _SHORT_UNITS.get(written, written)
    return None
