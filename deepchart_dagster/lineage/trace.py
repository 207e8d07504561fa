"""The whole way of one instance: from its leaderboard row through every result to the pages of its PDFs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.inputs import read_output
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.benchmark.model import TEXT_SETTINGS, Split
from deepchart_dagster.contexts.locate import Occurrence, TextLine, lines_of_instance, locate
from deepchart_dagster.errors import DeepChartError, StorageError
from deepchart_dagster.lineage.graph import NODES, PartitionKey, PartitionKind, node, plan
from deepchart_dagster.lineage.looks import documents_read
from deepchart_dagster.lineage.said import Said, said
from deepchart_dagster.lineage.why import Explanation, explanation
from deepchart_dagster.metrics.leaderboard import Cell, read_leaderboard
from deepchart_dagster.scoring.fidelity import MATCHES_NAME
from deepchart_dagster.workbench import Workbench

# The metrics of the leaderboard that an asset is, or is part of.
_METRICS = {
    "predicted_states": ("f1_src", "f1_der"),
    "rendered_charts": ("er", "vas"),
    "source_fidelity": ("f1_src",),
    "derived_fidelity": ("f1_der",),
    "execution_rate": ("er",),
    "visual_accuracy": ("vas",),
}
_PLACES_SHOWN = 3


@dataclass(frozen=True)
class Hop:
    """One result on the way. ``result`` is None where there is none; ``said`` is what was answered for it."""

    key: PartitionKey
    uid: str
    folder: Path
    result: InstanceResult | None
    explanation: Explanation
    said: Said | None = None

    def as_json(self) -> dict[str, object]:
        result = self.result
        return {
            "asset": self.key.asset,
            "partition": str(self.key),
            "uid": self.uid,
            "status": result.status.value if result else None,
            "problem": result.problem.kind if result and result.problem else None,
            "message": result.problem.message if result and result.problem else None,
            "value": result.value if result else {},
            "input_key": result.input_key if result else None,
            "made": result.started_at if result else None,
            "folder": str(self.folder),
            "files": sorted(result.files) if result else [],
            "fresh": self.explanation.fresh,
            "reason": self.explanation.reason,
            "changes": [{"part": one.part, "old": one.old, "new": one.new} for one in self.explanation.changes],
            "said": self.said.as_json() if self.said else None,
        }


@dataclass(frozen=True)
class Stage:
    """How the instance ended at a stage that is not on the way. ``result`` is None where it was not run, or where it
    cannot be read: ``damage`` says so."""

    key: PartitionKey
    result: InstanceResult | None
    damage: str | None = None

    def as_json(self) -> dict[str, object]:
        problem = self.result.problem if self.result else None
        return {
            "asset": self.key.asset,
            "partition": str(self.key),
            "status": self.result.status.value if self.result else None,
            "problem": problem.kind if problem else None,
            "message": problem.message if problem else self.damage,
            "value": self.result.value if self.result else {},
        }


@dataclass(frozen=True)
class ValuePlace:
    """A source value of the reference, the prediction it was matched with, and where it stands in the context."""

    reference: float
    predicted: float | None
    places: tuple[Occurrence, ...]

    def as_json(self) -> dict[str, JsonValue]:
        places: list[JsonValue] = [place.as_json() for place in self.places]
        return {"reference": self.reference, "predicted": self.predicted, "places": places}


def hops(bench: Workbench, key: PartitionKey, uid: str) -> list[Hop]:
    """The instance's results from ``key`` back to its documents, each with whether it is fresh."""
    found = []
    for name in _ancestors(key.asset):
        for upstream, instance in _instances(bench, key, uid, name):
            work = next((one for one in plan(bench, upstream) if one.uid == instance), None)
            if work is not None:
                found.append(_hop(bench, upstream, work))
    return found


