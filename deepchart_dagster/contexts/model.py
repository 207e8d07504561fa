"""Pages, contexts and model inputs as values. Pages are physical pages, counted from 1."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from deepchart_dagster.benchmark.model import Modality


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineFailure(_Frozen):
    """An engine that could not read a page, and why. ``unavailable``: it could read no page then (a server is down)."""

    engine: str
    reason: str
    unavailable: bool = False


class Page(_Frozen):
    """One page as read. ``markdown`` is empty and ``error`` set where no engine could read it.

    ``tried`` are the engines that failed on it, in the order in which they were tried; ``damage`` is what is wrong
    with the content of a page that was read all the same.
    """

    number: int
    engine: str
    markdown: str
    n_numbers: int
    seconds: float = 0.0
    error: str | None = None
    tried: tuple[EngineFailure, ...] = ()
    damage: str | None = None


StatementName = Literal["balance_sheet", "income_statement", "cash_flow"]


class ContextFile(_Frozen):
    """One text file of a model's context. Paths are relative to the instance's folder in storage.

    ``provenance`` (contexts.provenance) says where each of its lines comes from.
    """

    name: str
    document_id: str
    title: str
    path: str
    sha256: str
    pages: tuple[int, ...] = ()
    provenance: str | None = None


class ImageChunk(_Frozen):
    """One JPEG that shows up to eight consecutive pages of a report, tiled in reading order.

    ``pictures`` is the file with the fingerprints of the pictures on these pages (contexts.pictures).
    """

    index: int
    document_id: str
    first_page: int
    last_page: int
    path: str
    sha256: str
    width: int
    height: int
    pictures: str | None = None


class ModelContext(_Frozen):
    """``context.json``: everything of a context variant that a model may be given, before any budget."""

    uid: str
    split: str
    modality: Modality
    files: tuple[ContextFile, ...] = ()
    chunks: tuple[ImageChunk, ...] = ()
    notes: tuple[str, ...] = ()
