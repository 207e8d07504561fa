"""A page's words -> its lines of markdown: headings, paragraphs, tables (HTML, one line each).

Each line keeps the boxes of its numbers in the order in which they stand in it, so that every number of
``document.md`` leads back to a place on a page. Every number of the page is in exactly one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from deepchart_dagster.contexts.grid import Table
from deepchart_dagster.contexts.headers import (
    is_header,
    leading_headers,
    left_margin,
    names_period,
    stands_over,
    value_area,
)
from deepchart_dagster.contexts.tables import build_table
from deepchart_dagster.contexts.words import Row, Word, clean_words, group_rows, numbers_in, row_of, with_columns

# Of everything between an engine's words and a context's lines: tables, levelling and joining too.
LAYOUT_VERSION = 7

# In heights of a row.
_TABLE_BREAK = 3.0
_HEADER_BREAK = 1.5
_PERIOD_BREAK = 2.4
_PARAGRAPH_BREAK = 0.75
_MAX_LABEL_ROWS = 9
_CELL_WORDS_OF_PROSE = 6
_HEADING_WORDS = 16
_COLUMN_ROWS = 10
_PROSE_WORDS = 8
_TITLE_WORDS = 8
_WIDE_ROW_VALUES = 3
_EQUATION_NUMBER = re.compile(r"\((\d{1,2})\)")
_MARKED_YEAR = re.compile(r"(?:FY ?)?(?:19|20)\d\d(?: ?\(\w\)|[*†‡]+)?")
_CAPTION = re.compile(r"(?:Table|Figure|Fig\.|Chart|Exhibit)\s*\d", re.IGNORECASE)
_SECTION = re.compile(r"(?:Item|Note) \d+[A-C]?\b", re.IGNORECASE)
_UNIT = re.compile(r"\(?(?:(?:dollars|amounts|u\.s\.) )?in (?:thousands|millions|billions)\b", re.IGNORECASE)
_ITEM = re.compile(r"[•●▪◦·‣○■]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)] ", re.IGNORECASE)


@dataclass(frozen=True)
class NumberBox:
    """A number as written and where it stands; ``page`` is set where that is another one than its line's."""

    text: str
    box: tuple[float, float, float, float]
    page: int | None = None


@dataclass(frozen=True)
class PageLine:
    """One line of markdown and where it stands: ``box`` is that of all its words.

    ``figure`` is the number, on the page, of the figure that the line's text stands in (contexts.figures).
    """

    markdown: str
    numbers: tuple[NumberBox, ...]
    box: tuple[float, float, float, float]
    is_table: bool = False
    figure: int | None = None


def lay_out(words: Sequence[Word], width: float) -> list[PageLine]:
    """Lines of markdown from top to bottom; a page in two columns of prose is read column by column.

    ``width`` is that of the page in points.
    """
    cleaned = clean_words(words)
    upright = group_rows([word for word in cleaned if not word.turn])
    return lay_out_rows(upright, [word for word in cleaned if word.turn], width)


def lay_out_rows(upright: list[list[Word]], turned: Sequence[Word], width: float) -> list[PageLine]:
    """Like lay_out, of words that are clean and grouped into rows (contexts.words) already."""
    lines: list[PageLine] = []
    for rows in _reading_order(upright, width):
        lines += _lines_of([row_of(words) for words in rows])
    return lines + _turned_lines(turned)


def _turned_lines(words: Sequence[Word]) -> list[PageLine]:
    """Text that is written upwards or downwards, one line each, after the upright text."""
    columns: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.turn, word.x0 + word.x1)):
        last = columns[-1][-1] if columns else None
        apart = (word.x0 + word.x1 - last.x0 - last.x1) / 2 if last else 0.0
        if last and last.turn == word.turn and apart < 0.5 * (word.x1 - word.x0):
            columns[-1].append(word)
        else:
            columns.append([word])
    lines = [sorted(column, key=lambda word: -word.turn * word.middle) for column in columns]
    return [_line(" ".join(word.text for word in line), line) for line in lines]


