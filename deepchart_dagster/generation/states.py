"""Stage 1: context and intent -> a program -> J, the predicted intermediate state (paper, B.1).

One instance leaves ``messages.json`` (as sent), ``answer.txt``, ``program.py`` and ``state.json`` (the bytes that
the program wrote). An answer without a program, a program that does not leave J, and a J that is not valid are
failures of the model: stage 2 is then not asked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_bytes
from deepchart_dagster.artifacts.inputs import output_file, read_output, usable_result
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore, materialize_command
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, Instance, Query, Split
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.benchmark.state import NAMES, Side, find_part, invalidity, load_state
from deepchart_dagster.contexts.model import ImageChunk, ModelContext
from deepchart_dagster.contexts.model_input import ModelInput, budget_identity, chunk_cap, fit_context
from deepchart_dagster.contexts.tokens import counter_of
from deepchart_dagster.errors import BenchmarkFormatError, MissingInputError, StorageError, UpstreamError
from deepchart_dagster.execution.model import Limits, ProgramRunner
from deepchart_dagster.generation.asking import (
    Asking,
    Attempt,
    Failure,
    Gates,
    asked_instances,
    first_backend,
    instances_at_once,
    intent_of,
    text_tokens,
    write_messages,
)
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatModel, ChatRequest, ImagePart, Message, PictureFile
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.stage_versions import STATE_VERSION

STATE_ASSET = "predicted_states"
STATE_NAME = "state.json"

_CONTEXT_ASSET = "context_variants"
_CONTEXT_NAME = "context.json"
_REFERENCE_ASSET = "references"
_PICTURE_SUFFIX = ".jpg"
_PROMPT = "stage1"


@dataclass(frozen=True)
class StateRequest:
    """What stage 1 asks about one instance, and what of the context it holds."""

    request: ChatRequest
    given: ModelInput


@dataclass(frozen=True)
class PredictedStateStage:
    """``workers`` programs run at once; model calls go by ``ModelSpec.concurrency``."""

    store: ArtifactStore
    library: Library
    client: ChatModel
    runner: ProgramRunner
    prompts: PromptSet
    limits: Limits
    workers: int = 1

    def plan(self, split: Split, model: ModelSpec) -> list[Work]:
        gates = Gates.of(programs=self.workers)
        shared = self._shared_key_parts(split, model)
        instances = asked_instances(self.library, split, model)
        return [self._work(instance, model, gates, shared) for instance in instances]

    def run(self, split: Split, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        """Raises StorageError where results cannot be written."""
        step = Step.own(STATE_ASSET, split.value, model.slug)
        at_once = instances_at_once(model, self.workers)
        return run_step(self.store, step, self.plan(split, model), concurrency=at_once, progress=progress)

    def request(self, instance: Instance, model: ModelSpec) -> StateRequest:
        """The exact request. Reads the stored context; raises UpstreamError, MissingInputError, ConfigurationError."""
        context, folder = self._context(instance)
        intent = intent_of(instance.query, first_backend(instance.query))
        headers = [_shown(file.title, file.document_id, file.name, "") for file in context.files]
        lines = _chunk_rows(context.chunks[: chunk_cap(model)])
        without = self.prompts.messages(_PROMPT, **intent, documents=headers, chunks=lines)
        fixed = text_tokens(without, counter_of(model.litellm_model))
        given = fit_context(context, folder, model, fixed)
        documents = [_shown(item.title, item.document_id, item.name, item.text) for item in given.documents]
        texts = self.prompts.messages(_PROMPT, **intent, documents=documents, chunks=_chunk_rows(given.chunks))
        pictures = tuple(_picture(chunk, folder) for chunk in given.chunks)
        *before, user = texts
        messages = (*before, Message(role="user", parts=(*user.parts, *pictures)))
        request = ChatRequest(
            model=model,
            messages=messages,
            purpose="stage1",
            prompt_hash=self.prompts.hash(_PROMPT),
            about=instance.uid,
        )
        return StateRequest(request=request, given=given)

    def _shared_key_parts(self, split: Split, model: ModelSpec) -> dict[str, object]:
        return {
            "version": STATE_VERSION,
            "prompt": self.prompts.hash(_PROMPT),
            **model.identity(),
            "budget": budget_identity(model, split.modality),
            "limits": asdict(self.limits),
            "runner": self.runner.identity(1, CodeType.PYTHON),
        }

    def _work(self, instance: Instance, model: ModelSpec, gates: Gates, shared: dict[str, object]) -> Work:
        query = instance.query
        needs_derived = self._needs_derived(query)
        known = {**shared, "intent": intent_of(query, first_backend(query)), "needs_derived": needs_derived}
        try:
            context = self._context_result(instance)
        except (UpstreamError, StorageError) as error:
            return Work(uid=query.uid, key=InputKey.of(**known, context=None), blocked=error)

        asking = Asking(self.client, self.runner, self.limits, gates, stage=1, backend=CodeType.PYTHON)
        size = _text_bytes(context)

        async def compute(folder: Path) -> Outcome:
            async with gates.texts.holding(size):
                request = await gates.prepared(self._prepared, instance, model, folder)
                asked = await asking.ask(request, folder)
                del request  # a long context would otherwise stay in memory while its program waits for its turn
            return await self._finish(await asking.run(asked), needs_derived, folder)

        return Work(uid=query.uid, key=InputKey.of(**known, context=context.output_hash), compute=compute)

    def _prepared(self, instance: Instance, model: ModelSpec, folder: Path) -> ChatRequest:
        """The request, written down beside what it will lead to."""
        stated = self.request(instance, model)
        write_messages(folder, stated.request.messages, stated.given.record())
        return stated.request

    async def _finish(self, attempt: Attempt, needs_derived: bool, folder: Path) -> Outcome:
        if isinstance(attempt.ended, Failure):
            return attempt.ended.outcome(attempt.observations)
        return await in_thread(_state_outcome, attempt.ended.output, needs_derived, folder, attempt.observations)

    def _context_result(self, instance: Instance) -> InstanceResult:
        return usable_result(self.store, _CONTEXT_ASSET, (instance.split.value,), instance.uid)

    def _context(self, instance: Instance) -> tuple[ModelContext, Path]:
        result = self._context_result(instance)
        path = output_file(self.store, result, _CONTEXT_NAME)
        data = read_output(self.store, result, _CONTEXT_NAME)
        try:
            context = ModelContext.model_validate_json(data)
        except ValidationError as error:
            raise UpstreamError(
                f"{path} is no context: {error.errors()[0]['msg']}.",
                remedy=f"Delete that folder, then: {materialize_command(_CONTEXT_ASSET)}.",
            ) from error
        if not context.files and not context.chunks:
            raise MissingInputError(
                f"{path} names neither a text nor a picture.", remedy="Check the query's documents."
            )
        return context, path.parent

    def _needs_derived(self, query: Query) -> bool:
        """Whether a valid J has derived data: where the reference has (METRICS, validity)."""
        try:
            result = self.store.read(_REFERENCE_ASSET, (), query.uid)
        except StorageError:
            result = None
        counted = result.value.get("n_derived") if result and result.status is Status.OK else None
        if isinstance(counted, int):
            return counted > 0
        references = query.references
        return references.d_der is not None or (references.programs_are_truth and references.stage1 is not None)


def _text_bytes(context: InstanceResult) -> int:
    """Of a stored context; its pictures stay on disk."""
    return sum(file.bytes for name, file in context.files.items() if not name.endswith(_PICTURE_SUFFIX))


def _state_outcome(output: bytes, needs_derived: bool, folder: Path, observations: dict[str, JsonValue]) -> Outcome:
    """``ok`` with the counts of both sides, or why the JSON that the program left is no valid J."""
    write_bytes(folder / STATE_NAME, output, sync=False)  # its size is checked before it is used
    try:
        state = load_state(output, name="the file that the program left")
    except BenchmarkFormatError as error:
        return Failure("invalid_output", error.message).outcome(observations)
    invalid = invalidity(state, needs_derived=needs_derived)
    if invalid:
        return Failure(invalid.kind, invalid.message).outcome(observations)
    return Outcome(value=_state_value(state), observations=observations)


def _state_value(state: JsonValue) -> dict[str, JsonValue]:
    """The counts of both sides, and right name -> the name that was used, where they differ."""
    sides: tuple[Side, ...] = ("src", "der")
    parts = [part for side in sides if (part := find_part(state, side))]
    counts = {part.side: len(numeric_leaves(part.content)) for part in parts}
    value: dict[str, JsonValue] = {"n_source": counts.get("src", 0), "n_derived": counts.get("der", 0)}
    misspelt: dict[str, JsonValue] = {NAMES[part.side][0]: part.name for part in parts if part.is_misspelt}
    return {**value, "misspelled": misspelt} if misspelt else value


def _shown(title: str, document_id: str, name: str, text: str) -> dict[str, str]:
    return {"title": title, "document_id": document_id, "name": name, "text": text}


def _chunk_rows(chunks: tuple[ImageChunk, ...]) -> list[dict[str, object]]:
    names = {"index", "document_id", "first_page", "last_page"}
    return [chunk.model_dump(include=names) for chunk in chunks]


def _picture(chunk: ImageChunk, folder: Path) -> ImagePart:
    file = PictureFile.at(folder / chunk.path, chunk.sha256)
    return ImagePart(data=file, media_type="image/jpeg", width=chunk.width, height=chunk.height)
