"""The mini benchmark through the real rooms: PDFs -> pages -> context variants -> the exact requests -> J.

Both scripted models answer every instance; pages that are pictures are read by text recognition. Programs are run in
this process (the sandbox is tested in its own room).
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pytest

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini import BENCHMARK_NAME, build_mini
from deepchart_dagster.benchmark.mini.catalogue import folder_of
from deepchart_dagster.benchmark.model import CodeType, Instance, Split
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.cli.calibration_rates import at_rates, calibrate
from deepchart_dagster.contexts.engines import rapidocr_installed
from deepchart_dagster.contexts.ocr import OcrContextStage, RawDocumentStage
from deepchart_dagster.contexts.variants import ContextVariantStage
from deepchart_dagster.execution.model import Limits, Program, RunStatus
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ImagePart
from deepchart_dagster.llm.registry import ModelSpec, load_models
from deepchart_dagster.llm.scripted import misreads, oracle
from deepchart_dagster.llm.scripted.base import Behaviour, ScriptedRequest
from deepchart_dagster.llm.scripted.drawing import Drawing, read_drawing
from deepchart_dagster.llm.scripted.faults import Metric, injected, injection_folder
from deepchart_dagster.llm.scripted.forms import Form
from deepchart_dagster.llm.scripted.misdraws import MisdrawingKind, wrong_program
from deepchart_dagster.llm.scripted.proposals import compliance, presentation, topology
from deepchart_dagster.llm.scripted.questions import parse_question
from deepchart_dagster.llm.scripted.recipes import known_queries
from deepchart_dagster.llm.scripted.rubric_writer import true_questions
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.settings import PROJECT_ROOT, load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra"),
]


class _NoRunner:
    """Stage 1 is asked what it would send; no program is run here."""

    def identity(self, stage: int, backend: str) -> dict[str, Any]:
        return {}

    def run(self, program: object) -> Any:
        raise AssertionError("no program is run in these tests")


@dataclass(frozen=True)
class Chain:
    root: Path

    def request(self, instance: Instance, **parameters: Any) -> ScriptedRequest:
        stage = PredictedStateStage(
            store=ArtifactStore(self.root),
            library=Library(self.root),
            client=LiteLLMClient(self.root),
            runner=_NoRunner(),
            prompts=PromptSet.load(None),
            limits=Limits(wall_s=60.0),
        )
        model = load_models(PROJECT_ROOT / "models.yaml")["oracle"]
        messages = stage.request(instance, model).request.messages
        return ScriptedRequest(messages, parameters, EvidenceStore(self.root), self.root)

    def state(self, source: str) -> Any:
        program, output = self.root / "program.py", self.root / "state.json"
        program.write_text(source, encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", [str(program), str(output)])
            runpy.run_path(str(program), run_name="__main__")
        return json.loads(output.read_text(encoding="utf-8"))

    def reference(self, instance: Instance) -> Any:
        return self.state((folder_of(instance.query) / "stage1.py").read_text(encoding="utf-8"))

    def f1(self, behaviour: Behaviour, request: ScriptedRequest, truth: Any) -> tuple[float, float]:
        """F1 of source and derived values against the reference program's."""
        state = self.state(behaviour(request).text)
        scores = [compare(numeric_leaves(truth[side]), state[side]).fidelity for side in ("src_data", "der_data")]
        assert scores[0] is not None
        assert scores[1] is not None
        return scores[0].f1, scores[1].f1


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    root = tmp_path_factory.mktemp("storage")
    build_mini(root)
    store, documents = ArtifactStore(root), DocumentStore(root)
    for document in documents.list():
        assert RawDocumentStage(store, documents).run(document.id).n_ok == 1
        assert OcrContextStage(store, documents).run(document.id).n_ok == 1
    for split in Split:
        summary = ContextVariantStage(store, Library(root), documents, EvidenceStore(root)).run(split)
        assert (summary.n_ok, summary.errors) == (len(Library(root).instances(split)), ())
    return Chain(root)


def instances(chain: Chain) -> list[Instance]:
    found = [instance for split in Split for instance in Library(chain.root).instances(split)]
    assert {instance.split for instance in found} == set(Split)
    return found


def test_oracle_reaches_every_value_of_every_instance(chain: Chain) -> None:
    for instance in instances(chain):
        scores = chain.f1(oracle.answer, chain.request(instance), chain.reference(instance))
        assert scores == (1.0, 1.0), (instance.uid, instance.split)


