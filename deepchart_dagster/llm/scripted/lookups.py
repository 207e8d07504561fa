"""Where a recipe looks for source values, and the values that stand there.

A look-up holds no value: it names a table by its rows or its caption, then rows and columns, or a sentence
by its words. What a context does not hold is not found, and nothing stands in for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from deepchart_dagster.llm.scripted.html_tables import TextTable, folded, tables_in
from deepchart_dagster.llm.scripted.sent_context import Passage

Number: TypeAlias = int | float
MisreadKind = Literal["wrong_column", "wrong_year", "unit_slip"]

_AMOUNT = re.compile(r"\(?-?\d[\d,]*(?:\.\d+)?\)?|\(?-?\.\d+\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BAR = re.compile(r"[\s_■█▬]+$")
_NIL = {"—", "–", "-"}


@dataclass(frozen=True)
class Neighbour:
    """A number that stands beside a source value and could be taken for it."""

    kind: MisreadKind
    value: Number


@dataclass(frozen=True)
class Found:
    """One source value. ``path`` is where it goes in src_data; ``listed`` ones are appended to a list there."""

    path: tuple[str, ...]
    value: Number
    listed: bool = False
    neighbours: tuple[Neighbour, ...] = ()


class _Lookup(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatementLookup(_Lookup):
    """One row of a financial statement, a value for each of ``columns`` (years).

    The statement is known by rows that only it has together (``having``). ``negate`` turns the sign: a
    payment that a cash flow statement shows in parentheses is an amount paid.
    """

    kind: Literal["statement"]
    having: tuple[str, ...]
    row: str
    save_as: str = Field(alias="as")
    columns: tuple[str, ...]
    negate: bool = False

    def find(self, passages: Sequence[Passage]) -> Iterator[Found]:
        for table in _tables(passages):
            row = table.row_named(self.row)
            if row is not None and all(table.row_named(label) for label in self.having):
                yield from self._in_row(table, row)

    def _in_row(self, table: TextTable, row: tuple[str, ...]) -> Iterator[Found]:
        amounts = {year: self._signed(value) for year, value in _by_year(table, row).items()}
        outside = tuple(Neighbour("wrong_year", value) for year, value in amounts.items() if year not in self.columns)
        for year in self.columns:
            if year in amounts:
                yield Found((self.save_as, year), amounts[year], neighbours=outside)

    def _signed(self, value: Number) -> Number:
        return -value if self.negate else value


class RecordsLookup(_Lookup):
    """The rows of tables with this caption and these columns: a value for each column, under the row's keys.

    ``records`` reads every such table (a list may go over several pages). ``series`` reads the first one and
    makes a list of each column; it and ``complete_rows`` leave out rows in which a column is no number.
    ``entity`` is a pattern of the caption whose group ``key`` names what the whole table is about: the first key.
    """

    kind: Literal["records", "series"]
    caption: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    save_as: tuple[str, ...] = Field(default=(), alias="as")
    complete_rows: bool = False
    entity: str | None = None

    def find(self, passages: Sequence[Passage]) -> Iterator[Found]:
        for table in _tables(passages):
            places = {name: table.columns_named(name) for name in (*self.keys, *self.columns)}
            entity = self._entity_of(table)
            if folded(self.caption) in folded(table.above) and all(places.values()) and entity is not None:
                for row in table.rows:
                    yield from self._in_row(row, places, entity)
                if self.kind == "series":
                    return

    def _entity_of(self, table: TextTable) -> tuple[str, ...] | None:
        """What the caption names, () where it need not; None where it should and does not."""
        if self.entity is None:
            return ()
        named = [match["key"].strip() for match in re.finditer(self.entity, " ".join(table.above.split()))]
        return (named[-1],) if named else None

    def _in_row(self, row: tuple[str, ...], places: dict[str, list[int]], entity: tuple[str, ...]) -> Iterator[Found]:
        keys = (*entity, *(_first(row, places[name]) for name in self.keys))
        values = [amount(_first(row, places[name])) for name in self.columns]
        if not all(keys) or ((self.complete_rows or self.kind == "series") and None in values):
            return
        taken = {at for name in self.columns for at in places[name]}
        others = (amount(cell) for at, cell in enumerate(row) if at not in taken)
        beside = tuple(Neighbour("wrong_column", value) for value in others if value is not None)
        for name, value in zip(self.save_as or self.columns, values, strict=True):
            if value is not None:
                yield Found((*keys, name), value, listed=self.kind == "series", neighbours=beside)


class LabelsLookup(_Lookup):
    """What is written at the bars of a chart: under its caption, row by row, a name and a number for each of ``as``.

    A number that has no name there (null) is left out. What text recognition made of a bar is no part of a word.
    """

    kind: Literal["labels"]
    caption: str
    save_as: tuple[str | None, ...] = Field(alias="as", min_length=1)

    def find(self, passages: Sequence[Passage]) -> Iterator[Found]:
        for table in _tables(passages):
            if folded(self.caption) in folded(table.above):
                for row in table.rows:
                    name, *cells = (_BAR.sub("", cell) for cell in row)
                    yield from self._at_bar(name, [value for cell in cells if (value := amount(cell)) is not None])

    def _at_bar(self, name: str, values: list[Number]) -> Iterator[Found]:
        if not name or len(values) != len(self.save_as):
            return
        for at, (what, value) in enumerate(zip(self.save_as, values, strict=True)):
            if what is not None:
                beside = tuple(Neighbour("wrong_column", other) for other in values[:at] + values[at + 1 :])
                yield Found((name, what), value, neighbours=beside)


class SentenceLookup(_Lookup):
    """Sentences of one form: the pattern's group ``key`` names the entity, ``value`` is the number."""

    kind: Literal["sentence"]
    pattern: str
    save_as: str = Field(alias="as")

    def find(self, passages: Sequence[Passage]) -> Iterator[Found]:
        for passage in passages:
            for match in re.finditer(self.pattern, " ".join(passage.text.split())):
                value = amount(match["value"])
                if value is not None:
                    yield Found((match["key"].strip(), self.save_as), value)


