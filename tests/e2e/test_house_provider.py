"""A user's own model: the whole path through litellm to a server that speaks the OpenAI chat protocol.

The server answers as the scripted oracle would, from the very messages that came over HTTP: texts, and pictures
as data URLs. Once it is down: that is our error, never a zero.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedRequest
from deepchart_dagster.llm.wire import from_wire

if TYPE_CHECKING:
    from tests.e2e.conftest import Demo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KEY = "sk-this-key-must-never-be-seen-again"
SELECTION = "predicted_states,rendered_charts,source_fidelity,derived_fidelity,execution_rate,visual_accuracy"


class OracleServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, storage: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.storage = storage
        self.down = False
        self.requests: list[dict[str, Any]] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: OracleServer

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.server.down:
            self._send(500, {"error": {"message": f"no capacity for {self.headers['Authorization']}"}})
            return
        reply = oracle.answer(
            ScriptedRequest(from_wire(body["messages"]), {}, EvidenceStore(self.server.storage), self.server.storage)
        )
        message = {"role": "assistant", "content": f"Here it is:\n\n```python\n{reply.text}\n```\n"}
        self._send(
            200,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
            },
        )

    def _send(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope="module")
def own(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Demo, OracleServer]]:
    """The demo's storage (a copy), a models.yaml with one model on a server of our own, and that server."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(demo.storage, folder / "storage", ignore=shutil.ignore_patterns("dagster_home", "logs"))
    server = OracleServer(folder / "storage")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "models.yaml").write_text(
        "models:\n"
        "  own-model:\n"
        "    litellm_model: openai/own-model-1\n"
        f"    api_base: {server.base}\n"
        "    protocols: [text, multimodal]\n"
        "    context_window: 400000\n"
        "    prices: {input_per_million: 2.0, output_per_million: 10.0}\n"
    )
    settings = {"DEEPCHART_MODELS_FILE": str(folder / "models.yaml"), "OPENAI_API_KEY": KEY}
    yield demo.at(folder / "storage", settings), server
    server.shutdown()
    server.server_close()


def test_a_user_s_model_runs_over_http_to_its_scores(own: tuple[Demo, OracleServer]) -> None:
    house, server = own
    chosen = ("--model", "own-model", "--split", "finance-normal", "--split", "ecosystem")
    done = house.run("materialize", SELECTION, *chosen, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {(row["asset"], row["partition"]): row for row in json.loads(done.stdout)["materialized"]}
    assert rows["predicted_states", "own-model|ecosystem"]["calls"] == 2
    scores = {
        path.relative_to(house.storage).parts[:2]: json.loads(path.read_text())["value"]["f1"]
        for path in house.storage.glob("*_fidelity/*/own-model/*/result.json")
    }
    assert set(scores) == {
        (f"{side}_fidelity", split) for side in ("source", "derived") for split in ("finance-normal", "ecosystem")
    }
    assert set(scores.values()) == {1.0}
    assert len(server.requests) == 8, "two stages of four instances, each asked once"
    pictures = [part for body in server.requests for part in _parts(body) if part["type"] == "image_url"]
    assert len(pictures) == 12, "two reports of 45 and 42 pages, up to eight to a chunk"
    priced = [json.loads(line) for path in house.storage.glob("llm/ledger/*.jsonl") for line in path.open()]
    own_rows = [row for row in priced if row["model"] == "own-model"]
    assert {row["price_usd"] for row in own_rows} == {1000 * 2.0 / 1e6 + 100 * 10.0 / 1e6}


def test_asking_again_pays_nothing(own: tuple[Demo, OracleServer]) -> None:
    house, server = own
    asked = len(server.requests)
    shutil.rmtree(house.storage / "predicted_states" / "finance-normal" / "own-model")
    arguments = ("materialize", "predicted_states", "--model", "own-model", "--split", "finance-normal", "--json")
    rows = json.loads(house.run(*arguments).stdout)["materialized"]
    assert (rows[0]["n_computed"], rows[0]["calls"]) == (2, 0)
    assert len(server.requests) == asked


def test_a_provider_that_is_down_is_an_error_of_ours(own: tuple[Demo, OracleServer]) -> None:
    house, server = own
    server.down = True
    house = house.at(house.storage, {**house.environment, "DEEPCHART_CALL_ATTEMPTS": "2"})
    done = house.run("materialize", SELECTION, "--model", "own-model", "--split", "academic-normal", "--json")
    assert done.returncode in (1, 3), done.stdout
    results = [
        json.loads(path.read_text())
        for path in house.storage.glob("predicted_states/academic-normal/own-model/*/result.json")
    ]
    assert [result["status"] for result in results] == ["error", "error"]
    assert not list(house.storage.glob("source_fidelity/academic-normal/own-model/*/matches.json"))
    server.down = False
    done = house.run(
        "materialize", SELECTION, "--model", "own-model", "--split", "academic-normal", "--retry-errors", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(row["n_error"] for row in json.loads(done.stdout)["materialized"]) == 0


def test_the_key_is_in_no_file(own: tuple[Demo, OracleServer]) -> None:
    house, _ = own
    leaks = [path for path in house.storage.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert leaks == []


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]
