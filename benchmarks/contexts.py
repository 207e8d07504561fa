"""Reading PDFs into contexts: CPU seconds and pages a second against the engines alone, workers, memory, accuracy.

    python benchmarks/contexts.py [--parts text-layer,rapidocr,…] [--pages 80] [--ocr-pages 4]
                                  [--memory-pages 400] [--rounds 3] [--quick] [--pdfs ../shared/pdfs]

Ours is contexts.reading.PdfReader with one worker (memory: OcrContextStage with two): a child process, its start, its
pipe, routing, layout into lines and tables with a box for every number, and the answers' way back. Its CPU seconds are
those of all children and of this process while it reads. The other side is contexts_plain.py in a process of its own,
its start included, with the same options, threads and pages, in the same run, turn and turn about; each figure is the
median of --rounds. Input is 10k_apple_2022.pdf, the scanned input is its pages from 31 on drawn at 150 DPI.

    text-layer   The engine of the ladder is words and their rows, columns and tables. ratio_cpu_text_layer is ours by
                 one plain process that reads and lays out the same pages: what children and pipes cost (goal ≤ 1.1).
                 ratio_cpu_text_layer_markdown is ours by PyMuPDF's own way to the same product, headings and tables
                 in markdown (pymupdf4llm), over at most MARKDOWN_PAGES pages. ratio_cpu_text_layer_words is ours by
                 PyMuPDF's words and spans alone, of which nothing is made: no goal, it says what a layout costs, as
                 does layout_share_text_layer, its share in our CPU seconds.
    auto         the same pages with the default engine, which looks at each page first: ratio_cpu_auto, by the same
    rapidocr     Alone, RapidOCR reads the drawn pages: ratio_cpu_rapidocr (goal ≤ 1.1)
    paddleocr    likewise, with models made by `deepchart contexts make-paddle-models`: ratio_cpu_paddleocr
    workers      pages a second of two workers by those of one: ratio_two_workers over --memory-pages from the text
                 layer, ratio_two_workers_rapidocr over --ocr-pages (there one worker has both cores for its threads)
    memory       resident memory of this process and all children, looked at ten times a second while a document of
                 --memory-pages is built: peak_mb, and ratio_memory, the peak in the last quarter of the pages by that
                 in the first; over drawn pages (twice --ocr-pages, at least 8): peak_mb_rapidocr
    accuracy     six statement pages against what was typed by hand (contexts_accuracy.py): rows_whole_… (goal ≥ 0.99)
                 and numbers_right_… (goal ≥ 0.995), from the text layer and by rapidocr from pictures of the pages

Pages a second are of wall time and mean little on a busy machine; ``load`` is its load average. The last line of
stdout is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import contexts_accuracy
import contexts_plain
import psutil

from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.engines import EngineConfig
from deepchart_dagster.contexts.engines.paddle_models import make_paddle_models
from deepchart_dagster.contexts.ocr import OcrContextStage
from deepchart_dagster.contexts.reading import PdfReader, ReadingOptions
from deepchart_dagster.errors import DeepChartError

PLAIN = Path(__file__).with_name("contexts_plain.py")
FILING = "10k_apple_2022.pdf"
FIRST_DRAWN_PAGE = 31
LOOK_EVERY_S = 0.1
MARKDOWN_PAGES = 24  # pymupdf4llm needs a third of a second for each

Figures: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Trial:
    """What is read, and where what is made for it lies."""

    pdfs: Path
    folder: Path
    pages: int
    ocr_pages: int
    memory_pages: int
    rounds: int

    @property
    def filing(self) -> Path:
        return self.pdfs / FILING

    def repeated(self, n_pages: int) -> Path:
        return self._made(f"repeated-{n_pages}.pdf", contexts_plain.repeat, n_pages)

    def drawn(self, n_pages: int) -> Path:
        return self._made(f"drawn-{n_pages}.pdf", contexts_plain.picture, FIRST_DRAWN_PAGE, n_pages)

    def _made(self, name: str, make: Callable[..., None], *how: int) -> Path:
        target = self.folder / name
        if not target.exists():
            with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as away:
                away.submit(make, str(self.filing), str(target), *how).result()
        return target


@dataclass(frozen=True)
class Spent:
    """Seconds of one reading, and what a plain process said of it."""

    cpu_s: float
    wall_s: float
    said: dict[str, float] = field(default_factory=dict)


def spent_by(work: Callable[[], dict[str, float]]) -> Spent:
    begun_cpu, begun = cpu_seconds(), time.perf_counter()
    said = work()
    return Spent(cpu_seconds() - begun_cpu, time.perf_counter() - begun, said)


def cpu_seconds() -> float:
    """Of this process and of every child that has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def ours(pdf: Path, engine: EngineConfig, n_pages: int, workers: int = 1) -> dict[str, float]:
    reader = PdfReader(pdf, engine, options=ReadingOptions(workers=workers))
    readings = reader.read(range(1, n_pages + 1))
    if failed := [reading for reading in readings if reading.error is not None]:
        raise SystemExit(f"page {failed[0].number} of {pdf}: {failed[0].error}")
    return {"n_lines": sum(len(reading.lines) for reading in readings)}