def _lines_of(rows: list[Row]) -> list[PageLine]:
    lines: list[PageLine] = []
    body = _body_height(rows)
    at = 0
    for found in _tables(rows):
        lines += _prose(rows[at : found.start], body)
        lines.append(_line(found.table.html(), found.table.words, is_table=True))
        at = found.end
    return lines + _prose(rows[at:], body)


def _line(markdown: str, words: Sequence[Word], *, is_table: bool = False) -> PageLine:
    return PageLine(
        markdown=markdown,
        numbers=tuple(NumberBox(number, word.box) for word in words for number in numbers_in(word.text)),
        box=(
            round(min(word.x0 for word in words), 1),
            round(min(word.y0 for word in words), 1),
            round(max(word.x1 for word in words), 1),
            round(max(word.y1 for word in words), 1),
        ),
        is_table=is_table,
    )


# Tables among rows


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    table: Table


def _tables(rows: list[Row]) -> list[_Found]:
    found: list[_Found] = []
    for start, end in _regions(rows):
        start = _with_headers_above(rows, start, end, found[-1].end if found else 0)
        end = _with_wrap_below(rows, _with_total_below(rows, start, end))
        for first, last in _parts(rows, start, end):
            part = rows[first:last]
            table = build_table(part) if _is_tabular(part) else None
            if table is not None:
                found.append(_Found(first, last, table))
    return found


def _regions(rows: list[Row]) -> list[tuple[int, int]]:
    """Runs of rows with cells, with the rows between them that can only be labels."""
    regions: list[list[int]] = []
    for at, row in enumerate(rows):
        if len(row.segments) < 2:
            continue
        if regions and _connected(rows, regions[-1][1] - 1, at):
            regions[-1][1] = at + 1
        else:
            regions.append([at, at + 1])
    return [(start, end) for start, end in regions]


def _connected(rows: list[Row], above: int, below: int) -> bool:
    """Whether everything between two rows with cells is labels of the same table."""
    if below - above - 1 > _MAX_LABEL_ROWS:
        return False
    limit = min(_first_value_end(rows[above]), _first_value_end(rows[below]))
    if _is_prose_over(rows[below], _first_value_end(rows[above])):
        return False
    for at in range(above, below):
        if rows[at + 1].y0 - rows[at].y1 > _TABLE_BREAK * rows[at].height:
            return False
        if at > above and not (_is_lone_value(rows[at]) or _can_be_label(rows[at], limit)):
            return False
    return not (_SECTION.match(rows[below].text) and _ends_in_value(rows[above]) and not _ends_in_value(rows[below]))


def _is_prose_over(row: Row, limit: float) -> bool:
    """A row of text with wide gaps in it: its first words run on under the values of the table above."""
    first = row.segments[0]
    return first.x1 > limit and len(first.words) >= _PROSE_WORDS


def _first_value_end(row: Row) -> float:
    ends = [segment.x1 for segment in row.segments[1:] if segment.is_value]
    return ends[0] if ends else row.segments[-1].x1


def _can_be_label(row: Row, limit: float) -> bool:
    return row.segments[0].x1 <= limit and not _CAPTION.match(row.text) and not _SECTION.match(row.text)


def _ends_in_value(row: Row) -> bool:
    return row.segments[-1].is_value


def _is_lone_value(row: Row) -> bool:
    return len(row.segments) == 1 and row.segments[0].is_value


def _with_headers_above(rows: list[Row], start: int, end: int, floor: int) -> int:
    """The first row of the headers that stand right above a table, over its values."""
    left = value_area(rows[start:end])
    margin = left_margin(rows[start:end])
    start = _under_years(rows, start, floor, left)
    n_columns = Counter(len(row.segments) for row in rows[start:end]).most_common(1)[0][0]
    rows[start] = with_columns(rows[start], n_columns)
    while start > floor:
        above = with_columns(rows[start - 1], n_columns)
        if not _is_header_above(above, rows[start], left, margin):
            break
        start -= 1
        rows[start] = above
    return start


