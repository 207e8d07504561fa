"""A context while it is put together: its texts with their provenance, its chunks, its notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from deepchart_dagster.artifacts.canonical import sha256_text
from deepchart_dagster.artifacts.files import write_json_lines, write_text
from deepchart_dagster.contexts.loaded import ContextLine
from deepchart_dagster.contexts.model import ContextFile, ImageChunk
from deepchart_dagster.contexts.provenance import Box, Origin, rows_of_block

LINE_BREAK = "\n\n"


@dataclass(frozen=True)
class DataBlock:
    """The data of a chart, in the place of the chart: ``file`` of the benchmark, and where the chart was."""

    text: str
    file: str
    page: int | None = None
    box: Box | None = None


@dataclass
class Draft:
    """A context while it is being put together in ``folder``."""

    folder: Path
    files: list[ContextFile] = field(default_factory=list)
    chunks: list[ImageChunk] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_lines(self, name: str, document_id: str, title: str, parts: Sequence[ContextLine | DataBlock]) -> None:
        """Lines of a document, a blank line between them, each with its place on a page."""
        pages = sorted({page for part in parts for page in _pages_of(part)})
        self.add_text(name, document_id, title, as_markdown(parts), _origins(parts, document_id), pages)

    def add_text(
        self,
        name: str,
        document_id: str,
        title: str,
        text: str,
        origins: Iterable[Origin],
        pages: Sequence[int] = (),
    ) -> None:
        """``name`` may hold folders; the file is stored under files/, its provenance under provenance/."""
        path, provenance = f"files/{name}", f"provenance/{name}.jsonl"
        write_text(self.folder / path, text)
        write_json_lines(self.folder / provenance, (origin.as_json() for origin in origins))
        self.files.append(
            ContextFile(
                name=PurePosixPath(name).name,
                document_id=document_id,
                title=title,
                path=path,
                sha256=sha256_text(text),
                pages=tuple(pages),
                provenance=provenance,
            )
        )


def as_markdown(parts: Sequence[ContextLine | DataBlock]) -> str:
    return LINE_BREAK.join(part.text for part in parts) + "\n"


def _pages_of(part: ContextLine | DataBlock) -> Iterator[int]:
    """The page it stands on, and those that a table goes on over."""
    numbers = () if isinstance(part, DataBlock) else part.numbers
    yield from (page for page in (part.page, *(number.page for number in numbers)) if page is not None)


def _origins(parts: Sequence[ContextLine | DataBlock], document_id: str) -> Iterable[Origin]:
    at = 1
    for part in parts:
        if isinstance(part, DataBlock):
            yield from rows_of_block(
                part.text, at, document_id=document_id, file=part.file, page=part.page, box=part.box
            )
        else:
            yield Origin(at, part.kind, document_id, part.page, part.box, part.numbers)
        at += part.text.count("\n") + LINE_BREAK.count("\n")