def test_misreads_loses_exactly_what_it_injects(chain: Chain, tmp_path: Path) -> None:
    for number, instance in enumerate(instances(chain)):
        request = chain.request(instance, rate=1.0, share=0.3, seed=17)
        request = replace(request, storage=tmp_path / str(number))
        source, _ = chain.f1(misreads.answer, request, chain.reference(instance))
        (path,) = injection_folder(request.storage, "misreads").iterdir()
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["query"] == instance.uid
        assert source == pytest.approx(1 - len(record["values"]) / record["n_source"], abs=1e-12)


def test_a_redundant_filing_is_left_out(chain: Chain) -> None:
    """Every year asked for is in the filings of 2022 and 2024; the one of 2023 adds nothing."""
    for split in (Split.FINANCE_NORMAL, Split.FINANCE_LONG, Split.FINANCE_ULTRA_LONG):
        context = json.loads(
            (ArtifactStore(chain.root).folder("context_variants", (split.value,), "mini/finance-halden-igr")
             / "context.json").read_text(encoding="utf-8")
        )  # fmt: skip
        assert {file["document_id"] for file in context["files"]} == {"mini-halden-2022", "mini-halden-2024"}


def test_a_report_of_more_than_forty_pages_is_six_pictures(chain: Chain) -> None:
    for instance in Library(chain.root).instances(Split.ECOSYSTEM):
        parts = [part for message in chain.request(instance).messages for part in message.parts]
        assert sum(isinstance(part, ImagePart) for part in parts) == 6


TEXT = (Split.ACADEMIC_NORMAL, Split.FINANCE_NORMAL)
STAGE_1 = (Metric.F1_SRC, Metric.F1_DER)


@pytest.fixture(scope="module")
def bench(chain: Chain) -> Iterator[Workbench]:
    """The stages on the contexts of the chain."""
    settings = load_settings(storage=chain.root, benchmarks=(BENCHMARK_NAME,))
    with Workbench(settings) as opened:
        for split in (*TEXT, Split.ECOSYSTEM):
            assert opened.references().run(split).n_error == 0
        assert opened.rubrics().run(Split.ACADEMIC_NORMAL).n_error == 0
        yield opened


def erring(bench: Workbench, name: str, **parameters: Any) -> ModelSpec:
    """A scripted model as models.yaml has it, with parameters of the test's and a partition of its own."""
    given = "-".join(f"{value}" for value in parameters.values())
    model = bench.model(name)
    return model.model_copy(update={"slug": f"{name}-{given}", "parameters": {**model.parameters, **parameters}})


def lowered(bench: Workbench, model: ModelSpec, split: Split) -> dict[str, set[Metric]]:
    """Query -> the metrics of stage 1 that are below 1.0."""
    assert bench.predicted_states().run(split, model).n_error == 0
    found: dict[str, set[Metric]] = {}
    for side, metric in (("src", Metric.F1_SRC), ("der", Metric.F1_DER)):
        for result in bench.fidelity(side).run(split, model).results:
            found.setdefault(result.uid, set()).update({metric} if result.value["f1"] < 1.0 else ())
    return found


def check_stage_1(bench: Workbench, model: ModelSpec, split: Split) -> int:
    """What is below 1.0 first is what was injected; returns how many instances were hit."""
    found = lowered(bench, model, split)
    first = {uid: min(metrics, key=STAGE_1.index, default=None) for uid, metrics in found.items()}
    expected = {uid: injected(model, uid) for uid in found}
    assert first == {uid: metric if metric in STAGE_1 else None for uid, metric in expected.items()}
    return sum(metric is not None for metric in expected.values())


@pytest.mark.parametrize("name", ["misreads", "miscalculates"])
def test_wrong_data_are_found_in_every_query(name: str, bench: Workbench) -> None:
    model = erring(bench, name, rate=0.5)
    n_hit = sum(check_stage_1(bench, model, split) for split in (*TEXT, Split.ECOSYSTEM))
    n_queries = len({instance.uid for split in Split for instance in bench.library.instances(split)})
    assert 0.25 * n_queries < n_hit < 0.75 * n_queries


