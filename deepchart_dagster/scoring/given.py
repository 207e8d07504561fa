"""What a model was given of a context, line by line, and where each line comes from.

A context that was too long for the model was cut (contexts.model_input); the record beside the messages says so, and
the same cut is made here again. Pages that were given as pictures are read as the engines read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import load_json
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult
from deepchart_dagster.artifacts.store import ArtifactStore, materialize_command
from deepchart_dagster.contexts.loaded import read_context
from deepchart_dagster.contexts.locate import TextLine, lines_of_instance
from deepchart_dagster.contexts.model_input import fit_context
from deepchart_dagster.contexts.variants import CONTEXT_VARIANTS
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.generation.states import STATE_ASSET
from deepchart_dagster.llm.registry import ModelSpec

MESSAGES_NAME = "messages.json"
_MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class GivenContext:
    """The context of one instance, as one model was given it for its state."""

    store: ArtifactStore
    evidence: EvidenceStore
    model: ModelSpec
    context: InstanceResult
    state: InstanceResult

    @classmethod
    def of(
        cls, store: ArtifactStore, evidence: EvidenceStore, model: ModelSpec, split: str, state: InstanceResult
    ) -> GivenContext:
        """Raises UpstreamError where there is no context, or the state was made from another one."""
        context = usable_result(store, CONTEXT_VARIANTS, (split,), state.uid)
        if state.files and state.key_parts.get("context") != context.output_hash:
            raise UpstreamError(
                f"{state.uid}: its context was made anew after {model.slug} was asked.",
                remedy=f"Ask again: {materialize_command(STATE_ASSET, state.scope)}.",
            )
        return cls(store, evidence, model, context, state)

    @property
    def identity(self) -> JsonValue:
        """What of it a result depends on: the context, and what of it was sent."""
        sent = self.state.files.get(MESSAGES_NAME)
        return {"context": self.context.output_hash, "messages": sent.sha256 if sent else None}

    def lines(self) -> list[TextLine]:
        """Raises DamagedFile, UpstreamError."""
        folder = self.store.folder(CONTEXT_VARIANTS, self.context.scope, self.context.uid)
        context = read_context(folder)
        record = self._record()
        if not record.get("cut"):
            return list(lines_of_instance(context, folder, self.evidence, self.store))
        given = fit_context(context, folder, self.model, int(str(record["fixed_tokens"])))
        *whole, last = context.files[: len(given.documents)] or (None,)
        before = context.model_copy(update={"files": tuple(whole), "chunks": given.chunks})
        lines = list(lines_of_instance(before, folder, self.evidence, self.store))
        if last is not None:
            alone = context.model_copy(update={"files": (last,), "chunks": ()})
            kept = given.documents[-1].text.split("\n")
            lines += _kept(lines_of_instance(alone, folder, self.evidence, self.store), kept)
        return lines

    def _record(self) -> dict[str, JsonValue]:
        data = read_output(self.store, self.state, MESSAGES_NAME)
        messages = load_json(data, name=MESSAGES_NAME, max_bytes=_MAX_BYTES)
        record = messages.get("input") if isinstance(messages, dict) else None
        return record if isinstance(record, dict) else {}


def _kept(lines: Iterable[TextLine], kept: Sequence[str]) -> Iterator[TextLine]:
    """Those that the leading part of a text has; the last of them may break off."""
    for line in lines:
        at = line.origin.line - 1
        if at < len(kept):
            yield replace(line, text=kept[at]) if at == len(kept) - 1 else line
