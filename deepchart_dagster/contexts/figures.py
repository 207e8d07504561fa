"""Text that stands inside a figure of a page, told apart from the text around it.

A paper's charts are drawn as vectors or set as pictures; their tick labels and value labels would leak
the target chart into a context that must not show it (paper, 3.1). Lines made of them carry the number
of their figure on the page, so that they can be left out where the chart has to be gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deepchart_dagster.contexts.layout import PageLine, lay_out
from deepchart_dagster.contexts.pdf import PdfPage
from deepchart_dagster.contexts.words import Word, group_rows

# Bumped when the same words are shared out in another way.
FIGURES_VERSION = 3
CAPTION = re.compile(r"(?:Extended Data )?(?:Fig(?:ure|\.)?|Table)\s*\d+", re.IGNORECASE)
# In points: smaller drawings are rules and boxes; labels of axes stand this far outside the frame.
_MIN_SIDE = 60.0
_CELL = 12.0
# A page is looked at in no more cells than this along a side: a poster in larger ones.
_MAX_CELLS = 300
_LABEL_REACH = 24.0
_TURNED_REACH = 36.0
# A drawing no thicker than this is a rule: the frame of a table, an axis, a tick.
_RULE = 1.5
# In heights of a word.
_NEXT_ROW = 1.1
_MAX_PAGE_SHARE = 0.85
_PROSE_WORDS = 9


@dataclass(frozen=True)
class Region:
    """Where a figure is drawn, with the room its labels take."""

    x0: float
    y0: float
    x1: float
    y1: float

    def grown(self, by: float) -> Region:
        return Region(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def down_to(self, y: float) -> Region:
        return replace(self, y1=max(self.y1, y))

    def holds(self, word: Word) -> bool:
        return self.x0 <= (word.x0 + word.x1) / 2 <= self.x1 and self.y0 <= word.middle <= self.y1


def figure_regions(page: PdfPage) -> list[Region]:
    """Where drawings and pictures stand close together over a figure's size, from top to bottom."""
    whole, cell = page.rect.width * page.rect.height, _cell_of(page)
    marked: set[tuple[int, int]] = set()
    drawn: set[tuple[int, int]] = set()
    for kind, (x0, y0, x1, y1) in page.get_bboxlog():
        if "text" not in kind and (x1 - x0) * (y1 - y0) <= _MAX_PAGE_SHARE * whole:
            cells = set(_cells(_on_page((x0, y0, x1, y1), page), cell))
            marked |= cells
            if min(x1 - x0, y1 - y0) > _RULE:
                drawn |= cells
    # Rules alone, level and upright, are those of a table.
    regions = [_region(cells, cell) for cells in _connected(marked) if not drawn.isdisjoint(cells)]
    large = [region for region in regions if min(region.x1 - region.x0, region.y1 - region.y0) >= _MIN_SIDE]
    return [region.grown(_LABEL_REACH) for region in sorted(large, key=lambda region: (region.y0, region.x0))]


