"""Is a context answerable, and does it give nothing away? (paper, 3.1: "answerable, leakage-controlled")

Answerable: every source value of the reference stands in the context: as written, in a unit that the context
states (thousands, millions, billions, percent), with another sign, or rounded as the context writes it
(three digits or more). What does not is listed; a value that the reference has among its derived ones too is
listed apart: published d_src files carry derived columns, which no filing holds.

Leaks are
* the chart: a picture of the context (a file inside a text, a chunk, a picture or a drawing on a report's page)
  that is the reference chart or looks like it. A chart that is part of a page that is one picture is no picture
  of its own and is not seen;
* the derived data: their file as it is, or a passage with half of the telling derived values, three at least,
  among few other numbers. Telling are values of three digits or more that are no source values: documents
  state some derived values themselves, but not one next to the other as the reference has them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.contexts.pictures import (
    Fingerprint,
    fingerprint_of_bytes,
    same_picture,
    trimmed_fingerprint_of_bytes,
)
from deepchart_dagster.contexts.written import NumberIndex, WrittenNumber, is_among, plain_text, written_numbers

MIN_TELLING = 3
_MIN_DIGITS = 3
_SHARE = 0.5
# A passage has this many numbers for each derived value: years, names and labels stand between them.
_NUMBERS_A_VALUE = 4
_BASE64 = re.compile(r"[A-Za-z0-9+/\n\r]{400,}={0,2}")
_SHORTEST_FILE = 40


@dataclass(frozen=True)
class ContextText:
    """A text of a context, or what was read of a page that it shows as a picture; ``place`` names it."""

    place: str
    text: str
    is_page: bool = False


@dataclass(frozen=True)
class ContextPicture:
    place: str
    fingerprint: Fingerprint


@dataclass(frozen=True)
class Reference:
    """What an instance is scored against. ``derived`` is empty, ``chart`` None, where the benchmark has none.

    ``plain_source``: source values without derived columns, where the reference tells them apart.
    """

    source: tuple[float, ...]
    derived: tuple[float, ...] = ()
    plain_source: tuple[float, ...] | None = None
    derived_files: tuple[str, ...] = ()
    chart: bytes | None = None


@dataclass(frozen=True)
class MissingValue:
    """``is_derived``: the reference has it among its derived values as well."""

    value: float
    is_derived: bool

    def as_json(self) -> dict[str, JsonValue]:
        return {"value": self.value, "is_derived": self.is_derived}


@dataclass(frozen=True)
class Leak:
    kind: Literal["chart", "derived_file", "derived_values"]
    place: str
    message: str

    def as_json(self) -> dict[str, JsonValue]:
        return {"kind": self.kind, "place": self.place, "message": self.message}


@dataclass(frozen=True)
class Answerability:
    """What was found of one instance. ``how`` counts the source values by the way in which they stand there.

    ``n_telling`` is the number of derived values that could be told apart; with fewer than three only the
    derived file itself is looked for. ``needless`` names files in which no source value stands: what the
    normal variant shows without need (it keeps to whole statements, which the query names, so that no hidden
    reference decides what a model sees).
    """

    n_source: int
    how: dict[str, int] = field(default_factory=dict)
    missing: tuple[MissingValue, ...] = ()
    leaks: tuple[Leak, ...] = ()
    n_telling: int = 0
    needless: tuple[str, ...] = ()

    @property
    def unanswerable(self) -> tuple[MissingValue, ...]:
        """Missing values that are nothing but source values."""
        return tuple(value for value in self.missing if not value.is_derived)


def examine(texts: Sequence[ContextText], pictures: Sequence[ContextPicture], reference: Reference) -> Answerability:
    plain = [plain_text(text.text) for text in texts]
    index = NumberIndex(plain)
    found = [(value, index.find(value)) for value in reference.source]
    how: dict[str, int] = {}
    for _, place in found:
        if place is not None:
            how[place.how] = how.get(place.how, 0) + 1
    telling = _telling(reference)
    return Answerability(
        n_source=len(reference.source),
        how=dict(sorted(how.items(), key=lambda pair: -pair[1])),
        missing=tuple(
            MissingValue(value, is_among(value, reference.derived)) for value, place in found if place is None
        ),
        leaks=(*_chart_leaks(texts, pictures, reference), *_derived_leaks(texts, plain, reference, telling)),
        n_telling=len(telling),
        needless=tuple(_needless(texts, plain, reference)),
    )


def _needless(texts: Sequence[ContextText], plain: Sequence[str], reference: Reference) -> Iterator[str]:
    for text, words in zip(texts, plain, strict=True):
        index = NumberIndex([words])
        if not text.is_page and not any(index.find(value) for value in reference.source):
            yield text.place


# The chart


def _chart_leaks(
    texts: Sequence[ContextText], pictures: Sequence[ContextPicture], reference: Reference
) -> Iterator[Leak]:
    chart = fingerprint_of_bytes(reference.chart) if reference.chart else None
    if chart is None or reference.chart is None:
        return
    looks = [chart, *filter(None, [trimmed_fingerprint_of_bytes(reference.chart)])]
    for picture in (*pictures, *_pictures_in(texts)):
        if any(same_picture(picture.fingerprint, look) for look in looks):
            same = "is" if picture.fingerprint.sha256 == chart.sha256 else "looks like"
            yield Leak("chart", picture.place, f"a picture there {same} the reference chart")


def _pictures_in(texts: Iterable[ContextText]) -> Iterator[ContextPicture]:
    """Pictures that stand in a text as base64 (data: links)."""
    for text in texts:
        for found in _BASE64.findall(text.text):
            try:
                data = base64.b64decode(re.sub(r"\s", "", found) + "==")
            except (binascii.Error, ValueError):
                continue
            fingerprint = fingerprint_of_bytes(data)
            if fingerprint is not None:
                yield ContextPicture(text.place, fingerprint)


# The derived data


def _telling(reference: Reference) -> list[float]:
    known = reference.source if reference.plain_source is None else reference.plain_source
    distinct = dict.fromkeys(reference.derived)
    return [value for value in distinct if _n_digits(value) >= _MIN_DIGITS and not is_among(value, known)]


def _n_digits(value: float) -> int:
    return len(f"{abs(value):.15g}".partition("e")[0].replace(".", "").strip("0"))


def _derived_leaks(
    texts: Sequence[ContextText], plain: Sequence[str], reference: Reference, telling: Sequence[float]
) -> Iterator[Leak]:
    files = [squeezed for file in reference.derived_files if len(squeezed := _squeezed(file)) >= _SHORTEST_FILE]
    for text, words in zip(texts, plain, strict=True):
        if any(file in _squeezed(text.text) for file in files):
            yield Leak("derived_file", text.place, "the file of the derived data stands there as it is")
        elif (passage := _passage(words, reference, telling)) is not None:
            yield Leak("derived_values", text.place, passage)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@dataclass(frozen=True)
class _Hit:
    """A derived value (its place among the telling ones) at a number of the text (its rank)."""

    value: int
    rank: int
    number: WrittenNumber


def _passage(text: str, reference: Reference, telling: Sequence[float]) -> str | None:
    """The first passage that gives half of the telling values away, in words."""
    if len(telling) < MIN_TELLING:
        return None
    need = max(MIN_TELLING, round(_SHARE * len(telling)))
    reach = _NUMBERS_A_VALUE * max(len(reference.derived), MIN_TELLING)
    hits = list(_hits(text, telling))
    first = 0
    for last, hit in enumerate(hits):
        while hit.rank - hits[first].rank > reach:
            first += 1
        values = {one.value for one in hits[first : last + 1]}
        if len(values) >= need:
            begin, end = hits[first].number.start, hit.number.end
            shown = " ".join(text[begin : min(end, begin + 120)].split())
            return f"{len(values)} of {len(telling)} derived values stand together: {shown}…"
    return None


def _hits(text: str, telling: Sequence[float]) -> Iterator[_Hit]:
    """Numbers that are a telling value, as it is, as percent, or rounded to three digits or more."""
    for rank, number in enumerate(written_numbers(text)):
        if number.n_digits >= _MIN_DIGITS:
            for at, value in enumerate(telling):
                if _writes(number, value):
                    yield _Hit(at, rank, number)
                    break


def _writes(number: WrittenNumber, value: float) -> bool:
    half = 0.5 * 10.0**-number.decimals * (1 + 1e-9)
    return any(abs(abs(number.value) - abs(value) * factor) <= half for factor in (1.0, 100.0))