def plain(pdf: Path, engine: str, n_pages: int, threads: int, models: Path | None = None) -> dict[str, float]:
    arguments = [engine, str(pdf), str(n_pages), str(threads), *([str(models)] if models else [])]
    done = subprocess.run([sys.executable, str(PLAIN), *arguments], check=True, stdout=subprocess.PIPE, text=True)
    said: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return said


def in_turn(rounds: int, **ways: Callable[[], dict[str, float]]) -> dict[str, list[Spent]]:
    """Every way once a round, so that a slow moment of the machine hits all of them."""
    spent: dict[str, list[Spent]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            spent[name].append(spent_by(way))
    return spent


def cpu_of(spent: list[Spent]) -> float:
    return statistics.median(one.cpu_s for one in spent)


def pace_of(spent: list[Spent], n_pages: int) -> float:
    return n_pages / statistics.median(one.wall_s for one in spent)


# The parts


def text_layer(trial: Trial) -> Figures:
    n_pages, few = trial.pages, min(trial.pages, MARKDOWN_PAGES)
    pdf = trial.repeated(n_pages)
    engine = EngineConfig(name="text-layer")
    spent = in_turn(
        trial.rounds,
        words=partial(plain, pdf, "text-layer", n_pages, 1),
        laid_out=partial(plain, pdf, "laid-out", n_pages, 1),
        ours=partial(ours, pdf, engine, n_pages),
    )
    by_library = in_turn(
        trial.rounds, markdown=partial(plain, pdf, "markdown", few, 1), ours=partial(ours, pdf, engine, few)
    )
    cpu = cpu_of(spent["ours"])
    layout_s = statistics.median(one.said["layout_s"] for one in spent["laid_out"])
    return {
        **_compared("text_layer", spent["ours"], spent["laid_out"], n_pages),
        "ratio_cpu_text_layer_words": round(cpu / cpu_of(spent["words"]), 3),
        "ratio_cpu_text_layer_markdown": round(cpu_of(by_library["ours"]) / cpu_of(by_library["markdown"]), 3),
        "layout_share_text_layer": round(layout_s / cpu, 3),
    }


def auto(trial: Trial) -> Figures:
    n_pages = trial.pages
    pdf = trial.repeated(n_pages)
    spent = in_turn(
        trial.rounds,
        alone=partial(plain, pdf, "laid-out", n_pages, 1),
        ours=partial(ours, pdf, EngineConfig(name="auto"), n_pages),
    )
    return _compared("auto", spent["ours"], spent["alone"], n_pages)


def rapidocr(trial: Trial) -> Figures:
    return _ocr(trial, EngineConfig(name="rapidocr"))


def paddleocr(trial: Trial) -> Figures:
    models = trial.folder / "paddle-models"
    if not models.exists():
        make_paddle_models(models)
    return _ocr(trial, EngineConfig(name="paddleocr", paddle_models=models))


def _ocr(trial: Trial, engine: EngineConfig) -> Figures:
    n_pages = trial.ocr_pages
    pdf = trial.drawn(n_pages)
    threads = engine.for_workers(1).threads or 1
    spent = in_turn(
        trial.rounds,
        alone=partial(plain, pdf, engine.name, n_pages, threads, engine.paddle_models),
        ours=partial(ours, pdf, engine, n_pages),
    )
    return {**_compared(engine.name, spent["ours"], spent["alone"], n_pages), "ocr_threads": threads}


def _compared(name: str, ours_: list[Spent], alone: list[Spent], n_pages: int) -> Figures:
    return {
        f"ratio_cpu_{name}": round(cpu_of(ours_) / cpu_of(alone), 3),
        f"cpu_s_page_{name}": round(cpu_of(ours_) / n_pages, 4),
        f"cpu_s_page_{name}_alone": round(cpu_of(alone) / n_pages, 4),
        f"pages_per_s_{name}": round(pace_of(ours_, n_pages), 2),
        f"pages_per_s_{name}_alone": round(pace_of(alone, n_pages), 2),
        f"n_pages_{name}": n_pages,
    }


def workers(trial: Trial) -> Figures:
    text = _two_workers(trial.repeated(trial.memory_pages), EngineConfig(name="text-layer"), trial.memory_pages, trial)
    ocr = _two_workers(trial.drawn(trial.ocr_pages), EngineConfig(name="rapidocr"), trial.ocr_pages, trial)
    return {**text, **{f"{name}_rapidocr": value for name, value in ocr.items()}}


def _two_workers(pdf: Path, engine: EngineConfig, n_pages: int, trial: Trial) -> Figures:
    spent = in_turn(
        trial.rounds,
        one=partial(ours, pdf, engine, n_pages, workers=1),
        two=partial(ours, pdf, engine, n_pages, workers=2),
    )
    one, two = pace_of(spent["one"], n_pages), pace_of(spent["two"], n_pages)
    return {
        "ratio_two_workers": round(two / one, 2),
        "pages_per_s_two_workers": round(two, 2),
        "pages_per_s_one_worker": round(one, 2),
        "ratio_cpu_two_workers": round(cpu_of(spent["two"]) / cpu_of(spent["one"]), 3),
    }


def memory(trial: Trial) -> Figures:
    n_pages = trial.memory_pages
    text = Watched.building(trial.repeated(n_pages), "text-layer", trial.folder / "memory")
    scanned = trial.drawn(max(8, 2 * trial.ocr_pages))
    ocr = Watched.building(scanned, "rapidocr", trial.folder / "memory-ocr")
    quarter = max(1, n_pages // 4)
    first, last = text.peak(0, quarter), text.peak(n_pages - quarter, n_pages)
    return {
        "ratio_memory": round(last / first, 3),
        "peak_mb": round(text.peak()),
        "peak_mb_first_quarter": round(first),
        "peak_mb_last_quarter": round(last),
        "peak_mb_parent": round(max(look.parent_mb for look in text.looks)),
        "peak_mb_rapidocr": round(ocr.peak()),
        "n_pages_memory": n_pages,
    }


@dataclass(frozen=True)
class Look:
    """Resident memory at one moment; ``done`` pages were read."""

    done: int
    parent_mb: float
    children_mb: float


@dataclass
class Watched:
    """Memory of this process and its children, looked at until ``ended``."""

    looks: list[Look] = field(default_factory=list)
    done: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def building(cls, pdf: Path, engine: str, root: Path) -> Watched:
        """The context of ``pdf``, built in a storage below ``root`` with two workers."""
        documents = DocumentStore(root)
        document = documents.add(pdf, Domain.FINANCE)
        stage = OcrContextStage(ArtifactStore(root), documents, engine=engine, options=ReadingOptions(workers=2))
        watched = cls()
        thread = threading.Thread(target=watched._look, daemon=True)
        thread.start()
        try:
            summary = stage.run(document.id, progress=watched._count)
        finally:
            watched.ended.set()
            thread.join()
        if not summary.n_ok:
            raise SystemExit(f"no context of {pdf} could be built")
        return watched

    def peak(self, above: int = 0, up_to: int | None = None) -> float:
        """In MB, while from ``above`` to ``up_to`` pages were done (None: to the end, the writing with it)."""
        within = [look for look in self.looks if above <= look.done and (up_to is None or look.done < up_to)]
        return max(look.parent_mb + look.children_mb for look in within)

    def _count(self, done: int, total: int) -> None:
        self.done = done

    def _look(self) -> None:
        parent = psutil.Process()
        while not self.ended.wait(LOOK_EVERY_S):
            children = sum(map(_resident_mb, parent.children(recursive=True)))
            self.looks.append(Look(self.done, _resident_mb(parent), children))


def _resident_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 1e6
    except psutil.NoSuchProcess:  # it ended meanwhile
        return 0.0


def accuracy(trial: Trial) -> Figures:
    figures: Figures = {}
    for name, engine, scanned in (("text_layer", "text-layer", False), ("rapidocr", "rapidocr", True)):
        found = contexts_accuracy.measure(engine, scanned=scanned).record()
        figures[f"rows_whole_{name}"] = found["share_rows_whole"]
        figures[f"numbers_right_{name}"] = found["share_numbers_right"]
    return {**figures, "n_rows": found["rows"], "n_numbers": found["numbers"]}


PARTS: dict[str, Callable[[Trial], Figures]] = {
    "text-layer": text_layer,
    "auto": auto,
    "rapidocr": rapidocr,
    "paddleocr": paddleocr,
    "workers": workers,
    "memory": memory,
    "accuracy": accuracy,
}


def main() -> None:
    arguments = _arguments()
    shared = arguments.pdfs.resolve()
    if not (shared / FILING).is_file():
        raise SystemExit(f"{shared / FILING} is not there: name the folder with --pdfs")
    figures: Figures = {"benchmark": "contexts"}
    with tempfile.TemporaryDirectory(prefix="deepchart-contexts-") as folder:
        trial = _trial(arguments, shared, Path(folder))
        for part in arguments.parts:
            begun = time.monotonic()
            try:
                found = PARTS[part](trial)
            except DeepChartError as error:
                raise SystemExit(f"{part}: {error}") from error
            print(f"{part} ({time.monotonic() - begun:.0f} s)")
            for name, value in found.items():
                print(f"  {name:36} {value}")
            figures |= found
    print(json.dumps({**figures, "rounds": trial.rounds, "load": round(os.getloadavg()[0], 1)}))


def _trial(arguments: argparse.Namespace, shared: Path, folder: Path) -> Trial:
    if arguments.quick:
        return Trial(shared, folder, min(arguments.pages, 20), 2, min(arguments.memory_pages, 100), 1)
    return Trial(
        shared,
        folder,
        arguments.pages,
        arguments.ocr_pages,
        arguments.memory_pages,
        arguments.rounds,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=_parts, default=list(PARTS), help=f"some of {','.join(PARTS)} (default: all)")
    parser.add_argument("--pages", type=_count, default=80, help="read from the text layer (default 80)")
    parser.add_argument("--ocr-pages", type=_count, default=4, help="read by OCR (default 4)")
    parser.add_argument("--memory-pages", type=_count, default=400, help="of the long document (default 400)")
    parser.add_argument("--rounds", type=_count, default=3, help="how often each reading is done (default 3)")
    parser.add_argument("--quick", action="store_true", help="one round over 20 pages, 2 by OCR, 100 of the long one")
    parser.add_argument("--pdfs", type=Path, default=Path(__file__).parents[2] / "shared" / "pdfs")
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return names


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of pages or rounds")
    return int(text)


if __name__ == "__main__":
    main()