def _under_years(rows: list[Row], start: int, floor: int, left: float) -> int:
    """The row of years above a table, where a unit and the heading of a group stand in between; else ``start``."""
    for at in range(start - 1, max(floor, start - 4) - 1, -1):
        row, below = rows[at], rows[at + 1]
        if below.y0 - row.y1 > 1.5 * below.height:
            break
        if _names_years(row) and row.segments[0].x0 > left - 3 * row.height:
            return at
        if not (_UNIT.match(row.text) or (len(row.segments) == 1 and row.segments[0].x1 <= left)):
            break
    return start


def _names_years(row: Row) -> bool:
    """Two years or more side by side, each may bear a footnote's mark."""
    years = [segment for segment in row.segments if _MARKED_YEAR.fullmatch(segment.text)]
    return len(years) > 1 and len(years) == len(row.segments)


def _is_header_above(row: Row, below: Row, left: float, margin: float) -> bool:
    reach = _PERIOD_BREAK if all(map(names_period, row.segments)) else _HEADER_BREAK
    near = below.y0 - row.y1 < reach * below.height
    first = row.segments[0]
    over = first.x0 > left - 2 * row.height or stands_over(first, left, margin, row.height) or len(row.segments) > 2
    return near and over and is_header(row, left, margin) and not _CAPTION.match(row.text)


def _with_total_below(rows: list[Row], start: int, end: int) -> int:
    """A total without a label right below a table's last column belongs to it."""
    if end >= len(rows) or not _is_lone_value(rows[end]):
        return end
    last, total = rows[end - 1], rows[end].segments[0]
    near = rows[end].y0 - last.y1 < 1.5 * last.height and last.segments[-1].is_value
    return end + 1 if near and abs(total.x1 - last.segments[-1].x1) < last.height else end


def _with_wrap_below(rows: list[Row], end: int) -> int:
    """Rows right below a table that go on with the text of a cell of its last row, perhaps indented."""
    columns = [segment.x0 for segment in rows[end - 1].segments[1:] if not segment.is_value]
    wraps = False
    while end < len(rows) and len(rows[end].segments) == 1:
        row, above = rows[end], rows[end - 1]
        near = row.y0 - above.y1 < 0.5 * row.height
        in_line = any(-0.5 * row.height < row.segments[0].x0 - x0 < 1.5 * row.height for x0 in columns)
        if not (near and in_line and (wraps or row.text[:1].islower())):
            break
        wraps = True
        end += 1
    return end


def _parts(rows: list[Row], start: int, end: int) -> list[tuple[int, int]]:
    """A region cut where new column headers begin, so that each part has one set of headers."""
    left = value_area(rows[start:end])
    margin = left_margin(rows[start:end])
    cuts = [start]
    in_header = True
    names: set[str] = set()
    for at in range(start, end):
        over = is_header(rows[at], left, margin)
        renames = over and (_renames_columns(rows[at], left, margin) or rows[at].text in names)
        renames = renames or (over and len(rows[at].segments) > 1 and _begins_anew(rows, cuts[-1], at, end))
        if renames and not in_header:
            cuts.append(_with_period_above(rows, at, cuts[-1] + 1, left))
        in_header = over and (renames or in_header)
        if in_header:
            names.add(rows[at].text)
    return [(first, _without_titles(rows, first, last)) for first, last in zip(cuts, [*cuts[1:], end], strict=True)]


def _begins_anew(rows: list[Row], first: int, at: int, end: int) -> bool:
    """Whether a row of names, ``at``, stands between values and values below text that leads over to it.

    A table of words alone has such rows everywhere.
    """
    if at == first or not _announces(rows[at - 1]):
        return False
    return any(map(_ends_in_value, rows[first:at])) and any(map(_ends_in_value, rows[at + 1 : min(at + 4, end)]))


