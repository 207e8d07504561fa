"""The benchmarks of a storage root: their queries and the files that the queries name.

    <root>/benchmarks/<name>/benchmark.json     format, name, and the hash and size of every file
    <root>/benchmarks/<name>/queries.jsonl      one query a line, sorted by uid
    <root>/benchmarks/<name>/…                  the files, at the paths by which the queries name them

A benchmark is replaced as a whole: a reader sees the old one or the new one. A uid stands for one query
in the whole library, since results are stored by it.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from filelock import FileLock
from pydantic import JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.files import (
    is_slug,
    new_folder,
    remove_leftovers,
    storage_errors,
    write_json,
    write_json_lines,
)
from deepchart_dagster.artifacts.results import OutputFile
from deepchart_dagster.benchmark.model import Instance, Query, Split, inside_benchmark
from deepchart_dagster.benchmark.subset import SUBSET_SPLIT, Selection
from deepchart_dagster.errors import (
    BenchmarkFormatError,
    ConfigurationError,
    MissingInputError,
    StorageError,
    UsageError,
    in_words,
)

BENCHMARK_FORMAT = "deepchart-benchmark/1"
DESCRIPTION_NAME = "benchmark.json"
QUERIES_NAME = "queries.jsonl"


@dataclass(frozen=True)
class QueryPlace:
    """A query and where it is written down."""

    query: Query
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


@dataclass(frozen=True)
class Library:
    """The benchmarks below ``root``.

    selected   names of those to work on (empty: all of them)
    selection  what of finance-ultra-long is worked on; None: all of it
    """

    root: Path
    selected: tuple[str, ...] = ()
    selection: Selection | None = None

    def folder(self, name: str) -> Path:
        return self.root / "benchmarks" / name

    def names(self) -> list[str]:
        """Sorted. Raises ConfigurationError for a selected name that does not exist."""
        existing = self._existing()
        unknown = [name for name in self.selected if name not in existing]
        if unknown:
            raise ConfigurationError(
                f"there is no benchmark named {unknown[0]!r} in {self.root / 'benchmarks'}.",
                remedy=f"It holds: {', '.join(existing) or 'none; import one with deepchart import'}.",
            )
        return sorted(set(self.selected)) if self.selected else existing

    def _existing(self) -> list[str]:
        return sorted(
            path.parent.name
            for path in (self.root / "benchmarks").glob(f"*/{DESCRIPTION_NAME}")
            if is_slug(path.parent.name)
        )

    def queries(self) -> list[Query]:
        """Of all selected benchmarks, sorted by uid.

        Raises BenchmarkFormatError for a damaged line or a uid that comes twice, naming both places.
        """
        return [place.query for place in self._places(self.names())]

    def _places(self, names: Iterable[str]) -> list[QueryPlace]:
        places = [place for name in names for place in read_queries(self.folder(name) / QUERIES_NAME, name)]
        unique_uids(places)
        return sorted(places, key=lambda place: place.query.uid)

    def query(self, uid: str) -> Query:
        """Raises UsageError where no selected benchmark has it."""
        known: list[str] = []
        for name in self.names():
            for place in read_queries(self.folder(name) / QUERIES_NAME, name):
                if place.query.uid == uid:
                    return place.query
                known.append(place.query.uid)
        near = difflib.get_close_matches(uid, known)
        remedy = f"Near it: {', '.join(near)}. " if near else ""
        raise UsageError(
            f"no query has the uid {uid!r}.", remedy=f"{remedy}Benchmarks: {', '.join(self.names()) or 'none'}."
        )

    def instances(self, split: Split) -> list[Instance]:
        """The queries that have this split's context variant, sorted by uid; of finance-ultra-long the chosen ones."""
        queries = self.queries_of(split)
        if self.selection is not None and split is SUBSET_SPLIT:
            chosen = self.selection.choose(queries)
            queries = [query for query in queries if query.uid in chosen]
        return [Instance(query=query, split=split) for query in queries]

    def queries_of(self, split: Split) -> list[Query]:
        """All queries that have this split's context variant, chosen or not, sorted by uid."""
        return [query for query in self.queries() if split in query.splits]

    def selection_in_words(self, split: Split, benchmark: str) -> str | None:
        """What of a split's instances is worked on, where that can be less than all of them."""
        if self.selection is None or split is not SUBSET_SPLIT:
            return None
        return self.selection.in_words(benchmark, [q for q in self.queries_of(split) if q.benchmark == benchmark])

    def file(self, query: Query, relative: str) -> Path:
        """The file that ``query`` names ``relative``.

        Raises BenchmarkFormatError for a path, or a link, that leaves the benchmark's folder, and
        MissingInputError, naming the file, where there is none.
        """
        path = path_inside(self.folder(query.benchmark), relative)
        if not path.is_file():
            raise MissingInputError(
                f"{query.uid}: the file {relative} is not in benchmark {query.benchmark} ({path}).",
                remedy="Put it where the record names it in the source and import the benchmark again.",
            )
        return path

    def add(self, name: str, queries: Iterable[Query], source_folder: Path, *, keep_others: bool = False) -> bool:
        """Store ``queries`` as benchmark ``name`` with those of their files that ``source_folder`` has.

        Replaces what was stored under the name (``keep_others``: only queries of the same uid). Returns
        False, and writes nothing, where all of it is stored already. Raises BenchmarkFormatError for
        a name that is no slug or a uid that another benchmark has, StorageError where it cannot be written.
        """
        if not is_slug(name):
            raise BenchmarkFormatError(f"{name!r} cannot name a benchmark.", remedy="Use letters, digits and . _ -")
        sources = {query.uid: (query.model_copy(update={"benchmark": name}), source_folder) for query in queries}
        with self._writing():
            if keep_others:
                stored = {query.uid: (query, self.folder(name)) for query in self._stored(name)}
                sources = stored | sources
            self._refuse_foreign(name, sources)
            contents = _contents(sources.values())
            rows = [_row(query) for _, (query, _) in sorted(sources.items())]
            if self._holds(name, rows, contents):
                return False
            self._write(name, rows, contents)
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        folder = self.root / "benchmarks"
        with storage_errors(folder, "write"):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / ".lock"):
                remove_leftovers(folder)  # of a killed import
                yield

    def _stored(self, name: str) -> list[Query]:
        return [place.query for place in self._places([name])] if name in self._existing() else []

    def _refuse_foreign(self, name: str, uids: Iterable[str]) -> None:
        others = self.uids_of_others(name)
        for uid in uids:
            if uid in others:
                raise BenchmarkFormatError(
                    f"the uid {uid} of benchmark {name} is taken by {others[uid]}.",
                    remedy="A uid stands for one query.",
                )

    def uids_of_others(self, name: str) -> dict[str, QueryPlace]:
        """Every uid in the library that is not of benchmark ``name``, selected or not, and its place."""
        others = [other for other in self._existing() if other != name]
        return {place.query.uid: place for place in self._places(others)}

    def _holds(self, name: str, rows: list[JsonValue], contents: Mapping[str, _Content]) -> bool:
        if name not in self._existing():
            return False
        folder = self.folder(name)
        try:
            same = [_row(query) for query in self._stored(name)] == rows
            same = same and _read_description(folder) == _description(name, contents)
        except BenchmarkFormatError:
            return False  # damaged: written again
        return same and all(
            (folder / relative).is_file() and (folder / relative).stat().st_size == content.file.bytes
            for relative, content in contents.items()
        )

    def _write(self, name: str, rows: list[JsonValue], contents: Mapping[str, _Content]) -> None:
        with new_folder(self.folder(name)) as folder:
            for relative, content in contents.items():
                _copy(content, folder / relative)
            write_json_lines(folder / QUERIES_NAME, rows)
            write_json(folder / DESCRIPTION_NAME, _description(name, contents))


