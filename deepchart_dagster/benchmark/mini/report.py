"""A report in large print: chapters that begin on pages of their own, striped tables, charts as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from deepchart_dagster.benchmark.mini.diagrams import labelled_bars
from deepchart_dagster.benchmark.mini.typeset import Column, Look, Row, Table, Typesetter

_LOOK = Look(width=595.0, height=842.0, margin=60.0, size=11.5, font="helv", bold="hebo", leading=1.5)


class Report:
    """The report that is being drawn. Blocks follow each other in the order of the calls."""

    def __init__(self, title: str, author: str, foot: str) -> None:
        self.sheet = Typesetter(
            look=_LOOK, title=title, author=author, footer=lambda page: f"{foot} | {page}" if page > 1 else ""
        )

    def cover(self, name: str, subtitle: str, author: str) -> None:
        sheet = self.sheet
        sheet.space(150)
        sheet.line(name, size=26, align="center", bold=True)
        sheet.space(10)
        sheet.line(subtitle, size=17, align="center")
        sheet.space(230)
        sheet.line(author, align="center")

    def page(self, heading: str, *paragraphs: str) -> None:
        self.sheet.new_page()
        self.sheet.heading(heading, size=17)
        self.sheet.space(6)
        self.sheet.paragraphs(paragraphs)

    def table(self, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> None:
        """``texts`` leading columns are set to the left, the numbers after them to the right."""
        sheet = self.sheet
        sheet.line(caption, bold=True)
        left, width = sheet.look.margin, sheet.right - sheet.look.margin - 8
        step = width / (len(heads) + 0.6)  # the first column is wider
        edges = [left, *(left + step * (1.6 + index) for index in range(len(heads)))]
        columns = [Column(edges[index]) for index in range(texts)]
        columns += [Column(edges[index + 1], "right") for index in range(texts, len(heads))]
        body = tuple(Row(tuple(row)) for row in rows)
        sheet.table(Table(columns=tuple(columns), header=(Row(tuple(heads)),), rows=body, striped=True, size=9.5))

    def bar_page(self, title: str, bars: Mapping[str, Sequence[float]], series: Sequence[str]) -> None:
        """A page that is one picture of bars with their values."""
        self.sheet.raster_page(partial(labelled_bars, title=title, bars=bars, series=series))

    def glossary(self, words: Sequence[tuple[str, str]]) -> None:
        self.page("Words used")
        for word, meaning in words:
            self.sheet.paragraph(f"{word}: {meaning}.")

    def pdf(self) -> bytes:
        return self.sheet.pdf()