def _announces(row: Row) -> bool:
    """Text that leads over to the next table: a sentence, a title with its unit, a footnote, the rule above one."""
    if len(row.segments) > 1 or row.segments[0].is_value:
        return False
    return len(row.words) >= _TITLE_WORDS or re.search(r"[.:_]$|\bin \w+\):?$", row.text) is not None


def _with_period_above(rows: list[Row], at: int, floor: int, left: float) -> int:
    """The first of the rows above the columns' names that say nothing but a year or a period, over the values."""
    while at > floor and _names_periods_over(rows[at - 1], left):
        at -= 1
    return at


def _names_periods_over(row: Row, left: float) -> bool:
    return all(map(names_period, row.segments)) and row.segments[0].x0 > left - 4 * row.height


def _without_titles(rows: list[Row], first: int, last: int) -> int:
    """The last rows of a part that hold no value are the title of the next part, or text."""
    end = last
    while end - 1 > first and len(rows[end - 1].segments) == 1 and not rows[end - 1].segments[0].is_value:
        end -= 1
    wraps = end < last and rows[end].text[:1].islower()
    return last if wraps else end


def _renames_columns(row: Row, left: float, margin: float) -> bool:
    """A row of years or dates without a label, in the middle of a table."""
    dated = all(segment.is_year or re.search(r"\b(?:19|20)\d\d\b|\d,$", segment.text) for segment in row.segments)
    return (
        dated and len(row.segments) > 1 and row.segments[0].x0 > left - 3 * row.height and is_header(row, left, margin)
    )


def _is_tabular(rows: Sequence[Row]) -> bool:
    """Two rows with values, one with many under a header, or three with cells of few words.

    Prose with wide gaps is neither, nor are equations with their numbers.
    """
    valued = [row for row in rows if len(row.segments) > 1 and row.segments[-1].is_value]
    cells = [segment for row in rows if len(row.segments) > 1 for segment in row.segments]
    n_rows = sum(len(row.segments) > 1 for row in rows)
    if not cells:
        return False
    words_a_cell = sum(len(segment.words) for segment in cells) / len(cells)
    if len(valued) >= 2:
        return not _are_equations(valued)
    return _is_wide_row_under_header(rows) or (n_rows >= 3 and words_a_cell < _CELL_WORDS_OF_PROSE)


def _are_equations(valued: Sequence[Row]) -> bool:
    """Rows that end in (5), (6), (7) and have no other value."""
    numbers = [_EQUATION_NUMBER.fullmatch(row.segments[-1].text) for row in valued]
    if any(number is None for number in numbers) or any(row.segments[-2].is_value for row in valued):
        return False
    counted = [int(number.group(1)) for number in numbers if number]
    return counted == list(range(counted[0], counted[0] + len(counted)))


def _is_wide_row_under_header(rows: Sequence[Row]) -> bool:
    n_header = leading_headers(rows)
    values = [segment for segment in rows[-1].segments[1:] if segment.is_value]
    return n_header > 0 and n_header == len(rows) - 1 and len(values) >= _WIDE_ROW_VALUES


# Headings and paragraphs


