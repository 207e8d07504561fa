"""From a line of a context to the place it comes from.

Beside each text file of a context lies its provenance, one JSON object for each line that is not empty:

    {"line", "kind": "page|text|table|error|data|shipped", "document_id", "page", "box",
     "numbers": [{"text", "page", "box"}…], "file"}

``page`` is physical, from 1; boxes are [x0, y0, x1, y1] in points from the page's upper left corner.
``data`` is a row of a chart's data in the place of the chart: page and box are those of the chart that is
gone, ``file`` the benchmark's file that the row stands in. ``shipped`` is a line that the benchmark ships:
``file`` says where, and nobody knows the page. ``page`` marks say where a page begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import JsonValue

Box: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class PlacedNumber:
    """A number as it is written, without sign and unit, and where it stands."""

    text: str
    page: int | None
    box: Box | None

    def as_json(self) -> dict[str, JsonValue]:
        return {"text": self.text, "page": self.page, "box": list(self.box) if self.box else None}


@dataclass(frozen=True)
class Origin:
    """Where one line of a text comes from; ``line`` counts from 1."""

    line: int
    kind: str
    document_id: str
    page: int | None = None
    box: Box | None = None
    numbers: tuple[PlacedNumber, ...] = ()
    file: str | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "line": self.line,
            "kind": self.kind,
            "document_id": self.document_id,
            "page": self.page,
            "box": list(self.box) if self.box else None,
            "numbers": [number.as_json() for number in self.numbers],
            "file": self.file,
        }


def box_of(value: Any) -> Box | None:
    return tuple(float(side) for side in value) if value else None


def numbers_of(row: dict[str, Any]) -> tuple[PlacedNumber, ...]:
    """The numbers of a stored line. One that stands on another page than its line (a table that goes on there)
    says so itself."""
    return tuple(
        PlacedNumber(text=number["text"], page=number.get("page", row["page"]), box=box_of(number["box"]))
        for number in row["numbers"]
    )


def read_origins(path: Path) -> list[Origin]:
    """Raises OSError, ValueError or KeyError for a file that is damaged."""
    rows = (json.loads(row) for row in path.read_text(encoding="utf-8").split("\n") if row)
    return [
        Origin(
            line=row["line"],
            kind=row["kind"],
            document_id=row["document_id"],
            page=row["page"],
            box=box_of(row["box"]),
            numbers=numbers_of(row),
            file=row["file"],
        )
        for row in rows
    ]


def shipped_origins(text: str, document_id: str, file: str) -> Iterator[Origin]:
    """For a text that the benchmark ships."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Origin(line=number, kind="shipped", document_id=document_id, file=file)


def rows_of_block(
    block: str, first_line: int, *, document_id: str, file: str, page: int | None, box: Box | None
) -> Iterator[Origin]:
    """For a chart's data that stand in the place of the chart, from ``first_line`` on."""
    for number, line in enumerate(block.split("\n"), start=first_line):
        if line.strip():
            yield Origin(line=number, kind="data", document_id=document_id, page=page, box=box, file=file)


def around(boxes: Sequence[Box]) -> Box | None:
    """The smallest box that holds all of them."""
    if not boxes:
        return None
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
