"""A small house for the visual side: real stores and files, scripted writer and judge, no network.

``VisualHouse.client`` stands where the litellm client stands. It hands requests to the scripted models,
keeps answers as the client does, and can be told to answer or to fail otherwise (``instead``).
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import InputKey, sha256_bytes
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Query, References, Split
from deepchart_dagster.errors import ProviderError
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatAnswer, ChatRequest, Usage
from deepchart_dagster.llm.registry import JudgesFile, ModelSpec
from deepchart_dagster.llm.scripted.base import BEHAVIOURS, ScriptedRequest
from deepchart_dagster.scoring.rubrics import RubricStage
from deepchart_dagster.scoring.visual import Judging, VisualAccuracyStage

Json = dict[str, Any]
Instead = Callable[[ChatRequest], "str | Exception | None"]


@dataclass
class ScriptedClient:
    """``requests`` are all that came; ``bought`` those that no kept answer could serve."""

    storage: Path
    instead: Instead = lambda request: None
    requests: list[ChatRequest] = field(default_factory=list)
    bought: list[ChatRequest] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        self.requests.append(request)
        key = request.key().digest
        cached = key in self.kept
        if not cached:
            self.bought.append(request)
            self.kept[key] = self._answer(request)
        return ChatAnswer(self.kept[key], "stop", Usage(10, 1), 0.25, 0.1, cached, key)

    def _answer(self, request: ChatRequest) -> str:
        other = self.instead(request)
        if isinstance(other, Exception):
            raise other
        if other is not None:
            return other
        module, function = BEHAVIOURS[request.model.litellm_model.removeprefix("scripted/")].split(":")
        behaviour = getattr(importlib.import_module(module), function)
        evidence = EvidenceStore(self.storage)
        return behaviour(ScriptedRequest(request.messages, request.model.parameters, evidence, self.storage)).text

    def count(self, purpose: str) -> int:
        return sum(request.purpose == purpose for request in self.bought)

    def forget_counts(self) -> None:
        self.requests.clear()
        self.bought.clear()


def png_of(number: int) -> bytes:
    """A picture whose bytes differ for each number."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (40, 30), (number % 256, number // 256 % 256, 7)).save(stream, "PNG")
    return stream.getvalue()


def bar_chart(*values: float, **axes: Any) -> Json:
    """Drawn data of one bar a year from 2019 on, fully labelled."""
    years = [str(2019 + index) for index in range(len(values))]
    positions = [float(index) for index in range(len(values))]
    plain = {
        "title": "Revenue",
        "projection": "rectilinear",
        "box": [0.1, 0.1, 0.8, 0.8],
        "xlabel": "Year",
        "ylabel": "Revenue (US$ millions)",
        "xscale": "linear",
        "yscale": "linear",
        "xlim": [-0.5, len(values) - 0.5],
        "ylim": [0.0, 100.0],
        "xticks": [{"at": at, "label": year} for at, year in zip(positions, years, strict=True)],
        "yticks": [{"at": 0.0, "label": "0"}, {"at": 50.0, "label": "50"}],
        "legend": None,
        "texts": [],
        "marks": [
            {
                "type": "bars",
                "label": "",
                "color": None,
                "orientation": "vertical",
                "categories": years,
                "positions": positions,
                "values": list(values),
                "bases": [0.0] * len(values),
            }
        ],
    }
    figure = {"title": "", "width_px": 900.0, "height_px": 600.0, "texts": [], "axes": [{**plain, **axes}]}
    return {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": [figure]}


class VisualHouse:
    split = Split.FINANCE_NORMAL
    model = ModelSpec(slug="m1", litellm_model="openai/m1")
    png_of = staticmethod(png_of)
    bar_chart = staticmethod(bar_chart)

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = ArtifactStore(root)
        self.library = Library(root)
        self.evidence = EvidenceStore(root)
        self.prompts = PromptSet.load()
        self.client = ScriptedClient(root)
        self.judges = JudgesFile(
            judges={
                "writer": ModelSpec(slug="writer", litellm_model="scripted/rubric-writer"),
                "judge": ModelSpec(slug="judge", litellm_model="scripted/judge"),
                "other": ModelSpec(slug="other", litellm_model="scripted/judge", parameters={"seed": 2}),
            },
            primary="judge",
            rubric_writer="writer",
        )

    def query(self, uid: str, benchmark: str = "mini", **more: Any) -> Query:
        base: Json = {
            "domain": Domain.FINANCE,
            "chart_type": "bar chart",
            "chart_purpose": "show revenue as {code_type}",
            "variants": (ContextVariant.NORMAL, ContextVariant.LONG),
            "references": References(chart_image=f"{uid}/chart.png"),
        }
        return Query(uid=uid, benchmark=benchmark, **{**base, **more})

    def add(self, *queries: Query) -> None:
        for name in {query.benchmark for query in queries}:
            self.library.add(name, [query for query in queries if query.benchmark == name], self.root / "nothing")

    def put(self, asset: str, uid: str, *, scope: tuple[str, ...] = (), chart: bytes | None, outcome: Outcome) -> None:
        """A result of an earlier step, made as that step makes it."""

        async def compute(folder: Path) -> Outcome:
            if chart is not None:
                (folder / "chart.png").write_bytes(chart)
            return outcome

        key = InputKey.of(chart=chart and sha256_bytes(chart), outcome=outcome.model_dump(mode="json"))
        run_step(self.store, Step(asset, scope or ("x",), scope), [Work(uid, key, compute)])

    def reference(self, uid: str, drawn: Json | None, chart: bytes) -> None:
        if drawn is not None:
            self.evidence.put("drawn", sha256_bytes(chart), drawn)
        self.put("references", uid, chart=chart, outcome=Outcome(value={"has_chart": True}))

    def chart(self, uid: str, drawn: Json | None, chart: bytes, model: ModelSpec | None = None) -> None:
        if drawn is not None:
            self.evidence.put("drawn", sha256_bytes(chart), drawn)
        scope = (self.split.value, (model or self.model).slug)
        self.put("rendered_charts", uid, scope=scope, chart=chart, outcome=Outcome(value={"backend": "python"}))

    @property
    def scope(self) -> tuple[str, ...]:
        return (self.split.value, self.model.slug)

    def rubrics(self, **more: Any) -> RubricStage:
        parts = {"client": self.client, "judges": self.judges, "prompts": self.prompts, **more}
        return RubricStage(store=self.store, library=self.library, **parts)

    def visual(self, **more: Any) -> VisualAccuracyStage:
        return VisualAccuracyStage(judging=self.judging(**more), library=self.library)

    def judging(self, **more: Any) -> Judging:
        parts = {"client": self.client, "judges": self.judges, "prompts": self.prompts, **more}
        return Judging(store=self.store, **parts)

    def output(self, asset: str, scope: tuple[str, ...], uid: str, name: str) -> Path:
        return self.store.folder(asset, scope, uid) / name


@pytest.fixture
def house(tmp_path: Path) -> VisualHouse:
    """One query, ``q1``, with its reference chart: revenue of 2019–2022 as 30, 10, 20, 50."""
    house = VisualHouse(tmp_path)
    house.add(house.query("q1"))
    house.reference("q1", bar_chart(30.0, 10.0, 20.0, 50.0), png_of(1))
    return house


@pytest.fixture
def provider_down() -> ProviderError:
    return ProviderError("the provider answered 503.", status=503)
