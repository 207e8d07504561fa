"""A small storage, as the stages leave it: two models, one split, every way that an instance can end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_bytes
from deepchart_dagster.artifacts.results import Outcome, Problem, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Modality, Query
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.metrics.dbt import build_marts
from deepchart_dagster.metrics.rows import EXPORTED, export_partition
from deepchart_dagster.metrics.store import build_metrics

DBT_PROJECT = Path(__file__).parents[2] / "dbt_reports"
SPLIT = "finance-normal"
ASPECTS = ("instruction_compliance", "data_mapping_topology", "presentation_quality")
JUDGE = {"slug": "scripted-judge", "model": "scripted/judge", "parameters": {}}


def fidelity(precision: float, recall: float, f1: float) -> Outcome:
    return Outcome(value={"precision": precision, "recall": recall, "f1": f1, "n_reference": 4, "n_predicted": 4})


def visual(vas: float, *aspects: float | None) -> Outcome:
    means = dict(zip(ASPECTS, aspects, strict=True))
    return Outcome(value={"vas": vas, **means, "n_yes": 1, "judge": "scripted-judge"})


def executed(one: int) -> Outcome:
    return Outcome(value={"executed": one})


def failed(kind: str, **value: float) -> Outcome:
    return Outcome.failed(kind, "the model's doing", **value)


def error(kind: str) -> Outcome:
    return Outcome(status=Status.ERROR, problem=Problem(kind=kind, message="ours"))


NO_REFERENCE = Outcome.not_applicable("no_reference", "nothing to compare with")


@dataclass
class ResultTree:
    """Writes partitions as the stages do, then exports their rows."""

    root: Path
    models: dict[str, ModelSpec] = field(default_factory=dict)

    def copy_to(self, root: Path) -> ResultTree:
        shutil.copytree(self.root, root)
        return ResultTree(root, dict(self.models))

    @property
    def store(self) -> ArtifactStore:
        return ArtifactStore(self.root)

    @property
    def library(self) -> Library:
        return Library(self.root)

    def add_model(self, slug: str, **changes: object) -> None:
        fields = {"slug": slug, "litellm_model": f"acme/{slug}", "name": slug.upper(), "family": "proprietary"}
        protocols = (Modality.TEXT, Modality.MULTIMODAL)
        self.models[slug] = ModelSpec.model_validate({**fields, "protocols": protocols, **changes})

    def add_benchmark(self, name: str, *uids: str, domain: str = "finance") -> None:
        queries = [
            Query.model_validate(
                {
                    "uid": uid,
                    "benchmark": name,
                    "domain": domain,
                    "chart_purpose": "Draw the shop's margin.",
                    "query_type": "EBITDA",
                    "chart_family": "Bar Chart",
                    "variants": ["normal"],
                }
            )
            for uid in uids
        ]
        self.library.add(name, queries, self.root)

    def write(
        self,
        asset: str,
        model: str,
        outcomes: Mapping[str, Outcome],
        *,
        split: str = SPLIT,
        files: Mapping[str, bytes] | None = None,
        **parts: object,
    ) -> None:
        """Store ``outcomes`` as a partition; ``files`` (name -> bytes) are left beside every result that is ok."""

        def work(uid: str, outcome: Outcome) -> Work:
            async def compute(folder: Path) -> Outcome:
                for name, content in (files or {}).items():
                    if outcome.status is Status.OK:
                        write_bytes(folder / name, content)
                return outcome

            outcome_part = outcome.model_dump(mode="json", exclude={"observations"})
            key = InputKey.of(version="1", outcome=outcome_part, **parts)
            return Work(uid=uid, key=key, compute=compute)

        scope = () if asset == "references" else (split, model)
        step = Step(asset=asset, partition=(split,) if asset == "references" else scope, scope=scope)
        run_step(self.store, step, [work(uid, outcome) for uid, outcome in outcomes.items()])

    def export(self, asset: str, model: str, split: str = SPLIT) -> Path:
        return export_partition(self.store, self.library, self.models, asset, (split, model))

    def export_everything(self) -> None:
        for asset in EXPORTED:
            for split, model in self.store.manifests(asset):
                self.export(asset, model, split)

    def write_ledger(self, *rows: object) -> None:
        path = self.root / "llm" / "ledger" / "2025-01-02-1-a.jsonl"
        write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def ledger_row(**changes: object) -> dict[str, object]:
    return {
        "time": "2025-01-02T03:04:05.000+00:00",
        "model": "m-1",
        "litellm_model": "acme/m-1",
        "purpose": "stage1",
        "key": "k1-aa",
        "attempt": 1,
        "status": "ok",
        "seconds": 2.5,
        "input_tokens": 100,
        "output_tokens": 20,
        "price_usd": 0.25,
        "finish_reason": "stop",
    } | changes


@pytest.fixture(scope="session")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> ResultTree:
    return written_tree(tmp_path_factory.mktemp("tree") / "storage")


@pytest.fixture
def tree(written_once: ResultTree, tmp_path: Path) -> ResultTree:
    """A copy of written_tree's for each test."""
    return written_once.copy_to(tmp_path / "storage")