def other_stages(bench: Workbench, key: PartitionKey, uid: str) -> list[Stage]:
    """The instance at all other stages with the same partitions, in the order of the pipeline, as they are stored."""
    way, kind = _ancestors(key.asset), node(key.asset).kind
    others = [each.name for each in NODES if each.kind is kind and each.name not in way]
    return [_stage(bench, replace(key, asset=name), uid) for name in others]


def _stage(bench: Workbench, key: PartitionKey, uid: str) -> Stage:
    try:
        return Stage(key, bench.artifacts.read(key.asset, key.step.scope, uid))
    except StorageError as error:
        return Stage(key, None, error.message)


def leaderboard_cells(bench: Workbench, key: PartitionKey) -> dict[str, Cell]:
    """The cells of the published leaderboard that this partition is counted in; none before the first report."""
    metrics = _METRICS.get(key.asset, ())
    try:
        rows = read_leaderboard(bench.settings.storage)
    except DeepChartError:
        return {}  # nothing was published yet
    own = [row for row in rows if (row.model, row.split) == (key.model, key.split)]
    return {f"{row.benchmark} {name}": row.cells[name] for row in own for name in metrics if name in row.cells}


def value_places(bench: Workbench, key: PartitionKey, uid: str) -> list[ValuePlace]:
    """Where the source values stand that this model's instance is scored against; none before it is scored, or where
    the score cannot be read."""
    if key.model is None or key.split is None:
        return []
    scored = _stage(bench, replace(key, asset="source_fidelity"), uid).result
    if scored is None or MATCHES_NAME not in scored.files:
        return []
    matches = json.loads(read_output(bench.artifacts, scored, MATCHES_NAME))
    lines = _lines(bench, uid, key.split)
    predicted = {reference: matches["predicted"][found] for reference, found in matches["pairs"]}
    return [
        ValuePlace(value, predicted.get(position), tuple(locate(lines, f"{value:.12g}")[:_PLACES_SHOWN]))
        for position, value in enumerate(matches["reference"])
    ]


def _lines(bench: Workbench, uid: str, split: Split) -> list[TextLine]:
    try:
        context, folder = bench.context_checks().context(uid, split)
        return list(lines_of_instance(context, folder, bench.evidence, bench.artifacts))
    except DeepChartError:
        return []  # the context's own hop says what is wrong with it


def _ancestors(asset: str) -> list[str]:
    """The asset and what it is made from, the last made first."""
    wanted = {asset}
    for each in reversed(NODES):
        if each.name in wanted:
            wanted |= set(each.upstream)
    return [each.name for each in reversed(NODES) if each.name in wanted]


def _instances(bench: Workbench, key: PartitionKey, uid: str, asset: str) -> Iterator[tuple[PartitionKey, str]]:
    """The partitions and uids of ``asset`` that the instance is made from."""
    kind = node(asset).kind
    if kind is node(key.asset).kind:
        yield PartitionKey(asset, key.document, key.split, key.model, key.backend), uid
    elif kind is PartitionKind.SPLIT:
        yield PartitionKey(asset, split=key.split or _text_split(bench, uid)), uid
    elif kind is PartitionKind.DOCUMENT and key.split is not None:
        works = [work for work in bench.context_variants().plan(key.split) if work.uid == uid]
        registered = {
            document.id for document in bench.documents.list()
        }  # a benchmark may ship what was read of its own
        for document in sorted(registered & documents_read(bench, works).keys()):
            yield PartitionKey(asset, document=document), document


def _text_split(bench: Workbench, uid: str) -> Split:
    """Any split that has the query: what the study of backends reads is shared by all of them."""
    return next(split for split in TEXT_SETTINGS if split in bench.library.query(uid).splits)


def _hop(bench: Workbench, key: PartitionKey, work: Work) -> Hop:
    step = key.step
    stored = bench.artifacts.read(step.asset, step.scope, work.uid)
    folder = bench.artifacts.folder(step.asset, step.scope, work.uid)
    answered = said(bench.artifacts, stored) if stored else None
    return Hop(key, work.uid, folder, stored, explanation(bench, work, stored), answered)
