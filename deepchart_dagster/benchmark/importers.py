"""Bringing a benchmark into the library: a clone of the published one, or a folder in our own layout.

Each record stands for itself: one that cannot be read is left out and reported, the others come in. A
file that a record names and the source lacks is a warning; the instance that needs it becomes an error
of its own later. The stored benchmark changes as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from deepchart_dagster.artifacts.files import path_segment
from deepchart_dagster.benchmark.import_report import (
    ImportReport,
    ImportWarning,
    SkippedRecord,
    SourceReading,
    SourceRecord,
)
from deepchart_dagster.benchmark.library import Library, content_problem, path_inside
from deepchart_dagster.benchmark.model import Query
from deepchart_dagster.benchmark.native import is_native, read_native
from deepchart_dagster.benchmark.upstream import is_upstream, read_upstream
from deepchart_dagster.errors import BenchmarkFormatError, NoWorkPossible, UsageError


def import_benchmark(
    path: Path, library: Library, *, name: str | None = None, only: Iterable[str] = ()
) -> ImportReport:
    """Import the benchmark at ``path`` as ``name`` (default: its own name; the published one is "deepchart").

    ``only`` limits it to these uids; other queries of the stored benchmark are then kept, otherwise the
    import replaces it. Raises UsageError for a path that is no benchmark or a uid that it lacks,
    NoWorkPossible where no record could be imported, StorageError where it cannot be written.
    """
    reading = read_source(path)
    wanted = frozenset(only)
    if wanted:
        reading = _narrowed(reading, wanted)
    target = name or reading.name
    reading = _without_duplicates(_storable(reading), library, target)
    if not reading.records:
        raise NoWorkPossible(_nothing(path, reading.skipped), remedy="Nothing was changed.")
    queries = [record.query for record in reading.records]
    queries = [query.model_copy(update={"benchmark": target}) for query in queries]
    changed = library.add(target, queries, reading.folder, keep_others=bool(wanted))
    return ImportReport(
        name=target,
        read=len(reading.records) + len(reading.skipped),
        imported=len(queries),
        skipped=reading.skipped,
        warnings=_warnings(reading),
        changed=changed,
        queries=tuple(queries),
    )


def read_source(path: Path) -> SourceReading:
    """The records of the benchmark at ``path``, whatever its layout. Raises UsageError for neither of the two."""
    if not path.is_dir():
        raise UsageError(f"{path} is no folder.", remedy="Give the folder of a benchmark.")
    if is_native(path):
        return read_native(path)
    if is_upstream(path):
        return read_upstream(path)
    raise UsageError(
        f"{path} is no benchmark: it holds neither benchmark.json nor a folder instances/.",
        remedy="Give a clone of the published benchmark, or the layout of docs/benchmark-layout.md.",
    )


def _narrowed(reading: SourceReading, wanted: frozenset[str]) -> SourceReading:
    records = tuple(record for record in reading.records if record.query.uid in wanted)
    skipped = tuple(record for record in reading.skipped if record.uid in wanted)
    unknown = sorted(wanted - {record.query.uid for record in records} - {str(record.uid) for record in skipped})
    if unknown:
        raise UsageError(f"{reading.folder} has no record with the uid {unknown[0]}.", remedy="Nothing was imported.")
    return replace(reading, records=records, skipped=skipped)


def _storable(reading: SourceReading) -> SourceReading:
    """Records whose files lie outside the source, or whose uid can name no folder, are left out."""
    kept: list[SourceRecord] = []
    skipped = list(reading.skipped)
    for record in reading.records:
        try:
            path_segment(record.query.uid)
            for _, relative in _named_files(record.query):
                path_inside(reading.folder, relative)
        except (BenchmarkFormatError, UsageError) as error:
            skipped.append(SkippedRecord(uid=record.query.uid, reason=f"{record.place}: {error.message}"))
        else:
            kept.append(record)
    return replace(reading, records=tuple(kept), skipped=tuple(skipped))


def _without_duplicates(reading: SourceReading, library: Library, target: str) -> SourceReading:
    """The first record of a uid stands; another one, or one that another benchmark has, is left out."""
    taken = {uid: str(place) for uid, place in library.uids_of_others(target).items()}
    kept: list[SourceRecord] = []
    skipped = list(reading.skipped)
    for record in reading.records:
        uid = record.query.uid
        if uid in taken:
            reason = f"{record.place}: the uid {uid} is taken by {taken[uid]}."
            skipped.append(SkippedRecord(uid=uid, reason=reason))
        else:
            taken[uid] = record.place
            kept.append(record)
    return replace(reading, records=tuple(kept), skipped=tuple(skipped))


def _nothing(path: Path, skipped: tuple[SkippedRecord, ...]) -> str:
    if not skipped:
        return f"{path} holds no records."
    return f"none of the {len(skipped)} records of {path} can be imported; the first: {skipped[0].reason}"


def _warnings(reading: SourceReading) -> tuple[ImportWarning, ...]:
    found: list[ImportWarning] = []
    for record in reading.records:
        found += record.warnings
        for consequence, relative in _named_files(record.query):
            problem = content_problem(reading.folder / relative)
            if problem:
                found.append(ImportWarning(record.query.uid, relative, f"{problem}: {consequence}."))
    return tuple(found)


def _named_files(query: Query) -> list[tuple[str, str]]:
    """(what its absence means, path) for every file that the query names."""
    named = [
        (f"the {variant.value} instance cannot be run", path)
        for variant in query.variants
        for path in query.context_files.get(variant, ())
    ]
    references = query.references
    optional = (
        ("source data cannot be scored", references.d_src),
        ("derived data cannot be scored", references.d_der),
        ("the reference's stage 1 cannot be run again", references.stage1),
        ("the reference chart cannot be drawn again in Python", references.stage2_python),
        ("the reference chart cannot be drawn again in HTML", references.stage2_html),
        ("there is no reference chart to write a rubric from", references.chart_image),
        ("contexts cannot be rebuilt from the document", query.evidence_hint.get("data")),
    )
    return named + [(consequence, path) for consequence, path in optional if isinstance(path, str)]
