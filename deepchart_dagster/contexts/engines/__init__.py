"""Engines that read a page, behind one interface, and the choice between them per page.

    text-layer     the words that a born-digital page carries (PyMuPDF)
    rapidocr       PP-OCR models inside a wheel, on onnxruntime
    paddleocr      PP-OCR through paddleocr, on onnxruntime, from local model folders
    paddleocr-vl   the paper's engine: a vision-language model on a server or in local folders
    auto           per page: the text layer where there is one, else the best OCR engine that is configured

``engine_identity`` says what a document's reading depends on, without importing any engine; readers are made in the
child process that reads (contexts.child). Words go to one layout; paddleocr-vl gives finished lines.
"""

from deepchart_dagster.contexts.engines.base import (
    INSTALL_OCR,
    BlockReader,
    EngineReader,
    EngineUnavailableError,
    NoEngineLeft,
    PageReader,
    UnreadablePageError,
    WordReader,
)
from deepchart_dagster.contexts.engines.config import (
    AUTO,
    PADDLEOCR,
    PADDLEOCR_VL,
    RAPIDOCR,
    TEXT_LAYER,
    EngineConfig,
    EngineName,
)
from deepchart_dagster.contexts.engines.identity import EngineIdentity, engine_identity, rapidocr_installed
from deepchart_dagster.contexts.engines.routing import choose_reader
from deepchart_dagster.contexts.engines.text_layer import ocr_reason

__all__ = [
    "AUTO",
    "INSTALL_OCR",
    "PADDLEOCR",
    "PADDLEOCR_VL",
    "RAPIDOCR",
    "TEXT_LAYER",
    "BlockReader",
    "EngineConfig",
    "EngineIdentity",
    "EngineName",
    "EngineReader",
    "EngineUnavailableError",
    "NoEngineLeft",
    "PageReader",
    "UnreadablePageError",
    "WordReader",
    "choose_reader",
    "engine_identity",
    "ocr_reason",
    "rapidocr_installed",
]
