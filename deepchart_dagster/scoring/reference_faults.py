"""References that disagree with themselves or with their documents. They are reported and never edited.

    empty       a side is there and holds no number: each model scores 0 on it
    series      a column of d_src runs along a series of der_data, year by year, and is another one: near, not equal,
                and a word of their names is the same (net operating profit runs along income before taxes, too)
    repeated    der_data's file repeats source values (finance does) that d_src does not have
    sign        some values of a column stand in the document with the other sign, and others as they are: a dropped
                minus, where a column of which all have the other sign is a convention (dividends paid)

A series is what has one set of labels; years tell its values apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import load_json
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Instance, Split
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import content_of
from deepchart_dagster.contexts.loaded import read_context
from deepchart_dagster.contexts.locate import lines_of_instance
from deepchart_dagster.contexts.variants import CONTEXT_VARIANTS
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.generation.preview import find_instance
from deepchart_dagster.scoring.context_cells import CellIndex
from deepchart_dagster.scoring.labelled import Labelled, labelled_leaves
from deepchart_dagster.scoring.matching import accepts, match
from deepchart_dagster.scoring.prediction import reference_content, reference_file
from deepchart_dagster.scoring.tables import REFERENCE_MAX_BYTES

FaultKind = Literal["empty", "series", "repeated", "sign"]
# Year -> value.
_Series: TypeAlias = dict[int, float]

_MIN_YEARS = 3
# Two series that differ by no more than this, relative to the larger value, in every year are meant to be the same.
_NEAR = 0.35
_NEAR_ON_THE_WHOLE = 0.15
# Words that many quantities share.
_NO_NAMES = frozenset(("and", "average", "avg", "for", "from", "net", "of", "per", "rate", "the", "total", "year"))
_UNITS = (1.0, 1e3, 1e6, 1e9)
_LISTED = 6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Fault:
    """``name`` is the column or series; ``values`` are (year, what the reference says, what speaks against it)."""

    kind: FaultKind
    name: str
    message: str
    values: tuple[tuple[int | None, float, float], ...]

    def as_json(self) -> dict[str, JsonValue]:
        values: list[JsonValue] = [{"year": year, "value": value, "other": other} for year, value, other in self.values]
        return {"kind": self.kind, "name": self.name, "message": self.message, "values": values}

    def as_text(self) -> str:
        shown = ", ".join(f"{year or '?'}: {value:.6g} and {other:.6g}" for year, value, other in self.values[:_LISTED])
        more = f" and {len(self.values) - _LISTED} more" if len(self.values) > _LISTED else ""
        return f"{self.kind}: {self.message}" + (f" ({shown}{more})" if self.values else "")


def faults_of(source: object, derived: object, repeated: object, texts: Sequence[str]) -> list[Fault]:
    """``source``, ``derived``: what counts of d_src and d_der (None: there is none); ``repeated``: the source side in
    d_der's own file; ``texts``: the context, empty where there is none."""
    columns = _series_of(source)
    return [
        *_empty_faults({"d_src": source, "d_der": derived}),
        *_series_faults(columns, _series_of(derived)),
        *_repeated_faults(labelled_leaves(source), labelled_leaves(repeated)),
        *(_sign_faults(columns, CellIndex(texts)) if texts else ()),
    ]


def _empty_faults(sides: Mapping[str, object]) -> Iterator[Fault]:
    for name, content in sides.items():
        if content is not None and not numeric_leaves(content):
            yield Fault("empty", name, f"{name} holds no number, and each model scores 0 on it", ())


def _series_of(content: object) -> dict[str, _Series]:
    """The values with exactly one year, by their labels; a label that has a year twice is no series."""
    leaves = [leaf for leaf in labelled_leaves(content) if len(leaf.years) == 1 and not leaf.is_year]
    found: dict[str, _Series] = {}
    twice = {key for key, count in Counter(_place(leaf) for leaf in leaves).items() if count > 1}
    for leaf in leaves:
        if _place(leaf) not in twice:
            found.setdefault(_name(leaf), {})[min(leaf.years)] = leaf.value
    return {name: series for name, series in found.items() if len(series) >= _MIN_YEARS}


def _name(leaf: Labelled) -> str:
    return " / ".join(sorted(leaf.labels))


def _place(leaf: Labelled) -> tuple[str, int]:
    return _name(leaf), min(leaf.years)


def _series_faults(columns: dict[str, _Series], derived: dict[str, _Series]) -> Iterator[Fault]:
    """A column that equals some series is no rival of another one."""
    for name, series in derived.items():
        rivals = {column: other for column, other in columns.items() if other.keys() == series.keys()}
        if any(not _unequal(series, other) for other in rivals.values()):
            continue
        for column, other in rivals.items():
            if _share_a_word(name, column) and _runs_along(series, other):
                message = f"{name!r} of der_data and {column!r} of d_src are nearly the same and not equal"
                values = tuple((year, series[year], other[year]) for year in _unequal(series, other))
                yield Fault("series", name, message, values)


