"""Answers that are no chat completion at all, and from where: a web page, a text, JSON of something else.

An answer that was one in part (it breaks off), or in which the provider says what is wrong, is none of these: another
call may well be answered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from deepchart_dagster.llm.registry import ModelSpec

# Of a web page, looked through for its title and words.
_LONGEST_READ = 4_000
# litellm's sentence, in which the whole body stands, and where it stands for an OpenAI-compatible endpoint.
_RECEIVED = re.compile(r"response from LLM endpoint\. Received: (.{0,4000})", re.DOTALL)
_AFTER_RECEIVED = re.compile(r"\. Check the reverse proxy or model server configuration.*", re.DOTALL)
_NO_CHOICES = re.compile(r"returned a response with no '(choices)'")
_NO_MEMBER = re.compile(r"^'(content|choices|candidates)'$")
_TITLE = re.compile(r"<title[^<>]*>([^<]+)", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"<(script|style)\b.*?(?:</\1>|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")

NO_CHAT_API = (
    "Check api_base of this model: it must lead to a chat API (often it ends in /v1), past any proxy and sign-in page."
)


@dataclass(frozen=True)
class Came:
    """``kind``: in words, the same for answers of one sort. ``words``: the beginning of what it says, or ""."""

    kind: str
    words: str = ""


def what_came(errors: Iterable[tuple[str, str | None]]) -> Came | None:
    """From what was raised, outermost first: each error's words, and the text that it could not read as JSON (or None).

    None where something of a chat completion came, or nobody can tell.
    """
    for said, unread in errors:
        if isinstance(unread, str):
            return of_body(unread)
        if found := _RECEIVED.search(said):
            body = _AFTER_RECEIVED.sub("", found.group(1))
            return of_body(body[1:].removesuffix(body[0]) if body[:1] in ("'", '"') else body)
        if found := _NO_CHOICES.search(said) or _NO_MEMBER.match(said.partition("\n")[0]):
            return Came(f"JSON without '{found.group(1)}'")
    return None


def of_body(body: str) -> Came | None:
    """What a body is that is no JSON object; None for JSON that breaks off."""
    text = body[:_LONGEST_READ].strip()
    if not text:
        return Came("an empty body")
    if text.startswith("{"):
        return None
    if text.startswith("<"):
        title = _TITLE.search(text)
        return Came("a web page", title.group(1).strip() if title else _TAG.sub(" ", _NOT_SHOWN.sub(" ", text)).strip())
    return Came("a text", text)


def address(model: ModelSpec) -> str:
    """Where the model is asked, without user, password and query; the provider's name where that is nobody's choice."""
    provider = model.litellm_model.split("/")[0]
    chosen = (os.environ.get(f"{provider.upper()}_{name}") for name in ("BASE_URL", "API_BASE"))
    url = model.api_base or next(filter(None, chosen), None)
    if not url:
        return provider
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
