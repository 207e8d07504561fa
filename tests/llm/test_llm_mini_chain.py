"""The mini benchmark through the real rooms: PDFs -> pages -> context variants -> the exact requests -> J.

Both scripted models answer every instance; pages that are pictures are read by text recognition. Programs are run in
this process (the sandbox is tested in its own room).
"""

from __future__ import annotations

import json
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.benchmark.mini.catalogue import folder_of
from deepchart_dagster.benchmark.model import Instance, Split
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.contexts.engines import rapidocr_installed
from deepchart_dagster.contexts.ocr import OcrContextStage, RawDocumentStage
from deepchart_dagster.contexts.variants import ContextVariantStage
from deepchart_dagster.execution.model import Limits
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ImagePart
from deepchart_dagster.llm.registry import load_models
from deepchart_dagster.llm.scripted import misreads, oracle
from deepchart_dagster.llm.scripted.base import Behaviour, ScriptedRequest
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.settings import PROJECT_ROOT

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


def test_misreads_loses_exactly_what_it_injects(chain: Chain) -> None:
    for instance in instances(chain):
        request = chain.request(instance, rate=1.0, share=0.3, seed=17, name=f"{instance.split}-{instance.uid}")
        source, _ = chain.f1(misreads.answer, request, chain.reference(instance))
        (path,) = misreads.injection_folder(chain.root, f"{instance.split}-{instance.uid}").iterdir()
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["query"] == instance.uid
        assert record["hit"]
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
