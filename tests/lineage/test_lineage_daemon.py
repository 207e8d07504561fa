"""Refreshing by a real daemon: `deepchart ui` on a small storage, switched on as its page does it, by GraphQL."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

DEEPCHART = str(Path(sys.executable).with_name("deepchart"))
PROMPTS = Path(__file__).parents[2] / "deepchart_dagster/generation/prompt_files"
LOCATION = {"repositoryLocationName": "deepchart", "repositoryName": "__repository__"}
ROOM = 240.0  # seconds; a machine that is not busy takes 30 for all of it

Found = TypeVar("Found")


@dataclass(frozen=True)
class Interface:
    """`deepchart ui` as it runs, and what its page would ask it."""

    url: str
    storage: Path
    process: subprocess.Popen[str]
    environment: dict[str, str]

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer
        return dict(answer["data"])

    def sensor(self, name: str) -> dict[str, Any]:
        answer = self.ask(
            "query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor {"
            " sensorState { status ticks(limit: 5) { status skipReason cursor } } } } }",
            s={**LOCATION, "sensorName": name},
        )
        return dict(answer["sensorOrError"]["sensorState"])

    def switch_on(self, name: str) -> None:
        answer = self.ask(
            "mutation($s: SensorSelector!) { startSensor(sensorSelector: $s) { __typename } }",
            s={**LOCATION, "sensorName": name},
        )
        assert answer["startSensor"]["__typename"] == "Sensor"

    def would_do(self, name: str) -> dict[str, Any]:
        """What one more look of the sensor would come to; nothing is done."""
        (tick,) = self.sensor(name)["ticks"][:1]
        answer = self.ask(
            "mutation($s: SensorSelector!, $c: String) { sensorDryRun(selectorData: $s, cursor: $c) {"
            " ... on DryRunInstigationTick { evaluationResult { skipReason runRequests { jobName } } } } }",
            s={**LOCATION, "sensorName": name},
            c=tick["cursor"],
        )
        return dict(answer["sensorDryRun"]["evaluationResult"])

    def runs(self) -> list[dict[str, Any]]:
        answer = self.ask(
            "{ runsOrError { ... on Runs { results { runId status jobName parentRunId assetSelection { path }"
            " tags { key value } } } } }"
        )
        return [
            {**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}}
            for run in answer["runsOrError"]["results"]
        ]

    def worker_of(self, run_id: str) -> int | None:
        answer = self.ask(
            "query($r: ID!) { logsForRun(runId: $r) { ... on EventConnection { events {"
            " ... on MessageEvent { message } } } } }",
            r=run_id,
        )
        for event in answer["logsForRun"]["events"]:
            head, _, tail = event.get("message", "").partition("Started process for run (pid: ")
            if not head and tail:
                return int(tail.partition(")")[0])
        return None

    def fresh(self, asset: str, partition: str) -> bool:
        answer = self.ask(
            'query($k: AssetKeyInput!, $p: String) { assetCheckExecutions(assetKey: $k, checkName: "fresh",'
            " limit: 1, partition: $p) { evaluation { success } } }",
            k={"path": [asset]},
            p=partition,
        )
        (last,) = answer["assetCheckExecutions"]
        return bool(last["evaluation"]["success"])

    def processes(self) -> list[str]:
        """Command lines of all that has this storage's Dagster home in its environment."""
        mark, found = f"DAGSTER_HOME={self.storage}/".encode(), []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:  # it ended while we looked
                continue
        return found


def _until(look: Callable[[], Found | None]) -> Found:
    deadline = time.monotonic() + ROOM
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come about")


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    shutil.copy(PROMPTS / "stage1.yaml", folder)
    return folder


@pytest.fixture
def interface(made: Path, prompts: Path, tmp_path: Path) -> Iterator[Interface]:
    storage = tmp_path / "storage"
    shutil.copytree(made, storage)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DEEPCHART_", "DAGSTER_"))}
    environment = {**kept, "DEEPCHART_STORAGE": str(storage), "DEEPCHART_PROMPTS": str(prompts)}
    process = subprocess.Popen(
        [DEEPCHART, "ui", "--port", str(port)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background ignores it, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"Dagster UI: http://127.0.0.1:{port}\n"
    yield Interface(f"http://127.0.0.1:{port}", storage, process, environment)
    if process.poll() is None:
        process.terminate()
        process.communicate(timeout=60)


def test_what_is_stale_is_refreshed_by_the_daemon_and_nothing_else(interface: Interface, prompts: Path) -> None:
    said = _until(lambda: [tick["skipReason"] for tick in interface.sensor("staleness")["ticks"] if tick["skipReason"]])
    assert said[-1] == "9 partitions, 0 of them not fresh; 9 changed since the last look."
    assert interface.sensor("refresh_stale")["status"] == "STOPPED", "off until somebody switches it on"

    prompt = prompts / "stage1.yaml"
    prompt.write_text(prompt.read_text() + "\n# another version\n")
    assert interface.runs() == []
    interface.switch_on("refresh_stale")
    (first,) = _until(interface.runs)
    assert (first["jobName"], first["tags"]["dagster/partition"]) == ("evaluate_model", "oracle|academic-normal")
    assert {one["path"][-1] for one in first["assetSelection"]} == {"predicted_states", "source_fidelity"}
    assert "prompt" in first["tags"]["deepchart/because"]

    # Its process is killed: the run ends as failed and is tried again, with what was stored until then.
    os.kill(_until(lambda: interface.worker_of(first["runId"])), signal.SIGKILL)
    second, killed = _until(lambda: runs if len(runs := interface.runs()) > 1 else None)
    assert (killed["runId"], killed["status"]) == (first["runId"], "FAILURE")
    assert second["parentRunId"] == first["runId"]
    ended = _until(lambda: status if (status := interface.runs()[0]["status"]) in ("SUCCESS", "FAILURE") else None)
    assert ended == "SUCCESS"
    assert interface.fresh("predicted_states", "oracle|academic-normal")
    assert interface.fresh("source_fidelity", "oracle|academic-normal")
    answers = (interface.storage / "llm" / "ledger").glob("*.jsonl")
    assert sum(len(path.read_text().splitlines()) for path in answers) == 4, "two calls for each prompt"
    assert interface.would_do("refresh_stale") == {"skipReason": "Nothing is stale.", "runRequests": []}

    again = subprocess.run([DEEPCHART, "ui"], env=interface.environment, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert f"is running already at {interface.url} (process {interface.process.pid})" in again.stderr

    assert interface.processes()
    interface.process.send_signal(signal.SIGINT)
    _, said = interface.process.communicate(timeout=ROOM)
    assert interface.process.returncode == 0
    assert "the UI and the daemon have ended" in said
    assert "Traceback" not in said
    assert interface.processes() == []
