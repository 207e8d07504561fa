"""The litellm provider behind ``scripted/<name>``: calls a program where a real one would call a server.

The storage whose evidence a program may see comes in as ``api_base`` (where such a model is reached); its
parameters come in ``extra_body``, which litellm hands through untouched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.errors import DeepChartError, ProviderRefusedRequest
from deepchart_dagster.llm.model import ImagePart, Message
from deepchart_dagster.llm.redaction import redact
from deepchart_dagster.llm.scripted.base import Behaviour, ScriptedReply, ScriptedRequest, load_behaviour
from deepchart_dagster.llm.wire import from_wire

PROVIDER = "scripted"

# Only so that counts look like a provider's: about four characters of English a token, and the tile
# arithmetic of vision models comes to about one token for 750 pixels.
_CHARACTERS_PER_TOKEN = 4
_PIXELS_PER_TOKEN = 750

_FINISH_REASONS = {"stop": "stop", "length": "length", "refusal": "content_filter", "other": "tool_calls"}


def scripted_provider() -> Any:
    """The handler for litellm's custom_provider_map."""
    from litellm.llms.custom_llm import CustomLLM

    class ScriptedProvider(CustomLLM):
        """litellm calls these two with keyword arguments; only what it hands on unchanged is read."""

        def completion(self, *args: Any, **call: Any) -> Any:
            return _complete(call)

        async def acompletion(self, *args: Any, **call: Any) -> Any:
            return await asyncio.to_thread(_complete, call)

    return ScriptedProvider()


def _complete(call: Mapping[str, Any]) -> Any:
    name = str(call["model"])
    program = load_behaviour(name)
    storage = Path(call["api_base"])
    request = ScriptedRequest(
        messages=from_wire(call["messages"]),
        parameters=_parameters(call["optional_params"]),
        evidence=EvidenceStore(storage),
        storage=storage,
    )
    return _response(call["model_response"], name, request.messages, _reply(name, program, request))


def _parameters(optional: Mapping[str, Any]) -> dict[str, Any]:
    body = optional.get("extra_body") or {}
    return dict(body.get("parameters") or {})


def _reply(name: str, program: Behaviour, request: ScriptedRequest) -> ScriptedReply:
    try:
        return program(request)
    except DeepChartError:
        raise
    except Exception as error:
        # A program that broke breaks again: said at once, as a request that cannot be served.
        raise ProviderRefusedRequest(
            f"the scripted model {name!r} broke: {type(error).__name__}: {redact(str(error))}.",
            remedy="This is a defect of the scripted model, not of the instance.",
        ) from error


def _response(response: Any, name: str, messages: tuple[Message, ...], reply: ScriptedReply) -> Any:
    from litellm import Choices, Usage
    from litellm import Message as WireMessage

    given, made = _tokens(messages), -(-len(reply.text) // _CHARACTERS_PER_TOKEN)
    response.model = f"{PROVIDER}/{name}"
    response.choices = [
        Choices(
            index=0,
            finish_reason=_FINISH_REASONS[reply.finish_reason],
            message=WireMessage(role="assistant", content=reply.text),
        )
    ]
    response.usage = Usage(prompt_tokens=given, completion_tokens=made, total_tokens=given + made)
    return response


def _tokens(messages: tuple[Message, ...]) -> int:
    """At least 1: no request is empty."""
    total = 0
    for message in messages:
        for part in message.parts:
            if isinstance(part, ImagePart):
                total += -(-part.width * part.height // _PIXELS_PER_TOKEN)
            else:
                total += -(-len(part.text) // _CHARACTERS_PER_TOKEN)
    return max(1, total)
