"""Tables in what a vision-language model wrote, as one line of plain HTML each.

A page asked about as one block comes with its tables among the text: as HTML, as markdown with pipes, or in the
model's own tokens for cells (OTSL: ``<fcel>`` a filled cell, ``<ecel>`` an empty one, ``<lcel>`` goes on with the
cell to its left, ``<ucel>`` with that above, ``<nl>`` ends a row).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from deepchart_dagster.benchmark.pipe_tables import cells_of, is_rule

# A tag with attributes that HTML knows: "a <b 5 and c> 7" is none.
_ATTRIBUTE = r"\s+[a-zA-Z][\w:-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))?"
TAG = re.compile(rf"</?[a-zA-Z][\w:-]*(?:{_ATTRIBUTE})*\s*/?>")
_NO_TAG = re.compile(rf"(?!{TAG.pattern})<")
_CELL = re.compile(r"<t[hdr][\s>]", re.IGNORECASE)
_HTML_TABLE = re.compile(r"<table\b.*?(?:</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_OTSL_TABLE = re.compile(r"<[felux]cel>.*(?:<nl>|<[felux]cel>[^\n]*)", re.DOTALL)
_OTSL_TOKEN = re.compile(r"<([felux]cel|nl)>([^<]*)")
_PIPE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
# A table cell that claims to span more than this is garbage.
_MAX_SPAN = 64


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """``text`` in its order: (a table as HTML, True) or (text between tables, False)."""
    at = 0
    for found in _HTML_TABLE.finditer(text):
        yield from _other_tables(text[at : found.start()])
        yield from _piece(found.group())
        at = found.end()
    rest = text[at:]
    if at == 0 and _CELL.search(rest):  # cells without their table
        yield from _piece(rest)
        return
    yield from _other_tables(rest)


def _piece(text: str) -> Iterator[tuple[str, bool]]:
    table = table_html(text)
    yield (text, False) if table is None else (table, True)


def _other_tables(text: str) -> Iterator[tuple[str, bool]]:
    found = _OTSL_TABLE.search(text)
    if found:
        yield from _pipe_tables(text[: found.start()])
        yield _html(_otsl_rows(found.group())), True
        yield from _pipe_tables(text[found.end() :])
    else:
        yield from _pipe_tables(text)


def _otsl_rows(text: str) -> list[list[_Cell]]:
    rows: list[list[_Cell]] = [[]]
    for token, content in _OTSL_TOKEN.findall(text):
        if token == "nl":  # noqa: S105 - a row's end
            rows.append([])
        elif token in ("lcel", "xcel") and rows[-1]:
            cell = rows[-1][-1]
            cell.spans["colspan"] = min(_MAX_SPAN, cell.spans.get("colspan", 1) + 1)
        else:  # a cell that goes on from above stays empty: its text stands there
            rows[-1].append(_Cell("td", {}, html.unescape(content)))
    return [row for row in rows if row]


def _pipe_tables(text: str) -> Iterator[tuple[str, bool]]:
    """Rows between pipes with the rule of dashes below the first are a table."""
    plain: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and _PIPE_ROW.match(lines[end]):
            end += 1
        rows = [cells_of(line) for line in lines[at:end]]
        if len(rows) > 1 and is_rule(rows[1]):
            yield "\n".join(plain), False
            plain = []
            yield _html([_pipe_cells(rows[0], "th"), *(_pipe_cells(row, "td") for row in rows[2:])]), True
            at = end
        else:
            plain.append(lines[at])
            at += 1
    yield "\n".join(plain), False


def _pipe_cells(row: Sequence[str], tag: str) -> list[_Cell]:
    return [_Cell(tag, {}, html.unescape(TAG.sub(" ", cell.replace("\\|", "|")))) for cell in row]


def table_html(text: str) -> str | None:
    """The table in ``text`` as one line of plain HTML (table, tr, th, td, spans), or None where there is no cell.

    Unclosed cells and rows are closed, everything else that the model may have written is dropped.
    """
    if not _CELL.search(text):
        return None
    reader = _TableReader()
    reader.feed(_NO_TAG.sub("&lt;", text))
    reader.close()
    rows = [row for row in reader.rows if row]
    if not any(cell.text for row in rows for cell in row):
        return None
    return _html(rows)


@dataclass
class _Cell:
    tag: str
    spans: dict[str, int] = field(default_factory=dict)
    text: str = ""


def _html(rows: Sequence[Sequence[_Cell]]) -> str:
    shown = ("".join(_cell_html(cell) for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in shown)}</table>"


def _cell_html(cell: _Cell) -> str:
    spans = "".join(f' {name}="{count}"' for name, count in cell.spans.items())
    return f"<{cell.tag}{spans}>{html.escape(' '.join(cell.text.split()), quote=False)}</{cell.tag}>"


class _TableReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[_Cell]] = []
        self._open: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
            self._open = None
        elif tag in ("td", "th"):
            if not self.rows:
                self.rows.append([])
            self._open = _Cell(tag, _spans(attrs))
            self.rows[-1].append(self._open)
        elif tag == "br" and self._open:
            self._open.text += " "

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open.text += data
        elif data.strip():  # text between cells: it is on the page, so it stays
            self.rows.append([_Cell("td", {}, data)])


def _spans(attrs: list[tuple[str, str | None]]) -> dict[str, int]:
    wanted = {name: value for name, value in attrs if name in ("colspan", "rowspan") and value is not None}
    counts = {name: int(value) for name, value in wanted.items() if value.isascii() and value.isdigit()}
    return {name: count for name, count in counts.items() if 1 < count <= _MAX_SPAN}
