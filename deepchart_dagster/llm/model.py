"""Requests and answers as values. Nothing here knows a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import InputKey, sha256_bytes
from deepchart_dagster.errors import MissingInputError, UpstreamError
from deepchart_dagster.llm.registry import ModelSpec, Prices

Role = Literal["system", "user", "assistant"]
Purpose = Literal["stage1", "stage2", "rubric", "judge"]

# Bumped when a request's identity is made from other parts; old answers are then never found again.
REQUEST_VERSION = 1


@dataclass(frozen=True)
class TextPart:
    text: str


_MAKE_IT_AGAIN = "Delete its folder, then: deepchart materialize context_variants."


@dataclass(frozen=True)
class PictureFile:
    """A picture that stays on disk until it is sent: those of a report are some 50 MB, and many reports wait."""

    path: Path
    sha256: str
    size: int

    @classmethod
    def at(cls, path: Path, sha256: str) -> PictureFile:
        """Raises MissingInputError where there is no such file."""
        try:
            return cls(path, sha256, path.stat().st_size)
        except OSError as error:
            raise MissingInputError(f"the picture {path}: {error.strerror}.", remedy=_MAKE_IT_AGAIN) from error

    def read(self) -> bytes:
        """Raises MissingInputError where it is gone, UpstreamError where it holds something else by now."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise MissingInputError(f"the picture {self.path}: {error.strerror}.", remedy=_MAKE_IT_AGAIN) from error
        if sha256_bytes(data) != self.sha256:
            raise UpstreamError(f"the picture {self.path} was changed after it was made.", remedy=_MAKE_IT_AGAIN)
        return data


@dataclass(frozen=True)
class ImagePart:
    """An image, as bytes or as the file that has them; width and height in pixels (they estimate its tokens)."""

    data: bytes | PictureFile
    media_type: str
    width: int
    height: int

    @property
    def sha256(self) -> str:
        return self.data.sha256 if isinstance(self.data, PictureFile) else sha256_bytes(self.data)

    @property
    def size(self) -> int:
        return self.data.size if isinstance(self.data, PictureFile) else len(self.data)

    def read(self) -> bytes:
        """Raises MissingInputError, UpstreamError."""
        return self.data.read() if isinstance(self.data, PictureFile) else self.data


@dataclass(frozen=True)
class Message:
    role: Role
    parts: tuple[TextPart | ImagePart, ...]

    @classmethod
    def text(cls, role: Role, text: str) -> Message:
        return cls(role=role, parts=(TextPart(text),))


@dataclass(frozen=True)
class ChatRequest:
    """One call. ``parameters`` are the provider parameters on top of the model's own (temperature, …).

    about   the instance, for people who look at calls and their ledger; in no key
    """

    model: ModelSpec
    messages: tuple[Message, ...]
    purpose: Purpose
    prompt_hash: str
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    repeat: int = 0
    about: str = ""

    @property
    def texts(self) -> list[str]:
        return [part.text for message in self.messages for part in message.parts if isinstance(part, TextPart)]

    @property
    def pictures(self) -> list[ImagePart]:
        return [part for message in self.messages for part in message.parts if isinstance(part, ImagePart)]

    def key(self) -> InputKey:
        """Identity of the answer: what the provider sees, and nothing about price or pace."""
        parts = self.model.identity()
        parts["parameters"] = {**self.model.parameters, **self.parameters}
        return InputKey.of(
            version=REQUEST_VERSION,
            **parts,
            prompt=self.prompt_hash,
            messages=[
                {
                    "role": message.role,
                    "parts": [_part_identity(part) for part in message.parts],
                }
                for message in self.messages
            ],
            repeat=self.repeat,
        )


def _part_identity(part: TextPart | ImagePart) -> JsonValue:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"image": part.sha256, "media_type": part.media_type}


FinishReason = Literal["stop", "length", "refusal", "other"]


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them; None where it did not say."""

    input_tokens: int | None
    output_tokens: int | None


def price_usd(prices: Prices, usage: Usage) -> float | None:
    """US dollars; None where a price or a count is unknown."""
    counted = (
        (prices.input_per_million, usage.input_tokens),
        (prices.output_per_million, usage.output_tokens),
    )
    total = 0.0
    for price, tokens in counted:
        if price is None or tokens is None:
            return None
        total += price * tokens / 1_000_000
    return total


@dataclass(frozen=True)
class ChatAnswer:
    """What came back.

    price_usd           what the answer costs at the model's prices; None where unknown, never 0 for that reason
    seconds             the provider's time for it (of the original call, where the answer came from the cache)
    dropped_parameters  parameters that the provider does not know and was not sent
    """

    text: str
    finish_reason: FinishReason
    usage: Usage
    price_usd: float | None
    seconds: float
    cached: bool
    key: str
    dropped_parameters: tuple[str, ...] = ()

    @property
    def paid_usd(self) -> float | None:
        """What this very call added to the bill: 0 where the answer came from the cache, None where unknown."""
        return 0.0 if self.cached else self.price_usd


class ChatModel(Protocol):
    """What the stages need of the client; tests put their own in its place."""

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Raises ProviderError (or a subclass) where no answer could be had."""
        ...
