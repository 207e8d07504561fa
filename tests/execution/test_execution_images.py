"""What counts as a valid chart image."""

from __future__ import annotations

import io
import math
import re
import struct
import time
import zlib
from collections.abc import Callable

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageDraw

from deepchart_dagster.execution import images


def png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def handmade(width: int, height: int, *chunks: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND", b"")


def canvas(colour: str = "white", mode: str = "RGB", size: tuple[int, int] = (640, 480)) -> Image.Image:
    return Image.new(mode, size, colour)


def test_a_drawing_is_valid() -> None:
    image = canvas()
    ImageDraw.Draw(image).rectangle((100, 100, 200, 300), fill="steelblue")
    assert images.judge_png(png(image)) == images.ImageVerdict("", 640, 480)


def test_png_size_is_read_from_the_header() -> None:
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (1400).to_bytes(4, "big") + (1000).to_bytes(4, "big")
    assert len(header) == images.PNG_HEADER_BYTES
    assert images.png_size(header) == (1400, 1000)
    assert images.png_size(png(canvas(size=(7, 5)))) == (7, 5)
    for other in (header[:-1], b"<html>", b"", header.replace(b"IHDR", b"IDAT"), b"\x88" + header[1:]):
        assert images.png_size(other) is None


@pytest.mark.parametrize("colour", ["white", "black", "#f0f0f0", "navy"])
def test_a_canvas_of_one_colour_is_blank(colour: str) -> None:
    assert images.judge_png(png(canvas(colour))).problem == "the image is blank: 0 pixels differ from the background"


def test_a_transparent_canvas_is_blank_and_ink_on_it_is_not() -> None:
    image = Image.new("RGBA", (640, 480), (0, 0, 0, 0))
    assert "blank" in images.judge_png(png(image)).problem
    ImageDraw.Draw(image).line((10, 10, 30, 10), fill="black")
    assert images.judge_png(png(image)).problem == ""


def test_white_ink_on_a_transparent_canvas_cannot_be_seen() -> None:
    image = Image.new("RGBA", (640, 480), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((100, 100, 200, 300), fill="white")
    assert "blank" in images.judge_png(png(image)).problem


@pytest.mark.parametrize("ink", ["dot", "hairline", "letter", "faint line"])
def test_nearly_empty_charts_are_valid(ink: str) -> None:
    image = canvas()
    draw = ImageDraw.Draw(image)
    if ink == "dot":
        draw.rectangle((320, 240, 322, 242), fill="red")
    elif ink == "hairline":
        draw.line((100, 240, 140, 240), fill="grey")
    elif ink == "letter":
        draw.text((300, 200), "a", fill="black")
    else:
        draw.line((100, 240, 540, 240), fill="#f0f0f0")
    assert images.judge_png(png(image)).problem == ""


def drawn_with_matplotlib(draw: Callable[[Axes], object], *, axes: bool, face: str, width_in: float) -> bytes:
    figure = Figure(figsize=(width_in, 3), facecolor=face)
    ax = figure.add_subplot()
    ax.set_facecolor(face)
    ax.set_axis_on() if axes else ax.set_axis_off()
    draw(ax)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", facecolor=face)
    return stream.getvalue()


# What a chart shows, whether its axes are drawn, its background: nearly nothing, yet each is a chart.
NEARLY_EMPTY: dict[str, tuple[Callable[[Axes], object], bool, str]] = {
    "axes without data": (lambda ax: None, True, "white"),
    "bars of height zero": (lambda ax: ax.bar(["a", "b"], [0, 0]), True, "white"),
    "nothing but missing values": (lambda ax: ax.plot([math.nan] * 3), True, "white"),
    "one point": (lambda ax: ax.scatter([1], [1], s=4), False, "white"),
    "a hairline in grey": (lambda ax: ax.plot([0, 1], [0, 0], lw=0.3, color="0.7"), False, "white"),
    "two words": (lambda ax: ax.set_title("No data"), False, "white"),
    "a slice that is all of the pie": (lambda ax: ax.pie([1]), False, "white"),
    "white on black": (lambda ax: ax.scatter([1], [1], s=4, color="white"), False, "black"),
}
# What cannot be seen is not there, whatever the program drew.
BLANK: dict[str, tuple[Callable[[Axes], object], bool, str]] = {
    "no axes, no data": (lambda ax: None, False, "white"),
    "a grey page": (lambda ax: None, False, "0.9"),
    "bars in the colour of the paper": (lambda ax: ax.bar([1], [1], color="white"), False, "white"),
    "one pixel": (lambda ax: ax.plot([1], [1], ",k"), False, "white"),
    "a bar too small to be drawn": (lambda ax: (ax.bar([1], [1e-6]), ax.set_ylim(0, 1)), False, "white"),
}


@pytest.mark.parametrize(("draw", "axes", "face"), NEARLY_EMPTY.values(), ids=NEARLY_EMPTY)
def test_a_nearly_empty_chart_is_a_chart(draw: Callable[[Axes], object], axes: bool, face: str) -> None:
    data = drawn_with_matplotlib(draw, axes=axes, face=face, width_in=4)
    assert images.judge_png(data) == images.ImageVerdict("", 400, 300)


@pytest.mark.parametrize(("draw", "axes", "face"), BLANK.values(), ids=BLANK)
def test_what_nobody_can_see_is_blank(draw: Callable[[Axes], object], axes: bool, face: str) -> None:
    data = drawn_with_matplotlib(draw, axes=axes, face=face, width_in=4)
    assert re.fullmatch(r"the image is blank: [01] pixels differ from the background", images.judge_png(data).problem)


def test_a_figure_of_no_size_is_refused() -> None:
    data = drawn_with_matplotlib(lambda ax: ax.bar([1], [1]), axes=True, face="white", width_in=0.4)
    assert images.judge_png(data).problem == "the image is 40×300, at least 50×50 is needed"


def test_too_little_ink_and_too_faint_ink_are_blank() -> None:
    image = canvas()
    ImageDraw.Draw(image).point([(5, 5), (6, 5), (7, 5)], fill="black")
    assert "3 pixels" in images.judge_png(png(image)).problem
    image = canvas("#fafafa")
    ImageDraw.Draw(image).rectangle((100, 100, 500, 400), fill="#fcfcfc")
    assert "blank" in images.judge_png(png(image)).problem


@pytest.mark.parametrize("mode", ["L", "P", "1", "LA", "I;16"])
def test_other_colour_modes_are_read(mode: str) -> None:
    image = canvas(mode="L")
    ImageDraw.Draw(image).rectangle((100, 100, 200, 300), fill=0)
    assert images.judge_png(png(image.convert(mode))).problem == ""


def test_small_images_are_refused() -> None:
    assert images.judge_png(png(canvas(size=(1, 1)))).problem.startswith("the image has 6")
    assert "60×49" in images.judge_png(png(Image.effect_noise((60, 49), 90))).problem
    assert images.judge_png(png(Image.effect_noise((50, 50), 90).convert("RGB"))).problem == ""


def test_the_header_decides_before_anything_is_decoded() -> None:
    bomb = handmade(30_000, 30_000, chunk(b"IDAT", zlib.compress(bytes(10 << 20))))
    start = time.perf_counter()
    assert "30000×30000" in images.judge_png(bomb).problem
    assert time.perf_counter() - start < 0.05


def test_a_text_bomb_is_refused() -> None:
    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200 << 20), 9))
    data = handmade(60, 60, text, chunk(b"IDAT", zlib.compress(bytes(60 * 181))))
    start = time.perf_counter()
    assert images.judge_png(data).problem
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("data", [b"", b"GIF89a" + bytes(200), b"\x89PNG\r\n\x1a\n" + bytes(200)])
def test_what_is_no_png_is_refused(data: bytes) -> None:
    assert images.judge_png(data).problem


def test_a_jpeg_under_the_name_of_a_png_is_refused() -> None:
    stream = io.BytesIO()
    Image.effect_noise((200, 200), 90).save(stream, "JPEG")
    assert images.judge_png(stream.getvalue()).problem == "the file is no PNG image"


def test_a_cut_off_image_is_refused() -> None:
    data = png(Image.effect_noise((200, 200), 90))
    assert "does not decode" in images.judge_png(data[: len(data) // 2]).problem
