"""The child process that touches PDFs: one task as JSON line on stdin, one JSON line on stdout per item.

PyMuPDF can crash, loop or take all memory on a bad file; here that ends a child and costs one page
(contexts.children holds the other end). Tasks:

    {"do": "inspect", "pdf": path, "max_pages": n | null}                 -> Inspection
    {"do": "read", "pdf": path, "engine": {…}, "figures": bool} -> pages as they are asked for (contexts.session)
    {"do": "chunks", "pdf": path, "chunks": [{"pages": [n…], "path": path}…]}
                                                                          -> {"width", "height", "pictures"} for each
    {"do": "front", "pdf": path}                                          -> contexts.front
    {"do": "mark", "pdf": path, "page": n, "box": [x0, y0, x1, y1], "path": path}  -> {}

The first line is always {"ready": true}: what fails before it is no page's fault. Each task imports what it needs
alone: children are started by the dozen.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from deepchart_dagster.contexts.pdf import in_words, load_mupdf

if TYPE_CHECKING:
    from deepchart_dagster.contexts.readings import Inspection

# prctl(2): the signal that a process gets when its parent's thread is gone.
_PR_SET_PDEATHSIG = 1
_FIRST_TO_GO = 500
# Nearly all that a page makes goes with the page: looking for circles after every 700 objects finds none.
_OBJECTS_BETWEEN_COLLECTIONS = 20_000

_mupdf = load_mupdf()


def main() -> None:
    _die_with(int(sys.argv[1]))
    answers = _claim_stdout()
    task = json.loads(sys.stdin.readline())
    _limit_memory(task["memory_mb"] << 20)
    items = _TASKS[task["do"]](task)
    gc.freeze()  # modules stay as long as the child
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _say(answers, {"ready": True})
    for item in items:
        _say(answers, item)


def _claim_stdout() -> TextIO:
    """The real stdout for answers only: what libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _die_with(parent: int) -> None:
    """A parent that is killed leaves no child at work, however deep in MuPDF it may be."""
    if sys.platform != "linux":
        return  # there it ends when it asks for the next page
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before
        sys.exit("the process that started it is gone")


def _limit_memory(limit: int) -> None:
    """A page that wants more is in error; where the machine itself runs out, this process goes first."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_GO))


def _say(answers: TextIO, item: dict[str, Any]) -> None:
    answers.write(json.dumps(item, ensure_ascii=True) + "\n")
    answers.flush()


def _inspect(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from deepchart_dagster.contexts.readings import INSPECTION

    yield INSPECTION.dump_python(_inspection(task["pdf"], task["max_pages"]), mode="json")


def _inspection(path: str, max_pages: int | None) -> Inspection:
    from deepchart_dagster.contexts.readings import Inspection
    from deepchart_dagster.contexts.suspects import carried_along

    try:
        with _mupdf.open(path, filetype="pdf") as pdf:
            if pdf.needs_pass:
                return Inspection(n_pages=0, needs_password=True, repaired=False)
            if max_pages is None or len(pdf) <= max_pages:
                for number in range(len(pdf)):
                    pdf.load_page(number)
            return Inspection(
                n_pages=len(pdf), needs_password=False, repaired=bool(pdf.is_repaired), warnings=carried_along(pdf)
            )
    except Exception as error:  # noqa: BLE001 - whatever MuPDF raises for a file is that file's error
        return Inspection(n_pages=0, needs_password=False, repaired=False, error=in_words(error))


def _read(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from deepchart_dagster.contexts.engines import EngineConfig
    from deepchart_dagster.contexts.session import ReadingSession

    engine = EngineConfig.model_validate(task["engine"])
    session = ReadingSession(_mupdf.open(task["pdf"], filetype="pdf"), engine, task["figures"])
    session.prepare()
    return session.answers(map(json.loads, sys.stdin))


def _chunks(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from deepchart_dagster.contexts.mosaic import save_mosaic
    from deepchart_dagster.contexts.pictures import charts_on, pictures_on

    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        for chunk in task["chunks"]:
            pages = [pdf[number - 1] for number in chunk["pages"]]
            width, height = save_mosaic(pages, Path(chunk["path"]))
            pictures = [picture for page in pages for picture in (*pictures_on(pdf, page), *charts_on(page))]
            yield {"width": width, "height": height, "pictures": pictures}


def _front(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from deepchart_dagster.contexts.front import front_matter

    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        yield front_matter(pdf)


def _mark(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from deepchart_dagster.contexts.pictures import save_marked_page

    with _mupdf.open(task["pdf"], filetype="pdf") as pdf:
        save_marked_page(pdf[task["page"] - 1], tuple(task["box"]), Path(task["path"]))
        yield {}


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[dict[str, Any]]]] = {
    "inspect": _inspect,
    "read": _read,
    "chunks": _chunks,
    "front": _front,
    "mark": _mark,
}

if __name__ == "__main__":
    main()
