"""The chart sheet: every reference chart of a benchmark on one page, to be looked at side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.errors import DamagedFile

if TYPE_CHECKING:
    from PIL import Image, ImageFont

ASSET, CHART_NAME = "references", "chart.png"
CHART_SIZE = (520, 380)
_CAPTION_HEIGHT, _MARGIN = 46, 14
_INK, _GREY, _LINE = "#1a1a1a", "#666666", "#cccccc"


@dataclass(frozen=True)
class SheetEntry:
    """A query and its reference chart."""

    query: Query
    chart: Path

    @property
    def kind(self) -> str:
        """What is asked and with which chart, as the paper's tables 6 and 8 name them."""
        query = self.query
        names = (query.domain.value, query.indicator or query.query_type, query.chart_family or query.chart_type)
        return " · ".join(name for name in names if name)


def entries(library: Library, store: ArtifactStore) -> list[SheetEntry]:
    """The queries that have a reference chart, by domain and uid."""
    found = []
    for query in sorted(library.queries(), key=lambda query: (query.domain.value, query.uid)):
        result = store.read(ASSET, (), query.uid)
        if result is not None and CHART_NAME in result.files:
            found.append(SheetEntry(query, store.folder(ASSET, (), query.uid) / CHART_NAME))
    return found


def draw_sheet(charts: Sequence[SheetEntry], columns: int) -> bytes:
    """A PNG with ``columns`` charts in a row. Raises DamagedFile for a chart that cannot be decoded."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = CHART_SIZE[0] + _MARGIN, CHART_SIZE[1] + _CAPTION_HEIGHT + _MARGIN
    rows = math.ceil(len(charts) / columns)
    sheet = Image.new("RGB", (columns * width + _MARGIN, rows * height + _MARGIN), "white")
    pen = ImageDraw.Draw(sheet)
    name_font, kind_font = ImageFont.load_default(16), ImageFont.load_default(13)
    for number, entry in enumerate(charts):
        left = _MARGIN + number % columns * width
        top = _MARGIN + number // columns * height
        pen.text((left, top), _fitted(entry.query.uid, name_font), fill=_INK, font=name_font)
        pen.text((left, top + 22), _fitted(entry.kind, kind_font), fill=_GREY, font=kind_font)
        chart = _decoded(entry)
        chart.thumbnail(CHART_SIZE, Image.Resampling.LANCZOS)
        below = top + _CAPTION_HEIGHT
        sheet.paste(chart, (left + (CHART_SIZE[0] - chart.width) // 2, below + (CHART_SIZE[1] - chart.height) // 2))
        pen.rectangle((left, below, left + CHART_SIZE[0], below + CHART_SIZE[1]), outline=_LINE)
    content = BytesIO()
    sheet.save(content, "PNG", optimize=True)
    return content.getvalue()


def _decoded(entry: SheetEntry) -> Image.Image:
    """On white: a transparent background is none on paper."""
    from PIL import Image

    try:
        with Image.open(entry.chart) as opened:
            image = opened.convert("RGBA")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DamagedFile(
            f"{entry.chart} cannot be decoded ({error}).",
            remedy="Delete its result and run: deepchart materialize references",
        ) from error
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def _fitted(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> str:
    """``text``, its end replaced by an ellipsis where it is wider than a chart."""
    if font.getlength(text) <= CHART_SIZE[0]:
        return text
    kept = next(n for n in range(len(text), 0, -1) if font.getlength(f"{text[:n]}…") <= CHART_SIZE[0])
    return f"{text[:kept].rstrip()}…"
