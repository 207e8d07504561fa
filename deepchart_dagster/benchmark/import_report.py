"""What an import read, what it left out and why, as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Query


@dataclass(frozen=True)
class SkippedRecord:
    """A record that was not imported. ``uid`` is None where the line does not even tell that."""

    uid: str | None
    reason: str


@dataclass(frozen=True)
class ImportWarning:
    """Something about an imported record that a reader of its results should know. ``file`` is relative."""

    uid: str
    file: str
    message: str


@dataclass(frozen=True)
class SourceRecord:
    """A record that could be read. ``place`` names its file and line; ``warnings`` what it made us do."""

    query: Query
    place: str
    warnings: tuple[ImportWarning, ...] = ()


@dataclass(frozen=True)
class SourceReading:
    """Everything a source holds. ``name`` is what its benchmark is called unless the caller says otherwise."""

    name: str
    folder: Path
    records: tuple[SourceRecord, ...]
    skipped: tuple[SkippedRecord, ...]


@dataclass(frozen=True)
class ImportReport:
    """What became of benchmark ``name``. ``read`` = ``imported`` + skipped records; ``changed`` is False where
    all of it was stored before; ``queries`` are those that were imported."""

    name: str
    read: int
    imported: int
    skipped: tuple[SkippedRecord, ...]
    warnings: tuple[ImportWarning, ...]
    changed: bool
    queries: tuple[Query, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """The shape of ``deepchart import --json`` (design/CLI.md), and the benchmark it became."""
        return {
            "name": self.name,
            "changed": self.changed,
            "read": self.read,
            "imported": self.imported,
            "skipped": [{"uid": record.uid, "reason": record.reason} for record in self.skipped],
            "warnings": [{"uid": each.uid, "file": each.file, "message": each.message} for each in self.warnings],
        }