def _body_height(rows: Sequence[Row]) -> float:
    """Height of most of the page's running text (of all its text where none runs)."""
    prose = [row for row in rows if len(row.words) >= _PROSE_WORDS and len(row.segments) == 1]
    heights = sorted(row.height for row in prose or rows for _ in row.words)
    return heights[len(heights) // 2] if heights else 0.0


def _prose(rows: Sequence[Row], body: float) -> list[PageLine]:
    lines: list[PageLine] = []
    paragraph: list[Row] = []
    right = max((row.segments[-1].x1 for row in rows), default=0.0)
    for row in rows:
        if paragraph and not _continues(paragraph[-1], row, right, body):
            lines.append(_paragraph(paragraph, body))
            paragraph = []
        paragraph.append(row)
    return [*lines, _paragraph(paragraph, body)] if paragraph else lines


def _is_heading(row: Row, body: float) -> bool:
    letters = [character for character in row.text if character.isalpha()]
    if len(letters) < 3 or len(row.words) > _HEADING_WORDS or row.text.endswith((".", ",", ";")):
        return False
    return row.height > 1.2 * body or row.text.isupper() or all(word.bold for word in row.words)


def _continues(above: Row, row: Row, right: float, body: float) -> bool:
    """Whether a row goes on with the text above: near, of the same size, and the row above was full.

    A title larger than the running text goes on over several rows, full or not.
    """
    near = row.y0 - above.y1 < _PARAGRAPH_BREAK * row.height
    if not near or abs(above.height - row.height) > 0.2 * row.height or _ITEM.match(row.text):
        return False
    if _is_heading(above, body) or _is_heading(row, body):
        return min(above.height, row.height) > 1.2 * body and _is_heading(above, body) and _is_heading(row, body)
    return above.segments[-1].x1 > right - 12 * row.height


def _paragraph(rows: Sequence[Row], body: float) -> PageLine:
    words = [word for row in rows for word in row.words]
    known = {word.text.lower() for word in words}
    text = rows[0].text
    for row in rows[1:]:
        text = _join(text, row.text, known)
    return _line(f"## {text}" if _is_heading(rows[0], body) else text, words)


def _join(text: str, more: str, known: set[str]) -> str:
    """Words broken at the end of a row are mended where the page shows them whole elsewhere."""
    if not re.search(r"[^\W\d]-$", text) or not more[:1].islower():
        return f"{text} {more}"
    whole = re.split(r"\s", text)[-1][:-1] + re.split(r"\s", more)[0]
    return text[:-1] + more if whole.strip(",.;:").lower() in known else text + more


# Two columns of prose


def _reading_order(rows: list[list[Word]], width: float) -> list[list[list[Word]]]:
    """Rows in groups to be read one after another: bands over the whole width, and columns between them."""
    gutter = _gutter(rows, width)
    if gutter is None:
        return [rows]
    groups: list[list[Word]] = [[]]
    left: list[Word] = []
    right: list[Word] = []
    for row in rows:
        if _crosses(row, gutter):
            groups += [left, right, []] if left or right else []
            left, right = [], []
            groups[-1] += row
        else:
            left += [word for word in row if word.x1 <= gutter]
            right += [word for word in row if word.x1 > gutter]
    return [group_rows(group) for group in [*groups, left, right] if group]


def _gutter(rows: list[list[Word]], width: float) -> float | None:
    """The x between two columns of prose, or None for a page in one column."""
    best: tuple[int, float] | None = None
    for percent in range(42, 59):
        x = width * percent / 100
        apart = [row for row in rows if not _crosses(row, x)]
        left = sum(_is_prose([word for word in row if word.x1 <= x]) for row in apart)
        right = sum(_is_prose([word for word in row if word.x1 > x]) for row in apart)
        score = min(left, right)
        if score >= _COLUMN_ROWS and len(apart) > 0.5 * len(rows) and (best is None or score > best[0]):
            best = (score, x)
    return best[1] if best else None


def _is_prose(words: Sequence[Word]) -> bool:
    return sum(word.text[0].isalpha() for word in words) >= 4


def _crosses(row: list[Word], x: float) -> bool:
    """Whether a row's text runs through ``x``: a word lies on it, or the gap there is that of a phrase."""
    before = [word for word in row if word.x1 <= x]
    after = [word for word in row if word.x0 >= x]
    if len(before) + len(after) < len(row):
        return True
    return bool(before and after) and after[0].x0 - before[-1].x1 < row[0].height
