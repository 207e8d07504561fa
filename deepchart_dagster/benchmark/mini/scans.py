"""Pages as an office scanner leaves them: grey pictures, slightly askew, with grain and JPEG noise, without text.

The grain comes from a seed for each page, so that the same pages give the same bytes; another version of PyMuPDF,
NumPy or Pillow may write others.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from deepchart_dagster.benchmark.mini.typeset import written

_DPI = 150
_DEGREES = (0.7, -0.5, 0.4, -0.8)
_GRAIN = 9.0
_PAPER, _INK = 247, 30
_JPEG_QUALITY = 55


def scanned(pdf: bytes, pages: Iterable[int] | None = None, *, size: float = 1.0) -> bytes:
    """``pdf`` with each of ``pages`` (from 1; None: all) replaced by a scan of it, ``size`` times as wide and high."""
    import pymupdf

    with pymupdf.open(stream=pdf) as document:  # type: ignore[no-untyped-call]
        for number in range(1, document.page_count + 1) if pages is None else pages:
            _replace(document, number, size)
        return written(document)


def _replace(document: Any, number: int, size: float) -> None:
    page = document[number - 1]
    width, height = page.rect.width * size, page.rect.height * size
    picture = _scan(page.get_pixmap(dpi=round(_DPI * size), colorspace="gray"), number)
    document.delete_page(number - 1)
    document.new_page(number - 1, width=width, height=height).insert_image((0, 0, width, height), stream=picture)


def _scan(pixmap: Any, number: int) -> bytes:
    import numpy as np
    from PIL import Image

    straight = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
    askew = straight.rotate(_DEGREES[number % len(_DEGREES)], Image.Resampling.BICUBIC, fillcolor=255)
    light = _INK + np.asarray(askew, dtype=np.float32) / 255 * (_PAPER - _INK)
    grain = _GRAIN * np.random.default_rng(number).standard_normal(light.shape, dtype=np.float32)
    buffer = io.BytesIO()
    Image.fromarray(np.clip(light + grain, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return buffer.getvalue()
