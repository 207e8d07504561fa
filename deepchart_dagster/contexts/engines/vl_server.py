"""The server of paddleocr-vl: asked first whether it is there, and every answer looked at before it is used.

paddlex asks with a time-out of its own (600 s) and uses what comes: an answer cut off at the token limit would pass
for a table that ends there, one without an end would be read until the memory is full. ``CheckedTransport`` stands
between it and the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from deepchart_dagster.contexts.engines.base import EngineUnavailableError

API_KEY_VARIABLE = "DEEPCHART_VL_API_KEY"
_CHECK_TIMEOUT_S = 10.0
# A page of text is a hundredth of this.
_MAX_ANSWER_BYTES = 8 << 20
_SHOWN = 160


def api_key() -> str | None:
    """Without blanks and line breaks round it, which come with a key that is read from a file."""
    return os.environ.get(API_KEY_VARIABLE, "").strip() or None


def without_key(text: str) -> str:
    """``text`` on one line, the key blotted out (servers like to repeat what they refuse), up to a length."""
    key = api_key()
    line = " ".join((text.replace(key, "…") if key else text).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def check_server(url: str, model: str) -> None:
    """One request: is it there, does it take the key, does it serve the model? Raises EngineUnavailableError."""
    key = api_key()
    if key and not (key.isascii() and key.isprintable()):  # what refuses it later would repeat it
        raise EngineUnavailableError(f"{API_KEY_VARIABLE} holds a character that no key can have")
    status, body = _answer(url, "GET", "/models")
    if status in (401, 403):
        raise EngineUnavailableError(f"the server {url} refuses the key ({API_KEY_VARIABLE}): {status}")
    if status != httpx.codes.OK:
        hint = " (does the address end in /v1?)" if status == httpx.codes.NOT_FOUND else ""
        raise EngineUnavailableError(f"the server {url} answers {status} to /models{hint}")
    served = _served(body)
    if served is None:
        raise EngineUnavailableError(f"the server {url} does not speak OpenAI's protocol (/models gives no list)")
    if model not in served:
        raise EngineUnavailableError(
            f"the server {url} serves {without_key(', '.join(served)) or 'nothing'}, not {model} (DEEPCHART_VL_MODEL)"
        )


def check_completes(url: str, model: str) -> None:
    """One short question, asked when a page got no answer: a server that lists its models may hang all the same.

    Raises EngineUnavailableError where that gets none either; a refusal (4xx) is an answer.
    """
    question = {"model": model, "messages": [{"role": "user", "content": "OCR:"}], "max_tokens": 1}
    status, _ = _answer(url, "POST", "/chat/completions", question)
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.TOO_MANY_REQUESTS:
        raise EngineUnavailableError(f"the server {url} answers {status} to every question")


def _answer(url: str, method: str, path: str, question: dict[str, Any] | None = None) -> tuple[int, bytes]:
    """Status and body, both within bounds. Raises EngineUnavailableError."""
    key = api_key()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with (
        _reached(url, path),
        httpx.Client(timeout=_CHECK_TIMEOUT_S, trust_env=False) as client,
        client.stream(method, f"{url.rstrip('/')}{path}", headers=headers, json=question) as answer,
    ):
        return answer.status_code, _body(answer, time.monotonic() + _CHECK_TIMEOUT_S)


@contextmanager
def _reached(url: str, path: str) -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException:
        raise EngineUnavailableError(
            f"the server {url} does not answer {path} ({_CHECK_TIMEOUT_S:.0f} s). Is it up?"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EngineUnavailableError(f"the server {url} cannot be reached ({without_key(str(error))})") from None


def _body(answer: httpx.Response, deadline: float) -> bytes:
    """httpx's time-out holds for each piece: an answer that drips, or has no end, is ended here."""
    body = b""
    for piece in answer.iter_bytes():
        body += piece
        if len(body) > _MAX_ANSWER_BYTES or time.monotonic() > deadline:
            raise httpx.ReadTimeout("its answer has no end")
    return body


def _served(body: bytes) -> list[str] | None:
    try:
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return None


class CheckedTransport(httpx.AsyncBaseTransport):
    """Ends a request after ``timeout_s`` in all; an answer that is no whole answer becomes an error by name.

    ``fault`` says what was wrong with the last answer that was, or is None; ``no_answer``: the server gave none to
    use, which may be so for every page.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._inner = httpx.AsyncHTTPTransport()
        self.fault: str | None = None
        self.no_answer = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # asyncio's limit holds for the whole answer; httpx's for each of its pieces, paddlex's is 600 s.
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._inner.handle_async_request(request)
                body = await _bounded(response)
        except (TimeoutError, httpx.TimeoutException):
            self.no_answer = True
            return self._refused(request, f"the server gave no answer in {self._timeout_s:g} s")
        except httpx.TransportError as error:
            self.no_answer = True
            self.fault = f"the connection to the server broke ({without_key(str(error)) or type(error).__name__})"
            raise
        if body is None:
            return self._refused(request, f"the server's answer is longer than {_MAX_ANSWER_BYTES >> 20} MB")
        self.no_answer = response.status_code != httpx.codes.OK
        if self.no_answer:
            self.fault = f"the server answered {response.status_code}: {without_key(body.decode('utf-8', 'replace'))}"
        elif fault := answer_fault(body):
            return self._refused(request, fault)
        else:
            self.fault = None
        return httpx.Response(response.status_code, headers=_told(response), content=body, request=request)

    def _refused(self, request: httpx.Request, fault: str) -> httpx.Response:
        """A status that the client does not try again: the same question gets the same answer (temperature 0)."""
        self.fault = fault
        return httpx.Response(httpx.codes.UNPROCESSABLE_ENTITY, json={"error": {"message": fault}}, request=request)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _bounded(response: httpx.Response) -> bytes | None:
    """The whole body, None for one that is too long."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _MAX_ANSWER_BYTES:
            await response.aclose()
            return None
    return body


def _told(response: httpx.Response) -> dict[str, str]:
    """What the client goes by: the kind of answer, and when to ask again."""
    return {name: response.headers[name] for name in ("content-type", "retry-after") if name in response.headers}


def answer_fault(body: bytes) -> str | None:
    """What keeps a chat completion from being used, or None."""
    try:
        answer: Any = json.loads(body)
    except ValueError:
        return "the server's answer is no JSON"
    try:
        choice = answer["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        return "the server's answer holds no choice"
    if reason == "length":
        return "the server's answer was cut off at the token limit"
    return None if isinstance(content, str) else "the server's answer holds no text"
