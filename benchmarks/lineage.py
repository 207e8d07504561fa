"""What it costs to know what is fresh, to find that nothing is to be done, and what Dagster adds to the domain's work.

    python benchmarks/lineage.py [--models 12] [--instances 290] [--latency 2] [--rounds 3]

A storage of its own is filled as the stages would leave it: six splits, --models models that take text and pictures,
and for every instance of every stage (twelve by now) a result with the key that the stage plans, and output files.
At full size that takes minutes and 4 GB of the disk (TMPDIR says where).

    status_s          reading the status of all models × splits × stages in a process of its own, imports left out, as
                      every look after the first does (goal < 2)
    status_first_s    the first look, which reads every result
    n_results         results that the status stands on; cells: its partitions
    fresh_s           materialising a fresh partition of --instances again (evaluate_model: nine assets) through
                      Dagster, as the command does it, in a process that has Dagster loaded (goal < 3)
    fresh_empty_s     the same for a partition without any instance: what of it is Dagster's own
    fresh_calls       model calls of that (goal 0)
    ratio_overhead    computing a partition of predicted_states through Dagster, by computing it through the stage alone
                      and writing its rows (goal ≤ 1.10): a local endpoint answers after --latency seconds, 64 at once,
                      programs are not run
    …_cpu_s           processor time of the same

``load`` is the machine's load average; figures are the best of --rounds. The last line of stdout is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation import PreparedRunner, endpoint
from generation import prepared as prepared_contexts

DOMAINS = {"academic": ("normal", "long"), "finance": ("normal", "long", "ultra-long"), "ecosystem": ("normal",)}
OUTPUTS = {
    "context_variants": ("context.json", "files/context.md"),
    "references": ("d_src.json", "d_der.json", "chart.png"),
    "rubrics": ("rubric.json",),
    "predicted_states": ("messages.json", "answer.txt", "program.py", "state.json"),
    "rendered_charts": ("messages.json", "answer.txt", "program.py", "chart.png", "drawn.json"),
    "source_fidelity": ("matches.json",),
    "derived_fidelity": ("matches.json",),
    "diagnosis": ("diagnosis.json",),
    "grounding": ("grounding.json",),
    "drawn_fidelity": ("drawn_fidelity.json",),
    "execution_rate": (),
    "visual_accuracy": ("verdicts.jsonl",),
}
VALUES: dict[str, dict[str, Any]] = {
    "references": {"n_source": 20, "n_derived": 8, "has_chart": True, "missing": []},
    "predicted_states": {"n_source": 20, "n_derived": 8},
    "source_fidelity": {"precision": 1.0, "recall": 1.0, "f1": 1.0},
    "derived_fidelity": {"precision": 1.0, "recall": 1.0, "f1": 1.0},
    "diagnosis": {"n_unmatched_src": 0, "n_unmatched_der": 0, "classes": []},
    "grounding": {"grounding": 1.0, "n_values": 20, "n_found": 20, "ways": {"as written": 20}},
    "drawn_fidelity": {"f1_drawn": 1.0, "f1_drawn_reference": 1.0, "n_drawn": 28},
    "execution_rate": {"executed": 1},
    "visual_accuracy": {"vas": 1.0},
}
SPLIT, MODEL = "finance-normal", "local"
PARTITION = f"{MODEL}|{SPLIT}"
EMPTY = f"{MODEL}|academic-normal"  # the benchmark of the runs has queries of SPLIT alone
EVALUATED = (
    "predicted_states",
    "rendered_charts",
    "source_fidelity",
    "derived_fidelity",
    "diagnosis",
    "grounding",
    "drawn_fidelity",
    "execution_rate",
    "visual_accuracy",
)


def models_file(path: Path, slugs: Sequence[str], url: str | None = None) -> None:
    specs = {
        slug: {
            "litellm_model": "openai/local",
            "protocols": ["text", "multimodal"],
            "context_window": 400_000,
            "prices": {"input_per_million": 0, "output_per_million": 0},
            "concurrency": 64,
            **({"api_base": url} if url else {}),
        }
        for slug in slugs
    }
    path.write_text(json.dumps({"models": specs}))  # JSON is YAML


def filled(storage: Path, slugs: Sequence[str], n_instances: int) -> int:
    """Benchmark, models and a result for every instance; hands back how many."""
    from deepchart_dagster.benchmark.library import Library
    from deepchart_dagster.benchmark.model import Query
    from deepchart_dagster.lineage.graph import PartitionKind

    source = storage / "source"
    source.mkdir(parents=True)
    for name in ("src.json", "context.md", "chart.png", "report.pdf"):
        (source / name).write_bytes(name.encode())
    queries = [
        Query.model_validate(
            {
                "uid": f"bench/{domain}-{number:04}",
                "benchmark": "bench",
                "domain": domain,
                "chart_purpose": f"Draw with {{code_type}} the revenue of company {number}.",
                "variants": variants,
                "modality": "multimodal" if domain == "ecosystem" else "text",
                "context_files": {name: ["report.pdf" if domain == "ecosystem" else "context.md"] for name in variants},
                "references": {"d_src": "src.json", "chart_image": "chart.png"},
            }
        )
        for domain, variants in DOMAINS.items()
        for number in range(n_instances)
    ]
    Library(storage).add("bench", queries, source)
    models_file(storage / "models.yaml", slugs)
    n_results = _fill_kind(storage, PartitionKind.SPLIT)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for a process
        made = pool.map(lambda slug: child("fill", storage, model=slug)["n_results"], slugs)
        return n_results + int(sum(made))


def _fill_kind(storage: Path, kind: str, *slugs: str) -> int:
    """What the stages of all partitions of a kind would leave, in the order of the pipeline."""
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.lineage.graph import NODES, partition_keys
    from deepchart_dagster.settings import load_settings
    from deepchart_dagster.workbench import Workbench

    with Workbench(load_settings(**settings_of(storage))) as bench:
        keys = [
            key for asset in NODES if asset.kind == kind for key in partition_keys(bench, asset, slugs, list(Split))
        ]
        return sum(_fill(bench, key) for key in keys)


def settings_of(storage: Path) -> dict[str, Any]:
    return {"storage": storage, "models_file": storage / "models.yaml", "ultra_long": "all"}


def _fill(bench: Any, key: Any) -> int:
    """What the partition's step would leave, written without waiting for the disk."""
    from deepchart_dagster.artifacts.results import InstanceResult, OutputFile, Status, output_hash
    from deepchart_dagster.lineage.graph import plan

    step, results = key.step, []
    for work in plan(bench, key):
        folder = bench.artifacts.folder(step.asset, step.scope, work.uid)
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for name in OUTPUTS.get(key.asset, ()):
            content = f"{key} {work.uid} {name}\n".encode()
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            files[name] = OutputFile(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        value = VALUES.get(key.asset, {})
        result = InstanceResult(
            asset=step.asset,
            scope=step.scope,
            uid=work.uid,
            input_key=work.key.digest,
            key_parts=work.key.parts,
            status=Status.OK,
            value=value,
            files=files,
            output_hash=output_hash(Status.OK, value, None, files),
            started_at="2026-11-30T12:00:00.000+00:00",
            seconds=1.0,
        )
        (folder / "result.json").write_text(json.dumps(result.model_dump(mode="json"), indent=1))
        results.append(result)
    bench.artifacts.write_manifest(key.asset, key.parts, results)
    return len(results)


def read_all(storage: Path) -> dict[str, float]:
    """One look at everything, in this process."""
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.lineage.status import State, read_status
    from deepchart_dagster.settings import load_settings
    from deepchart_dagster.workbench import Workbench

    with Workbench(load_settings(**settings_of(storage))) as bench:
        begun, used = time.monotonic(), time.process_time()
        cells = read_status(bench, models=list(bench.models), splits=list(Split))
        seconds, cpu = time.monotonic() - begun, time.process_time() - used
    stale = [cell for cell in cells if cell.state is not State.FRESH]
    assert not stale, stale[0]
    return {"seconds": seconds, "cpu_s": cpu, "cells": len(cells), "n_done": sum(cell.n_done for cell in cells)}


def through_dagster(storage: Path, url: str, rounds: int) -> dict[str, float]:
    """A partition computed by the stage alone and through Dagster, and materialised again where it is fresh."""
    from deepchart_dagster.benchmark.model import Split
    from deepchart_dagster.cli.runs import Runs
    from deepchart_dagster.llm.litellm_library import litellm_library
    from deepchart_dagster.metrics.rows import export_partition
    from deepchart_dagster.settings import load_settings
    from deepchart_dagster.workbench import Workbench

    logging.disable(logging.WARNING)
    models_file(storage / "models.yaml", [MODEL], url)
    overrides = settings_of(storage)
    os.environ.update({f"DEEPCHART_{name.upper()}": str(value) for name, value in overrides.items()})
    os.environ["OPENAI_API_KEY"] = "local-endpoint-needs-none"
    litellm_library()
    Workbench.runner = property(lambda _: PreparedRunner())  # type: ignore[method-assign,assignment,misc]
    settings = load_settings(**overrides)
    runs = Runs(settings)
    with Workbench(settings) as bench:
        runs.sync_models(bench.models)

        def alone() -> None:
            bench.predicted_states().run(Split(SPLIT), bench.model(MODEL))
            export_partition(bench.artifacts, bench.library, bench.models, "predicted_states", (SPLIT, MODEL))

        def forget() -> None:
            for name in ("predicted_states", "llm"):
                shutil.rmtree(storage / name, ignore_errors=True)

        bench.references().run(Split(SPLIT))
        bench.rubrics().run(Split(SPLIT))
        taken: dict[str, list[Taken]] = {"alone": [], "dagster": [], "fresh": [], "empty": []}
        materialized(runs, ["predicted_states"])  # loads what is loaded once
        for _ in range(rounds):
            forget()
            taken["alone"].append(timed(alone))
            forget()
            taken["dagster"].append(timed(lambda: materialized(runs, ["predicted_states"])))
    materialized(runs, EVALUATED)
    for _ in range(rounds):
        taken["fresh"].append(timed(lambda: materialized(runs, EVALUATED)))
        taken["empty"].append(timed(lambda: materialized(runs, EVALUATED, EMPTY)))
    again = [row for one in taken["fresh"] for row in one.made.rows]
    assert len(again) == rounds * len(EVALUATED)
    assert all(row.n_computed == 0 for row in again), again
    best = {name: min(ones, key=lambda one: one.seconds) for name, ones in taken.items()}
    return {
        "ratio_overhead": best["dagster"].seconds / best["alone"].seconds,
        "dagster_s": best["dagster"].seconds,
        "alone_s": best["alone"].seconds,
        "dagster_cpu_s": best["dagster"].cpu_s,
        "alone_cpu_s": best["alone"].cpu_s,
        "fresh_s": best["fresh"].seconds,
        "fresh_cpu_s": best["fresh"].cpu_s,
        "fresh_empty_s": best["empty"].seconds,
        "fresh_empty_cpu_s": best["empty"].cpu_s,
        "fresh_calls": sum(row.calls for row in again),
    }


def materialized(runs: Any, assets: Sequence[str], partition: str = PARTITION) -> Any:
    """One run as ``deepchart materialize`` makes it."""
    from deepchart_dagster.cli.pipeline import RunGroup, run_all

    done = run_all(runs, [RunGroup(tuple(assets), partition)], lambda *_: None)
    assert not done.failures, done.failures
    return done


@dataclass(frozen=True)
class Taken:
    seconds: float
    cpu_s: float
    made: Any


def timed(work: Callable[[], Any]) -> Taken:
    begun, used = time.monotonic(), time.process_time()
    made = work()
    return Taken(time.monotonic() - begun, time.process_time() - used, made)


def child(do: str, storage: Path, **options: object) -> dict[str, float]:
    """A part of this program in a process of its own."""
    extra = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    command = [sys.executable, __file__, "--do", do, "--storage", str(storage), *extra]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(options: argparse.Namespace, place: Path) -> dict[str, float]:
    storage = place / "status"
    n_results = filled(storage, [f"m{number}" for number in range(options.models)], options.instances)
    first = child("status", storage)
    later = [child("status", storage) for _ in range(options.rounds)]
    other = place / "runs"
    other.mkdir()
    prepared_contexts(other, options.instances, 8)
    with endpoint("--latency", str(options.latency)) as server:
        taken = child("runs", other, url=server.url, rounds=options.rounds)
    return {
        "status_s": min(each["seconds"] for each in later),
        "status_cpu_s": min(each["cpu_s"] for each in later),
        "status_first_s": first["seconds"],
        "cells": first["cells"],
        "n_results": n_results,
        **taken,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--instances", type=int, default=290)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--do", choices=["fill", "status", "runs"], help=argparse.SUPPRESS)
    parser.add_argument("--storage", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.do == "fill":
        print(json.dumps({"n_results": _fill_kind(options.storage, "model_split", options.model)}))
        return
    if options.do == "status":
        print(json.dumps(read_all(options.storage)))
        return
    if options.do == "runs":
        print(json.dumps(through_dagster(options.storage, options.url, options.rounds)))
        return
    with tempfile.TemporaryDirectory(prefix="deepchart-benchmark-") as place:
        found = measure(options, Path(place))
    rounded = {name: round(value, 3) for name, value in found.items()}
    print(json.dumps({**rounded, "models": options.models, "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
