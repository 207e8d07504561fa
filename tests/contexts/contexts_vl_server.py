"""A local server that speaks vLLM's OpenAI protocol, well or badly, in place of PaddleOCR-VL's."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "PaddleOCR-VL-1.6-0.9B"


@dataclass
class VlServer:
    """``faults`` are used up one a request to /chat/completions; ``text`` answers every other one.

    ``down`` is looked at for every request: it gets no answer. ``endless_list``: /models never ends. ``hangs``: models
    are listed, and every question waits ``slow_s`` for its answer; ``fails``: it is answered with this status.
    """

    text: str = "Total assets 352,755"
    models: tuple[str, ...] = (MODEL,)
    key: str | None = None
    faults: list[str] = field(default_factory=list)
    slow_s: float = 0.0
    models_status: int = 200
    down: bool = False
    hangs: bool = False
    fails: int = 0
    endless_list: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)
    listed: int = 0
    url: str = ""


def completion(text: object, reason: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = {"id": "c", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]}
    return json.dumps({**answer, "usage": usage}).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: VlServer

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refused(self) -> bool:
        given = self.headers.get("Authorization")
        if self.state.key is None or given == f"Bearer {self.state.key}":
            return False
        self._answer(401, json.dumps({"error": {"message": f"Incorrect API key: {given}"}}).encode())
        return True

    def _hang_up(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _without_end(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        with suppress(ConnectionError):
            while True:
                self.wfile.write(b" " * 65536)

    def do_GET(self) -> None:
        self.state.listed += 1
        if self.state.down:
            self._hang_up()
            return
        if self._refused():
            return
        if self.state.endless_list:
            self._without_end()
            return
        data = [{"id": name, "object": "model"} for name in self.state.models]
        self._answer(self.state.models_status, json.dumps({"object": "list", "data": data}).encode())

    def do_POST(self) -> None:
        self.state.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.state.down:
            self._hang_up()
            return
        if self._refused():
            return
        fault = self.state.faults.pop(0) if self.state.faults else ""
        if self.state.hangs or self.state.fails:
            fault = "slow" if self.state.hangs else str(self.state.fails)
        if fault == "down":
            self.state.down = True
            self._hang_up()
            return
        if fault == "reset":
            self._hang_up()
        elif fault == "endless":
            self._without_end()
        elif fault == "redirect":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:9/v1/chat/completions")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif fault == "half":
            body = completion(self.state.text)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif fault == "slow":
            time.sleep(self.state.slow_s)
            with suppress(ConnectionError):  # whoever asked is gone by now
                self._answer(200, completion(self.state.text))
        elif fault.isdigit():
            self._answer(int(fault), json.dumps({"error": {"message": "try later"}}).encode())
        elif fault == "garbage":
            self._answer(200, b"<html>proxy error</html>")
        elif fault == "empty":
            self._answer(200, json.dumps({"id": "c", "object": "chat.completion", "choices": []}).encode())
        elif fault == "null":
            self._answer(200, completion(None))
        elif fault == "length":
            self._answer(200, completion(self.state.text, "length"))
        else:
            self._answer(200, completion(self.state.text))


@contextmanager
def vl_server(state: VlServer) -> Iterator[VlServer]:
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
