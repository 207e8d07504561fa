"""Pages of a report tiled into one picture (paper, B.1: eight consecutive pages a chunk).

The paper gives resolution, page size and quality, not the grid. Ours: up to eight pages in reading order,
in the grid whose picture comes nearest to a square, so that no side is scaled down more than need be.
Every page keeps its own scale: rendered at 120 DPI, then fitted within 900 × 1200 pixels, never enlarged;
cells have the size of the chunk's largest page, pages stand in the upper left corner, the rest is white.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deepchart_dagster.contexts.pdf import PdfPage, pixmap_of

if TYPE_CHECKING:
    from PIL.Image import Image

PAGES_A_CHUNK = 8
DPI = 120
MAX_WIDTH = 900
MAX_HEIGHT = 1200
JPEG_QUALITY = 75
# Bumped when the same pages give another picture.
MOSAIC_VERSION = 1
_POINTS_PER_INCH = 72


def grid(n_pages: int, width: int, height: int) -> tuple[int, int]:
    """Columns and rows for ``n_pages`` cells of ``width`` × ``height`` pixels."""
    shapes = [(columns, -(-n_pages // columns)) for columns in range(1, n_pages + 1)]
    return min(shapes, key=lambda shape: (max(shape[0] * width, shape[1] * height), shape))


def save_mosaic(pages: Sequence[PdfPage], path: Path) -> tuple[int, int]:
    """Tile ``pages`` into a JPEG at ``path``; returns its width and height in pixels."""
    from PIL import Image

    tiles = [_tile(page) for page in pages]
    width, height = max(tile.width for tile in tiles), max(tile.height for tile in tiles)
    columns, rows = grid(len(tiles), width, height)
    sheet = Image.new("RGB", (columns * width, rows * height), "white")
    for at, tile in enumerate(tiles):
        sheet.paste(tile, (at % columns * width, at // columns * height))
    sheet.save(path, "JPEG", quality=JPEG_QUALITY)
    return sheet.width, sheet.height


def _tile(page: PdfPage) -> Image:
    from PIL import Image

    natural = max(page.rect.width, page.rect.height) * DPI / _POINTS_PER_INCH
    # A poster of a page is not rendered whole: rendering it smaller gives the same tile in less memory.
    dpi = DPI if natural <= 4 * MAX_HEIGHT else DPI * 4 * MAX_HEIGHT / natural
    pixmap = pixmap_of(page, dpi)
    picture = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    picture.thumbnail((MAX_WIDTH, MAX_HEIGHT), Image.Resampling.LANCZOS)
    return picture
