"""Grounding: the share of predicted source values that stand in the context the model was given (design: metrics).

A value stands there as it is written, in a unit that its document states (thousands, millions, billions, trillions),
as percent for a fraction or the other way round where the document has percent signs, as a dash for zero, or with the
other sign: filings put in parentheses what is counted as positive. A number rounded by the context is not the value.

Years of fiscal periods count like other values, as everywhere in the scores.

ok               the state has source values; ``value`` holds grounding, n_values, n_found and how often in which way
not_applicable   there is no valid state, or no number on its source side
error            the context could not be had: unscored
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Work
from deepchart_dagster.benchmark.model import Instance
from deepchart_dagster.contexts.locate import TextLine
from deepchart_dagster.contexts.written import NumberIndex, plain_text
from deepchart_dagster.errors import InfrastructureError
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.scoring.given import GivenContext
from deepchart_dagster.scoring.labelled import Labelled, labelled_leaves
from deepchart_dagster.scoring.prediction import PredictedState
from deepchart_dagster.scoring.stage import ScoreStage, scope_of
from deepchart_dagster.stage_versions import GROUNDING_VERSION

ASSET = "grounding"
GROUNDING_NAME = "grounding.json"
GROUNDING_FORMAT = "deepchart-grounding/1"
_ROUNDED = ", rounded"


@dataclass(frozen=True)
class Grounded:
    """One predicted value and where it stands; ``line`` and ``how`` are None where it stands nowhere.

    ``how`` says what made it match: "as written", "in millions", "percent", "as a dash", each with ", other sign"
    where that differs. ``page`` is None where nobody knows the page.
    """

    leaf: Labelled
    line: TextLine | None = None
    writing: str | None = None
    how: str | None = None

    @property
    def is_found(self) -> bool:
        return self.how is not None

    @property
    def page(self) -> int | None:
        """A number may stand on another page than its line: a table that goes on there."""
        if self.line is None:
            return None
        bare = (self.writing or "").strip("()$€£¥%-−– ")
        own = next((number.page for number in self.line.origin.numbers if number.text == bare), None)
        return own if own is not None else self.line.origin.page

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "value": self.leaf.value,
            "labels": [*self.leaf.keys, *self.leaf.names],
            "how": self.how,
            "writing": self.writing,
            "document_id": self.line.origin.document_id if self.line else None,
            "place": self.line.place if self.line else None,
            "page": self.page,
        }


def ground(values: Iterable[Labelled], lines: Iterable[TextLine]) -> list[Grounded]:
    """Each value with the first place that has it, the documents in the order in which they were given."""
    text = [line for line in lines if line.origin.kind != "page"]
    documents = [_Document(list(group)) for _, group in groupby(text, key=lambda line: line.origin.document_id)]
    return [_grounded(value, documents) for value in values]


class _Document:
    """Lines of one document: a unit that it states anywhere may hold for any of its numbers."""

    def __init__(self, lines: Sequence[TextLine]) -> None:
        self._lines = lines

    @cached_property
    def _index(self) -> NumberIndex:
        return NumberIndex(plain_text(line.text) for line in self._lines)

    def find(self, leaf: Labelled) -> Grounded | None:
        found = self._index.find(leaf.value)
        if found is None or found.how.endswith(_ROUNDED):
            return None
        line = self._lines[found.text] if found.text is not None else self._first_dash
        return Grounded(leaf, line, found.number.writing, found.how)

    @cached_property
    def _first_dash(self) -> TextLine:
        return next(line for line in self._lines if NumberIndex([plain_text(line.text)]).has_nil)


def _grounded(leaf: Labelled, documents: Sequence[_Document]) -> Grounded:
    """The plainest of the documents' findings: as written somewhere before in millions elsewhere."""
    found = [place for document in documents if (place := document.find(leaf)) is not None]
    return min(found, key=_plainness, default=Grounded(leaf))


def _plainness(place: Grounded) -> tuple[bool, bool]:
    how = place.how or ""
    return ("other sign" in how, not how.startswith("as "))


@dataclass(frozen=True)
class GroundingStage(ScoreStage):
    """Reads predicted_states and context_variants. Partition and scope: (split, model)."""

    evidence: EvidenceStore

    @property
    def asset(self) -> str:
        return ASSET

    def work(self, instance: Instance, model: ModelSpec) -> Work:
        uid, scope = instance.uid, scope_of(instance, model)
        try:
            state = PredictedState.of(self.store, scope, uid)
            given = GivenContext.of(self.store, self.evidence, model, instance.split.value, state.result)
        except InfrastructureError as error:
            return Work(uid, InputKey.of(version=GROUNDING_VERSION), blocked=error)
        key = InputKey.of(version=GROUNDING_VERSION, state=state.identity, given=given.identity)
        return Work(uid, key, compute=_Grounding(state, given).compute)


@dataclass(frozen=True)
class _Grounding:
    state: PredictedState
    given: GivenContext

    async def compute(self, folder: Path) -> Outcome:
        unusable = self.state.unusable
        return unusable if unusable is not None else await asyncio.to_thread(self._ground, folder)

    def _ground(self, folder: Path) -> Outcome:
        values = labelled_leaves(self.state.content("src"))
        if not values:
            return Outcome.not_applicable("no_numbers", "the prediction has no source value that is a number")
        grounded = ground(values, self.given.lines())
        places: list[JsonValue] = [one.as_json() for one in grounded]
        write_json(folder / GROUNDING_NAME, {"format": GROUNDING_FORMAT, "values": places})
        ways = Counter(one.how for one in grounded if one.how is not None)
        n_found = sum(ways.values())
        return Outcome(
            value={
                "grounding": n_found / len(grounded),
                "n_values": len(grounded),
                "n_found": n_found,
                "ways": dict(sorted(ways.items())),
            }
        )
