"""One call through litellm: what is sent, what came back. No retries, no cache, no error mapping here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.errors import BadProviderAnswer, ProviderError, ProviderRefusedRequest
from deepchart_dagster.llm.doctor import key_remedy, missing_key
from deepchart_dagster.llm.litellm_library import litellm_library, without_records
from deepchart_dagster.llm.model import ChatRequest, FinishReason, Usage
from deepchart_dagster.llm.no_completion import NO_CHAT_API
from deepchart_dagster.llm.redaction import without_keys
from deepchart_dagster.llm.registry import ModelSpec

_FINISH_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refusal",
}
# litellm calls every reason "stop" that it does not know. In a provider's own words (in small letters), these are
# the ends of a whole answer, and these say that the provider broke off: its trouble, and not the model's answer.
_WHOLE = frozenset({"stop", "stop_sequence", "end_turn", "complete", "eos", "eos_token", "finish_reason_unspecified"})
_BROKEN_OFF = frozenset({"network_error", "insufficient_system_resource", "error", "abort", "aborted", "timeout"})
_LONGEST_NAME = 200
_MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True)
class Received:
    """A chat completion, read. ``answered_by``: the model's name in the provider's own words."""

    text: str
    finish_reason: FinishReason
    usage: Usage
    answered_by: str | None


def sent_parameters(request: ChatRequest) -> dict[str, JsonValue]:
    return {**request.model.parameters, **request.parameters}


async def send(request: ChatRequest, messages: list[dict[str, Any]], storage: Path) -> Received:
    """``messages`` are the request's own as they are sent (llm.wire).

    Raises whatever litellm raises, ProviderRefusedRequest without a key, BadProviderAnswer for what is no answer.
    """
    _need_key(request.model)
    with without_records():
        response = await litellm_library().acompletion(
            model=request.model.litellm_model,
            messages=messages,
            timeout=request.model.timeout_s,
            max_retries=0,
            num_retries=0,
            drop_params=True,
            **_streaming(request.model),
            **_no_hidden_retries(request.model),
            **_endpoint_and_parameters(request, storage),
        )
        return await _read_stream(response) if request.model.stream else _read(response)


def _streaming(model: ModelSpec) -> dict[str, Any]:
    """Tokens come at the end of a stream where they are asked for."""
    return {"stream": True, "stream_options": {"include_usage": True}} if model.stream else {}


def _need_key(model: ModelSpec) -> None:
    if names := missing_key(model):
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
    native = (getattr(choice, "provider_specific_fields", None) or {}).get("native_finish_reason")
    return _received(
        text=choice.message.content or "",
        refusal=getattr(choice.message, "refusal", None) or "",
        finish_reason=_finish_reason(choice.finish_reason, native),
        usage=_usage(getattr(response, "usage", None)),
        answered_by=getattr(response, "model", None),
    )


async def _read_stream(stream: Any) -> Received:
    """The pieces put together. A stream that ends before its finish reason came is no answer."""
    texts: list[str] = []
    mapped: str | None = None
    answered_by: object = None
    try:
        async for piece in stream:
            answered_by = piece._hidden_params.get("provider_response_model") or answered_by
            for choice in piece.choices[:1]:
                texts.append(choice.delta.content or "")
                mapped = choice.finish_reason or mapped
    finally:
        await stream.aclose()
    if not stream.chunks:
        raise BadProviderAnswer("nothing of a stream came.", remedy=NO_CHAT_API, came=_NO_STREAM)
    if stream.received_finish_reason is None:
        raise BadProviderAnswer("the stream ended without a finish reason.", remedy=_CHECK_STREAM)
    return _received(
        text="".join(texts),
        refusal="",
        finish_reason=_finish_reason(mapped, stream.received_finish_reason),
        usage=_usage(_counted_by_provider(stream)),
        answered_by=answered_by,
    )


_NO_STREAM = "nothing of a stream"
_CHECK_STREAM = "Check the endpoint (api_base), and that it can stream; or leave stream out."


def _counted_by_provider(stream: Any) -> Any:
    """The usage that came in the stream; litellm's last piece holds a count of its own where none came."""
    return next((piece.usage for piece in reversed(stream.chunks) if getattr(piece, "usage", None)), None)


def _received(*, text: str, refusal: str, finish_reason: FinishReason, usage: Usage, answered_by: object) -> Received:
    if not text and not refusal and finish_reason == "stop" and usage.output_tokens is None:
        raise BadProviderAnswer(
            "an empty choice without a count of tokens: nothing shows that the model has answered.",
            remedy="Try again later.",
        )
    return Received(
        text=without_keys(in_unicode(text or refusal)),
        finish_reason="refusal" if refusal else finish_reason,
        usage=usage,
        answered_by=_name(answered_by),
    )


def _name(said: object) -> str | None:
    """What the provider calls the model, where that is a text; it decides nothing."""
    return without_keys(in_unicode(said))[:_LONGEST_NAME] if isinstance(said, str) else None


def _finish_reason(mapped: str | None, native: str | None) -> FinishReason:
    """litellm's word for why an answer ended, corrected by the provider's own where litellm guessed."""
    own = str(native or mapped or "").lower()
    if own in _BROKEN_OFF:
        raise ProviderError(f"the provider broke off its answer ({own}).", remedy="Try again later.")
    reason = _FINISH_REASONS.get(mapped, "other")
    return "other" if reason == "stop" and own not in _WHOLE else reason


def _usage(usage: Any) -> Usage:
    """litellm writes 0 where the provider said nothing; no request has 0 input tokens."""
    given = _count(getattr(usage, "prompt_tokens", None)) or None
    made = _count(getattr(usage, "completion_tokens", None))
    return Usage(input_tokens=given, output_tokens=made if given or made else None)


def _count(said: object) -> int | None:
    """Tokens; None for what no call can have: less than nothing, or more than any bill or table holds."""
    return said if isinstance(said, int) and 0 <= said <= _MOST_TOKENS else None
