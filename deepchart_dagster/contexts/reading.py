"""All pages of a PDF, read in child processes: every page ends up read, blank or in error by name.

Readings come page by page as they are finished, so that a checkpoint can take each one as it comes; how the
children share the pages is contexts.crew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.contexts.crew import Crew, CrewPlan, OnPage
from deepchart_dagster.contexts.engines import EngineConfig
from deepchart_dagster.contexts.engines.config import as_config
from deepchart_dagster.contexts.readings import PageReading
from deepchart_dagster.settings import DEFAULTS


@dataclass(frozen=True)
class ReadingOptions:
    """How pages are read; none of it changes what is read of a page that can be.

    ``workers`` children read at once (None: as many as there are processor cores). A page may take
    ``page_timeout_s`` seconds, a child ``memory_mb`` of address space; it is ended after ``pages_per_child``
    pages read by OCR, or ten times as many from the text layer.
    """

    workers: int | None = None
    page_timeout_s: float = DEFAULTS.page_timeout_s
    pages_per_child: int = DEFAULTS.pages_per_child
    memory_mb: int = DEFAULTS.page_memory_mb


DEFAULT_OPTIONS = ReadingOptions()


@dataclass(frozen=True)
class PdfReader:
    """How a PDF is read; ``figures`` keeps text inside figures apart (contexts.figures)."""

    pdf: Path
    engine: EngineConfig | str
    figures: bool = False
    options: ReadingOptions = DEFAULT_OPTIONS

    def read(self, pages: Sequence[int]) -> list[PageReading]:
        """One reading for each of ``pages``, in their order. Raises DocumentError where no child starts."""
        found: dict[int, PageReading] = {}
        self.read_each(pages, lambda reading: found.update({reading.number: reading}))
        return [found[page] for page in pages]

    def read_each(
        self,
        pages: Sequence[int],
        on_page: OnPage,
        stop: threading.Event | None = None,
        kept: Mapping[int, PageReading] | None = None,
    ) -> None:
        """``on_page`` gets one reading for each of ``pages``, one at a time, in the order in which they are finished.

        ``stop`` ends the children at once. ``kept`` are readings of pages that wait for an engine; where it still
        cannot be had, these are given. Raises DocumentError where no child starts, and what ``on_page`` raises.
        """
        options = self.options
        workers = max(1, min(options.workers or os.cpu_count() or 1, len(pages)))
        plan = CrewPlan(
            pdf=self.pdf,
            engine=as_config(self.engine).for_workers(workers),
            figures=self.figures,
            workers=workers,
            page_timeout_s=options.page_timeout_s,
            pages_per_child=options.pages_per_child,
            memory_mb=options.memory_mb,
        )
        Crew(plan, on_page, stop or threading.Event()).read(pages, kept or {})
