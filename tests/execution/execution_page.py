"""What the tests of pages share: a plain page, pages around a script, and a look at what was drawn."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image

from deepchart_dagster.execution.model import RunResult

Draw = Callable[..., RunResult]

PLAIN = "<body style='margin:0'><svg width=400 height=300><rect x=0 y=100 width=50 height=200 fill='#ff0000'/></svg>"


def script(code: str, body: str = "<h1>Chart</h1>") -> str:
    return f"<!DOCTYPE html><html><body>{body}<script>{code}</script></body></html>"


def pixel(result: RunResult, x: int, y: int) -> tuple[int, ...]:
    assert result.output is not None, result.message
    return Image.open(io.BytesIO(result.output)).convert("RGB").getpixel((x, y))  # type: ignore[return-value]
