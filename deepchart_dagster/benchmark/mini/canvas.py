"""What can be drawn on a page: lines, boxes, dots and single lines of text. Lengths are points from the top left.

A page's marks are collected and written at once, and widths of characters are looked up once a process:
both save most of the time that drawing a document takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

Align = Literal["left", "right", "center"]
Color: TypeAlias = tuple[float, float, float]
Point: TypeAlias = tuple[float, float]

BLACK: Color = (0.0, 0.0, 0.0)
GREY: Color = (0.45, 0.45, 0.45)


class Canvas:
    """The marks of one page of a PyMuPDF document, in the order in which they are made."""

    def __init__(self, document: Any, width: float, height: float) -> None:
        self._page = document.new_page(width=width, height=height)
        self._shape = self._page.new_shape()

    def line(self, points: Sequence[Point], *, color: Color = BLACK, width: float = 0.7) -> None:
        self._shape.draw_polyline(points)
        self._shape.finish(color=color, width=width, closePath=False)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Color) -> None:
        self._shape.draw_rect((left, top, right, bottom))
        self._shape.finish(color=None, fill=fill)

    def dot(self, at: Point, radius: float, color: Color) -> None:
        self._shape.draw_circle(at, radius)
        self._shape.finish(color=color, fill=color)

    def area(self, points: Sequence[Point], fill: Color, *, opacity: float = 1.0) -> None:
        """A filled polygon."""
        self._shape.draw_polyline(points)
        self._shape.finish(color=None, fill=fill, fill_opacity=opacity, closePath=True)

    def image(self, box: tuple[float, float, float, float], picture: bytes) -> None:
        """Pixels (PNG or JPEG), below everything else on the page."""
        self._page.insert_image(box, stream=picture)

    def text(
        self,
        at: Point,
        text: str,
        *,
        font: str,
        size: float,
        align: Align = "left",
        color: Color = BLACK,
        upwards: bool = False,
    ) -> None:
        """``at`` is where the base line begins, ends or has its middle, by ``align``.

        A closing parenthesis hangs over a right edge, as in print. ``upwards`` turns the line by 90 degrees.
        """
        width = text_width(text, font, size)
        hanging = text_width(")", font, size) if text.endswith(")") else 0.0
        shift = {"left": 0.0, "right": width - hanging, "center": width / 2}[align]
        start = (at[0], at[1] + shift) if upwards else (at[0] - shift, at[1])
        turn = 90 if upwards else 0
        self._shape.insert_text(start, _windows(text), fontname=font, fontsize=size, color=color, rotate=turn)

    def finish(self) -> None:
        """Write the marks to the page; nothing can be drawn on it after that."""
        self._shape.commit()


def text_width(text: str, font: str, size: float) -> float:
    return size * sum(_advance(character, font) for character in text)


@lru_cache(maxsize=4096)
def _advance(character: str, font: str) -> float:
    """Width of a character at size 1."""
    import pymupdf

    return float(pymupdf.get_text_length(_windows(character), fontname=font, fontsize=1))


def _windows(text: str) -> str:
    """The built-in fonts are encoded as Windows-1252; PyMuPDF passes code points below 256 through."""
    return text.encode("cp1252").decode("latin-1")


def broken(text: str, font: str, size: float, width: float) -> list[str]:
    """``text`` as lines no wider than ``width`` points, broken at spaces."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, font, size) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines
