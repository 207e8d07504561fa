"""The controlled study of rendering backends (paper, section 5.4): stage 2 alone, from the reference's J.

Every model draws the same (D_src, D_der) as Python, as HTML, and in the backend of its own choice. Python and HTML are
asked about all queries of the four text settings, free choice about 50 seeded instances of each (or a user's list of
uids, ``DEEPCHART_BACKEND_STUDY=FILE``). A context is no part of stage 2, so that a query asked in two settings is one
request, asked and paid once; it counts in each setting.

One query leaves ``messages.json``, ``answer.txt``, ``program.py`` or ``program.html``, ``chart.png`` and, where it
could be seen, ``drawn.json``. What the model chose is ``backend`` in the result's value.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, content_hash
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.interrupts import in_thread
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import TEXT_SETTINGS, Backend, CodeType, Query, Split
from deepchart_dagster.benchmark.reference_state import reference_content
from deepchart_dagster.benchmark.state import NAMES, Side
from deepchart_dagster.benchmark.subset import check_listed, read_uids
from deepchart_dagster.contexts.tokens import counter_of
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.generation.asking import Failure, Gates, instances_at_once, text_tokens, write_messages
from deepchart_dagster.generation.charts import ChartMaking
from deepchart_dagster.llm.model import ChatRequest
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.stage_versions import CHART_VERSION

STUDY_ASSET = "backend_charts"
FREE_SAMPLE = 50
FREE_SEED = 54
_REFERENCES = "references"


@dataclass(frozen=True)
class StudyInstance:
    """A query and the settings in which it counts."""

    query: Query
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class StudySelection:
    """Which queries the study asks about; ``listed`` is a file of uids that replaces the sample of free choice."""

    library: Library
    listed: Path | None = None

    def instances(self, backend: Backend, model: ModelSpec) -> list[StudyInstance]:
        """Sorted by uid. Raises ConfigurationError for a list that cannot be read."""
        if backend is Backend.FREE and self.listed is not None:
            check_listed(
                self.listed, {query.uid for split in TEXT_SETTINGS for query in self.library.queries_of(split)}
            )
        settings: dict[str, list[Split]] = {}
        queries: dict[str, Query] = {}
        for split in TEXT_SETTINGS:
            known = [query for query in self.library.queries_of(split) if model.knows(query.benchmark)]
            for query in known if backend is not Backend.FREE else self._sample(split, known):
                queries[query.uid] = query
                settings.setdefault(query.uid, []).append(split)
        return [StudyInstance(queries[uid], tuple(settings[uid])) for uid in sorted(queries)]

    def _sample(self, split: Split, queries: Sequence[Query]) -> list[Query]:
        if self.listed is not None:
            uids = read_uids(self.listed)
            return [query for query in queries if query.uid in uids]
        return [
            query
            for benchmark in sorted({query.benchmark for query in queries})
            for query in _drawn(split, benchmark, [query for query in queries if query.benchmark == benchmark])
        ]


def _drawn(split: Split, benchmark: str, queries: Sequence[Query]) -> list[Query]:
    ordered = sorted(queries, key=lambda query: query.uid)
    chance = random.Random(f"{FREE_SEED}/{benchmark}/{split.value}")  # noqa: S311 - has to repeat
    return chance.sample(ordered, min(FREE_SAMPLE, len(ordered)))


@dataclass(frozen=True)
class BackendChartStage:
    """Partition and scope: (backend, model). What a chart takes is as in rendered_charts (``making``)."""

    making: ChartMaking
    selection: StudySelection

    def plan(self, backend: Backend, model: ModelSpec) -> list[Work]:
        gates = Gates.of(programs=self.making.workers)
        return [
            self._work(instance.query, backend, model, gates) for instance in self.selection.instances(backend, model)
        ]

    def run(self, backend: Backend, model: ModelSpec, progress: Progress | None = None) -> StepSummary:
        """Raises StorageError where results cannot be written."""
        step = Step.own(STUDY_ASSET, backend.value, model.slug)
        at_once = instances_at_once(model, self.making.workers)
        return run_step(self.making.store, step, self.plan(backend, model), concurrency=at_once, progress=progress)

    def request(self, query: Query, backend: Backend, model: ModelSpec) -> ChatRequest:
        """The exact request. Raises UpstreamError where the reference is not there."""
        return self._request(query, backend, model, self._state(query, self._reference(query)))

    def _request(self, query: Query, backend: Backend, model: ModelSpec, state: JsonValue) -> ChatRequest:
        json_data = json.dumps(state, ensure_ascii=False, indent=1)
        return self.making.request(
            model, code_type=backend.words, intent=_intent(query, backend), json_data=json_data, about=query.uid
        )

    def _work(self, query: Query, backend: Backend, model: ModelSpec, gates: Gates) -> Work:
        try:
            reference = self._reference(query)
            state = self._state(query, reference)
        except DeepChartError as error:
            return Work(uid=query.uid, key=InputKey.of(version=CHART_VERSION, state=None), blocked=error)
        if not state.get(NAMES["src"][0]):
            return _no_reference(query)

        async def compute(folder: Path) -> Outcome:
            return await self._compute(query, backend, model, state, gates, folder)

        return Work(uid=query.uid, key=self._key(query, backend, model, state), compute=compute)

    def _key(self, query: Query, backend: Backend, model: ModelSpec, state: JsonValue) -> InputKey:
        code_types = [backend.code_type] if backend.code_type else list(CodeType)
        return InputKey.of(
            version=CHART_VERSION,
            state=content_hash(state),
            intent=_intent(query, backend),
            backend=backend.value,
            prompt=self.making.prompt_hash,
            **model.identity(),
            limits=asdict(self.making.limits),
            runner={kind.value: self.making.runner.identity(2, kind) for kind in code_types},
        )

    async def _compute(
        self, query: Query, backend: Backend, model: ModelSpec, state: JsonValue, gates: Gates, folder: Path
    ) -> Outcome:
        asking = self.making.asking(gates, backend.code_type)
        request = await gates.prepared(self._prepared, query, backend, model, state, folder)
        asked = await asking.ask(request, folder)
        attempt = await asking.run(asked)
        chosen = {"chosen_backend": asked.backend.value if asked.backend else None}
        if isinstance(attempt.ended, Failure):
            return attempt.ended.outcome({**attempt.observations, **chosen}).model_copy(update={"value": chosen})
        value = await in_thread(self.making.keep, attempt.ended, asked.backend or CodeType.PYTHON, folder)
        return Outcome(value={**value, **chosen}, observations=attempt.observations)

    def _prepared(
        self, query: Query, backend: Backend, model: ModelSpec, state: JsonValue, folder: Path
    ) -> ChatRequest:
        """The request, written down beside what it will lead to."""
        request = self._request(query, backend, model, state)
        counted = text_tokens(request.messages, counter_of(model.litellm_model))
        write_messages(folder, request.messages, {"fixed_tokens": counted})
        return request

    def _reference(self, query: Query) -> InstanceResult:
        return usable_result(self.making.store, _REFERENCES, (), query.uid)

    def _state(self, query: Query, reference: InstanceResult) -> dict[str, JsonValue]:
        """J of the reference; a side that it does not have is left out."""
        state: dict[str, JsonValue] = {}
        sides: tuple[Side, ...] = ("src", "der")
        for side in sides:
            content = self._side(query, reference, side)
            if content not in (None, "", [], {}):
                state[NAMES[side][0]] = content
        return state

    def _side(self, query: Query, reference: InstanceResult, side: Side) -> JsonValue:
        names = [name for name in reference.files if Path(name).stem == f"d_{side}"]
        if not names:
            return None
        data = read_output(self.making.store, reference, names[0])
        return reference_content(data, Path(names[0]).suffix.lower(), side, name=f"{query.uid} {names[0]}")


def _intent(query: Query, backend: Backend) -> dict[str, JsonValue]:
    return {
        "chart_type": query.chart_type,
        "chart_purpose": query.purpose_in(backend.words),
        "chart_layout": query.chart_layout,
    }


def _no_reference(query: Query) -> Work:
    async def compute(folder: Path) -> Outcome:
        del folder
        return Outcome.not_applicable("no_reference", "the query has no reference data to draw")

    return Work(uid=query.uid, key=InputKey.of(version=CHART_VERSION, state="none"), compute=compute)
