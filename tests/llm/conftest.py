"""A real HTTP server that speaks the OpenAI chat protocol and does what providers do, and a client for it."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ChatRequest, Message
from deepchart_dagster.llm.registry import ModelSpec, Prices
from deepchart_dagster.llm.retry import RetryPolicy

# Tests are imported by path (importlib mode): their helpers beside them need a place to be found.
sys.path.insert(0, str(Path(__file__).parent))

KEY = "sk-local-0123456789abcdefXYZ"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. ``cut``: bytes of the body after which the connection is dropped."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: int | None = None


def completion(text: str | None = "fine", finish: str | None = "stop", **changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "local-model-2026",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
    }
    return {**answer, **changes}


def good(text: str | None = "fine", finish: str | None = "stop", *, delay_s: float = 0.0, **changes: Any) -> Reply:
    return Reply(body=json.dumps(completion(text, finish, **changes)).encode(), delay_s=delay_s)


def piece(text: str | None = None, finish: str | None = None, **changes: Any) -> dict[str, Any]:
    """One event of a stream."""
    delta = {} if text is None else {"content": text}
    event: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "local-model-2026",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return {**event, **changes}


USAGE_PIECE = piece(choices=[], usage={"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200})


def streamed(*pieces: dict[str, Any], done: bool = True, **reply: Any) -> Reply:
    """``pieces`` as server-sent events; ``done``: whether the stream says that it ends."""
    events = [json.dumps(event) for event in pieces] + (["[DONE]"] if done else [])
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    return Reply(body=body, content_type="text/event-stream", **reply)


def bad(status: int, message: str = "no", **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}}).encode()
    return Reply(status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


class ChatServer(ThreadingHTTPServer):
    """Answers with the replies it was told, in turn; with ``good()`` when there are none left."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.arrivals: list[float] = []
        self.most_at_once = 0
        self.keep_requests = True  # False: they are large, and only counted
        self._at_once = 0
        self._replies: list[Reply] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def tell(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def take(self, request: dict[str, Any]) -> Reply:
        with self._lock:
            self.requests.append(request if self.keep_requests else {})
            self.arrivals.append(time.monotonic())
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return self._replies.pop(0) if self._replies else good()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers that are killed, or give up, reset their connections."""

    @property
    def at_once(self) -> int:
        return self._at_once

    def done(self) -> None:
        with self._lock:
            self._at_once -= 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = self.server.take({**body, "authorization": self.headers.get("authorization")})
        time.sleep(reply.delay_s)
        self.server.done()
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True  # the client has gone: it had waited long enough

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body[: reply.cut])
        self.wfile.flush()
        if reply.cut is not None:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


@pytest.fixture(autouse=True)
def provider_key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return KEY


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def make_request(server: ChatServer) -> Callable[..., ChatRequest]:
    """A request to the server; keyword arguments change the model or (text, parameters, repeat, about) the request."""

    def make(
        text: str = "What was revenue?",
        *,
        parameters: dict[str, Any] | None = None,
        repeat: int = 0,
        about: str = "",
        **model: Any,
    ) -> ChatRequest:
        fields: dict[str, Any] = {
            "slug": "local",
            "litellm_model": "openai/local-model",
            "api_base": server.url,
            "prices": Prices(input_per_million=2.0, output_per_million=10.0),
            "timeout_s": 20.0,
        }
        return ChatRequest(
            model=ModelSpec(**{**fields, **model}),
            messages=(Message.text("system", "Answer briefly."), Message.text("user", text)),
            purpose="stage1",
            prompt_hash="p1",
            parameters=parameters or {},
            repeat=repeat,
            about=about,
        )

    return make


@pytest.fixture
def quick() -> RetryPolicy:
    return RetryPolicy(attempts=3, patience_s=0.0, first_wait_s=0.01, longest_wait_s=0.05)


@pytest.fixture
def client(tmp_path: Path, quick: RetryPolicy) -> LiteLLMClient:
    return LiteLLMClient(tmp_path, retry=quick)


@pytest.fixture
def replies() -> Any:
    """The reply makers, for test modules (importlib mode has no imports among test files)."""

    class Replies:
        good = staticmethod(good)
        bad = staticmethod(bad)
        completion = staticmethod(completion)
        piece = staticmethod(piece)
        streamed = staticmethod(streamed)
        usage = USAGE_PIECE
        Reply = Reply

    return Replies
