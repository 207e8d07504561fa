"""The engines called alone, as a script without this project would call them; and the PDFs that they are tried on.

    python benchmarks/contexts_plain.py ENGINE PDF N_PAGES THREADS [MODELS]

Reads the first N_PAGES pages of PDF with ENGINE: text-layer (words, and spans for bold and turned text), rapidocr or
paddleocr (pages drawn at 150 DPI; MODELS holds paddleocr's det and rec), in one process without children, time-outs
or layout. ``markdown`` is PyMuPDF's own way from a text layer to headings and tables (pymupdf4llm). ``laid-out`` reads
the text layer and lays it out with our own layout in this one process: what is left to the children and their pipes is
the difference. Engine options are those of the readers in contexts.engines. The last
line of stdout is one JSON object; ``layout_s`` is the CPU time of the layout in it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# PyMuPDF 2 loads these on import, and onnxruntime with them: a plain script that minds its CPU time leaves them out.
for _name in () if sys.argv[1:2] == ["markdown"] else ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]

import pymupdf  # noqa: E402

DPI = 150


def pages_of(path: str, n_pages: int) -> Iterator[Any]:
    with pymupdf.open(path) as pdf:
        for number in range(n_pages):
            yield pdf[number]


def read_text_layer(path: str, n_pages: int, threads: int, models: str) -> dict[str, float]:
    n_words = 0
    for page in pages_of(path, n_pages):
        text = page.get_textpage(flags=pymupdf.TEXTFLAGS_WORDS)
        n_words += len(text.extractWORDS())
        text.extractDICT()
    return {"n_words": n_words}


def read_markdown(path: str, n_pages: int, threads: int, models: str) -> dict[str, float]:
    import pymupdf4llm

    with pymupdf.open(path) as pdf:
        text = pymupdf4llm.to_markdown(pdf, pages=list(range(n_pages)), use_ocr=False, show_progress=False)
    return {"n_characters": len(text)}


def read_and_lay_out(path: str, n_pages: int, threads: int, models: str) -> dict[str, float]:
    from deepchart_dagster.contexts.engines.text_layer import TextLayerReader
    from deepchart_dagster.contexts.layout import lay_out

    reader, spent, n_lines = TextLayerReader(), 0.0, 0
    for page in pages_of(path, n_pages):
        words = reader.words(page)
        begun = time.process_time()
        n_lines += len(lay_out(words, page.rect.width))
        spent += time.process_time() - begun
    return {"n_lines": n_lines, "layout_s": spent}


def read_rapidocr(path: str, n_pages: int, threads: int, models: str) -> dict[str, float]:
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    return {"n_words": sum(len(engine(pixels).txts or ()) for pixels in drawn(path, n_pages))}


def read_paddleocr(path: str, n_pages: int, threads: int, models: str) -> dict[str, float]:
    import yaml

    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    from paddleocr import PaddleOCR

    options: dict[str, Any] = {}
    for part, name in (("det", "detection"), ("rec", "recognition")):
        folder = Path(models) / part
        described = yaml.safe_load((folder / "inference.yml").read_text(encoding="utf-8"))
        options[f"text_{name}_model_dir"] = str(folder)
        options[f"text_{name}_model_name"] = described["Global"]["model_name"]
    engine = PaddleOCR(
        **options,
        use_doc_orientation_classify=False,
        use_doc_unwarping=False,
        use_textline_orientation=False,
        engine="onnxruntime",
        engine_config={"intra_op_num_threads": threads},
    )
    pages = drawn(path, n_pages)
    return {"n_words": sum(len(found["rec_texts"]) for pixels in pages for found in engine.predict(pixels))}


def drawn(path: str, n_pages: int) -> Iterator[Any]:
    """Rows × columns × (blue, green, red) of each page, 0 to 255."""
    import numpy as np

    for page in pages_of(path, n_pages):
        pixmap = page.get_pixmap(dpi=DPI, alpha=False)
        pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
        yield np.ascontiguousarray(pixels[:, :, ::-1])


# PDFs to try them on. Made in a process of their own: PyMuPDF would stand in the memory of whoever measures.


def repeat(source: str, target: str, n_pages: int) -> None:
    """A PDF of ``n_pages``: ``source`` again and again."""
    with pymupdf.open(source) as pdf, pymupdf.open() as made:
        while len(made) < n_pages:
            made.insert_pdf(pdf, to_page=min(len(pdf), n_pages - len(made)) - 1)
        made.save(target)


def picture(source: str, target: str, first: int, n_pages: int) -> None:
    """``n_pages`` pages of ``source`` from ``first`` on (from 1) as a scan has them: pictures, without text."""
    with pymupdf.open(source) as pdf, pymupdf.open() as made:
        for at in range(n_pages):
            page = pdf[(first - 1 + at) % len(pdf)]
            pixmap = page.get_pixmap(dpi=DPI, alpha=False)
            scan = made.new_page(width=page.rect.width, height=page.rect.height)
            scan.insert_image(scan.rect, stream=pixmap.tobytes("png"))
        made.save(target)


READERS: dict[str, Callable[[str, int, int, str], dict[str, float]]] = {
    "text-layer": read_text_layer,
    "markdown": read_markdown,
    "laid-out": read_and_lay_out,
    "rapidocr": read_rapidocr,
    "paddleocr": read_paddleocr,
}


def main() -> None:
    engine, path, n_pages, threads, *models = sys.argv[1:]
    print(json.dumps(READERS[engine](path, int(n_pages), int(threads), *(models or [""]))))


if __name__ == "__main__":
    main()
