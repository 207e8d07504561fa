"""The child process that touches PDFs: one task as JSON on stdin, one JSON line on stdout per item.

PyMuPDF can crash, loop or take all memory on a bad file; here that ends a child and costs one page
(contexts.children holds the other end). Tasks:

    {"do": "inspect", "pdf": path}                                        -> Inspection
    {"do": "read", "pdf": path, "pages": [n…], "engine": name, "figures": bool} -> PageReading for each page
    {"do": "chunks", "pdf": path, "chunks": [{"pages": [n…], "path": path}…]}
                                                                          -> {"width", "height", "pictures"} for each
    {"do": "mark", "pdf": path, "page": n, "box": [x0, y0, x1, y1], "path": path}  -> {}

The first line is always {"ready": true}: what fails before it is no page's fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from deepchart_dagster.contexts.engines import PageReader, UnreadablePageError, choose_reader
from deepchart_dagster.contexts.figures import figure_regions, lay_out_with_figures
from deepchart_dagster.contexts.layout import lay_out
from deepchart_dagster.contexts.mosaic import save_mosaic
from deepchart_dagster.contexts.pdf import PdfDocument, PdfPage, load_mupdf
from deepchart_dagster.contexts.pictures import pictures_on, save_marked_page
from deepchart_dagster.contexts.readings import INSPECTION, READING, Inspection, PageReading
from deepchart_dagster.contexts.words import clean_words, rows_of

_MEMORY_BYTES = 8 << 30
_TOP_SHARE = 0.5
_TOP_ROWS = 16


_mupdf = load_mupdf()


def main() -> None:
    answers = _claim_stdout()
    _limit_memory()
    task = json.load(sys.stdin)
    items = _TASKS[task["do"]](task)
    _say(answers, {"ready": True})
    for item in items:
        _say(answers, item)


def _claim_stdout() -> TextIO:
    """The real stdout for answers only: what libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _say(answers: TextIO, item: dict[str, Any]) -> None:
    answers.write(json.dumps(item, ensure_ascii=True) + "\n")
    answers.flush()


def _inspect(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield INSPECTION.dump_python(_inspection(task["pdf"]), mode="json")


def _inspection(path: str) -> Inspection:
    try:
        with _mupdf.open(path, filetype="pdf") as pdf:
            if pdf.needs_pass:
                return Inspection(n_pages=0, needs_password=True, repaired=False)
            for number in range(len(pdf)):
                pdf.load_page(number)
            return Inspection(n_pages=len(pdf), needs_password=False, repaired=bool(pdf.is_repaired))
    except (RuntimeError, ValueError, TypeError) as error:
        return Inspection(n_pages=0, needs_password=False, repaired=False, error=_reason(error))


def _read(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return _readings(task, choose_reader(task["engine"]))


def _readings(task: dict[str, Any], reader: PageReader) -> Iterator[dict[str, Any]]:
    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        for number in task["pages"]:
            reading = _read_page(pdf, number, reader, with_figures=task["figures"])
            yield READING.dump_python(reading, mode="json")


def _read_page(pdf: PdfDocument, number: int, reader: PageReader, *, with_figures: bool) -> PageReading:
    begun = time.monotonic()
    try:
        return _reading(pdf, number, reader, begun, with_figures=with_figures)
    except (UnreadablePageError, RuntimeError, ValueError, TypeError, IndexError, MemoryError) as error:
        return PageReading(number, reader.name, time.monotonic() - begun, error=_reason(error))


def _reading(pdf: PdfDocument, number: int, reader: PageReader, begun: float, *, with_figures: bool) -> PageReading:
    _mupdf.TOOLS.reset_mupdf_warnings()
    page = pdf[number - 1]
    words = clean_words(reader.words(page))
    if not words:
        _refuse_lost_content(page)
    width, half = page.rect.width, _TOP_SHARE * page.rect.height
    lines = lay_out_with_figures(words, width, figure_regions(page)) if with_figures else lay_out(words, width)
    top = [word for word in words if word.middle < half]
    return PageReading(
        number=number,
        engine=reader.name,
        seconds=time.monotonic() - begun,
        lines=tuple(lines),
        top_rows=tuple(row.text for row in rows_of(top)[:_TOP_ROWS]),
    )


def _refuse_lost_content(page: PdfPage) -> None:
    """A page that looks blank only because MuPDF could not read its content is no blank page."""
    warnings = _mupdf.TOOLS.mupdf_warnings(reset=True)
    if warnings:
        raise UnreadablePageError(f"its content is damaged ({warnings.splitlines()[-1]})")


def _chunks(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        for chunk in task["chunks"]:
            pages = [pdf[number - 1] for number in chunk["pages"]]
            width, height = save_mosaic(pages, Path(chunk["path"]))
            pictures = [picture for page in pages for picture in pictures_on(pdf, page)]
            yield {"width": width, "height": height, "pictures": pictures}


def _mark(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        save_marked_page(pdf[task["page"] - 1], tuple(task["box"]), Path(task["path"]))
        yield {}


def _reason(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[dict[str, Any]]]] = {
    "inspect": _inspect,
    "read": _read,
    "chunks": _chunks,
    "mark": _mark,
}

if __name__ == "__main__":
    main()
