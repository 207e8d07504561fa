"""Numbers with what names them: the input of the diagnosis. Scores know no labels (paper, appendix B.2).

A number in parsed JSON is named by

keys        members on the way to it, from outside in: {"Dividends": {"2016": 3717}} has dividends and 2016
names       words beside it: the strings of its record ({"company": "Uzum", "raised": 179.5}), and in parallel lists
            those at its place ({"companies": ["Uzum"], "raised": [179.5]})
years       calendar years among both, and years beside it that are numbers ({"Fiscal Year": 2016, …})
positions   its places in the lists on the way

Keys and names are folded: case, underscores and brackets do not tell two of them apart. A number that is a year
itself (``is_year``) names its record and is no measurement. A row of a table is a record, its header the keys.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from deepchart_dagster.benchmark.numbers import number_of

_YEAR_IN_TEXT = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_KEY = re.compile(r"\b(?:years?|fy|dates?|periods?|time|start|end)\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^\w%]+|_+")
_YEAR_LABEL = re.compile(r"(?:(?:19|20)\d\d|\d{1,2}|fy|fiscal|years?|ended|q[1-4]|\W)+")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
# A longer text beside a number is prose, which names nothing.
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Labelled:
    value: float
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    years: frozenset[int] = frozenset()
    positions: tuple[int, ...] = ()
    is_year: bool = False

    @property
    def labels(self) -> frozenset[str]:
        return _without_years((*self.keys, *self.names))


def folded(text: str) -> str:
    """``text`` as a label: words apart by one blank, without case, underscores and punctuation."""
    plain = unicodedata.normalize("NFKC", _CAMEL.sub(" ", text[:_MAX_NAME]))
    return " ".join(_NO_WORD.sub(" ", plain).split()).casefold()


def years_in(text: str) -> frozenset[int]:
    """Calendar years that a label names: "FY2016", "2019-12-31"."""
    return frozenset(int(found) for found in _YEAR_IN_TEXT.findall(text[:_MAX_NAME]))


def says_a_year(label: str) -> bool:
    """Whether a folded label is a year and nothing else ("2016", "fy2016", "2019 12 31")."""
    return bool(years_in(label)) and _YEAR_LABEL.fullmatch(label) is not None


@lru_cache(maxsize=4096)
def _without_years(labels: tuple[str, ...]) -> frozenset[str]:
    return frozenset(label for label in labels if not says_a_year(label))


def is_calendar_year(value: float) -> bool:
    return value.is_integer() and _FIRST_YEAR <= value <= _LAST_YEAR


def labelled_leaves(value: object) -> list[Labelled]:
    """The numbers of parsed JSON in reading order: those of ``numeric_leaves``, one for one."""
    found: list[Labelled] = []
    pending: list[Iterator[tuple[object, _Place]]] = [iter([(value, _Place())])]
    while pending:
        for item, place in pending[-1]:
            if isinstance(item, dict):
                pending.append(_members(item, place))
                break
            if isinstance(item, list | tuple):
                pending.append(_items(item, place))
                break
            number = number_of(item)
            if number is not None:
                found.append(place.number(number))
        else:
            pending.pop()
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """What names a part of a document. ``parallel``: lists of names or years as long as the list that stands here."""

    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    years: frozenset[int] = frozenset()
    positions: tuple[int, ...] = ()
    parallel: tuple[Sequence[object], ...] = ()
    in_year_list: bool = False

    def number(self, value: float) -> Labelled:
        is_year = is_calendar_year(value) and (
            self.in_year_list or (bool(self.keys) and _YEAR_KEY.search(self.keys[-1]) is not None)
        )
        years = frozenset((int(value),)) if is_year else self.years
        return Labelled(value, self.keys, self.names, years, self.positions, is_year)


def _members(members: Mapping[str, object], place: _Place) -> Iterator[tuple[object, _Place]]:
    keys = {name: folded(name) for name in members}
    own = {name: word for name, item in members.items() if (word := _word(item))}
    years = frozenset(year for name, item in members.items() for year in _years_of(keys[name], item))
    naming = [item for item in members.values() if isinstance(item, list | tuple) and _names_others(item)]
    for name, item in members.items():
        is_list = isinstance(item, list | tuple)
        yield (
            item,
            _Place(
                keys=(*place.keys, keys[name]),
                names=(*place.names, *(word for other, word in own.items() if other != name)),
                years=years_in(name) or years or place.years,
                positions=place.positions,
                parallel=_parallel(item, naming),
                in_year_list=is_list and _is_year_list(item),
            ),
        )


def _parallel(item: object, naming: Sequence[Sequence[object]]) -> tuple[Sequence[object], ...]:
    """Of the lists that name others those that are as long as the list ``item``."""
    if not isinstance(item, list | tuple):
        return ()
    return tuple(one for one in naming if one is not item and len(one) == len(item))


def _items(items: Sequence[object], place: _Place) -> Iterator[tuple[object, _Place]]:
    in_year_list = place.in_year_list or (not place.keys and _is_year_list(items))
    for at, item in enumerate(items):
        beside = [column[at] for column in place.parallel]
        words = tuple(word for one in beside if (word := _word(one)))
        years = frozenset(year for one in beside for year in _years_of("year", one))
        yield (
            item,
            _Place(place.keys, (*place.names, *words), years or place.years, (*place.positions, at), (), in_year_list),
        )


def _word(item: object) -> str:
    """What a string says as a name; nothing for one that is a number."""
    word = folded(item) if isinstance(item, str) and number_of(item) is None else ""
    return "" if says_a_year(word) else word


def _years_of(key: str, item: object) -> frozenset[int]:
    """Years that a member says of its record: a string with a year in it, or a number under a name for years."""
    if isinstance(item, str) and len(item) <= _MAX_NAME:
        return years_in(item)
    number = None if isinstance(item, dict | list | tuple) else number_of(item)
    named = number is not None and is_calendar_year(number) and _YEAR_KEY.search(key) is not None
    return frozenset((int(number),)) if named and number is not None else frozenset()


def _names_others(items: Sequence[object]) -> bool:
    """A list of names, or of years: it labels the lists beside it."""
    return bool(items) and (all(isinstance(one, str) for one in items) or _is_year_list(items))


def _is_year_list(item: object) -> bool:
    """Two calendar years or more, none of them twice."""
    if not isinstance(item, list | tuple) or len(item) < 2:
        return False
    numbers = [None if isinstance(one, dict | list | tuple) else number_of(one) for one in item]
    return all(number is not None and is_calendar_year(number) for number in numbers) and len(set(numbers)) == len(item)
