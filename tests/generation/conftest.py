"""A small storage with two finance queries and a report, their contexts, and a provider that answers from a table."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import InputKey, sha256_bytes, sha256_text
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import write_bytes, write_json, write_text
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.contexts.model import ContextFile, ImageChunk, ModelContext
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.generation.backend_study import BackendChartStage, StudySelection
from deepchart_dagster.generation.charts import ChartMaking, RenderedChartStage
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.model import ChatAnswer, ChatRequest, FinishReason, Usage
from deepchart_dagster.llm.registry import ModelSpec

GROWTH = "t/growth"
MARGIN = "t/margin"
REPORT = "t/report"

STATE_PROGRAM = """import json, sys
source = {"2021": {"revenue": 100.0, "net": 20.0}, "2022": {"revenue": "1,250", "net": 50.0}}
derived = {"margin": [0.2, 0.04], "note": "of revenue"}
json.dump({"src_data": source, "der_data": derived}, open(sys.argv[1], "w"))
"""
CHART_PROGRAM = """import sys
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + bytes((x * y) % 251 for x in range(300)) for y in range(200))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 200, 8, 0, 0, 0, 0))
png += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
open(sys.argv[1], "wb").write(png)
"""


@dataclass
class Provider:
    """In place of a provider: what it answers by purpose, and what it was asked."""

    answers: dict[str, str | Exception] = field(
        default_factory=lambda: {"stage1": STATE_PROGRAM, "stage2": CHART_PROGRAM}
    )
    finish_reason: FinishReason = "stop"
    price_usd: float | None = 0.25
    asked: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        self.asked.append(request)
        answer = self.answers[request.purpose]
        if isinstance(answer, Exception):
            raise answer
        return ChatAnswer(
            text=answer,
            finish_reason=self.finish_reason,
            usage=Usage(input_tokens=1000, output_tokens=50),
            price_usd=self.price_usd,
            seconds=0.5,
            cached=False,
            key=request.key().digest,
        )


@dataclass
class PlainRunner:
    """Runs a program as a child process, without the sandbox: these tests are about the stages."""

    drawn: object = None
    refuses: bool = False
    versions: dict[str, str] = field(default_factory=lambda: {"python": "3"})

    def identity(self, stage: int, backend: str) -> dict[str, object]:
        return {"stage": stage, "backend": str(backend), "versions": dict(self.versions)}

    def run(self, program: Program) -> RunResult:
        if self.refuses:
            return self._result(RunStatus.REFUSED, message="no user namespaces here")
        with tempfile.TemporaryDirectory() as folder:
            source, output = Path(folder, "this.py"), Path(folder, "output")
            source.write_text(program.source, encoding="utf-8")
            try:
                done = subprocess.run(
                    [sys.executable, str(source), str(output)], capture_output=True, timeout=program.limits.wall_s
                )
            except subprocess.TimeoutExpired:
                return self._result(RunStatus.TIMEOUT)
            data = output.read_bytes() if output.is_file() else None
        if done.returncode:
            return self._result(RunStatus.CRASH, stderr=done.stderr.decode(), code=done.returncode)
        return self._result(RunStatus.OK if data else RunStatus.NO_OUTPUT, output=data)

    def _result(
        self, status: RunStatus, *, output: bytes | None = None, stderr: str = "", code: int = 0, message: str = ""
    ) -> RunResult:
        return RunResult(
            status=status,
            exit_code=code,
            signal=None,
            wall_s=0.1,
            cpu_s=0.1,
            max_rss_mb=20.0,
            tier="trusted",
            stderr_tail=stderr,
            stdout_tail="",
            message=message,
            output=output,
            drawn=self.drawn,
        )


@dataclass
class House:
    """The stages over one storage root, with everything a test may want to change."""

    root: Path
    model: ModelSpec
    provider: Provider
    runner: PlainRunner
    prompts: PromptSet
    limits: Limits = field(default_factory=lambda: Limits(wall_s=20.0))

    @property
    def store(self) -> ArtifactStore:
        return ArtifactStore(self.root)

    @property
    def library(self) -> Library:
        return Library(self.root)

    @property
    def evidence(self) -> EvidenceStore:
        return EvidenceStore(self.root)

    def states(self) -> PredictedStateStage:
        return PredictedStateStage(
            self.store, self.library, self.provider, self.runner, self.prompts, self.limits, workers=2
        )

    def charts(self, **more: object) -> RenderedChartStage:
        return RenderedChartStage(self.making, self.library, **more)

    def backend_charts(self, listed: Path | None = None) -> BackendChartStage:
        return BackendChartStage(self.making, StudySelection(self.library, listed))

    @property
    def making(self) -> ChartMaking:
        return ChartMaking(self.store, self.provider, self.runner, self.prompts, self.limits, self.evidence, workers=2)

    def result(self, asset: str, uid: str = GROWTH, split: Split = Split.FINANCE_NORMAL):
        result = self.store.read(asset, (split.value, self.model.slug), uid)
        assert result is not None
        return result

    def folder(self, asset: str, uid: str = GROWTH, split: Split = Split.FINANCE_NORMAL) -> Path:
        return self.store.folder(asset, (split.value, self.model.slug), uid)

    def add_queries(self, count: int) -> None:
        """More finance queries, with contexts; the benchmark's other queries stay."""
        queries = [_query(f"t/more-{number}") for number in range(count)]
        self.library.add("t", queries, self.root.parent / "source", keep_others=True)
        for query in queries:
            self.put_context(query.uid, Split.FINANCE_NORMAL, {"Income_Statement.md": query.uid})

    def put_context(self, uid: str, split: Split, texts: dict[str, str], *, n_chunks: int = 0) -> None:
        """Stores a context as the contexts room does: context.json, texts, pictures."""

        async def compute(folder: Path) -> Outcome:
            files = []
            for name, text in texts.items():
                write_text(folder / "files" / name, text)
                files.append(
                    ContextFile(
                        name=name,
                        document_id="acme-2022",
                        title="Acme 10-K 2022",
                        path=f"files/{name}",
                        sha256=sha256_text(text),
                        pages=(34,),
                    )
                )
            chunks = [_put_chunk(folder, index) for index in range(1, n_chunks + 1)]
            context = ModelContext(
                uid=uid, split=split.value, modality=split.modality, files=tuple(files), chunks=tuple(chunks)
            )
            write_json(folder / "context.json", context.model_dump(mode="json"))
            return Outcome()

        key = InputKey.of(texts=texts, n_chunks=n_chunks, uid=uid)
        step = Step(asset="context_variants", partition=(split.value,), scope=(split.value,))
        run_step(self.store, step, [Work(uid=uid, key=key, compute=compute)])


