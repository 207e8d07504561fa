"""The ladder: which engine reads a page, and which one reads it when that one has failed."""

from __future__ import annotations

from deepchart_dagster.contexts.engines.base import (
    INSTALL_OCR,
    EngineReader,
    NoEngineLeft,
    PageReader,
    UnreadablePageError,
)
from deepchart_dagster.contexts.engines.config import (
    AUTO,
    PADDLEOCR,
    PADDLEOCR_VL,
    RAPIDOCR,
    TEXT_LAYER,
    EngineConfig,
    EngineName,
    as_config,
)
from deepchart_dagster.contexts.engines.identity import ladder
from deepchart_dagster.contexts.engines.text_layer import TextLayerReader, ocr_reason
from deepchart_dagster.contexts.pdf import PdfPage


def choose_reader(config: EngineConfig | str, *, without: frozenset[str] = frozenset()) -> PageReader:
    """The reader for a configuration that engine_identity accepts.

    ``without`` names engines that have failed on the page: the next of the ladder reads it. An engine asked for by
    name stands alone, nothing reads in its place. Raises NoEngineLeft.
    """
    config = as_config(config)
    engines = tuple(name for name in ladder(config) if name not in without)
    if not engines:
        failed = ", ".join(sorted(without)) or "none"
        raise NoEngineLeft(f"no engine is left (failed: {failed})")
    if config.name != AUTO:
        return FixedReader(_make(engines[0], config))
    return AutoReader(config, engines, retry=bool(without))


class FixedReader:
    """One engine for every page, loaded at once: where it cannot be had, no page is to blame."""

    def __init__(self, reader: EngineReader) -> None:
        reader.load()
        self._reader = reader
        self.name = reader.name

    def route(self, page: PdfPage) -> EngineReader:
        return self._reader


class AutoReader:
    """Per page: the text layer where it will do, else the first OCR engine of ``engines``.

    On a ``retry`` any engine that is left will do: a text layer with few words is better than nothing.
    """

    def __init__(self, config: EngineConfig, engines: tuple[EngineName, ...], *, retry: bool = False) -> None:
        self._config = config
        self._engines = engines
        self._retry = retry
        self._made: dict[EngineName, EngineReader] = {}
        # Until a page is routed only its text layer is looked at.
        self.name: str = TEXT_LAYER if TEXT_LAYER in engines else engines[0]

    def route(self, page: PdfPage) -> EngineReader:
        reason = ocr_reason(page)
        if reason is None and TEXT_LAYER in self._engines:
            return self._reader(TEXT_LAYER)
        best = self._engines[0]
        if best == TEXT_LAYER and not self._retry:
            raise UnreadablePageError(f"{reason}, and no OCR engine is installed. {INSTALL_OCR}")
        return self._reader(best)

    def _reader(self, name: EngineName) -> EngineReader:
        self.name = name
        if name not in self._made:
            self._made[name] = _make(name, self._config)
        return self._made[name]


def _make(name: EngineName, config: EngineConfig) -> EngineReader:
    """Engines are imported when they are made: loading one takes seconds and hundreds of megabytes."""
    if name == RAPIDOCR:
        from deepchart_dagster.contexts.engines.rapid import RapidOcrReader

        return RapidOcrReader(config)
    if name == PADDLEOCR:
        from deepchart_dagster.contexts.engines.paddle import PaddleOcrReader

        return PaddleOcrReader(config)
    if name == PADDLEOCR_VL:
        from deepchart_dagster.contexts.engines.vl import PaddleOcrVlReader

        return PaddleOcrVlReader(config)
    return TextLayerReader(last_resort=config.name == AUTO)