Lookup = Annotated[StatementLookup | RecordsLookup | LabelsLookup | SentenceLookup, Field(discriminator="kind")]


def find_all(lookups: Iterable[Lookup], passages: Sequence[Passage]) -> list[Found]:
    """The values that the passages hold, each place in src_data once: what is read first counts."""
    found: dict[tuple[str, ...], Found] = {}
    listed: list[Found] = []
    for lookup in lookups:
        for value in lookup.find(passages):
            if value.listed:
                listed.append(value)
            else:
                found[value.path] = _merged(found.get(value.path), value)
    return [*found.values(), *listed]


def _merged(first: Found | None, again: Found) -> Found:
    """``first`` stays; what stands beside the value elsewhere is known too."""
    if first is None:
        return again
    beside = tuple(dict.fromkeys((*first.neighbours, *again.neighbours)))
    return Found(first.path, first.value, first.listed, beside)


def amount(text: str) -> Number | None:
    """The number that a cell holds: ``$1,234``, ``(56)`` as -56, a dash as 0; None for anything else."""
    plain = re.sub(r"[\s$€£%]", "", text).replace("−", "-")
    if plain in _NIL:
        return 0
    if not _AMOUNT.fullmatch(plain):
        return None
    digits = plain.strip("()").replace(",", "")
    value: Number = float(digits) if "." in digits else int(digits)
    return -value if plain.startswith("(") else value


def _tables(passages: Sequence[Passage]) -> Iterator[TextTable]:
    for passage in passages:
        yield from tables_in(passage.text)


def _first(row: tuple[str, ...], columns: Sequence[int]) -> str:
    """The first cell with text among ``columns``."""
    return next((row[at] for at in columns if at < len(row) and row[at]), "")


def _by_year(table: TextTable, row: tuple[str, ...]) -> dict[str, Number]:
    """Year -> amount, for the years that head the columns.

    A year's cells go to the next year's: ``$`` and parentheses may stand in cells of their own, and a cell
    that spans columns is there several times.
    """
    heads = _year_columns(table)
    ends = [*heads.values(), len(row)][1:]
    cells = {year: row[start:end] for (year, start), end in zip(heads.items(), ends, strict=True)}
    amounts = {year: amount("".join(dict.fromkeys(parts))) for year, parts in cells.items()}
    return {year: value for year, value in amounts.items() if value is not None}


def _year_columns(table: TextTable) -> dict[str, int]:
    """Year -> its column, from left to right; the lowest header row that has years names them."""
    for cells in reversed(table.header):
        years: dict[str, int] = {}
        for at, cell in enumerate(cells):
            match = _YEAR.search(cell)
            if match:
                years.setdefault(match.group(), at)
        if years:
            return years
    return {}
