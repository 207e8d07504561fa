"""Pictures as they go into the page."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO
from pathlib import Path

from PIL import Image

from deepchart_dagster.reporting.pictures import picture_uri


def decoded(uri: str | None) -> Image.Image:
    assert uri is not None
    head, _, body = uri.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(BytesIO(b64decode(body))).convert("RGB")


def test_a_large_picture_is_made_smaller_in_proportion(tmp_path: Path) -> None:
    Image.new("RGB", (2880, 1000), "#336699").save(tmp_path / "a.png")
    image = decoded(picture_uri(tmp_path / "a.png"))
    assert image.size == (720, 250)
    assert image.getpixel((360, 125)) == (0x33, 0x66, 0x99)


def test_a_transparent_ground_becomes_white(tmp_path: Path) -> None:
    Image.new("RGBA", (200, 100), (10, 20, 30, 0)).save(tmp_path / "a.png")
    image = decoded(picture_uri(tmp_path / "a.png"))
    assert image.size == (200, 100)
    assert image.getpixel((5, 5)) == (255, 255, 255)


def test_what_is_no_picture_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"not a picture")
    assert picture_uri(tmp_path / "a.png") is None
    assert picture_uri(tmp_path / "missing.png") is None
