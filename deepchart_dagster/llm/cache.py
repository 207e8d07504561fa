"""The response cache: one file an answer, found by the key of its request.

    storage/llm/answers/<2 hex>/<key>.json    written the moment the answer arrives (temporary name, sync, rename)
    storage/llm/asking/<key>.lock             held by whoever is asking; gone when nobody is (see in_flight)

A file holds the answer and the parts of its key, with hashes and sizes in place of the texts and images,
so that two requests can be compared without keeping a million tokens twice. Only answers are kept, never
errors. A damaged file counts as absent and is replaced.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from deepchart_dagster.artifacts.canonical import sha256_text
from deepchart_dagster.artifacts.files import remove_leftovers, storage_errors, write_json
from deepchart_dagster.llm.in_flight import lock_path
from deepchart_dagster.llm.locks import acquire
from deepchart_dagster.llm.model import ChatRequest, FinishReason, Message, TextPart

ANSWER_FORMAT = "deepchart-answer/1"


class StoredAnswer(BaseModel):
    """One answer as it came. Tokens rather than a price: prices change, and stand in models.yaml.

    answered_by   the model's name in the provider's own answer
    seconds       from sending the attempt that succeeded to the end of its answer
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["deepchart-answer/1"] = "deepchart-answer/1"
    key: str
    model: str
    purpose: str
    text: str
    finish_reason: FinishReason
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    answered_at: str
    answered_by: str | None
    dropped_parameters: tuple[str, ...]
    parts: dict[str, JsonValue]


@dataclass(frozen=True)
class AnswerCache:
    """The answers below one storage root. Holds no state; safe among threads and processes."""

    storage: Path

    def path(self, key: str) -> Path:
        return self.storage / "llm" / "answers" / key.removeprefix("k1-")[:2] / f"{key}.json"

    def get(self, key: str) -> StoredAnswer | None:
        """The answer, or None where there is none that can be read. Raises StorageError (no permission)."""
        path = self.path(key)
        try:
            with storage_errors(path, "read"):
                data = path.read_bytes() if path.exists() else None
            answer = StoredAnswer.model_validate_json(data) if data is not None else None
        except ValidationError:
            return None
        return answer if answer is not None and answer.key == key else None

    def put(self, answer: StoredAnswer) -> None:
        """Raises StorageError."""
        path = self.path(answer.key)
        remove_leftovers(path.parent)  # of one who was killed writing this answer, which is written again now
        write_json(path, answer.model_dump(mode="json"))

    @asynccontextmanager
    async def asking(self, key: str) -> AsyncIterator[None]:
        """Only one task of all processes is inside for a key at a time; the others wait, without a thread.

        Whoever comes in after waiting must look into the cache first. A killed process holds nothing.
        """
        path = lock_path(self.storage, key)
        with storage_errors(path, "lock"):
            path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, thread_local=False)
        await acquire(lock, path)
        try:
            yield
        finally:
            # Removed while still held: one who waits on this file then finds it gone and makes a new one.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            lock.release()


def summarised_parts(request: ChatRequest, parts: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The parts of a request's key, with every text and image as hash and size."""
    return {**parts, "messages": [_summary(message) for message in request.messages]}


def _summary(message: Message) -> JsonValue:
    summaries: list[JsonValue] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            summaries.append({"text_sha256": sha256_text(part.text), "characters": len(part.text)})
        else:
            summaries.append({"image": part.sha256, "media_type": part.media_type, "bytes": part.size})
    return {"role": message.role, "parts": summaries}