def drawn_charts(page: PdfPage) -> list[Region]:
    """Figures that are drawn as lines and areas, each as it is drawn and with the labels round it.

    Where a chart brings its background its labels stand on that, and what is near it may be other text.
    """
    boxes = [_on_page(box, page) for kind, box in page.get_bboxlog() if "text" not in kind and "image" not in kind]
    whole, side = page.rect.width * page.rect.height, _cell_of(page)
    boxes = [box for box in boxes if (box.x1 - box.x0) * (box.y1 - box.y0) <= _MAX_PAGE_SHARE * whole]
    marked = {cell for box in boxes for cell in _cells(box, side)}
    words = [Word(text, x0, y0, x1, y1) for x0, y0, x1, y1, text, *_ in page.get_text("words")]
    frames = []
    for cells in map(set, _connected(marked)):
        own = [box for box in boxes if (int(box.x0 // side), int(box.y0 // side)) in cells]
        frame = _around(own)
        thick = any(min(box.x1 - box.x0, box.y1 - box.y0) > _RULE for box in own)
        if thick and min(frame.x1 - frame.x0, frame.y1 - frame.y0) >= _MIN_SIDE:
            frames.append(frame)
    _, labels = _share_out(words, [frame.grown(_TURNED_REACH) for frame in frames])
    labelled = [
        _around([frame, *(Region(word.x0, word.y0, word.x1, word.y1) for word in inside)])
        for frame, inside in zip(frames, labels, strict=True)
    ]
    return [*frames, *(region for region in labelled if region not in frames)]


def _on_page(box: Sequence[float], page: PdfPage) -> Region:
    x0, y0, x1, y1 = box
    return Region(max(0, x0), max(0, y0), min(x1, page.rect.width), min(y1, page.rect.height))


def _around(boxes: Sequence[Region]) -> Region:
    return Region(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


def _cell_of(page: PdfPage) -> float:
    return max(_CELL, float(page.rect.width) / _MAX_CELLS, float(page.rect.height) / _MAX_CELLS)


def _cells(box: Region, side: float) -> Iterator[tuple[int, int]]:
    for column in range(int(box.x0 // side), int(box.x1 // side) + 1):
        for row in range(int(box.y0 // side), int(box.y1 // side) + 1):
            yield column, row


def _connected(marked: set[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Groups of cells that touch, corners included."""
    left = set(marked)
    while left:
        group = [left.pop()]
        for column, row in group:  # grows while it is walked through
            near = {(column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            group.extend(near)
        yield group


def _region(cells: Sequence[tuple[int, int]], side: float) -> Region:
    columns, rows = [column for column, _ in cells], [row for _, row in cells]
    return Region(min(columns) * side, min(rows) * side, (max(columns) + 1) * side, (max(rows) + 1) * side)


def lay_out_with_figures(words: Sequence[Word], width: float, regions: Sequence[Region]) -> list[PageLine]:
    """Like lay_out, with the text of each figure on lines of its own, marked with the figure's number."""
    around, inside = _share_out(words, regions)
    lines = lay_out(around, width)
    for at, words_of_figure in enumerate(inside):
        figure = [replace(line, figure=at + 1) for line in lay_out(words_of_figure, width)]
        top = min((line.box[1] for line in figure), default=0.0)
        place = sum(line.box[1] < top for line in lines)
        lines[place:place] = figure
    return lines


def _share_out(words: Sequence[Word], regions: Sequence[Region]) -> tuple[list[Word], list[list[Word]]]:
    """Words around all figures, and those of each figure. A phrase that reaches into a figure belongs to it."""
    around: list[Word] = []
    inside: list[list[Word]] = [[] for _ in regions]
    reach = list(regions)
    for phrase in _phrases(words):
        owner = next(filter(lambda found: found is not None, (_owner(word, reach) for word in phrase)), None)
        (around if owner is None else inside[owner]).extend(phrase)
        if owner is not None:  # tick labels of two rows: the next row belongs to the figure as well
            reach[owner] = reach[owner].down_to(phrase[0].y1 + _NEXT_ROW * phrase[0].height)
    around += [word for row, is_text in _rows(words) if is_text for word in row]
    for word in words:
        if word.turn:
            owner = _owner(word, [region.grown(_TURNED_REACH) for region in reach])
            (around if owner is None else inside[owner]).append(word)
    return around, inside


def _phrases(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Upright words that could be a figure's: row by row, divided at gaps wider than a row is high."""
    for row, is_text in _rows(words):
        if is_text:
            continue
        phrase = row[:1]
        for word in row[1:]:
            if word.x0 - phrase[-1].x1 >= word.height:
                yield phrase
                phrase = []
            phrase.append(word)
        yield phrase


def _rows(words: Sequence[Word]) -> Iterator[tuple[list[Word], bool]]:
    """Rows of upright words, and whether each is a caption or prose: also a paragraph's last, short row is prose."""
    above: list[Word] = []
    for row in group_rows([word for word in words if not word.turn]):
        is_text = _is_text(row) or _continues(row, above)
        yield row, is_text
        above = row if is_text else []


def _continues(row: Sequence[Word], above: Sequence[Word]) -> bool:
    """Whether a row of words goes on with the prose above it: same margin, same height, next line, no numbers."""
    if not above or not all(word.text[0].isalpha() or word.text[0] in "(“\"'" for word in row):
        return False
    height = above[0].height
    near = row[0].y0 - above[0].y1 < 0.6 * height and abs(row[0].height - height) < 0.15 * height
    return near and abs(row[0].x0 - above[0].x0) < 0.5 * height


def _is_text(row: Sequence[Word]) -> bool:
    """A caption or a row of prose is never a figure's own text."""
    return CAPTION.match(" ".join(word.text for word in row)) is not None or _is_prose(row)


def _owner(word: Word, regions: Sequence[Region]) -> int | None:
    return next((at for at, region in enumerate(regions) if region.holds(word)), None)


def _is_prose(row: Sequence[Word]) -> bool:
    return sum(word.text[0].isalpha() for word in row) >= _PROSE_WORDS