@pytest.mark.parametrize(("name", "kind"), [("crashes", "crash"), ("truncates", "truncated")])
def test_a_stage_1_that_breaks_down_is_found(name: str, kind: str, bench: Workbench) -> None:
    model = erring(bench, name, rate=1.0, stage=1)
    n_hit = check_stage_1(bench, model, Split.ACADEMIC_NORMAL)
    failures = bench.predicted_states().run(Split.ACADEMIC_NORMAL, model).failures
    assert [failure.kind for failure in failures] == [kind] * n_hit


RATES = (0.0, 0.1, 0.5, 1.0)
HARMLESS = ("oracle", "chatters")


def test_scores_show_what_was_injected_at_every_rate(bench: Workbench) -> None:
    """On one split, without the model that hangs; docs/scripted-models.md has the table of everything."""
    models = [model for model in bench.models.values() if model.scripted and model.slug != "hangs"]
    rows = calibrate(bench, at_rates(models, RATES), [Split.ACADEMIC_NORMAL])
    assert len(rows) == 1 + 6 * len(RATES), "the oracle has no rate"
    for row in rows:
        rate, n_hit = row.parameters.get("rate"), sum(row.injected.values())
        assert (row.wrong, row.count("found"), row.count("clean")) == ((), n_hit, 10 - n_hit), (row.model, rate)
        if row.model in HARMLESS or rate == 0.0:
            assert n_hit == 0
        elif rate == 1.0:
            assert n_hit == 10
    assert not list((bench.settings.storage / "scripted").glob("calibration-*"))


def test_programs_that_hang_are_ended_at_limits_of_their_own(bench: Workbench) -> None:
    """Short ones here, since each takes its whole limit, yet long enough for the others on a busy machine."""
    short = bench.settings.model_copy(update={"stage1_timeout_s": 8.0, "chart_timeout_s": 20.0})
    with Workbench(short) as hasty:
        model = erring(hasty, "hangs", rate=0.4, seed=1, stage="either")
        before = {work.key.digest for work in bench.predicted_states().plan(Split.ACADEMIC_NORMAL, model)}
        assert before.isdisjoint(
            work.key.digest for work in hasty.predicted_states().plan(Split.ACADEMIC_NORMAL, model)
        )
        check_all_scores(hasty, model)
        for stage in (hasty.predicted_states(), hasty.rendered_charts()):
            failures = stage.run(Split.ACADEMIC_NORMAL, model).failures
            assert {failure.kind for failure in failures} <= {"timeout", "invalid_state"}


def check_all_scores(bench: Workbench, model: ModelSpec) -> None:
    split = Split.ACADEMIC_NORMAL
    lowered(bench, model, split)
    assert bench.rendered_charts().run(split, model).n_error == 0
    bench.execution_rate().run(split, model)
    assert bench.visual_accuracy().run(split, model).n_error == 0
    (row,) = bench.calibration().run([model])
    normal = [one for one in row.instances if one.split is split]
    assert {one.finding for one in normal} <= {"found", "clean"}, [one.as_json() for one in row.wrong]
    assert {one.uid for one in normal if one.finding == "found"} == {
        one.uid for one in normal if injected(model, one.uid)
    }
    assert any(one.finding == "found" for one in normal)


def test_a_wrong_chart_fails_a_question_of_every_query(chain: Chain, bench: Workbench) -> None:
    """Those that chance does not draw too: one kind of fault after the other, by the rubric of each reference chart."""
    by_query = {instance.uid: instance for instance in instances(chain)}
    for number, (uid, instance) in enumerate(sorted(by_query.items())):
        folder = bench.artifacts.folder("references", (), uid)
        right = read_drawing(json.loads((folder / "drawn.json").read_text(encoding="utf-8")))
        assert right is not None
        kind = get_args(MisdrawingKind)[number % 2]
        known = next(known for known in known_queries() if known.query.uid == uid)
        program = wrong_program(kind, known.stage2_program(chain.reference(instance)))
        ran = bench.runner.run(Program(program, 2, CodeType.PYTHON, Limits(wall_s=120.0)))
        assert ran.status is RunStatus.OK, (uid, ran.stderr_tail)
        wrong = read_drawing(ran.drawn)
        assert wrong is not None
        assert any(not question.holds(wrong) for question in rubric_of(right)), (uid, kind)


def rubric_of(drawing: Drawing) -> Iterator[Form]:
    """What the scripted writer asks about a chart."""
    for propose, most in ((compliance, 5), (topology, 3), (presentation, 5)):
        for text in islice(true_questions(propose(drawing), drawing), most):
            question = parse_question(text)
            assert question is not None
            yield question
