"""A page drawn for OCR: at the wanted resolution, never above the pixel cap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deepchart_dagster.contexts.engines.base import UnreadablePageError
from deepchart_dagster.contexts.pdf import PdfPage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_POINTS_PER_INCH = 72


@dataclass(frozen=True)
class Drawn:
    """``pixels``: rows × columns × (blue, green, red), 0 to 255. ``points_per_pixel`` leads back to the page."""

    pixels: NDArray[np.uint8]
    points_per_pixel: float


def draw(page: PdfPage, dpi: int, max_pixels: int) -> Drawn:
    """Raises UnreadablePageError for a page without area."""
    import numpy as np

    scale = scale_of(page.rect.width, page.rect.height, dpi, max_pixels)
    pixmap = page.get_pixmap(matrix=_scaled(scale), alpha=False, colorspace="rgb")
    pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
    return Drawn(np.ascontiguousarray(pixels[:, :, ::-1]), 1 / scale)


def scale_of(width: float, height: float, dpi: int, max_pixels: int) -> float:
    """Pixels per point for a page of ``width`` × ``height`` points: that of ``dpi``, less where the cap asks for it."""
    if width <= 0 or height <= 0:
        raise UnreadablePageError(f"it is {width:.0f} × {height:.0f} points: there is nothing to draw")
    return min(dpi / _POINTS_PER_INCH, math.sqrt(max_pixels / (width * height)))


def _scaled(scale: float) -> Any:
    from deepchart_dagster.contexts.pdf import load_mupdf

    return load_mupdf().Matrix(scale, scale)
