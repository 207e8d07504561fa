"""A local endpoint that speaks the OpenAI chat protocol, with a latency: for benchmarks/generation.py.

    python benchmarks/chat_endpoint.py --latency 2 [--refuse-every 5] [--retry-after 1]

Prints its address, then a line of JSON with its counts for every line that it reads. Every ``refuse-every``-th call
is refused with 429 at once. The answer is a program; its usage is counted from the length of the request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

ANSWER = "Here it is.\n\n```python\nprint('a program')\n```\n"


class Endpoint:
    def __init__(self, latency_s: float, refuse_every: int, retry_after_s: float | None) -> None:
        self.latency_s, self.refuse_every, self.retry_after_s = latency_s, refuse_every, retry_after_s
        self.calls = self.answered = self.refused = self.at_once = self.most_at_once = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = _content_length(head)
                await reader.readexactly(length)
                writer.write(await self.reply(length))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed its connection
        finally:
            writer.close()

    async def reply(self, length: int) -> bytes:
        self.calls += 1
        if self.refuse_every and self.calls % self.refuse_every == 0:
            self.refused += 1
            wish = f"retry-after: {self.retry_after_s}\r\n" if self.retry_after_s is not None else ""
            return _response("429 Too Many Requests", {"error": {"message": "slow down"}}, wish)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.latency_s)
        self.at_once -= 1
        self.answered += 1
        given = length // 4
        answer = {
            "id": f"chat-{self.calls}",
            "object": "chat.completion",
            "created": 1,
            "model": "local",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
            "usage": {"prompt_tokens": given, "completion_tokens": 20, "total_tokens": given + 20},
        }
        return _response("200 OK", answer)

    def counts(self) -> dict[str, int]:
        return {
            "calls": self.calls,
            "answered": self.answered,
            "refused": self.refused,
            "most_at_once": self.most_at_once,
        }


def _content_length(head: bytes) -> int:
    fields = (line.split(b":", 1) for line in head.lower().split(b"\r\n") if b":" in line)
    return next(int(value) for name, value in fields if name == b"content-length")


def _response(status: str, body: dict[str, object], more: str = "") -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n{more}\r\n"
    return head.encode() + data


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--refuse-every", type=int, default=0)
    parser.add_argument("--retry-after", type=float)
    options = parser.parse_args()
    endpoint = Endpoint(options.latency, options.refuse_every, options.retry_after)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=1 << 20, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(endpoint.counts()), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
