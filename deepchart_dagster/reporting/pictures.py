"""Pictures as data URIs: small enough to lie in the page, large enough to be read."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from pathlib import Path

MAX_WIDTH_PX = 720
_MAX_PIXELS = 80_000_000


def picture_uri(path: Path) -> str | None:
    """``path`` as a PNG of at most 720 px width, on white; None where it cannot be decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as opened:
            if opened.width * opened.height > _MAX_PIXELS:
                return None
            image = opened.convert("RGBA")
    except (OSError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return None
    flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    if flat.width > MAX_WIDTH_PX:
        height = max(1, round(flat.height * MAX_WIDTH_PX / flat.width))
        flat = flat.resize((MAX_WIDTH_PX, height), Image.Resampling.LANCZOS)
    content = BytesIO()
    # 256 colours are enough for charts and a third of the bytes.
    flat.quantize(256, dither=Image.Dither.NONE).save(content, "PNG", optimize=True)
    return data_uri("image/png", content.getvalue())


def data_uri(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(content).decode()}"
