"""Each kind of input changed once: exactly which instances become stale at every stage, and what a refresh makes again.

Stages run in this process on two queries, those of the two studies (backends, judges) too. ``own`` are instances whose
key is another one; ``through`` those that read from one that is to be made again. A refresh makes ``own`` again and, of
``through``, what came out differently.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from lineage_slice import BACKEND, JUDGE, SPLIT, VERDICTS, made_now, queries_of

from deepchart_dagster.benchmark.documents import DocumentFacts
from deepchart_dagster.lineage.graph import NODES
from deepchart_dagster.lineage.status import State, read_status
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

R, G = "mini/academic-barley-roots", "mini/academic-lichen-growth"
BARLEY, LICHEN = "mini-barley-paper", "mini-lichen-paper"
BOTH = {R, G}
ROOT = Path(__file__).parents[2]
PROMPTS = ROOT / "deepchart_dagster" / "generation" / "prompt_files"

OCR, RAW, CONTEXTS, REFERENCES, RUBRICS = "ocr_contexts", "raw_documents", "context_variants", "references", "rubrics"
STATES, CHARTS, EXECUTED, VISUAL = "predicted_states", "rendered_charts", "execution_rate", "visual_accuracy"
FIDELITY = ("source_fidelity", "derived_fidelity")
DIAGNOSIS, GROUNDING, DRAWN = "diagnosis", "grounding", "drawn_fidelity"
BACKEND_CHARTS, BACKEND_SCORES = "backend_charts", "backend_scores"
AFTER_REFERENCES = (*FIDELITY, DIAGNOSIS, DRAWN)
AFTER_CHARTS = (DRAWN, EXECUTED, VISUAL)
AFTER_STATES = (CHARTS, *FIDELITY, DIAGNOSIS, GROUNDING, *AFTER_CHARTS)
Uids = Mapping[str, set[str]]


def of(uids: set[str], *assets: str) -> Uids:
    return dict.fromkeys(assets, uids)


@dataclass(frozen=True)
class Change:
    """``settings`` on top of the usual; ``patches``: module attribute -> value; ``to``: done to the storage."""

    own: Uids = field(default_factory=dict)
    through: Uids = field(default_factory=dict)
    also_made: Uids = field(default_factory=dict)
    settings: Callable[[Path], Mapping[str, Any]] = lambda _: {}
    patches: Mapping[str, Any] = field(default_factory=dict)
    to: Callable[[Path], None] = lambda _: None


def edited(file: str, old: str, new: str, setting: str) -> Callable[[Path], Mapping[str, Any]]:
    def settings(folder: Path) -> Mapping[str, Any]:
        text = (ROOT / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))
        return {setting: folder / file}

    return settings


def prompt(name: str) -> Callable[[Path], Mapping[str, Any]]:
    def settings(folder: Path) -> Mapping[str, Any]:
        prompts = folder / "prompts"
        prompts.mkdir()
        (prompts / f"{name}.yaml").write_text((PROMPTS / f"{name}.yaml").read_text() + "\n# another version\n")
        return {"prompts": prompts}

    return settings


def other_pdf(storage: Path) -> None:
    with Workbench(load_settings(storage=storage)) as bench:
        document = bench.documents.get(BARLEY)
        pdf = storage.parent / "other.pdf"
        pdf.write_bytes(bench.documents.pdf(BARLEY).read_bytes() + b"\n% another file\n")
        bench.documents.remove(BARLEY)
        bench.documents.add(pdf, document.domain, document_id=BARLEY, title=document.title)


def other_title(storage: Path) -> None:
    with Workbench(load_settings(storage=storage)) as bench:
        bench.documents.change(BARLEY, DocumentFacts(title="Another title"))


def lost_chart(storage: Path) -> None:
    (storage / CHARTS / SPLIT.value / "oracle" / R.replace("/", "~") / "chart.png").unlink()


def judges(old: str, new: str) -> Callable[[Path], Mapping[str, Any]]:
    return edited("judges.yaml", old, new, "judges_file")


def models(old: str, new: str) -> Callable[[Path], Mapping[str, Any]]:
    return edited("models.yaml", old, new, "models_file")


_identity = ModelSpec.identity


def another_parameter(slug: str) -> Callable[[ModelSpec], dict[str, Any]]:
    """Scripted models take no parameters: as if this one had another one."""

    def identity(self: ModelSpec) -> dict[str, Any]:
        return {**_identity(self), **({"parameters": {"temperature": 0.5}} if self.slug == slug else {})}

    return identity


ORACLE = "litellm_model: scripted/oracle\n"
JUDGE_ENTRY = "litellm_model: scripted/judge\n"
LIBRARIES = {"python": "3.11", "matplotlib": "another"}

CHANGES: dict[str, Change] = {
    "nothing": Change(),
    "bytes of a PDF": Change(
        own={RAW: {BARLEY}, OCR: {BARLEY}}, through=of({R}, CONTEXTS, STATES, *AFTER_STATES), to=other_pdf
    ),
    "title of a document": Change(
        own={RAW: {BARLEY}, CONTEXTS: {R}},
        through={OCR: {BARLEY}, **of({R}, STATES, *AFTER_STATES)},
        also_made=of({R}, STATES, DIAGNOSIS, GROUNDING),
        to=other_title,
    ),
    "engine": Change(
        own={OCR: {BARLEY, LICHEN}},
        through=of(BOTH, CONTEXTS, STATES, *AFTER_STATES),
        also_made=of(BOTH, CONTEXTS),  # a context says which engine read it; what models read of it is the same
        settings=lambda _: {"ocr_engine": "text-layer"},
    ),
    "layout rules": Change(
        own={OCR: {BARLEY, LICHEN}},
        through=of(BOTH, CONTEXTS, STATES, *AFTER_STATES),
        patches={"deepchart_dagster.contexts.ocr.LAYOUT_VERSION": 999},
    ),
    "variant rules": Change(
        own=of(BOTH, CONTEXTS),
        through=of(BOTH, STATES, *AFTER_STATES),
        patches={"deepchart_dagster.contexts.variants.CONTEXT_VARIANT_VERSION": "another"},
    ),
    "code of references": Change(
        own=of(BOTH, REFERENCES),
        through=of(BOTH, RUBRICS, *AFTER_REFERENCES, VISUAL, BACKEND_CHARTS, BACKEND_SCORES),
        patches={"deepchart_dagster.scoring.references.REFERENCE_VERSION": "another"},
    ),
    "prompt of stage 1": Change(own=of(BOTH, STATES), through=of(BOTH, *AFTER_STATES), settings=prompt("stage1")),
    "prompt of stage 2": Change(
        own=of(BOTH, CHARTS, BACKEND_CHARTS),
        through=of(BOTH, *AFTER_CHARTS, BACKEND_SCORES),
        settings=prompt("stage2"),
    ),
    "prompt of the rubrics": Change(
        own=of(BOTH, RUBRICS),
        through=of(BOTH, VISUAL, BACKEND_SCORES),
        settings=prompt("rubric_instruction_compliance"),
    ),
    "prompt of the judge": Change(own=of(BOTH, RUBRICS, VISUAL, BACKEND_SCORES, VERDICTS), settings=prompt("judge")),
    "model parameter": Change(
        own=of(BOTH, STATES, CHARTS, BACKEND_CHARTS),
        through=of(BOTH, *FIDELITY, DIAGNOSIS, GROUNDING, *AFTER_CHARTS, BACKEND_SCORES),
        patches={"deepchart_dagster.llm.registry.ModelSpec.identity": another_parameter("oracle")},
    ),
    "code of stage 1": Change(
        own=of(BOTH, STATES),
        through=of(BOTH, *AFTER_STATES),
        patches={"deepchart_dagster.generation.states.STATE_VERSION": 999},
    ),
    "code of stage 2": Change(
        own=of(BOTH, CHARTS, BACKEND_CHARTS),
        through=of(BOTH, *AFTER_CHARTS, BACKEND_SCORES),
        patches={
            "deepchart_dagster.generation.charts.CHART_VERSION": 999,
            "deepchart_dagster.generation.backend_study.CHART_VERSION": 999,
        },
    ),
    "scorer": Change(
        own=of(BOTH, *FIDELITY), patches={"deepchart_dagster.scoring.fidelity.FIDELITY_VERSION": "another"}
    ),
    "code of the diagnosis": Change(
        own=of(BOTH, DIAGNOSIS), patches={"deepchart_dagster.scoring.diagnosing.DIAGNOSIS_VERSION": "another"}
    ),
    "code of grounding": Change(
        own=of(BOTH, GROUNDING), patches={"deepchart_dagster.scoring.grounding.GROUNDING_VERSION": "another"}
    ),
    "code of drawn values": Change(
        own=of(BOTH, DRAWN), patches={"deepchart_dagster.scoring.drawn_fidelity.DRAWN_FIDELITY_VERSION": "another"}
    ),
    "code of ER": Change(
        own=of(BOTH, EXECUTED, BACKEND_SCORES),
        patches={
            "deepchart_dagster.scoring.execution.EXECUTION_VERSION": "another",
            "deepchart_dagster.scoring.backend_scores.EXECUTION_VERSION": "another",
        },
    ),
    "code of rubrics": Change(
        own=of(BOTH, RUBRICS),
        through=of(BOTH, VISUAL, BACKEND_SCORES),
        patches={"deepchart_dagster.scoring.rubrics.RUBRIC_VERSION": "another"},
    ),
    "code of VAS": Change(
        own=of(BOTH, VISUAL, BACKEND_SCORES),
        patches={"deepchart_dagster.scoring.visual.VISUAL_ACCURACY_VERSION": "another"},
    ),
    "code of the judge study": Change(
        own=of(BOTH, VERDICTS), patches={"deepchart_dagster.scoring.judge_study.JUDGE_STUDY_VERSION": "another"}
    ),
    "parameter of the judge, who checks the rubrics too": Change(
        own=of(BOTH, RUBRICS, VISUAL, BACKEND_SCORES, VERDICTS),
        patches={"deepchart_dagster.llm.registry.ModelSpec.identity": another_parameter("scripted-judge")},
    ),
    "another judge for one run": Change(
        own=of(BOTH, VISUAL, BACKEND_SCORES),
        settings=lambda folder: {
            **judges("\n  scripted-writer:", f"\n  second-judge:\n    {JUDGE_ENTRY}\n  scripted-writer:")(folder),
            "judge": "second-judge",
        },
    ),
    "a library that programs use": Change(
        own=of(BOTH, REFERENCES, STATES, CHARTS, BACKEND_CHARTS),
        through=of(BOTH, RUBRICS, *AFTER_REFERENCES, GROUNDING, EXECUTED, VISUAL, BACKEND_SCORES),
        patches={"deepchart_dagster.execution.runner.library_versions": lambda: LIBRARIES},
    ),
    "time that a program may take": Change(
        own=of(BOTH, STATES), through=of(BOTH, *AFTER_STATES), settings=lambda _: {"stage1_timeout_s": 59.0}
    ),
    "time that a chart may take": Change(
        own=of(BOTH, CHARTS, BACKEND_CHARTS),
        through=of(BOTH, *AFTER_CHARTS, BACKEND_SCORES),
        settings=lambda _: {"chart_timeout_s": 119.0},
    ),
    "a lost output": Change(own=of({R}, CHARTS), through=of({R}, *AFTER_CHARTS), to=lost_chart),
    # What changes no output is in no key.
    "price": Change(settings=models("prices: {input_per_million: 0,", "prices: {input_per_million: 7,")),
    "concurrency": Change(settings=models("concurrency: 16", "concurrency: 2")),
    "time-out of calls, streaming": Change(settings=models(ORACLE, f"{ORACLE}    timeout_s: 7\n    stream: true\n")),
    "workers, attempts, budget": Change(
        settings=lambda _: {"workers": 1, "call_attempts": 2, "max_cost": 5.0, "max_tokens": 10**9}
    ),
    "sandbox tier": Change(settings=lambda _: {"sandbox": "trusted", "fork_servers_mb": 0}),
    "limits on reading a page": Change(settings=lambda _: {"page_timeout_s": 60.0, "pages_per_child": 3}),
}


def _stale(bench: Workbench) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By their own keys, and through what they read."""
    own: dict[str, set[str]] = {}
    through: dict[str, set[str]] = {}
    cells = read_status(bench, models=["oracle"], splits=[SPLIT], backends=[BACKEND], judges=[JUDGE], anew=True)
    assert {cell.key.asset for cell in cells} == {node.name for node in NODES}
    for cell in cells:
        assert cell.state in (State.FRESH, State.STALE), cell
        assert (cell.state is State.FRESH) == (not cell.behind), cell
        uids = queries_of(bench, cell.key.asset, cell.behind)
        if len(uids) > cell.n_behind:
            assert not own.get(cell.key.asset, set()) & uids
            own.setdefault(cell.key.asset, set()).update(uids)
        else:
            through.setdefault(cell.key.asset, set()).update(uids)
    return own, {asset: uids for asset, uids in through.items() if uids}


@pytest.mark.parametrize("name", CHANGES)
def test_what_becomes_stale_and_what_a_refresh_makes_again(whole: Path, tmp_path: Path, name: str) -> None:
    change, storage = CHANGES[name], tmp_path / "moved" / "storage"  # another path than it was made in
    shutil.copytree(whole, storage)
    change.to(storage)
    with ExitStack() as stack:
        for target, value in change.patches.items():
            stack.enter_context(patch(target, value))
        bench = stack.enter_context(Workbench(load_settings(storage=storage, **change.settings(tmp_path))))
        assert _stale(bench) == (dict(change.own), dict(change.through))
        expected = {
            node.name: change.own.get(node.name, set()) | change.also_made.get(node.name, set()) for node in NODES
        }
        assert made_now(bench) == {asset: uids for asset, uids in expected.items() if uids}
        assert _stale(bench) == ({}, {})