def _put_chunk(folder: Path, index: int) -> ImageChunk:
    data = b"jpeg %d" % index
    write_bytes(folder / "chunks" / f"{index:03d}.jpg", data)
    return ImageChunk(
        index=index,
        document_id="rust-2024",
        first_page=8 * index - 7,
        last_page=8 * index,
        path=f"chunks/{index:03d}.jpg",
        sha256=sha256_bytes(data),
        width=1500,
        height=1000,
    )


def _query(uid: str, **fields: object) -> Query:
    known: dict[str, object] = {
        "uid": uid,
        "benchmark": "t",
        "domain": Domain.FINANCE,
        "chart_type": "Bar Chart",
        "chart_purpose": f"Draw with {{code_type}} the {uid.split('/')[1]} of Acme for 2021 and 2022.",
        "chart_layout": "One panel, bars from left to right.",
        "variants": (ContextVariant.NORMAL,),
        "references": {"d_src": "src.json", "d_der": "der.json"},
    }
    return Query.model_validate({**known, **fields})


QUERIES = (
    _query(GROWTH),
    _query(MARGIN, chart_type=None, chart_layout=None, references={"d_src": "src.json"}),
    _query(REPORT, domain=Domain.ECOSYSTEM, modality=Modality.MULTIMODAL),
)


@pytest.fixture
def house(tmp_path: Path) -> House:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("src.json", "der.json"):
        (source / name).write_text("[1]", encoding="utf-8")
    made = House(
        root=tmp_path / "storage",
        model=ModelSpec(
            slug="m", litellm_model="openai/m", protocols=(Modality.TEXT, Modality.MULTIMODAL), concurrency=3
        ),
        provider=Provider(),
        runner=PlainRunner(),
        prompts=PromptSet.load(None),
    )
    made.library.add("t", QUERIES, source)
    for uid in (GROWTH, MARGIN):
        made.put_context(uid, Split.FINANCE_NORMAL, {"Balance_Sheet.md": f"# Acme\nrevenue of {uid} 100.0"})
    made.put_context(REPORT, Split.ECOSYSTEM, {}, n_chunks=3)
    return made
