"""Is this a valid chart image? (paper, appendix B.1: decodes, at least a minimum size, not blank)

The paper names a minimum file size and gives no figure. Ours: MIN_BYTES, MIN_SIDE_PX. The header is judged before
anything is decoded, so an image that would unpack to gigabytes is refused at the cost of reading 33 bytes.

*Blank* means: no ink beyond the background. The image is laid on white (what a reader of a transparent chart
sees); the background is the commonest colour of its outermost pixels; ink is every pixel that differs from it by
more than INK_TOLERANCE in some channel. Fewer than MIN_INK_PX such pixels are blank. So a lone small dot, a single
hairline, one short label or a bare pair of axes are valid, and a canvas of one colour is not, whichever colour.
"""

from __future__ import annotations

import io
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from PIL import Image

MIN_BYTES = 100
MIN_SIDE_PX = 50
MAX_PIXELS = 40_000_000
INK_TOLERANCE = 8
MIN_INK_PX = 8
RULES_VERSION = 1

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">8sI4sII")
PNG_HEADER_BYTES = _HEADER.size


@dataclass(frozen=True)
class ImageVerdict:
    """``problem`` is empty for a valid image; width and height are in pixels, 0 where there is no header."""

    problem: str
    width: int = 0
    height: int = 0


def png_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels from the first PNG_HEADER_BYTES of a file; None for what does not begin as a PNG."""
    if len(data) < PNG_HEADER_BYTES:
        return None
    signature, length, chunk, width, height = _HEADER.unpack_from(data)
    return (width, height) if (signature, length, chunk) == (_SIGNATURE, 13, b"IHDR") else None


def judge_png(data: bytes) -> ImageVerdict:
    """The verdict on a chart program's output file."""
    if len(data) < MIN_BYTES:
        return ImageVerdict(f"the image has {len(data)} bytes, at least {MIN_BYTES} are needed")
    size = png_size(data)
    if size is None:
        return ImageVerdict("the file is no PNG image")
    width, height = size
    if width * height > MAX_PIXELS:
        return ImageVerdict(f"the image is {width}×{height}, at most {MAX_PIXELS} pixels are decoded", width, height)
    if min(width, height) < MIN_SIDE_PX:
        return ImageVerdict(
            f"the image is {width}×{height}, at least {MIN_SIDE_PX}×{MIN_SIDE_PX} is needed", width, height
        )
    return ImageVerdict(_content_problem(data), width, height)


def _content_problem(data: bytes) -> str:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            image.load()
            ink = _ink_pixels(image)
    except (OSError, ValueError, SyntaxError, MemoryError, struct.error, Image.DecompressionBombError) as error:
        return f"the image does not decode: {error}"
    return "" if ink >= MIN_INK_PX else f"the image is blank: {ink} pixels differ from the background"


def _ink_pixels(image: Image.Image) -> int:
    """Pixels that differ from the background."""
    from PIL import Image, ImageChops

    pixels = _on_white(image)
    difference = ImageChops.difference(pixels, Image.new("RGB", pixels.size, _commonest_border_colour(pixels)))
    red, green, blue = difference.split()
    largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return sum(largest.histogram()[INK_TOLERANCE + 1 :])


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    layers = image.convert("RGBA")
    if layers.getchannel("A").getextrema() == (255, 255):
        return layers.convert("RGB")
    paper = Image.new("RGBA", layers.size, "white")
    return Image.alpha_composite(paper, layers).convert("RGB")


def _commonest_border_colour(pixels: Image.Image) -> tuple[int, int, int]:
    width, height = pixels.size
    edges = [(0, 0, width, 1), (0, height - 1, width, height), (0, 0, 1, height), (width - 1, 0, width, height)]
    counts: Counter[tuple[int, int, int]] = Counter()
    for edge in edges:
        strip = pixels.crop(edge)
        for count, colour in strip.getcolors(strip.width * strip.height) or ():
            counts[cast("tuple[int, int, int]", colour)] += count
    return counts.most_common(1)[0][0]
