"""Every context against its references: is it answerable, does it leak? (contexts.answerability)

The contexts room knows no references, so what brings the two together stands here. Nothing is stored: a check
reads the contexts and the references that lie in storage, and its answer is never older than they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import load_json
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Instance, Query, Split
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import Side, content_of, find_part
from deepchart_dagster.contexts.answerability import (
    Answerability,
    ContextPicture,
    ContextText,
    Reference,
    examine,
)
from deepchart_dagster.contexts.loaded import damaged_context, json_rows, read_context
from deepchart_dagster.contexts.locate import pages_of_chunk
from deepchart_dagster.contexts.model import ModelContext
from deepchart_dagster.contexts.pictures import FINGERPRINT, fingerprint_of_bytes
from deepchart_dagster.contexts.variants import CONTEXT_VARIANTS
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.generation.preview import find_instance
from deepchart_dagster.scoring.references import ASSET as REFERENCES
from deepchart_dagster.scoring.references import CHART_NAME
from deepchart_dagster.scoring.tables import REFERENCE_MAX_BYTES, read_reference

_LISTED = 12


@dataclass(frozen=True)
class ContextCheck:
    """One instance looked at; ``problem`` instead of ``found`` where its context or references are not there.

    ``is_own`` marks a benchmark whose references are computed from the documents (the built-in one): there
    we answer for every value, while the references of others may hold what no document states.
    """

    uid: str
    benchmark: str
    is_own: bool
    found: Answerability | None = None
    problem: str | None = None

    @property
    def leaks(self) -> bool:
        return self.found is not None and bool(self.found.leaks)

    @property
    def unanswerable(self) -> bool:
        return self.found is not None and bool(self.found.unanswerable)

    @property
    def is_wrong(self) -> bool:
        """Something to be put right: a leak, nothing to check, or a value missing where we answer for all of them."""
        return self.problem is not None or self.leaks or (self.is_own and self.unanswerable)

    def as_text(self) -> str:
        if self.found is None:
            return f"{self.uid}: not checked: {self.problem}"
        found = self.found
        ways = "; ".join(f"{count} {how}" for how, count in found.how.items())
        n_missing = len(found.missing)
        lines = [f"{self.uid}: {found.n_source - n_missing} of {found.n_source} source values are there ({ways})"]
        lines += [
            f"  missing {value.value:.15g}{' (a derived value as well)' if value.is_derived else ''}"
            for value in found.missing[:_LISTED]
        ]
        if n_missing > _LISTED:
            lines.append(f"  and {n_missing - _LISTED} more: --json lists them all")
        lines += [f"  leak in {leak.place}: {leak.message}" for leak in found.leaks]
        lines += [f"  no source value stands in {place}" for place in found.needless]
        return "\n".join(lines)

    def as_json(self) -> dict[str, JsonValue]:
        found = self.found or Answerability(n_source=0)
        return {
            "uid": self.uid,
            "benchmark": self.benchmark,
            "problem": self.problem,
            "n_source": found.n_source,
            "found": dict(found.how),
            "missing": [value.as_json() for value in found.missing],
            "leaks": [leak.as_json() for leak in found.leaks],
            "n_telling": found.n_telling,
            "needless": list(found.needless),
        }


@dataclass(frozen=True)
class ContextChecks:
    """Looks at the contexts of a split. Reads only."""

    store: ArtifactStore
    library: Library
    evidence: EvidenceStore

    def run(self, split: Split, uid: str | None = None) -> list[ContextCheck]:
        """Every instance of the split, or the one named (raises UsageError where the split has it not)."""
        instances = self.library.instances(split) if uid is None else [find_instance(self.library, uid, split)]
        return [self._check(instance) for instance in instances]

    def _check(self, instance: Instance) -> ContextCheck:
        query = instance.query
        is_own = query.references.programs_are_truth
        try:
            found = self._examined(instance)
        except DeepChartError as error:
            return ContextCheck(query.uid, query.benchmark, is_own, problem=str(error))
        return ContextCheck(query.uid, query.benchmark, is_own, found=found)

    def context(self, uid: str, split: Split) -> tuple[ModelContext, Path]:
        """An instance's context and its folder. Raises UsageError, UpstreamError, DamagedFile."""
        instance = find_instance(self.library, uid, split)
        result = usable_result(self.store, CONTEXT_VARIANTS, (split.value,), instance.uid)
        folder = self.store.folder(CONTEXT_VARIANTS, result.scope, result.uid)
        return read_context(folder), folder

    def _examined(self, instance: Instance) -> Answerability:
        context, folder = self.context(instance.uid, instance.split)
        return examine(
            list(_texts(context, folder, self.evidence)),
            list(_pictures(context, folder)),
            self._reference(instance.query),
        )

    def _reference(self, query: Query) -> Reference:
        """Finance repeats its source values, without the derived columns of d_src, in d_der."""
        result = usable_result(self.store, REFERENCES, (), query.uid)
        files = {name: read_output(self.store, result, name) for name in result.files}
        source = {name: data for name, data in files.items() if Path(name).stem == "d_src"}
        derived = {name: data for name, data in files.items() if Path(name).stem == "d_der"}
        plain = [values for name, data in derived.items() if (values := _repeated_source(name, data))]
        return Reference(
            source=tuple(number for name, data in source.items() for number in _values(name, data, "src")),
            derived=tuple(number for name, data in derived.items() for number in _values(name, data, "der")),
            plain_source=tuple(plain[0]) if plain else None,
            derived_files=tuple(data.decode("utf-8", "replace") for data in derived.values()),
            chart=files.get(CHART_NAME),
        )


def _values(name: str, data: bytes, side: Side) -> list[float]:
    return read_reference(data, Path(name).suffix, side, name=name) or []


def _repeated_source(name: str, data: bytes) -> list[float]:
    """Source values that a derived file has beside its own; none where it is free-form."""
    state = load_json(data, name=name, max_bytes=REFERENCE_MAX_BYTES)
    return numeric_leaves(content_of(state, "src")) if find_part(state, "der") else []


def _texts(context: ModelContext, folder: Path, evidence: EvidenceStore) -> Iterator[ContextText]:
    """The context's texts, and what was read of the pages that its chunks show."""
    for file in context.files:
        with damaged_context(folder):
            yield ContextText(file.path.removeprefix("files/"), (folder / file.path).read_text(encoding="utf-8"))
    for chunk in context.chunks:
        for page, markdown in pages_of_chunk(chunk, evidence).items():
            yield ContextText(f"{chunk.document_id} page {page}", markdown, is_page=True)


def _pictures(context: ModelContext, folder: Path) -> Iterator[ContextPicture]:
    """The chunks themselves, and the pictures on the pages that they show."""
    for chunk in context.chunks:
        with damaged_context(folder):
            own = fingerprint_of_bytes((folder / chunk.path).read_bytes())
            rows = json_rows(folder / chunk.pictures) if chunk.pictures else []
        if own is not None:
            yield ContextPicture(chunk.path, own)
        for row in rows:
            page = row.pop("page")
            yield ContextPicture(f"{chunk.document_id} page {page}", FINGERPRINT.validate_python(row))
