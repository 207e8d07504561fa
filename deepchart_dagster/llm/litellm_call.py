"""One call through litellm: what is sent, what came back. No retries, no cache, no error mapping here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.errors import BadProviderAnswer, ProviderRefusedRequest
from deepchart_dagster.llm.doctor import key_names, key_remedy
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, FinishReason, Usage
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.wire import to_wire

_FINISH_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refusal",
}


@dataclass(frozen=True)
class Received:
    """A chat completion, read. ``answered_by``: the model's name in the provider's own words."""

    text: str
    finish_reason: FinishReason
    usage: Usage
    answered_by: str | None


def sent_parameters(request: ChatRequest) -> dict[str, JsonValue]:
    return {**request.model.parameters, **request.parameters}


async def send(request: ChatRequest, storage: Path) -> Received:
    """Raises whatever litellm raises, ProviderRefusedRequest without a key, BadProviderAnswer without choices."""
    _need_key(request.model)
    response = await litellm_library().acompletion(
        model=request.model.litellm_model,
        messages=to_wire(request.messages),
        timeout=request.model.timeout_s,
        max_retries=0,
        num_retries=0,
        drop_params=True,
        **_no_hidden_retries(request.model),
        **_endpoint_and_parameters(request, storage),
    )
    return _read(response)


def _need_key(model: ModelSpec) -> None:
    names = key_names(model)
    if names and not any(os.environ.get(name) for name in names):
        raise ProviderRefusedRequest("its provider's key is not set.", remedy=key_remedy(names))


def _endpoint_and_parameters(request: ChatRequest, storage: Path) -> dict[str, Any]:
    parameters = sent_parameters(request)
    if request.model.scripted:
        # litellm would drop the names that it knows (seed) and that a custom provider does not declare.
        return {"api_base": str(storage), "extra_body": {"parameters": parameters}}
    return {"api_base": request.model.api_base, **parameters}


def _no_hidden_retries(model: ModelSpec) -> dict[str, Any]:
    """litellm drops max_retries=0 for compatible providers that do not declare it (zai), whose SDK then retries.

    Others (anthropic) would pass the name on to the server, so it is insisted on only where that is no danger.
    """
    provider = model.litellm_model.split("/")[0]
    compatible = provider in litellm_library().openai_compatible_providers
    return {"allowed_openai_params": ["max_retries"]} if compatible else {}


def dropped_parameters(model: ModelSpec, parameters: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """The parameters that change nothing of what the provider is sent: it does not know them."""
    if model.scripted or not parameters:
        return ()
    try:
        everything = _mapped(model, parameters)
        return tuple(name for name in sorted(parameters) if _mapped(model, _without(parameters, name)) == everything)
    except Exception:  # noqa: BLE001 - an unknown provider or a bad value: the call itself says so, in full
        return ()


def _mapped(model: ModelSpec, parameters: Mapping[str, JsonValue]) -> Any:
    """The parameters as the model's provider would get them."""
    litellm = litellm_library()
    name, provider, _, _ = litellm.get_llm_provider(model.litellm_model, api_base=model.api_base)
    return litellm.utils.get_optional_params(model=name, custom_llm_provider=provider, drop_params=True, **parameters)


def _without(parameters: Mapping[str, JsonValue], name: str) -> dict[str, JsonValue]:
    return {other: value for other, value in parameters.items() if other != name}


def _read(response: Any) -> Received:
    if not response.choices:
        raise BadProviderAnswer("the answer holds no choice.", remedy="Try again later.")
    choice = response.choices[0]
    refusal = getattr(choice.message, "refusal", None)
    return Received(
        text=in_unicode(choice.message.content or refusal or ""),
        finish_reason="refusal" if refusal else _FINISH_REASONS.get(choice.finish_reason, "other"),
        usage=_usage(getattr(response, "usage", None)),
        answered_by=getattr(response, "model", None),
    )


def _usage(usage: Any) -> Usage:
    """litellm writes 0 where the provider said nothing; no request has 0 input tokens."""
    given = getattr(usage, "prompt_tokens", None) or None
    made = getattr(usage, "completion_tokens", None)
    return Usage(input_tokens=given, output_tokens=made if given or made else None)