@pytest.fixture(scope="session")
def built(written_once: ResultTree, tmp_path_factory: pytest.TempPathFactory) -> ResultTree:
    """written_tree with its metrics store and marts; not to be changed."""
    tree = written_once.copy_to(tmp_path_factory.mktemp("built") / "storage")
    build_metrics(tree.root)
    build_marts(tree.root, DBT_PROJECT)
    return tree


def written_tree(root: Path) -> ResultTree:
    """m-1 (real) and robot (scripted) over shop/1 … shop/4.

    m-1's four metrics by hand, in the order of uids; - is unscored:
        f1_src  1, 0.5, 0 (failed), -        mean 0.5
        f1_der  0.8, n/a, 0 (failed), -      mean 0.4
        er      1, 1, 0 (failed), 0 (failed) mean 0.5
        vas     0.75, -, 0 (failed), 0 (f.)  mean 0.25
    robot scores 1 everywhere.
    """
    tree = ResultTree(root)
    tree.add_model("m-1")
    tree.add_model("robot", litellm_model="scripted/oracle", family="scripted", name="Robot")
    uids = ("shop/1", "shop/2", "shop/3", "shop/4")
    tree.add_benchmark("shop", *uids)
    no_data = failed("no_output", precision=0.0, recall=0.0, f1=0.0)
    run = {"program_seconds": 1.5, "cpu_s": 0.5, "max_rss_mb": 80.0, "tier": "namespaces"}
    states = [Outcome(value={"n_source": 4}, observations=run)] * 2 + [failed("no_output"), error("ProviderTimeout")]
    tree.write("predicted_states", "m-1", dict(zip(uids, states, strict=True)))
    charts = [Outcome(value={"backend": "python"}, observations=run)] * 2 + [failed("invalid_state"), failed("crash")]
    tree.write("rendered_charts", "m-1", dict(zip(uids, charts, strict=True)), backend="python")
    scores = {
        "source_fidelity": [fidelity(1.0, 1.0, 1.0), fidelity(0.4, 2 / 3, 0.5), no_data, error("UpstreamError")],
        "derived_fidelity": [fidelity(0.8, 0.8, 0.8), NO_REFERENCE, no_data, error("UpstreamError")],
        "execution_rate": [executed(1), executed(1), failed("invalid_state", executed=0), failed("crash", executed=0)],
    }
    for asset, outcomes in scores.items():
        tree.write(asset, "m-1", dict(zip(uids, outcomes, strict=True)))
    unmatched = [
        {"side": "der", "of": "prediction", "class": "percent", "n": 1},
        {"side": "der", "of": "reference", "class": "percent", "n": 1},
        {"side": "der", "of": "reference", "class": "missing_years", "n": 3},
    ]
    no_state = Outcome.not_applicable("no_state", "the model left no valid state")
    diagnoses = [Outcome(value={"classes": unmatched}), Outcome(value={"classes": unmatched[2:]}), no_state, no_state]
    tree.write("diagnosis", "m-1", dict(zip(uids, diagnoses, strict=True)))
    verdicts = [visual(0.75, 1.0, None, 0.5), error("RateLimited"), failed("invalid_state"), failed("crash")]
    tree.write("visual_accuracy", "m-1", dict(zip(uids, verdicts, strict=True)), judge=JUDGE)
    for asset, outcome in (
        ("source_fidelity", fidelity(1.0, 1.0, 1.0)),
        ("derived_fidelity", fidelity(1.0, 1.0, 1.0)),
        ("execution_rate", executed(1)),
    ):
        tree.write(asset, "robot", dict.fromkeys(uids, outcome))
    tree.write("visual_accuracy", "robot", dict.fromkeys(uids, visual(1.0, 1.0, 1.0, 1.0)), judge=JUDGE)
    tree.export_everything()
    tree.write_ledger(ledger_row(), ledger_row(time="2025-01-02T03:04:01.000+00:00", status="error", price_usd=None))
    return tree
