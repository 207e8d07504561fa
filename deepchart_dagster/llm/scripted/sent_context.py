"""What a scripted model was sent: the intent, the stage, and the context as passages of text.

The layout is the one of generation.prompts: documents between fences under a ``### Document`` line, pictures
as image parts. A picture is read through what the evidence store knows of its bytes: its pages' text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.llm.model import ImagePart, Message, TextPart
from deepchart_dagster.llm.scripted.base import ScriptedRequest

_DOCUMENT = re.compile(
    r"^### Document \d+: (?P<title>.*) \[(?P<id>[^\]]+)\] \((?P<name>.*)\)\n(?P<fence>`{4,})\n", re.MULTILINE
)
_DATA_LINE = "Data (JSON):"
_HTML_LINE = "Code type: html"


@dataclass(frozen=True)
class Passage:
    """A text of the context: a whole document, or one page of a picture (``name`` then says which)."""

    document_id: str
    name: str
    text: str


def text_of(messages: tuple[Message, ...]) -> str:
    """All texts that were sent, one after the other."""
    return "\n".join(part.text for message in messages for part in message.parts if isinstance(part, TextPart))


def context_hash(messages: tuple[Message, ...]) -> str:
    """Identity of everything that was sent: texts and pictures."""
    parts = [part for message in messages for part in message.parts]
    return content_hash([part.text if isinstance(part, TextPart) else part.sha256 for part in parts])


def passages(request: ScriptedRequest) -> list[Passage]:
    """In the order in which they were sent."""
    found: list[Passage] = []
    for message in request.messages:
        for part in message.parts:
            found += _documents(part.text) if isinstance(part, TextPart) else _pages(part, request.evidence)
    return found


def _documents(text: str) -> Iterator[Passage]:
    at = 0
    while match := _DOCUMENT.search(text, at):
        closing = re.compile(rf"^{match['fence']}$", re.MULTILINE).search(text, match.end())
        at = closing.end() if closing else len(text)
        body = text[match.end() : closing.start() if closing else len(text)]
        yield Passage(document_id=match["id"], name=match["name"], text=body)


def _pages(image: ImagePart, evidence: EvidenceStore) -> Iterator[Passage]:
    known = evidence.get("pages", image.sha256)
    if not isinstance(known, dict):
        return
    document_id, pages = str(known.get("document_id", "")), known.get("pages")
    for page in pages if isinstance(pages, list) else []:
        if isinstance(page, dict):
            yield Passage(document_id, f"page {page.get('number')}", str(page.get("markdown", "")))


def stage2_data(messages: tuple[Message, ...]) -> JsonValue:
    """J as it was sent to be drawn; None where the messages are not of stage 2 or hold no JSON.

    The JSON is everything after the last ``Data (JSON):`` line.
    """
    _, marker, data = ("\n" + text_of(messages)).rpartition(f"\n{_DATA_LINE}")
    if not marker:
        return None
    try:
        value: JsonValue = json.loads(data)
    except json.JSONDecodeError:
        return None
    return value


def asks_for_chart(messages: tuple[Message, ...]) -> bool:
    """Whether this is stage 2."""
    return any(line.strip() == _DATA_LINE for line in text_of(messages).splitlines())


def asks_for_html(messages: tuple[Message, ...]) -> bool:
    return any(line.strip() == _HTML_LINE for line in text_of(messages).splitlines())
