"""Both stages of generation against a local endpoint: wall time over the ideal, memory, refusals, and asking again.

    python benchmarks/generation.py [--instances 290] [--concurrency 64] [--latency 2] [--context-kb 40]
                                    [--refuse-every 5] [--rounds 1]

The endpoint (chat_endpoint.py) is a process of its own that answers after --latency seconds, as many calls at once as
come. The client is a process of its own as well: the stages of the pipeline as they are, with contexts of
--context-kb kilobytes, the response cache, the ledger and results on disk, and a storage of its own. Programs are
not run: in the runner's place stands one that hands out J and a chart at once, since what running costs is the
business of execution. What a process does once is not in the wall time: importing litellm, loading a tokenizer.

    ratio_wall           wall time of both stages by the ideal: rounds of calls times latency, for 290 instances at 64
                         two stages of five rounds of two seconds (goal ≤ 1.15)
    ratio_wall_refused   the same while every --refuse-every-th call is refused with 429, by the same ideal
    peak_mb              largest resident memory of the client; peak_mb_refused likewise
    cpu_s                processor time of the client
    again_s              seconds of a second materialisation of both stages, again_calls what it asked (goal 0)
    cache_s              seconds where the results are deleted and every answer comes from the response cache;
                         cache_calls what it asked (goal 0)

``load`` is the machine's load average: on a busy one wall times mean little, and each figure is the best of --rounds.
The last line of stdout is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SPLIT = "finance-normal"


@dataclass
class Endpoint:
    url: str
    process: subprocess.Popen[str]

    def counts(self) -> dict[str, int]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("counts\n")
        self.process.stdin.flush()
        counts: dict[str, int] = json.loads(self.process.stdout.readline())
        return counts


@contextmanager
def endpoint(*arguments: str) -> Iterator[Endpoint]:
    command = [sys.executable, str(HERE / "chat_endpoint.py"), *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Endpoint(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.wait()


def prepared(storage: Path, instances: int, context_kb: int) -> None:
    """A benchmark of finance queries and their contexts, as the contexts room stores them."""
    from deepchart_dagster.artifacts.canonical import InputKey, sha256_text
    from deepchart_dagster.artifacts.files import write_json, write_text
    from deepchart_dagster.artifacts.results import Outcome
    from deepchart_dagster.artifacts.steps import Step, Work, run_step
    from deepchart_dagster.artifacts.store import ArtifactStore
    from deepchart_dagster.benchmark.library import Library
    from deepchart_dagster.benchmark.model import ContextVariant, Domain, Modality, Query
    from deepchart_dagster.contexts.model import ContextFile, ModelContext

    source = storage.parent / "source"
    source.mkdir()
    (source / "src.json").write_text("[1]")
    queries = [
        Query(
            uid=f"speed/{number:03d}",
            benchmark="speed",
            domain=Domain.FINANCE,
            chart_type="Bar Chart",
            chart_purpose=f"Draw with {{code_type}} the revenue of company {number}.",
            chart_layout="One panel.",
            variants=(ContextVariant.NORMAL,),
            references={"d_src": "src.json"},
        )
        for number in range(instances)
    ]
    Library(storage).add("speed", queries, source)

    def work(query: Query) -> Work:
        rows = context_kb * 1024 // 40
        lines = (f"| Revenue of {query.uid} | {row * 7919 % 99991:,} |\n" for row in range(rows))
        text = "".join(lines)

        async def compute(folder: Path) -> Outcome:
            write_text(folder / "files" / "statement.md", text)
            file = ContextFile(
                name="statement.md",
                document_id="filing",
                title="10-K",
                path="files/statement.md",
                sha256=sha256_text(text),
                pages=(34,),
            )
            context = ModelContext(uid=query.uid, split=SPLIT, modality=Modality.TEXT, files=(file,), chunks=())
            write_json(folder / "context.json", context.model_dump(mode="json"))
            return Outcome()

        return Work(uid=query.uid, key=InputKey.of(uid=query.uid), compute=compute)

    step = Step(asset="context_variants", partition=(SPLIT,), scope=(SPLIT,))
    run_step(ArtifactStore(storage), step, [work(query) for query in queries])


class PreparedRunner:
    """In place of the sandbox: every program left J, or this chart."""

    def __init__(self) -> None:
        from deepchart_dagster.execution.model import RunResult, RunStatus

        common: dict[str, Any] = {
            "status": RunStatus.OK,
            "exit_code": 0,
            "signal": None,
            "wall_s": 0.0,
            "cpu_s": 0.0,
            "max_rss_mb": 1.0,
            "tier": "trusted",
            "stderr_tail": "",
            "stdout_tail": "",
        }
        state = b'{"src_data": {"2022": {"revenue": 100.0}}, "der_data": {"growth": 0.1}}'
        self._results = {1: RunResult(output=state, **common), 2: RunResult(output=_png(), **common)}

    def identity(self, stage: int, backend: object) -> dict[str, object]:
        return {"stage": stage, "backend": str(backend), "prepared": True}

    def run(self, program: Any) -> Any:
        return self._results[program.stage]


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(300)) for y in range(200))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 200, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def generate(storage: Path, url: str, concurrency: int) -> dict[str, float]:
    """Both stages in this process; what they took."""
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.contexts.tokens import counter_of
    from deepchart_dagster.llm.litellm_library import litellm_library
    from deepchart_dagster.llm.registry import ModelSpec
    from deepchart_dagster.settings import load_settings
    from deepchart_dagster.workbench import Workbench

    os.environ["OPENAI_API_KEY"] = "local-endpoint-needs-none"
    logging.disable(logging.WARNING)  # a line a refusal
    litellm_library()
    counter_of("openai/local").count("")
    model = ModelSpec(slug="local", litellm_model="openai/local", api_base=url, concurrency=concurrency)
    with Workbench(load_settings(storage=storage)) as bench:
        bench.__dict__["runner"] = PreparedRunner()
        begun, used = time.monotonic(), time.process_time()
        try:
            summaries = [
                stage.run(Split(SPLIT), model) for stage in (bench.predicted_states(), bench.rendered_charts())
            ]
        finally:
            del bench.__dict__["runner"]
        return {
            "wall_s": time.monotonic() - begun,
            "stage1_s": summaries[0].seconds,
            "stage2_s": summaries[1].seconds,
            "cpu_s": time.process_time() - used,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "n_ok": sum(summary.n_ok for summary in summaries),
            "n_error": sum(summary.n_error for summary in summaries),
            "computed": sum(summary.n_computed for summary in summaries),
        }


def generated(storage: Path, url: str, concurrency: int) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--client", str(storage), "--url", url, "--concurrency", str(concurrency)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    taken: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return taken


def measure(options: argparse.Namespace, place: Path) -> dict[str, float]:
    rounds = math.ceil(options.instances / options.concurrency)
    ideal = 2 * rounds * options.latency
    storage = place / "storage"
    storage.mkdir(parents=True)
    prepared(storage, options.instances, options.context_kb)
    refused_storage = place / "refused"
    shutil.copytree(storage, refused_storage)

    with endpoint("--latency", str(options.latency)) as server:
        first = generated(storage, server.url, options.concurrency)
        asked = server.counts()
        again = generated(storage, server.url, options.concurrency)
        asked_again = server.counts()
        for asset in ("predicted_states", "rendered_charts"):
            shutil.rmtree(storage / asset)
        cached = generated(storage, server.url, options.concurrency)
        asked_cached = server.counts()
    refuse = ("--refuse-every", str(options.refuse_every))
    with endpoint("--latency", str(options.latency), *refuse) as server:
        refused = generated(refused_storage, server.url, options.concurrency)
        asked_refused = server.counts()
    return {
        "ratio_wall": round(first["wall_s"] / ideal, 3),
        "ratio_wall_refused": round(refused["wall_s"] / ideal, 3),
        "wall_s": round(first["wall_s"], 2),
        "wall_refused_s": round(refused["wall_s"], 2),
        "ideal_s": ideal,
        "cpu_s": round(first["cpu_s"], 2),
        "peak_mb": round(first["peak_mb"]),
        "peak_mb_refused": round(refused["peak_mb"]),
        "calls": asked["calls"],
        "most_at_once": asked["most_at_once"],
        "calls_refused": asked_refused["refused"],
        "errors": first["n_error"] + refused["n_error"],
        "again_s": round(again["wall_s"], 2),
        "again_calls": asked_again["calls"] - asked["calls"],
        "again_computed": again["computed"],
        "cache_s": round(cached["wall_s"], 2),
        "cache_calls": asked_cached["calls"] - asked_again["calls"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=290)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--context-kb", type=int, default=40)
    parser.add_argument("--refuse-every", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--client", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        print(json.dumps(generate(options.client, options.url, options.concurrency)))
        return
    found = []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="deepchart-benchmark-") as place:
            found.append(measure(options, Path(place) / str(number)))
        print(json.dumps(found[-1]), file=sys.stderr)
    best: dict[str, Any] = {name: min(each[name] for each in found) for name in found[0]}
    best["errors"] = max(each["errors"] for each in found)
    best.update(instances=options.instances, concurrency=options.concurrency, programs="not run")
    print(json.dumps({**best, "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
