"""Stage 2: J and intent, never the context, -> code -> the chart (paper, B.1).

One instance leaves ``messages.json``, ``answer.txt``, ``program.py`` or ``program.html``, ``chart.png`` and, where
it could be seen, ``drawn.json``. Where stage 1 left no valid J the instance has failed already and the model is not
asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, sha256_bytes
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_bytes, write_json
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import InstanceResult, Outcome, Status
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, Instance, Query, Split
from deepchart_dagster.contexts.tokens import counter_of
from deepchart_dagster.errors import StorageError, UpstreamError
from deepchart_dagster.execution.images import png_size
from deepchart_dagster.execution.model import Limits, ProgramRunner
from deepchart_dagster.generation.asking import (
    Asking,
    Failure,
    Gates,
    Made,
    asked_instances,
    first_backend,
    instances_at_once,
    intent_of,
    text_tokens,
    write_messages,
)
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.generation.states import STATE_ASSET, STATE_NAME
from deepchart_dagster.llm.model import ChatModel, ChatRequest
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.stage_versions import CHART_VERSION

CHART_ASSET = "rendered_charts"
CHART_NAME = "chart.png"
DRAWN_NAME = "drawn.json"

_PROMPT = "stage2"


@dataclass(frozen=True)
class ChartMaking:
    """The collaborators of whatever asks models for charts. ``workers`` programs run at once."""

    store: ArtifactStore
    client: ChatModel
    runner: ProgramRunner
    prompts: PromptSet
    limits: Limits
    evidence: EvidenceStore
    workers: int = 1

    @property
    def prompt_hash(self) -> str:
        return self.prompts.hash(_PROMPT)

    def request(
        self, model: ModelSpec, *, code_type: str, intent: Mapping[str, JsonValue], json_data: str, about: str = ""
    ) -> ChatRequest:
        """``code_type`` and ``intent`` in a prompt's words, J as ``json_data``; ``about`` is the instance."""
        messages = self.prompts.messages(_PROMPT, code_type=code_type, **intent, json_data=json_data)
        return ChatRequest(model=model, messages=messages, purpose="stage2", prompt_hash=self.prompt_hash, about=about)

    def asking(self, gates: Gates, backend: CodeType | None) -> Asking:
        return Asking(self.client, self.runner, self.limits, gates, stage=2, backend=backend)

    def keep(self, made: Made, backend: CodeType, folder: Path) -> dict[str, JsonValue]:
        """Stores the chart and what is known of it; returns the result's value."""
        write_bytes(folder / CHART_NAME, made.output, sync=False)  # its size is checked before it is used
        if made.drawn is not None:
            write_json(folder / DRAWN_NAME, made.drawn, sync=False)
            self.evidence.put("drawn", sha256_bytes(made.output), made.drawn)
        width, height = png_size(made.output) or (None, None)
        return {"backend": backend.value, "width": width, "height": height}


@dataclass(frozen=True)
class RenderedChartStage:
    """``backend`` None: each query's own code type, Python where it allows Python."""

    making: ChartMaking
    library: Library
    backend: CodeType | None = None

    def plan(self, split: Split, model: ModelSpec) -> list[Work]:
        """The instances that stage 1 asks this model about."""
        gates = Gates.of(programs=self.making.workers)
        instances = asked_instances(self.library, split, model)
        return [self._work(instance, model, gates) for instance in instances]

    def run(self, split: Split, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        """Raises StorageError where results cannot be written."""
        step = Step.own(CHART_ASSET, split.value, model.slug)
        at_once = instances_at_once(model, self.making.workers)
        return run_step(self.making.store, step, self.plan(split, model), concurrency=at_once, progress=progress)

    def request(self, instance: Instance, model: ModelSpec) -> ChatRequest:
        """The exact request. Raises UpstreamError where stage 1 left no valid J, or its file was changed."""
        state = self._state(instance, model)
        if state.status is not Status.OK:
            raise UpstreamError(
                f"{instance.uid}: stage 1 of {model.slug} in {instance.split.value} left no valid J "
                f"({state.problem.kind if state.problem else state.status.value}); stage 2 is not asked."
            )
        json_data = read_output(self.making.store, state, STATE_NAME).decode("utf-8-sig").strip()
        backend = self._backend(instance.query)
        intent = intent_of(instance.query, backend)
        return self.making.request(
            model, code_type=backend.value, intent=intent, json_data=json_data, about=instance.uid
        )

    def _backend(self, query: Query) -> CodeType:
        return self.backend or first_backend(query)

    def _work(self, instance: Instance, model: ModelSpec, gates: Gates) -> Work:
        try:
            state = self._state(instance, model)
        except (UpstreamError, StorageError) as error:
            return Work(uid=instance.uid, key=InputKey.of(version=CHART_VERSION, state=None), blocked=error)
        if state.status is not Status.OK:
            return _not_asked(instance, state)

        async def compute(folder: Path) -> Outcome:
            return await self._compute(instance, model, gates, folder)

        return Work(uid=instance.uid, key=self._key(instance.query, model, state), compute=compute)

    def _key(self, query: Query, model: ModelSpec, state: InstanceResult) -> InputKey:
        """J by its bytes: how stage 1 came to it (context, prompt, answer) changes nothing here."""
        backend = self._backend(query)
        return InputKey.of(
            version=CHART_VERSION,
            state=state.files[STATE_NAME].sha256,
            intent=intent_of(query, backend),
            backend=backend.value,
            prompt=self.making.prompt_hash,
            **model.identity(),
            limits=asdict(self.making.limits),
            runner=self.making.runner.identity(2, backend),
        )

    async def _compute(self, instance: Instance, model: ModelSpec, gates: Gates, folder: Path) -> Outcome:
        backend = self._backend(instance.query)
        asking = self.making.asking(gates, backend)
        request = await gates.prepared(self._prepared, instance, model, folder)
        attempt = await asking.run(await asking.ask(request, folder))
        if isinstance(attempt.ended, Failure):
            return attempt.ended.outcome(attempt.observations)
        value = await in_thread(self.making.keep, attempt.ended, backend, folder)
        return Outcome(value=value, observations=attempt.observations)

    def _prepared(self, instance: Instance, model: ModelSpec, folder: Path) -> ChatRequest:
        """The request, written down beside what it will lead to."""
        request = self.request(instance, model)
        counted = text_tokens(request.messages, counter_of(model.litellm_model))
        write_messages(folder, request.messages, {"fixed_tokens": counted})
        return request

    def _state(self, instance: Instance, model: ModelSpec) -> InstanceResult:
        return usable_result(self.making.store, STATE_ASSET, (instance.split.value, model.slug), instance.uid)


def _not_asked(instance: Instance, state: InstanceResult) -> Work:
    kind = state.problem.kind if state.problem else state.status.value

    async def compute(folder: Path) -> Outcome:
        del folder
        return Outcome.failed("invalid_state", f"stage 1 left no valid J ({kind}); stage 2 was not asked")

    key = InputKey.of(version=CHART_VERSION, state={"status": state.status.value, "problem": kind})
    return Work(uid=instance.uid, key=key, compute=compute)
