"""Builds every stage from the settings, the same way for Dagster and for the command line.

A workbench is opened, used and closed: closing ends the browser and the sandbox workers that its runner
started. Parts are made when first asked for, so that reading contexts starts no browser.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.benchmark.subset import Selection
from deepchart_dagster.errors import ConfigurationError, UsageError
from deepchart_dagster.execution.model import Limits, ProgramRunner
from deepchart_dagster.llm.registry import JudgesFile, ModelSpec, load_judges, load_models, load_providers
from deepchart_dagster.settings import Settings

if TYPE_CHECKING:
    from deepchart_dagster.benchmark.state import Side
    from deepchart_dagster.contexts.inbox import Inbox
    from deepchart_dagster.contexts.locate import Occurrence
    from deepchart_dagster.contexts.ocr import OcrContextStage, RawDocumentStage
    from deepchart_dagster.contexts.variants import ContextVariantStage
    from deepchart_dagster.execution.runner import LocalRunner
    from deepchart_dagster.generation.backend_study import BackendChartStage, StudySelection
    from deepchart_dagster.generation.charts import ChartMaking, RenderedChartStage
    from deepchart_dagster.generation.preview import Preview
    from deepchart_dagster.generation.prompts import PromptSet
    from deepchart_dagster.generation.states import PredictedStateStage
    from deepchart_dagster.llm.budget import Limits as BudgetLimits
    from deepchart_dagster.llm.client import LiteLLMClient
    from deepchart_dagster.llm.picture_store import PictureStore
    from deepchart_dagster.scoring.backend_scores import BackendScoreStage
    from deepchart_dagster.scoring.calibration import Calibration
    from deepchart_dagster.scoring.context_checks import ContextChecks
    from deepchart_dagster.scoring.diagnosing import DiagnosisStage
    from deepchart_dagster.scoring.drawn_fidelity import DrawnFidelityStage
    from deepchart_dagster.scoring.execution import ExecutionStage
    from deepchart_dagster.scoring.fidelity import FidelityStage
    from deepchart_dagster.scoring.grounding import GroundingStage
    from deepchart_dagster.scoring.judge_agreement import AgreementTables
    from deepchart_dagster.scoring.judge_study import JudgeStudyStage
    from deepchart_dagster.scoring.reference_faults import ReferenceChecks
    from deepchart_dagster.scoring.references import ReferenceStage
    from deepchart_dagster.scoring.rubrics import RubricStage
    from deepchart_dagster.scoring.validation_subset import SubsetDrawing, SubsetStore, ValidationSubset
    from deepchart_dagster.scoring.visual import Judging, VisualAccuracyStage

PreviewStage: TypeAlias = Literal[1, 2, "rubric", "judge"]

# The runners that are kept for the next workbench, by what they are made of; None: each workbench closes its own.
_kept_runners: dict[Hashable, LocalRunner] | None = None


@contextmanager
def keep_runners() -> Iterator[None]:
    """While it lasts, the workbenches of this process share runners: an interpreter that has its libraries ready, or a
    browser, serves one asset after another. All are closed in the end."""
    global _kept_runners
    if _kept_runners is not None:
        yield
        return
    _kept_runners = {}
    try:
        yield
    finally:
        kept, _kept_runners = _kept_runners, None
        for runner in kept.values():
            runner.close()


class Workbench:
    """Collaborators and stages for one set of settings. Use as a context manager.

    ``runner`` runs programs in place of one of its own; whoever gives it closes it.
    """

    def __init__(self, settings: Settings, runner: ProgramRunner | None = None) -> None:
        self.settings = settings
        self._given_runner = runner

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        runner = self.__dict__.pop("_own_runner", None)
        if runner is not None and runner not in (_kept_runners or {}).values():
            runner.close()

    @cached_property
    def artifacts(self) -> ArtifactStore:
        return ArtifactStore(self.settings.storage, only_errors=self.settings.only_errors)

    @cached_property
    def evidence(self) -> EvidenceStore:
        return EvidenceStore(self.settings.storage)

    @cached_property
    def documents(self) -> DocumentStore:
        return DocumentStore(self.settings.storage)

    @cached_property
    def library(self) -> Library:
        return Library(
            self.settings.storage,
            self.settings.benchmarks,
            Selection(self.settings.storage, self.settings.ultra_long),
        )

    @cached_property
    def models(self) -> dict[str, ModelSpec]:
        return load_models(self.settings.models_file)

    @cached_property
    def judges(self) -> JudgesFile:
        return load_judges(self.settings.judges_file)

    @cached_property
    def prompts(self) -> PromptSet:
        from deepchart_dagster.generation.prompts import PromptSet

        return PromptSet.load(self.settings.prompts)

    @cached_property
    def client(self) -> LiteLLMClient:
        from deepchart_dagster.llm.client import LiteLLMClient
        from deepchart_dagster.llm.retry import RetryPolicy

        return LiteLLMClient(
            self.settings.storage,
            retry=RetryPolicy(attempts=self.settings.call_attempts),
            providers=load_providers(self.settings.models_file),
            limits=self.budget,
            pictures=self._picture_store,
        )

    @property
    def _picture_store(self) -> PictureStore | None:
        from deepchart_dagster.llm.picture_store import PictureStore

        place = self.settings.picture_store
        return PictureStore(place, self.settings.picture_url) if place else None

    @property
    def budget(self) -> BudgetLimits:
        from deepchart_dagster.llm.budget import Limits as BudgetLimits

        settings = self.settings
        return BudgetLimits(settings.max_cost, settings.max_tokens, settings.budget_since)

    @property
    def runner(self) -> ProgramRunner:
        return self._given_runner or self._own_runner

    @cached_property
    def _own_runner(self) -> LocalRunner:
        from deepchart_dagster.execution.runner import LocalRunner
        from deepchart_dagster.execution.sandbox.container.options import ContainerOptions

        settings, containers = self.settings, ContainerOptions.of(self.settings)
        made_of = (settings.sandbox, settings.workers, containers, settings.fork_servers_mb)
        if _kept_runners is not None and made_of in _kept_runners:
            return _kept_runners[made_of]
        runner = LocalRunner(
            tier=settings.sandbox,
            workers=settings.workers,
            containers=containers,
            fork_servers_memory_mb=settings.fork_servers_mb,
        )
        if _kept_runners is not None:
            _kept_runners[made_of] = runner
        return runner

    def inbox(self) -> Inbox:
        from deepchart_dagster.contexts.inbox import Inbox

        return Inbox(self.documents)

    def model(self, slug: str) -> ModelSpec:
        """Raises ConfigurationError that lists the slugs there are."""
        try:
            return self.models[slug]
        except KeyError:
            raise ConfigurationError(
                f"{self.settings.models_file} has no model {slug!r}.", remedy=f"It has: {', '.join(self.models)}."
            ) from None

    def applicable(self, model: ModelSpec, split: Split) -> bool:
        """Whether ``model`` is asked about any instance of ``split``; else it has no such partition."""
        from deepchart_dagster.generation.asking import asked_instances

        return bool(asked_instances(self.library, split, model))

    @property
    def stage1_limits(self) -> Limits:
        return Limits(wall_s=self.settings.stage1_timeout_s)

    @property
    def chart_limits(self) -> Limits:
        return Limits(wall_s=self.settings.chart_timeout_s)

    def previews(self, uid: str, model: ModelSpec, split: Split, stage: PreviewStage) -> list[Preview]:
        """The calls that ``stage`` would make for one instance, exactly as they would be sent; asks nobody.

        Raises UsageError for an instance that is not there, UpstreamError where the step before left nothing.
        """
        from deepchart_dagster.generation.preview import Preview, find_instance, preview

        if stage in (1, 2):
            charts, states = self.rendered_charts(), self.predicted_states()
            return [preview(uid, model, split, 2 if stage == 2 else 1, states=states, charts=charts)]
        query = find_instance(self.library, uid, split).query
        if stage == "rubric":
            return [Preview.of(request) for request in self.rubrics().requests(query)]
        return [Preview.of(request) for request in self.visual_accuracy().requests(query, split, model)]

    def locate(self, name: str, number: str, split: Split | None = None) -> list[Occurrence]:
        """Places of a number in a document, or in the context of the instance ``name`` of ``split``.

        Raises UsageError for what is no number, no document or no instance, UpstreamError where nothing was built yet.
        """
        from deepchart_dagster.contexts import locate
        from deepchart_dagster.contexts.loaded import load_context

        if split is None:
            lines = locate.lines_of_document(load_context(self.artifacts, self.documents.get(name).id))
        else:
            context, folder = self.context_checks().context(name, split)
            lines = locate.lines_of_instance(context, folder, self.evidence, self.artifacts)
        return locate.locate(lines, number)

    def draw_place(self, places: Sequence[Occurrence], nth: int, picture: Path) -> Occurrence:
        """Draw the page of the ``nth`` place (from 1) with a frame round it; returns that place. Raises UsageError."""
        from deepchart_dagster.contexts.locate import draw_place

        if nth > len(places):
            raise UsageError(f"there is no place {nth}.", remedy=f"There are {len(places)}.")
        place = places[nth - 1]
        draw_place(self.documents.pdf(place.document_id), place, picture)
        return place

    def raw_documents(self) -> RawDocumentStage:
        from deepchart_dagster.contexts.ocr import RawDocumentStage

        return RawDocumentStage(store=self.artifacts, documents=self.documents, max_pages=self.settings.max_pages)

    def ocr_contexts(self) -> OcrContextStage:
        from deepchart_dagster.contexts.engines.config import EngineConfig
        from deepchart_dagster.contexts.ocr import OcrContextStage
        from deepchart_dagster.contexts.reading import ReadingOptions

        return OcrContextStage(
            store=self.artifacts,
            documents=self.documents,
            engine=EngineConfig.of(self.settings),
            options=ReadingOptions(
                workers=self.settings.workers,
                page_timeout_s=self.settings.page_timeout_s,
                pages_per_child=self.settings.pages_per_child,
                memory_mb=self.settings.page_memory_mb,
            ),
            max_pages=self.settings.max_pages,
        )

    def context_variants(self) -> ContextVariantStage:
        from deepchart_dagster.contexts.variants import ContextVariantStage

        return ContextVariantStage(
            store=self.artifacts, library=self.library, documents=self.documents, evidence=self.evidence
        )

    def context_checks(self) -> ContextChecks:
        from deepchart_dagster.scoring.context_checks import ContextChecks

        return ContextChecks(store=self.artifacts, library=self.library, evidence=self.evidence)

    def reference_checks(self) -> ReferenceChecks:
        from deepchart_dagster.scoring.reference_faults import ReferenceChecks

        return ReferenceChecks(store=self.artifacts, library=self.library, evidence=self.evidence)

    def references(self) -> ReferenceStage:
        from deepchart_dagster.scoring.references import ReferenceStage

        return ReferenceStage(
            store=self.artifacts,
            library=self.library,
            runner=self.runner,
            evidence=self.evidence,
            stage1_limits=self.stage1_limits,
            chart_limits=self.chart_limits,
        )

    def rubrics(self) -> RubricStage:
        from deepchart_dagster.scoring.rubrics import RubricStage

        return RubricStage(
            store=self.artifacts,
            library=self.library,
            client=self.client,
            judges=self.judges,
            prompts=self.prompts,
            rubric_writer=self.settings.rubric_writer,
        )

    def predicted_states(self) -> PredictedStateStage:
        from deepchart_dagster.generation.states import PredictedStateStage

        return PredictedStateStage(
            store=self.artifacts,
            library=self.library,
            client=self.client,
            runner=self.runner,
            prompts=self.prompts,
            limits=self.stage1_limits,
            workers=self.settings.workers,
        )

    def rendered_charts(self) -> RenderedChartStage:
        from deepchart_dagster.generation.charts import RenderedChartStage

        return RenderedChartStage(making=self._chart_making(), library=self.library)

    def backend_charts(self) -> BackendChartStage:
        from deepchart_dagster.generation.backend_study import BackendChartStage

        return BackendChartStage(making=self._chart_making(), selection=self.study_selection())

    def backend_scores(self) -> BackendScoreStage:
        from deepchart_dagster.scoring.backend_scores import BackendScoreStage

        return BackendScoreStage(judging=self._judging(), selection=self.study_selection())

    def study_selection(self) -> StudySelection:
        from deepchart_dagster.generation.backend_study import StudySelection

        return StudySelection(library=self.library, listed=self.settings.backend_study)

    def _chart_making(self) -> ChartMaking:
        from deepchart_dagster.generation.charts import ChartMaking

        return ChartMaking(
            store=self.artifacts,
            client=self.client,
            runner=self.runner,
            prompts=self.prompts,
            limits=self.chart_limits,
            evidence=self.evidence,
            workers=self.settings.workers,
        )

    def fidelity(self, side: Side) -> FidelityStage:
        from deepchart_dagster.scoring.fidelity import FidelityStage

        return FidelityStage(store=self.artifacts, library=self.library, side=side)

    def diagnosis(self) -> DiagnosisStage:
        from deepchart_dagster.scoring.diagnosing import DiagnosisStage

        return DiagnosisStage(store=self.artifacts, library=self.library, evidence=self.evidence)

    def grounding(self) -> GroundingStage:
        from deepchart_dagster.scoring.grounding import GroundingStage

        return GroundingStage(store=self.artifacts, library=self.library, evidence=self.evidence)

    def drawn_fidelity(self) -> DrawnFidelityStage:
        from deepchart_dagster.scoring.drawn_fidelity import DrawnFidelityStage

        return DrawnFidelityStage(store=self.artifacts, library=self.library)

    def execution_rate(self) -> ExecutionStage:
        from deepchart_dagster.scoring.execution import ExecutionStage

        return ExecutionStage(store=self.artifacts, library=self.library)

    def visual_accuracy(self) -> VisualAccuracyStage:
        from deepchart_dagster.scoring.visual import VisualAccuracyStage

        return VisualAccuracyStage(judging=self._judging(), library=self.library)

    @property
    def validation_subsets(self) -> SubsetStore:
        from deepchart_dagster.scoring.validation_subset import SubsetStore

        return SubsetStore(self.settings.storage)

    def subset_drawing(self) -> SubsetDrawing:
        from deepchart_dagster.scoring.validation_subset import SubsetDrawing

        return SubsetDrawing(self.artifacts, self.library, self.validation_subsets)

    def draw_validation_subsets(self) -> list[ValidationSubset]:
        """One for every benchmark of which charts have been judged; those that stand are left as they are.

        Raises UpstreamError where no chart of any benchmark has been judged.
        """
        from deepchart_dagster.errors import UpstreamError

        drawing, drawn = self.subset_drawing(), []
        missing: list[UpstreamError] = []
        for name in self.library.names():
            try:
                drawn.append(drawing.draw(name, self.judges.judge_for(name, self.settings.judge).slug))
            except UpstreamError as error:
                missing.append(error)
        if missing and not drawn:
            raise missing[0]
        return drawn

    def benchmarks_with_subset(self) -> list[str]:
        return [name for name in self.library.names() if self.validation_subsets.read(name) is not None]

    def agreement_tables(self) -> AgreementTables:
        from deepchart_dagster.scoring.judge_agreement import AgreementTables

        return AgreementTables(self.artifacts, self.validation_subsets)

    def judge_study(self) -> JudgeStudyStage:
        from deepchart_dagster.scoring.judge_study import JudgeStudyStage

        return JudgeStudyStage(
            store=self.artifacts,
            subsets=self.validation_subsets,
            client=self.client,
            judges=self.judges,
            prompts=self.prompts,
            benchmarks=self.library.names(),
        )

    def calibration(self) -> Calibration:
        from deepchart_dagster.scoring.calibration import Calibration

        return Calibration(store=self.artifacts, library=self.library)

    def _judging(self) -> Judging:
        from deepchart_dagster.scoring.visual import Judging

        return Judging(
            store=self.artifacts,
            client=self.client,
            judges=self.judges,
            prompts=self.prompts,
            judge=self.settings.judge,
        )
