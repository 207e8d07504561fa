"""A paper as text, with a chart's data where the chart was (paper, 3.1).

The chart is found by its caption: a line that begins with the figure's name ("Figure 3.", "Extended Data
Fig. 2 |"), and where several do, the one that shares most words with the caption that the record gives, or
the one that a figure stands beside. On a page with several figures each belongs to the caption that follows
it, or, where this page sets captions above, to the one before it; what stands under a table's caption is a
table. Text inside the chart goes with the chart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepchart_dagster.contexts.drafts import DataBlock
from deepchart_dagster.contexts.loaded import ContextLine, OcrContext
from deepchart_dagster.contexts.provenance import Box, around
from deepchart_dagster.contexts.quality import plural
from deepchart_dagster.errors import BenchmarkFormatError

_SERIES = r"Extended Data|Supplementary|Supporting|Appendix"
_FIGURE = re.compile(
    rf"\s*(?:(?P<series>{_SERIES})\s+)?(?:Fig(?:ure|\.)?\s*)?(?P<number>[A-Z]?\d+(?:\.\d+)*)\s*[a-z]?(?:[-–,][a-z])*\s*",
    re.IGNORECASE,
)
_ANY_CAPTION = re.compile(
    rf"[#*\s]*(?i:(?:{_SERIES})\s+)?(?P<what>(?i:Fig(?:ure|\.)?|Table))\s*[A-Z]?\d+(?:\.\d+)*\s*(?:[.:|—–-]|\*\*|[A-Z(]|$)"
)


@dataclass(frozen=True)
class Figure:
    """A figure's name: ``series`` is "" for the paper's own, ``number`` "3", "S2" or "4.1"; panels are left out."""

    series: str
    number: str

    @classmethod
    def named(cls, name: str) -> Figure:
        """From "3", "Fig. 1f", "Extended Data 2b". Raises BenchmarkFormatError for what names no figure."""
        found = _FIGURE.fullmatch(name)
        if found is None:
            raise BenchmarkFormatError(
                f"{name!r} names no figure.", remedy='evidence_hint.figure is like "3" or "Extended Data 2".'
            )
        return cls(series=(found.group("series") or "").title(), number=found.group("number"))

    def __str__(self) -> str:
        return f"{self.series} {self.number}".strip()

    @property
    def caption(self) -> re.Pattern[str]:
        return re.compile(rf"[#*\s]*{self._name}\s*(?:[.:|—–-]|\*\*|[A-Z(]|$)")

    @property
    def mention(self) -> re.Pattern[str]:
        return re.compile(rf".*\b{self._name}")

    @property
    def _name(self) -> str:
        series = rf"(?i:{self.series})\s+" if self.series else ""
        return rf"{series}(?i:Fig(?:ure|\.)?)\s*{re.escape(self.number)}(?![0-9]|\.[0-9])"


@dataclass(frozen=True)
class FigurePlace:
    """Where a figure stands: its caption, the numbers of the lines inside it, and the box of both."""

    caption: ContextLine
    inside: frozenset[int]
    page: int
    box: Box | None


@dataclass(frozen=True)
class PaperText:
    parts: tuple[ContextLine | DataBlock, ...]
    note: str


def find_figure(paper: OcrContext, figure: Figure, caption: str = "") -> FigurePlace | None:
    """``caption``: words of it, for papers in which several captions bear the same number."""
    lines = [line for line in paper.lines if line.kind == "text" and figure.caption.match(line.text)]
    places = [_place(paper.lines, line) for line in lines]
    return max(places, key=lambda place: (_shared(place.caption.text, caption), bool(place.inside)), default=None)


def _shared(text: str, caption: str) -> int:
    words = set(re.findall(r"\w{3,}", caption.lower()))
    return len(words & set(re.findall(r"\w{3,}", text.lower())))


def with_data_block(paper: OcrContext, figure: Figure, block: str, file: str, caption: str = "") -> PaperText:
    """The paper's text with ``block`` in the place of the figure, whose own text is left out.

    Without a caption of that name the block stands before the first mention of the figure, else at the end.
    """
    place = find_figure(paper, figure, caption)
    if place is not None:
        kept = [line for line in paper.lines if line.number not in place.inside]
        data = DataBlock(block, file, place.page, place.box)
        at = f"{paper.document_id}: data of figure {figure} at its caption on page {place.caption.page}, "
        gone = f"{plural(len(place.inside), 'line')} of the chart's own text left out" if place.inside else _NO_FIGURE
        return PaperText(_insert(kept, place.caption, data), at + gone)
    mention = next((line for line in paper.lines if line.kind == "text" and figure.mention.match(line.text)), None)
    data = DataBlock(block, file, mention.page if mention else None)
    where = f"before the first mention on page {mention.page}" if mention else "at the end"
    return PaperText(
        _insert(paper.lines, mention, data),
        f"{paper.document_id}: no caption of figure {figure} was found; its data stand {where}",
    )


_NO_FIGURE = "no text of a chart was told apart there"


def _insert(
    lines: Sequence[ContextLine], place: ContextLine | None, data: DataBlock
) -> tuple[ContextLine | DataBlock, ...]:
    at = lines.index(place) if place else len(lines)
    return (*lines[:at], data, *lines[at:])


# Which figure of a page belongs to which caption


def _place(lines: Sequence[ContextLine], caption: ContextLine) -> FigurePlace:
    """The figures of the caption on its page, else those of the page before if nothing there names them."""
    inside = _figures_of(lines, caption)
    if not inside:
        before = [line for line in lines if line.page == caption.page - 1]
        if not any(_is_caption(line, "fig") for line in before):
            inside = [line for line in before if line.figure is not None]
    page = inside[0].page if inside else caption.page
    boxes = [line.box for line in (*inside, caption) if line.box and line.page == page]
    return FigurePlace(caption, frozenset(line.number for line in inside), page, around(boxes))


def _figures_of(lines: Sequence[ContextLine], caption: ContextLine) -> list[ContextLine]:
    on_page = [line for line in lines if line.page == caption.page and line.box]
    captions = [line for line in on_page if _is_caption(line)]
    figures: dict[int, list[ContextLine]] = {}
    for line in on_page:
        if line.figure is not None:
            figures.setdefault(line.figure, []).append(line)
    owners = _owners({number: _box(inside) for number, inside in figures.items()}, captions)
    return [line for number, inside in figures.items() if owners.get(number) is caption for line in inside]


def _is_caption(line: ContextLine, what: str = "") -> bool:
    found = _ANY_CAPTION.match(line.text) if line.figure is None and line.kind == "text" else None
    return found is not None and found.group("what").lower().startswith(what)


def _box(lines: Sequence[ContextLine]) -> Box:
    return around([line.box for line in lines if line.box]) or (0.0, 0.0, 0.0, 0.0)


def _owners(figures: dict[int, Box], captions: Sequence[ContextLine]) -> dict[int, ContextLine]:
    """Figure -> caption: the next below it, or the last above it where that alone gives every caption a figure."""
    wanted = [caption for caption in captions if _is_caption(caption, "fig")]
    below = {number: _nearest(box, captions, above=False) for number, box in figures.items()}
    above = {number: _nearest(box, captions, above=True) for number, box in figures.items()}
    first, second = (below, above) if _serves(below, wanted) or not _serves(above, wanted) else (above, below)
    tables = _tables(figures, first, second)
    chosen = {number: tables.get(number) or first[number] or second[number] for number in figures}
    return {number: caption for number, caption in chosen.items() if caption is not None}


def _tables(
    figures: dict[int, Box], first: dict[int, ContextLine | None], second: dict[int, ContextLine | None]
) -> dict[int, ContextLine]:
    """Rules make tables look drawn: what stands next to a table's caption, nearer than to its figure's, is a table."""
    claims: dict[int, tuple[int, ContextLine]] = {}
    for number, box in figures.items():
        usual, other = first[number], second[number]
        if other is None or not _is_caption(other, "table") or (usual is not None and _is_caption(usual, "table")):
            continue
        distance = _distance(box, other.box or box)
        if usual is not None and _distance(box, usual.box or box) <= distance:
            continue
        nearest = claims.get(other.number)
        if nearest is None or distance < _distance(figures[nearest[0]], other.box or box):
            claims[other.number] = (number, other)
    return dict(claims.values())


def _serves(owners: dict[int, ContextLine | None], captions: Sequence[ContextLine]) -> bool:
    return all(any(owner is caption for owner in owners.values()) for caption in captions)


def _nearest(figure: Box, captions: Sequence[ContextLine], *, above: bool) -> ContextLine | None:
    """The nearest caption on that side; one in the figure's own columns before one beside them."""
    middle = (figure[1] + figure[3]) / 2
    side = [line for line in captions if line.box and ((line.box[1] + line.box[3]) / 2 < middle) is above]
    return min(side, key=lambda line: _distance(figure, line.box or figure), default=None)


def _distance(figure: Box, caption: Box) -> tuple[bool, float]:
    beside = min(figure[2], caption[2]) - max(figure[0], caption[0]) <= 0
    return beside, max(caption[1] - figure[3], figure[1] - caption[3])
