"""A paper as a double-spaced preprint: sections, tables, figures with captions below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER
from deepchart_dagster.benchmark.mini.typeset import Column, Look, Row, Table, Typesetter

_LOOK = Look(width=595.0, height=842.0, margin=80.0, size=12.0, leading=2.05)


@dataclass(frozen=True)
class Front:
    title: str
    authors: str
    affiliation: str
    abstract: str


class Paper:
    """The preprint that is being drawn. Blocks follow each other in the order of the calls."""

    def __init__(self, front: Front) -> None:
        self.sheet = Typesetter(
            look=_LOOK, title=front.title, author=front.authors, footer=lambda page: f"Preprint, page {page}"
        )
        self.sheet.space(20)
        for line in _title_lines(front.title):
            self.sheet.line(line, size=15, align="center", bold=True)
        self.sheet.space(10)
        self.sheet.line(front.authors, align="center")
        self.sheet.line(front.affiliation, size=9, align="center")
        self.section("Abstract", front.abstract)
        self.sheet.new_page()

    def section(self, heading: str, *paragraphs: str, new_page: bool = False) -> None:
        if new_page:
            self.sheet.new_page()
        self.sheet.heading(heading)
        self.sheet.paragraphs(paragraphs)

    def table(self, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int = 1) -> None:
        """``labels`` leading columns hold text, the others numbers set to the right."""
        sheet = self.sheet
        sheet.room(120)
        sheet.paragraph(caption, size=9)
        left, width = sheet.look.margin, sheet.right - sheet.look.margin
        text_width = 92.0
        numbers = len(heads) - labels
        step = (width - text_width * labels) / numbers
        columns = [Column(left + text_width * i) for i in range(labels)]
        columns += [Column(left + text_width * labels + step * (i + 1), "right") for i in range(numbers)]
        body = tuple(Row(tuple(row)) for row in rows)
        sheet.table(Table(columns=tuple(columns), header=(Row(tuple(heads)),), rows=body))
        sheet.space(8)

    def references(self, *entries: str) -> None:
        """The last section, on a page of its own."""
        numbered = [f"[{number}] {entry}" for number, entry in enumerate(entries, start=1)]
        self.section("References", *numbered, new_page=True)

    def pdf(self) -> bytes:
        return self.sheet.pdf()


def _title_lines(title: str) -> list[str]:
    words, lines = title.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 48:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def data_block(relative: str) -> list[list[str]]:
    """The body rows of the pipe table in a query's data block, ``relative`` to the query folder's parent."""
    lines = (QUERY_FOLDER / relative).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]
