"""A paper as text, with a chart's data where the chart was (paper, 3.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepchart_dagster.contexts.figures import CAPTION
from deepchart_dagster.contexts.filings import as_markdown
from deepchart_dagster.contexts.loaded import ContextLine, OcrContext


@dataclass(frozen=True)
class PaperText:
    markdown: str
    note: str


def with_data_block(paper: OcrContext, figure: str, block: str) -> PaperText:
    """The paper's text with ``block`` in the place of figure ``figure`` ("3"), whose own text is left out.

    Without a caption of that number the block stands before the first mention of the figure, else at the end.
    """
    caption = _find(paper.lines, _caption_of(figure))
    if caption is not None:
        gone = _chart_text(paper.lines, caption)
        return PaperText(
            _insert(paper.lines, caption, block, gone),
            f"{paper.document_id}: data of figure {figure} at its caption on page {caption.page}, "
            f"{len(gone)} lines of the chart's own text left out",
        )
    mention = _find(paper.lines, re.compile(rf".*\bFig(?:ure|\.)?\s*{re.escape(figure)}\b", re.IGNORECASE))
    where = f"before the first mention on page {mention.page}" if mention else "at the end"
    return PaperText(
        _insert(paper.lines, mention, block, set()),
        f"{paper.document_id}: no caption of figure {figure} was found; its data stand {where}",
    )


def _caption_of(figure: str) -> re.Pattern[str]:
    return re.compile(
        rf"[#*\s]*(?:Extended Data )?Fig(?:ure|\.)?\s*{re.escape(figure)}(?![0-9])\s*(?:[.:|—–-]|\*\*|[A-Z(])",
        re.IGNORECASE,
    )


def _find(lines: Sequence[ContextLine], pattern: re.Pattern[str]) -> ContextLine | None:
    return next((line for line in lines if line.kind == "text" and pattern.match(line.text)), None)


def _chart_text(lines: Sequence[ContextLine], caption: ContextLine) -> set[int]:
    """Numbers of the lines that stand inside the figures whose nearest caption is ``caption``."""
    on_page = [line for line in lines if line.page == caption.page and line.box]
    captions = [line for line in on_page if line.figure is None and CAPTION.match(line.text.lstrip("#* "))]
    figures: dict[int, list[ContextLine]] = {}
    for line in on_page:
        if line.figure is not None:
            figures.setdefault(line.figure, []).append(line)
    return {
        line.number
        for inside in figures.values()
        if min(captions, key=lambda candidate: _distance(inside, candidate)) is caption
        for line in inside
    }


def _distance(inside: Sequence[ContextLine], caption: ContextLine) -> float:
    """Vertical distance in points between a figure's text and a caption; a caption below is preferred."""
    top = min(line.box[1] for line in inside if line.box)
    bottom = max(line.box[3] for line in inside if line.box)
    box = caption.box or (0.0, 0.0, 0.0, 0.0)
    return abs(box[1] - bottom) if box[1] >= top else abs(top - box[3]) + 0.5


def _insert(lines: Sequence[ContextLine], place: ContextLine | None, block: str, gone: set[int]) -> str:
    kept = [line for line in lines if line.number not in gone]
    at = kept.index(place) if place else len(kept)
    before, after = as_markdown(kept[:at]), as_markdown(kept[at:]) if kept[at:] else ""
    return f"{before}\n{block.strip()}\n\n{after}".strip() + "\n"
