"""The server of paddleocr-vl: asked first whether it is there, and every answer looked at before it is used.

paddlex asks with a time-out of its own (600 s) and uses what comes: an answer cut off at the token limit would pass
for a table that ends there. ``CheckedTransport`` stands between it and the server.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import httpx

from deepchart_dagster.contexts.engines.base import EngineUnavailableError

API_KEY_VARIABLE = "DEEPCHART_VL_API_KEY"
_CHECK_TIMEOUT_S = 10.0
_SHOWN = 160


def api_key() -> str | None:
    return os.environ.get(API_KEY_VARIABLE) or None


def without_key(text: str) -> str:
    """``text`` on one line, the key blotted out (servers like to repeat what they refuse), up to a length."""
    key = api_key()
    line = " ".join((text.replace(key, "…") if key else text).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def check_server(url: str, model: str) -> None:
    """One request: is it there, does it take the key, does it serve the model? Raises EngineUnavailableError."""
    key = api_key()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.Client(timeout=_CHECK_TIMEOUT_S, trust_env=False) as client:
            answer = client.get(f"{url.rstrip('/')}/models", headers=headers)
    except httpx.TimeoutException:
        raise EngineUnavailableError(
            f"the server {url} does not answer ({_CHECK_TIMEOUT_S:.0f} s). Is it up?"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EngineUnavailableError(f"the server {url} cannot be reached ({without_key(str(error))})") from None
    if answer.status_code in (401, 403):
        raise EngineUnavailableError(f"the server {url} refuses the key ({API_KEY_VARIABLE}): {answer.status_code}")
    if answer.status_code != httpx.codes.OK:
        hint = " (does the address end in /v1?)" if answer.status_code == httpx.codes.NOT_FOUND else ""
        raise EngineUnavailableError(f"the server {url} answers {answer.status_code} to /models{hint}")
    served = _served(answer)
    if served is None:
        raise EngineUnavailableError(f"the server {url} does not speak OpenAI's protocol (/models gives no list)")
    if model not in served:
        raise EngineUnavailableError(
            f"the server {url} serves {without_key(', '.join(served)) or 'nothing'}, not {model} (DEEPCHART_VL_MODEL)"
        )


def _served(answer: httpx.Response) -> list[str] | None:
    try:
        return [str(entry["id"]) for entry in answer.json()["data"]]
    except (ValueError, KeyError, TypeError):
        return None


class CheckedTransport(httpx.AsyncBaseTransport):
    """Ends a request after ``timeout_s`` in all; an answer that is no whole answer becomes an error by name.

    ``fault`` says what was wrong with the last answer that was, or is None.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._inner = httpx.AsyncHTTPTransport()
        self.fault: str | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # asyncio's limit holds for the whole answer; httpx's for each of its pieces, paddlex's is 600 s.
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._inner.handle_async_request(request)
                body = await response.aread()
        except (TimeoutError, httpx.TimeoutException):
            return self._refused(request, f"the server gave no answer in {self._timeout_s:g} s")
        except httpx.TransportError as error:
            self.fault = f"the connection to the server broke ({without_key(str(error)) or type(error).__name__})"
            raise
        if response.status_code != httpx.codes.OK:
            self.fault = f"the server answered {response.status_code}: {without_key(body.decode('utf-8', 'replace'))}"
        elif fault := answer_fault(body):
            return self._refused(request, fault)
        else:
            self.fault = None
        return response

    def _refused(self, request: httpx.Request, fault: str) -> httpx.Response:
        """A status that the client does not try again: the same question gets the same answer (temperature 0)."""
        self.fault = fault
        return httpx.Response(httpx.codes.UNPROCESSABLE_ENTITY, json={"error": {"message": fault}}, request=request)

    async def aclose(self) -> None:
        await self._inner.aclose()


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
