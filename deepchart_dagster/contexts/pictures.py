"""Pictures as they lie in a PDF, told apart by what they look like; and pages with a box drawn on them.

A fingerprint is a picture's bytes (hashed), its size and its shades of grey, scaled down to 32 × 32: a chart
that was written again as JPEG or in another size keeps its look. A chart that is drawn as lines and areas is
drawn for this, and its white margins cut off. A page that is one picture as a whole (a scan) has the
fingerprint of the page: a chart that is a part of it is not seen.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, TypeAdapter

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.contexts.figures import drawn_charts
from deepchart_dagster.contexts.pdf import PdfDocument, PdfPage, load_mupdf, pixmap_of

if TYPE_CHECKING:
    from PIL.Image import Image

# Bumped when the same picture gets another fingerprint.
FINGERPRINT_VERSION = 2
_SIDE = 32
# Smaller pictures are icons and rules; larger ones are not unpacked for this.
_MIN_PIXELS = 64
_MAX_PIXELS = 60_000_000
_SAME_LOOK = 0.97
_SAME_SHAPE = 0.03
# Darker than this is no margin; a chart is drawn with so many pixels on its longer side.
_INK = 245
_DRAWN_SIDE = 600.0
_MARK_DPI = 120
_MARK_MAX_SIDE = 4000
_MARK_ROOM = 2.0


@dataclass(frozen=True)
class Fingerprint:
    """``shades``: 32 × 32 greys, two hexadecimal digits each, row by row."""

    sha256: str
    width: int
    height: int
    shades: str

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


FINGERPRINT = TypeAdapter(Fingerprint)


def fingerprint_of_bytes(data: bytes) -> Fingerprint | None:
    """Of an image file (PNG, JPEG, …); None for what is no picture, or a tiny or a giant one."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            if not _is_seen(picture.width, picture.height):
                return None
            return _fingerprint(_on_white(picture), sha256_bytes(data))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def trimmed_fingerprint_of_bytes(data: bytes) -> Fingerprint | None:
    """Of an image file without its white margins, to be compared with what is drawn on a page."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            return _trimmed(_on_white(picture)) if _is_seen(picture.width, picture.height) else None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _trimmed(picture: Image) -> Fingerprint | None:
    box = picture.convert("L").point(lambda shade: 255 * (shade < _INK)).getbbox()
    if box is None or not _is_seen(box[2] - box[0], box[3] - box[1]):
        return None
    inked = picture.crop(box)
    return _fingerprint(inked, sha256_bytes(inked.convert("RGB").tobytes()))


def _on_white(picture: Image) -> Image:
    """Transparent parts as a page shows them."""
    from PIL import Image

    with_alpha = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", with_alpha.size, "white"), with_alpha)


def _is_seen(width: int, height: int) -> bool:
    return min(width, height) >= _MIN_PIXELS and width * height <= _MAX_PIXELS


def _fingerprint(picture: Image, sha256: str) -> Fingerprint:
    from PIL import Image

    small = picture.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    return Fingerprint(sha256, picture.width, picture.height, small.tobytes().hex())


def same_picture(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether the two are the same bytes, or look the same: shape and shades, whatever size and compression."""
    if one.sha256 == other.sha256:
        return True
    shape, other_shape = one.width / one.height, other.width / other.height
    return abs(shape - other_shape) <= _SAME_SHAPE * other_shape and _likeness(one, other) >= _SAME_LOOK


def _likeness(one: Fingerprint, other: Fingerprint) -> float:
    """Correlation of what changes from cell to cell: large white areas, which all charts share, count for nothing."""
    first, second = (_changes(bytes.fromhex(picture.shades)) for picture in (one, other))
    power = (sum(x * x for x in first) * sum(y * y for y in second)) ** 0.5
    return sum(x * y for x, y in zip(first, second, strict=True)) / power if power else 0.0


def _changes(shades: bytes) -> list[int]:
    rows = [shades[at : at + _SIDE] for at in range(0, len(shades), _SIDE)]
    across = [b - a for row in rows for a, b in pairwise(row)]
    down = [b - a for above, below in pairwise(rows) for a, b in zip(above, below, strict=True)]
    return across + down


# In a child process


def pictures_on(pdf: PdfDocument, page: PdfPage) -> list[dict[str, Any]]:
    """Fingerprints of the pictures that are set on a page; one that cannot be unpacked is left out."""
    found = []
    for xref in dict.fromkeys(entry[0] for entry in page.get_images(full=True)):
        try:
            stored = pdf.extract_image(xref)
        except (RuntimeError, ValueError, load_mupdf().mupdf.FzErrorBase):  # a giant, or not what it says it is
            continue
        if stored and _is_seen(stored["width"], stored["height"]):
            fingerprint = fingerprint_of_bytes(stored["image"])
            if fingerprint is not None:
                found.append({"page": page.number + 1, **fingerprint.as_json()})
    return found


def charts_on(page: PdfPage) -> list[dict[str, Any]]:
    """Fingerprints of the charts that are drawn on a page, without their margins."""
    from PIL import Image

    found = []
    for chart in drawn_charts(page):
        clip = (chart.x0 - _MARK_ROOM, chart.y0 - _MARK_ROOM, chart.x1 + _MARK_ROOM, chart.y1 + _MARK_ROOM)
        dpi = max(1, int(72 * _DRAWN_SIDE / max(chart.x1 - chart.x0, chart.y1 - chart.y0)))
        pixmap = page.get_pixmap(dpi=dpi, alpha=False, colorspace="rgb", clip=clip)
        fingerprint = _trimmed(Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples))
        if fingerprint is not None:
            found.append({"page": page.number + 1, **fingerprint.as_json()})
    return found


def save_marked_page(page: PdfPage, box: tuple[float, ...], path: Path) -> None:
    """The page as PNG with a red frame round ``box`` (points from the upper left corner of the page as seen)."""
    from PIL import Image, ImageDraw

    side = max(page.rect.width, page.rect.height) / 72
    dpi = min(_MARK_DPI, _MARK_MAX_SIDE / side)
    pixmap = pixmap_of(page, dpi)
    picture = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    room = (-_MARK_ROOM, -_MARK_ROOM, _MARK_ROOM, _MARK_ROOM)
    frame = [(at + more) * dpi / 72 for at, more in zip(box, room, strict=True)]
    ImageDraw.Draw(picture).rectangle(frame, outline=(220, 0, 0), width=max(2, int(dpi) // 50))
    picture.save(path, "PNG")
