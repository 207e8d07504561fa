"""Stage 1 on 402-page reports and on contexts of 1.2 million tokens, many at once: below 1.5 GB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MOST_MB = 1536
INSTANCES = 16

# VmHWM is the largest resident size that the process has had; litellm alone takes some 300 MB of it.
STAGE = """
import json, os, sys
from pathlib import Path
from deepchart_dagster.artifacts.canonical import InputKey, sha256_bytes, sha256_text
from deepchart_dagster.artifacts.files import write_json, write_text
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query, Split
from deepchart_dagster.contexts.model import ContextFile, ImageChunk, ModelContext
from deepchart_dagster.execution.model import Limits
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.generation.states import PredictedStateStage
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.registry import ModelSpec

root, url, kind, instances = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
storage, source = root / "storage", root / "source"
source.mkdir()
(source / "src.json").write_text("[1]")
split = Split.ECOSYSTEM if kind == "pictures" else Split.FINANCE_ULTRA_LONG
modality, domain = (Modality.MULTIMODAL, Domain.ECOSYSTEM) if kind == "pictures" else (Modality.TEXT, Domain.FINANCE)
variants = (ContextVariant.NORMAL if kind == "pictures" else ContextVariant.ULTRA_LONG,)
queries = [
    Query(uid=f"m/{n:02d}", benchmark="m", domain=domain, modality=modality, chart_purpose=f"Draw {n}.",
          variants=variants, references={"d_src": "src.json"})
    for n in range(instances)
]
Library(storage).add("m", queries, source)

# 402 pages, eight a chunk, at the size that chunks have; every report has the same ones, as links.
chunks = [(root / f"{n}.jpg", os.urandom(900_000)) for n in range(51)] if kind == "pictures" else []
hashes = [sha256_bytes(data) for _, data in chunks]
for path, data in chunks:
    path.write_bytes(data)
# Numbers, words and bars, about 3.4 characters a token, and a dash that makes every letter take two bytes.
rows = "" if chunks else "".join(
    f"| Revenue \\u2014 {n % 97} | {n * 7919 % 99991:,} | {n * 104729 % 999983:,} |\\n" for n in range(80_000))

def work(query):
    async def compute(folder):
        files = ()
        if rows:
            text = f"{query.uid}\\n{rows}"
            write_text(folder / "files" / "filing.md", text)
            files = (ContextFile(name="filing.md", document_id="d", title="10-K", path="files/filing.md",
                                 sha256=sha256_text(text)),)
        else:
            (folder / "chunks").mkdir(parents=True)
        for n, (path, _) in enumerate(chunks):
            os.link(path, folder / "chunks" / f"{n}.jpg")
        shown = tuple(
            ImageChunk(index=n + 1, document_id="d", first_page=8 * n + 1, last_page=8 * n + 8, path=f"chunks/{n}.jpg",
                       sha256=sha, width=1600, height=2200) for n, sha in enumerate(hashes))
        context = ModelContext(uid=query.uid, split=split.value, modality=modality, files=files, chunks=shown)
        write_json(folder / "context.json", context.model_dump(mode="json"))
        return Outcome()
    return Work(uid=query.uid, key=InputKey.of(uid=query.uid), compute=compute)

step = Step(asset="context_variants", partition=(split.value,), scope=(split.value,))
run_step(ArtifactStore(storage), step, [work(query) for query in queries])
del chunks, rows

class NoRunner:
    def identity(self, stage, backend):
        return {}

model = ModelSpec(slug="local", litellm_model="openai/local", api_base=url, concurrency=instances,
                  context_window=4_000_000, protocols=(modality,))
stage = PredictedStateStage(ArtifactStore(storage), Library(storage), LiteLLMClient(storage), NoRunner(),
                            PromptSet.load(None), Limits(wall_s=60.0))
summary = stage.run(split, model)
status = Path("/proc/self/status").read_text()
(peak,) = (int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps({"failures": sorted({p.kind for p in summary.failures}), "n_failed": summary.n_failed,
                  "errors": [p.message for p in summary.errors], "peak_mb": peak}))
"""


class _Declines(BaseHTTPRequestHandler):
    """Answers without a program, a second after it has read the whole request."""

    protocol_version = "HTTP/1.1"
    sizes: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        left = size = int(self.headers["content-length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.sizes.append(size)
        threading.Event().wait(1.0)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I cannot."}}
        usage = {"prompt_tokens": size // 4, "completion_tokens": 3, "total_tokens": size // 4 + 3}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body = json.dumps({**answer, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize(("kind", "smallest_request"), [("pictures", 60_000_000), ("text", 3_000_000)])
def test_sixteen_long_inputs_at_once_stay_below_the_limit(tmp_path, kind, smallest_request) -> None:
    _Declines.sizes.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Declines) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        command = [sys.executable, "-c", STAGE, str(tmp_path), url, kind, str(INSTANCES)]
        environment = {**os.environ, "OPENAI_API_KEY": "none-needed"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=500, check=False)
        server.shutdown()
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["errors"] == []
    assert (told["failures"], told["n_failed"]) == (["no_code"], INSTANCES)
    assert len(_Declines.sizes) == INSTANCES
    assert min(_Declines.sizes) > smallest_request
    assert told["peak_mb"] < MOST_MB
