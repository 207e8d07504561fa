"""Reading the project's own benchmark layout (docs/benchmark-layout.md): benchmark.json, queries.jsonl, files."""

from __future__ import annotations

from pathlib import Path

from deepchart_dagster.artifacts.files import is_slug, storage_errors
from deepchart_dagster.benchmark.import_report import SkippedRecord, SourceReading, SourceRecord
from deepchart_dagster.benchmark.library import BENCHMARK_FORMAT, DESCRIPTION_NAME, QUERIES_NAME, load_json, parse_query
from deepchart_dagster.errors import BenchmarkFormatError


def is_native(folder: Path) -> bool:
    return (folder / DESCRIPTION_NAME).is_file()


def read_native(folder: Path) -> SourceReading:
    """All records of ``folder``; a line that is no query is skipped with its reason.

    Raises BenchmarkFormatError where benchmark.json is damaged or there is no queries.jsonl.
    """
    name = _name(folder / DESCRIPTION_NAME)
    path = folder / QUERIES_NAME
    if not path.is_file():
        raise BenchmarkFormatError(f"{path} is missing.", remedy="It holds one query a line: docs/benchmark-layout.md.")
    records: list[SourceRecord] = []
    skipped: list[SkippedRecord] = []
    with storage_errors(path, "read"):
        lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            query = parse_query(line, name, f"{path} line {number}")
        except BenchmarkFormatError as error:
            skipped.append(SkippedRecord(uid=_uid(line), reason=error.message))
        else:
            records.append(SourceRecord(query=query, place=f"{path} line {number}"))
    return SourceReading(name=name, folder=folder, records=tuple(records), skipped=tuple(skipped))


def _name(path: Path) -> str:
    remedy = f'It must say {{"format": "{BENCHMARK_FORMAT}", "name": "my-benchmark"}}.'
    with storage_errors(path, "read"):
        content = path.read_bytes()
    description = load_json(content, str(path), remedy)
    if not isinstance(description, dict) or description.get("format") != BENCHMARK_FORMAT:
        raise BenchmarkFormatError(f"{path}: its format is not {BENCHMARK_FORMAT}.", remedy=remedy)
    name = description.get("name")
    if not isinstance(name, str) or not is_slug(name):
        raise BenchmarkFormatError(f"{path}: the name {name!r} cannot name a benchmark.", remedy=remedy)
    return name


def _uid(line: bytes) -> str | None:
    try:
        record = load_json(line, "")
    except BenchmarkFormatError:
        return None
    uid = record.get("uid") if isinstance(record, dict) else None
    return uid if isinstance(uid, str) else None
