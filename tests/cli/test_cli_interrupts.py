"""Ctrl-C and a request to end, in the middle of a model call: one line, exit code 130, what was made is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cli_command import Ran, command_line, deepchart

pytestmark = pytest.mark.slow


class _SilentProvider:
    """A provider that takes a request and never answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.asked.set()
                outer.released.wait(120)

            def log_message(self, *arguments: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def models_yaml(self) -> str:
        address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        return f"models:\n  silent:\n    litellm_model: openai/silent\n    api_base: {address}\n"

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def provider() -> Iterator[_SilentProvider]:
    silent = _SilentProvider()
    yield silent
    silent.close()


@pytest.fixture(scope="module")
def contexts(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with the contexts of finance-normal."""
    storage = tmp_path_factory.mktemp("contexts") / "storage"
    assert deepchart("import", sample, "--storage", storage).code == 0
    assert deepchart("materialize", "context_variants", "--split", "finance-normal", "--storage", storage).code == 0
    return storage


# A shell in the background hands down an ignored SIGINT; the command is to find what a terminal gives it.
_AS_FROM_A_TERMINAL = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "asked to end"])
def test_a_run_that_is_interrupted(
    contexts: Path, tmp_path: Path, provider: _SilentProvider, number: signal.Signals
) -> None:
    file = tmp_path / "models.yaml"
    file.write_text(provider.models_yaml, encoding="utf-8")
    scope = ["--split", "finance-normal", "--storage", str(contexts)]

    arguments = ["materialize", "predicted_states+", "--model", "silent", *scope, "--json"]
    child = subprocess.Popen(
        [sys.executable, "-c", _AS_FROM_A_TERMINAL, *command_line(*arguments)],
        env={**os.environ, "DEEPCHART_MODELS_FILE": str(file), "OPENAI_API_KEY": "sk-test"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not provider.asked.wait(0.2):
            assert child.poll() is None, f"the model was never asked: {child.communicate()}"
        child.send_signal(number)
        out, err = child.communicate(timeout=240)
    finally:
        child.kill()
        child.wait()

    ran = Ran(child.returncode, out, err)
    assert ran.code == 130
    assert ran.json["error"]["kind"] == "Interrupted"
    assert "Traceback" not in err
    assert err.strip().splitlines()[-1] == (
        "deepchart: interrupted. What is stored is kept; the next run goes on from there."
    )
    status = deepchart(
        "status", "--model", "silent", *scope, "--json", environment={"DEEPCHART_MODELS_FILE": str(file)}
    )
    states = {cell["asset"]: (cell["state"], cell["n_done"]) for cell in status.json["cells"]}
    assert states["context_variants"] == ("fresh", 3)
    assert states["predicted_states"] == ("missing", 0)
    assert deepchart("verify", "--storage", contexts).code == 0
    assert not list(contexts.glob("predicted_states/**/.tmp-*"))