def _share_a_word(first: str, second: str) -> bool:
    return bool((set(_WORD.findall(first)) & set(_WORD.findall(second))) - _NO_NAMES)


def _unequal(series: _Series, other: _Series) -> list[int]:
    return [year for year in sorted(series) if not accepts(series[year], other[year])]


def _runs_along(series: _Series, other: _Series) -> bool:
    distances = [
        abs(series[year] - other[year]) / max(abs(series[year]), abs(other[year]))
        for year in series
        if series[year] or other[year]
    ]
    return bool(distances) and max(distances) <= _NEAR and sum(distances) / len(distances) <= _NEAR_ON_THE_WHOLE


def _repeated_faults(source: Sequence[Labelled], repeated: Sequence[Labelled]) -> Iterator[Fault]:
    """Values of the repetition that d_src lacks; d_src may have more (derived columns)."""
    if not source or not repeated:
        return
    found = {pair.reference for pair in match([one.value for one in repeated], [one.value for one in source])}
    lacking: dict[str, list[Labelled]] = {}
    for at, leaf in enumerate(repeated):
        if at not in found and not leaf.is_year:
            lacking.setdefault(_name(leaf), []).append(leaf)
    for name, leaves in lacking.items():
        values = tuple((min(leaf.years, default=None), leaf.value, _namesake(leaf, source)) for leaf in leaves)
        yield Fault("repeated", name, f"{name!r} beside der_data is not what d_src has", values)


def _namesake(leaf: Labelled, source: Iterable[Labelled]) -> float:
    same = (one.value for one in source if one.labels == leaf.labels and one.years == leaf.years)
    return next(same, float("nan"))


def _sign_faults(columns: dict[str, _Series], cells: CellIndex) -> Iterator[Fault]:
    for name, series in columns.items():
        signs = {year: _signs(value, year, cells) for year, value in series.items() if value}
        other = [year for year, found in signs.items() if found == {-1}]
        if other and any(found == {1} for found in signs.values()):
            message = f"{name!r} stands in the document with the other sign in some years and as it is in others"
            yield Fault("sign", name, message, tuple((year, series[year], -series[year]) for year in other))


def _signs(value: float, year: int, cells: CellIndex) -> set[int]:
    """1: a cell of this year has the value, -1: has it with the other sign."""
    found = (cell for unit in _UNITS for cell in cells.near(abs(value) / unit) if year in cell.years)
    return {1 if (cell.value < 0) == (value < 0) else -1 for cell in found}


@dataclass(frozen=True)
class ReferenceCheck:
    """One query looked at; ``problem`` where its references could not be had, ``without_context`` where only the
    context could not."""

    uid: str
    faults: tuple[Fault, ...] = ()
    problem: str | None = None
    without_context: bool = False

    def as_json(self) -> dict[str, JsonValue]:
        faults: list[JsonValue] = [fault.as_json() for fault in self.faults]
        return {
            "uid": self.uid,
            "faults": faults,
            "problem": self.problem,
            "without_context": self.without_context,
        }

    def as_text(self) -> str:
        if self.problem:
            return f"{self.uid}: not checked: {self.problem}"
        return "\n".join([f"{self.uid}:", *(f"  {fault.as_text()}" for fault in self.faults)])


@dataclass(frozen=True)
class ReferenceChecks:
    """Looks at the stored references of a split, and at its contexts where they are there. Reads only."""

    store: ArtifactStore
    library: Library
    evidence: EvidenceStore

    def run(self, split: Split, uid: str | None = None) -> list[ReferenceCheck]:
        """Every query of the split, or the one named (raises UsageError where the split has it not)."""
        instances = self.library.instances(split) if uid is None else [find_instance(self.library, uid, split)]
        return [self._check(instance) for instance in instances]

    def _check(self, instance: Instance) -> ReferenceCheck:
        try:
            source, derived, repeated = self._contents(instance.uid)
        except DeepChartError as error:
            return ReferenceCheck(instance.uid, problem=str(error))
        try:
            texts = self._texts(instance)
        except DeepChartError:
            texts = []
        return ReferenceCheck(
            instance.uid, tuple(faults_of(source, derived, repeated, texts)), without_context=not texts
        )

    def _contents(self, uid: str) -> tuple[object, object, object]:
        result = usable_result(self.store, "references", (), uid)
        source, derived = (reference_content(self.store, result, side) for side in _SIDES)
        name = reference_file(result, "der")
        if Path(name).suffix != ".json" or name not in result.files:
            return source, derived, None
        data = read_output(self.store, result, name)
        return source, derived, content_of(load_json(data, name=name, max_bytes=REFERENCE_MAX_BYTES), "src")

    def _texts(self, instance: Instance) -> list[str]:
        context = usable_result(self.store, CONTEXT_VARIANTS, (instance.split.value,), instance.uid)
        folder = self.store.folder(CONTEXT_VARIANTS, context.scope, context.uid)
        lines = lines_of_instance(read_context(folder), folder, self.evidence, self.store)
        return ["\n".join(line.text for line in lines)]


_SIDES: tuple[Literal["src"], Literal["der"]] = ("src", "der")
