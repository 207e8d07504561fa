"""How well a document was read: ``quality.json`` of an ocr context.

    {"pages_by_engine": {engine: n},
     "fallbacks": [{"page", "engine", "reason"}…]      engines that failed on a page before another read it
     "compared": {"pages", "read", "text_layer", "matched", "precision", "recall"},
     "differing": [{"page", "read": [number…], "text_layer": [number…]}…]}

Where another engine than the text layer read a page that has text of its own, the numbers of both are
compared, as multisets of their digits: precision is the share of the read numbers that the text layer has,
recall the share of its numbers that were read; null where nothing was compared. A page whose text has no
number is not compared. A text layer may be wrong itself (a scan's is OCR as well) or cover a part of the page
only: differing numbers say where to look, not who is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from deepchart_dagster.contexts.readings import PageReading

QUALITY_NAME = "quality.json"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fallback(_Frozen):
    page: int
    engine: str
    reason: str


class Compared(_Frozen):
    """Counts over all compared pages; ``precision`` and ``recall`` are shares of 1."""

    pages: int
    read: int
    text_layer: int
    matched: int
    precision: float | None
    recall: float | None


class Differing(_Frozen):
    """Numbers of a page that only one of the two has."""

    page: int
    read: tuple[str, ...]
    text_layer: tuple[str, ...]


class Quality(_Frozen):
    pages_by_engine: dict[str, int]
    fallbacks: tuple[Fallback, ...]
    compared: Compared
    differing: tuple[Differing, ...]

    def as_text(self) -> str:
        """One line, "" where there is nothing to say."""
        compared = self.compared
        if not compared.pages:
            return ""
        pages = [one.page for one in self.differing]
        differ = f"; they differ on {plural(len(pages), 'page')}: {page_ranges(pages)}" if pages else ""
        return (
            f"numbers read against the text layer on {plural(compared.pages, 'page')}: "
            f"precision {share(compared.precision)}, recall {share(compared.recall)}{differ}"
        )


def measure(readings: Sequence[PageReading]) -> Quality:
    """The same readings give the same report: seconds are not in it (seconds_by_engine)."""
    pairs = {
        reading.number: (_digits(reading), Counter(_bare(number) for number in reading.text_layer_numbers))
        for reading in readings
        if reading.error is None and reading.text_layer_numbers
    }
    return Quality(
        pages_by_engine=dict(sorted(Counter(one.engine for one in readings if one.error is None).items())),
        fallbacks=tuple(
            Fallback(page=reading.number, engine=failure.engine, reason=failure.reason)
            for reading in readings
            for failure in reading.tried
        ),
        compared=_compared(pairs),
        differing=tuple(
            Differing(page=page, read=_sorted(read - own), text_layer=_sorted(own - read))
            for page, (read, own) in pairs.items()
            if read != own
        ),
    )


def _digits(reading: PageReading) -> Counter[str]:
    return Counter(_bare(number.text) for line in reading.lines for number in line.numbers)


def _bare(number: str) -> str:
    return number.replace(",", "")


def _sorted(numbers: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(numbers.elements(), key=lambda number: (len(number), number)))


def _compared(pairs: Mapping[int, tuple[Counter[str], Counter[str]]]) -> Compared:
    read = sum(first.total() for first, _ in pairs.values())
    own = sum(second.total() for _, second in pairs.values())
    matched = sum((first & second).total() for first, second in pairs.values())
    return Compared(
        pages=len(pairs),
        read=read,
        text_layer=own,
        matched=matched,
        precision=round(matched / read, 6) if read else None,
        recall=round(matched / own, 6) if own else None,
    )


@dataclass(frozen=True)
class EngineSeconds:
    pages: int
    seconds: float


def seconds_by_engine(readings: Sequence[PageReading]) -> dict[str, EngineSeconds]:
    """Seconds of the pages that each engine read in this run: an observation, never part of an output."""
    spent: dict[str, EngineSeconds] = {}
    for reading in readings:
        so_far = spent.get(reading.engine, EngineSeconds(0, 0.0))
        spent[reading.engine] = EngineSeconds(so_far.pages + 1, round(so_far.seconds + reading.seconds, 3))
    return dict(sorted(spent.items()))


# Words for people


def plural(count: int, noun: str) -> str:
    """``1 number``, ``2 numbers``"""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"


def page_ranges(pages: Sequence[int]) -> str:
    """``1–3, 5``"""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges)