def files_of(query: Query) -> tuple[str, ...]:
    """Every file that the query names, each once: contexts, references, the data block of a hint."""
    references = query.references
    named = [path for variant in query.variants for path in query.context_files.get(variant, ())]
    named += [
        path
        for path in (
            references.d_src,
            references.d_der,
            references.stage1,
            references.stage2_python,
            references.stage2_html,
            references.chart_image,
            query.evidence_hint.get("data"),
        )
        if isinstance(path, str)
    ]
    return tuple(dict.fromkeys(named))


def path_inside(folder: Path, relative: str) -> Path:
    """``folder / relative``. Raises BenchmarkFormatError where that, links followed, lies outside."""
    try:
        path = folder / inside_benchmark(relative)
    except ValueError as error:
        raise BenchmarkFormatError(f"{error}.", remedy=f"Paths are relative to {folder}.") from error
    too_long = len(os.fsencode(relative)) > _MAX_PATH_BYTES
    if "\0" in relative or too_long or any(len(os.fsencode(part)) > _MAX_NAME_BYTES for part in path.parts):
        raise BenchmarkFormatError(f"the path {relative[:80]!r} can be no file's name.")
    if path in (folder / DESCRIPTION_NAME, folder / QUERIES_NAME):  # written anew by every import
        raise BenchmarkFormatError(f"the path {relative!r} is a file of the benchmark's own, and holds no content.")
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise BenchmarkFormatError(f"the path {relative!r} leads nowhere: {error}.") from error
    if not target.is_relative_to(folder.resolve()):
        raise BenchmarkFormatError(
            f"the path {relative!r} leaves the benchmark's folder through a link.",
            remedy=f"Put the file itself below {folder}.",
        )
    return path


