"""Messages as chat providers take them (the OpenAI form), and back."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping, Sequence
from typing import Any

from deepchart_dagster.errors import ProviderRefusedRequest
from deepchart_dagster.llm.model import ImagePart, Message, TextPart


def to_wire(messages: Sequence[Message], addresses: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Images become the address that ``addresses`` has for their sha256, else data URLs.

    A message of one text is sent as a plain string, which every provider takes. Pictures that stay in their files are
    read here, one after the other. Raises MissingInputError, UpstreamError for one that is gone or was changed.
    """
    return [{"role": message.role, "content": _content(message, addresses or {})} for message in messages]


def _content(message: Message, addresses: Mapping[str, str]) -> str | list[dict[str, Any]]:
    if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        return message.parts[0].text
    return [_part(part, addresses) for part in message.parts]


def _part(part: TextPart | ImagePart, addresses: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    address = addresses.get(part.sha256) if addresses else None
    return {"type": "image_url", "image_url": {"url": address or _data_url(part)}}


def _data_url(part: ImagePart) -> str:
    return f"data:{part.media_type};base64,{base64.b64encode(part.read()).decode('ascii')}"


def from_wire(messages: Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """The inverse of to_wire. Raises ProviderRefusedRequest for what a provider would refuse."""
    return tuple(Message(role=message["role"], parts=_parts(message["content"])) for message in messages)


def _parts(content: str | list[dict[str, Any]]) -> tuple[TextPart | ImagePart, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(TextPart(part["text"]) if part["type"] == "text" else _image(part) for part in content)


def _image(part: dict[str, Any]) -> ImagePart:
    head, _, data = part["image_url"]["url"].partition(";base64,")
    if not head.startswith("data:") or not data:
        raise ProviderRefusedRequest("an image that is no data URL.", remedy="Scripted models read no addresses.")
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ProviderRefusedRequest(f"an image that cannot be decoded: {error}.") from None
    width, height = _size(raw)
    return ImagePart(data=raw, media_type=head.removeprefix("data:"), width=width, height=height)


def _size(raw: bytes) -> tuple[int, int]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(raw)) as image:
            return image.size
    except (UnidentifiedImageError, OSError) as error:
        raise ProviderRefusedRequest(f"an image that cannot be read ({len(raw)} bytes): {error}.") from None
