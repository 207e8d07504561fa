"""The documents of the mini benchmark: one module a PDF, each with ``DOCUMENT`` and ``draw() -> bytes``.

A module in this package is a document; nothing else has to be told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from deepchart_dagster.benchmark.model import Domain


@dataclass(frozen=True)
class MiniDocument:
    """What is registered of a PDF beside its bytes. ``fiscal_years``: a filing's own year, alone."""

    id: str
    domain: Domain
    title: str
    company: str | None = None
    fiscal_years: tuple[int, ...] = ()


@dataclass(frozen=True)
class DocumentScript:
    document: MiniDocument
    draw: Callable[[], bytes]


def document_scripts() -> Iterator[DocumentScript]:
    """All documents, by the name of their module."""
    for name in sorted(module.name for module in iter_modules(__path__)):
        module = import_module(f"{__name__}.{name}")
        yield DocumentScript(document=cast(MiniDocument, module.DOCUMENT), draw=module.draw)