_MAX_NAME_BYTES = 255
# Systems take 4096 for the whole of it, of which the storage's own folder is a part.
_MAX_PATH_BYTES = 1024


_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def content_problem(path: Path) -> str | None:
    """Why ``path`` has nothing to import, or None. A Git LFS pointer stands for a file, it is not the file."""
    if path.is_dir():
        return "a folder, not a file"
    if not path.is_file():
        return "missing from the source"
    with storage_errors(path, "read"), path.open("rb") as stream:
        pointer = stream.read(len(_LFS_POINTER)) == _LFS_POINTER
    return "only a Git LFS pointer (run git lfs pull in the clone)" if pointer else None


def read_queries(path: Path, benchmark: str) -> tuple[QueryPlace, ...]:
    """The queries of one queries.jsonl, in its order; ``benchmark`` is the name they carry.

    Raises BenchmarkFormatError with file and line for a line that is no query or repeats a uid.
    """
    try:
        stat = path.stat()
    except FileNotFoundError as error:
        raise BenchmarkFormatError(f"{path} is missing.", remedy="Import the benchmark again.") from error
    return _read_queries(path, benchmark, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)  # every stage of a run asks for the same few hundred records
def _read_queries(path: Path, benchmark: str, mtime_ns: int, size: int) -> tuple[QueryPlace, ...]:
    with storage_errors(path, "read"):
        lines = path.read_bytes().split(b"\n")
    places = [
        QueryPlace(query=parse_query(line, benchmark, f"{path} line {number}"), file=path, line=number)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    unique_uids(places)
    return tuple(places)


def parse_query(line: bytes, benchmark: str, place: str) -> Query:
    """One line of the project's own layout. Raises BenchmarkFormatError naming ``place`` and the field."""
    record = load_json(line, place, _REPAIR)
    if not isinstance(record, dict):
        raise BenchmarkFormatError(f"{place}: not a JSON object.", remedy=_REPAIR)
    try:
        return Query.model_validate({**record, "benchmark": benchmark})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "record"
        raise BenchmarkFormatError(f"{place}: {where}: {in_words(first['msg'])}.", remedy=_REPAIR) from error


def load_json(content: bytes, place: str, remedy: str = "") -> JsonValue:
    """Raises BenchmarkFormatError naming ``place`` for what is no JSON, however strange it is."""
    try:
        value: JsonValue = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BenchmarkFormatError(f"{place}: no valid JSON ({error}).", remedy=remedy) from error
    return value


_REPAIR = "Correct that line, or import the benchmark again; the layout is in docs/benchmark-layout.md."


def unique_uids(places: Iterable[QueryPlace]) -> dict[str, QueryPlace]:
    """uid -> place. Raises BenchmarkFormatError naming both places of a uid that comes twice."""
    seen: dict[str, QueryPlace] = {}
    for place in places:
        first = seen.setdefault(place.query.uid, place)
        if first is not place:
            raise BenchmarkFormatError(
                f"the uid {place.query.uid} comes twice: {first} and {place}.",
                remedy="Rename one of the two, or select one benchmark with DEEPCHART_BENCHMARKS.",
            )
    return seen


@dataclass(frozen=True)
class _Content:
    """A file to store: where it is now and what it holds."""

    source: Path
    file: OutputFile


def _contents(sources: Iterable[tuple[Query, Path]]) -> dict[str, _Content]:
    """Relative path -> content for every named file that exists; missing ones stay missing."""
    contents: dict[str, _Content] = {}
    for query, folder in sources:
        for relative in files_of(query):
            path = path_inside(folder, relative)
            if relative not in contents and content_problem(path) is None:
                with storage_errors(path, "read"):
                    file = OutputFile(sha256=sha256_file(path), bytes=path.stat().st_size)
                contents[relative] = _Content(source=path, file=file)
    return contents


def _copy(content: _Content, destination: Path) -> None:
    with storage_errors(destination, "write"):
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(content.source, destination)
    if sha256_file(destination) != content.file.sha256:
        raise StorageError(f"{content.source} changed while it was copied.", remedy="Import again.")


def _row(query: Query) -> JsonValue:
    row: JsonValue = query.model_dump(mode="json", exclude_defaults=True)
    return row


def _description(name: str, contents: Mapping[str, _Content]) -> JsonValue:
    files: dict[str, JsonValue] = {
        relative: {"sha256": content.file.sha256, "bytes": content.file.bytes}
        for relative, content in sorted(contents.items())
    }
    return {"format": BENCHMARK_FORMAT, "name": name, "files": files}


def _read_description(folder: Path) -> JsonValue:
    path = folder / DESCRIPTION_NAME
    with storage_errors(path, "read"):
        content = path.read_bytes()
    return load_json(content, str(path), "Import the benchmark again.")
