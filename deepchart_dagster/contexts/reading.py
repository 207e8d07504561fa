"""All pages of a PDF, read in child processes: every page ends up read, blank or in error by name.

Pages go to children in batches. A child that dies or hangs costs the page it was reading, which is tried
once more alone; the pages after it go to a new child. Readings come page by page, so that a checkpoint
can take each one as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.contexts.children import ITEM_TIMEOUT_S, ChildFailedError, run_child
from deepchart_dagster.contexts.readings import READING, PageReading
from deepchart_dagster.errors import DocumentError

# A child is ended after this many pages: OCR engines only ever grow.
BATCH_PAGES = 20


@dataclass(frozen=True)
class PdfReader:
    """How a PDF is read; ``figures`` keeps text inside figures apart (contexts.figures)."""

    pdf: Path
    engine: str
    figures: bool = False
    workers: int = 1
    page_timeout_s: float = ITEM_TIMEOUT_S

    def read(self, pages: Sequence[int], on_page: Callable[[PageReading], None] | None = None) -> list[PageReading]:
        """One reading for each of ``pages``, in their order. Raises DocumentError where no child starts."""
        batches = [pages[at : at + BATCH_PAGES] for at in range(0, len(pages), BATCH_PAGES)]

        def read(batch: Sequence[int]) -> list[PageReading]:
            readings = []
            for reading in self._batch(batch):
                readings.append(reading)
                if on_page:
                    on_page(reading)
            return readings

        with ThreadPoolExecutor(max_workers=max(1, self.workers)) as pool:
            return [reading for readings in pool.map(read, batches) for reading in readings]

    def _batch(self, pages: Sequence[int]) -> Iterator[PageReading]:
        left = list(pages)
        while left:
            try:
                for answer in self._child(left):
                    yield READING.validate_python(answer)
                    left.pop(0)
            except ChildFailedError as failure:
                if not failure.started:
                    raise DocumentError(
                        f"{self.pdf}: pages cannot be read with {self.engine}: {failure.reason}.",
                        remedy="Run deepchart doctor.",
                    ) from failure
                yield self._alone(left.pop(0))

    def _alone(self, page: int) -> PageReading:
        """A page that ended its child, once more by itself."""
        try:
            return READING.validate_python(next(self._child([page])))
        except ChildFailedError as failure:
            return PageReading(number=page, engine=self.engine, error=failure.reason)

    def _child(self, pages: Sequence[int]) -> Iterator[dict[str, object]]:
        task = {
            "do": "read",
            "pdf": str(self.pdf),
            "pages": list(pages),
            "engine": self.engine,
            "figures": self.figures,
        }
        return run_child(task, item_timeout_s=self.page_timeout_s)
