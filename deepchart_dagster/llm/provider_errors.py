"""What litellm raises, as errors of ours: which class, what it says, and how long the provider wants us to wait.

    the wall-clock cap, a time-out of a layer below, HTTP 408 and 504   ProviderTimeout
    429                                                                  RateLimited
    429 that no waiting helps, other 4xx                          ProviderRefusedRequest
    an answer that is no chat completion                                 BadProviderAnswer
    5xx, 529, reset and refused connections, anything else               ProviderError

The messages are redacted, and the errors carry no cause: a traceback would print the original with its key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.errors import (
    BadProviderAnswer,
    DeepChartError,
    ProviderError,
    ProviderRefusedRequest,
    ProviderTimeout,
    RateLimited,
)
from deepchart_dagster.llm.doctor import NAME_A_PROVIDER, key_names
from deepchart_dagster.llm.no_completion import NO_CHAT_API, address, what_came
from deepchart_dagster.llm.redaction import redact
from deepchart_dagster.llm.registry import ModelSpec

_LONGEST_MESSAGE = 400
_LONGEST_QUOTE = 60
# Of which that much is looked through for keys: providers answer with whole web pages.
_LONGEST_READ = 20_000
# A 429 that no waiting helps: the money is used up, or this one request is over the limit of a whole minute.
_HOPELESS = (
    "insufficient_quota",
    "exceeded your current quota",
    "insufficient balance",
    "billing",
    "request too large",
)
_NOISE = (
    re.compile(r"^(?:(?:litellm\.)?[A-Z]\w*(?:Error|Exception)(?: [A-Z]\w*Error)?(?:: ?| - )|LiteLLM: )+"),
    re.compile(r"\.? Handle with `litellm\.\w+`\.?"),
    re.compile(r" ?Traceback \(most recent call last\).*"),
    # A broken stream's error goes on with the same words under other names.
    re.compile(r" Original exception: .*"),
    re.compile(r" ssl:(<[^>]*>|\w+)"),
    re.compile(r"^Error converting to valid response block="),
    re.compile(r"\.? File an issue if litellm error - https://\S+"),
)
_SDK_WORDS = "Connection error."
_NO_CONNECTION = "Cannot connect to host"
_NO_PROVIDER = "LLM Provider NOT provided"
_UNREACHABLE = "Check the endpoint (api_base) and the network, or try again later; what is answered is kept."
_LATER = "Try again later; what is answered is kept."
_NAME_ALONE = re.compile(r"'\w+'")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# 4xx that may go well a moment later.
_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_OVERLOADED = frozenset({503, 529})
# What litellm says of its own accord: no key, an unknown provider, a parameter that cannot be.
_REFUSED_WITHOUT_ASKING = frozenset({400, 401, 403, 404})


@dataclass(frozen=True)
class Trouble:
    """A failed attempt. ``retry_after_s``: the provider's own wish, seconds; None where it named none."""

    error: ProviderError
    retry_after_s: float | None = None


def trouble(model: ModelSpec, raised: BaseException) -> Trouble:
    """What ``raised`` (by litellm, by the wall-clock cap, by a scripted model) means for us."""
    chain = list(_chain(raised))
    ours = next((error for error in chain if isinstance(error, DeepChartError)), None)
    if ours is not None:
        return Trouble(_from_ours(model, ours))
    wish = _retry_after_s(chain)
    return Trouble(_classify(model, raised, chain, wish), wish)


def is_out_of_breath(error: ProviderError) -> bool:
    """Whether the provider refused for want of capacity: asked less, it would answer."""
    return isinstance(error, RateLimited) or error.status in _OVERLOADED


def _classify(model: ModelSpec, raised: BaseException, chain: list[BaseException], wish: float | None) -> ProviderError:
    status = _status(chain)
    said = f"{_who(model)}: {_words(raised, chain)}"
    if _NO_PROVIDER in said:
        return ProviderRefusedRequest(f"{_who(model)}: litellm knows no such provider.", remedy=NAME_A_PROVIDER)
    if isinstance(raised, TimeoutError):
        return _timeout(model)
    if type(raised).__name__ in {"Timeout", "APITimeoutError"} or status == 504:
        return ProviderTimeout(said, remedy="Raise timeout_s, or try again later.", status=status)
    if status == 429 and not any(word in said.lower() for word in _HOPELESS):
        return RateLimited(said, remedy="Lower its concurrency.", status=status, retry_after_s=wish)
    if status is not None and 400 <= status < 500 and (status == 429 or status not in _PASSING_STATUSES):
        return ProviderRefusedRequest(said, remedy=_refusal_remedy(model, status), status=status)
    if any(isinstance(error, ImportError) for error in chain):
        return ProviderRefusedRequest(said, remedy="Install what this provider needs.")
    broken = any(isinstance(error, json.JSONDecodeError) for error in chain)
    if status is None and (broken or not any(_is_connection_trouble(error) for error in chain)):
        return _bad_answer(model, said, chain)
    return ProviderError(said, remedy=_UNREACHABLE if _NO_CONNECTION in said else _LATER, status=status)


def _bad_answer(model: ModelSpec, said: str, chain: Sequence[BaseException]) -> BadProviderAnswer:
    came = what_came([(str(error), getattr(error, "doc", None)) for error in chain])
    if came is None:
        return BadProviderAnswer(said, remedy="Check the endpoint (api_base) and the model's name.")
    shown = f' ("{shortened(_in_line_text(came.words), _LONGEST_QUOTE)}")' if came.words else ""
    return BadProviderAnswer(
        f"{_who(model)}: {_safe(address(model))} answers with {came.kind}{shown} and no chat completion.",
        remedy=NO_CHAT_API,
        came=came.kind,
    )


def _from_ours(model: ModelSpec, error: DeepChartError) -> ProviderError:
    if isinstance(error, ProviderError):
        status = error.status
        if isinstance(error, BadProviderAnswer) and error.came:
            message = f"{_who(model)}: {_safe(address(model))} answers with {error.came} and no chat completion."
            return BadProviderAnswer(message, remedy=error.remedy, came=error.came)
        return type(error)(f"{_who(model)}: {_safe(error.message)}", remedy=error.remedy, status=status)
    return ProviderRefusedRequest(f"{_who(model)}: {_safe(error.message)}", remedy=error.remedy)


def _timeout(model: ModelSpec) -> ProviderTimeout:
    return ProviderTimeout(
        f"{_who(model)}: no answer within {model.timeout_s:g} s.",
        remedy="Raise timeout_s for this model, or try again later.",
    )


def _refusal_remedy(model: ModelSpec, status: int) -> str:
    if status in (401, 403):
        names = key_names(model)
        return f"Check {' or '.join(names)} in the environment." if names else "Check the provider's key."
    if status in (402, 429):
        return "Check the account's balance and limits at the provider."
    if status == 404:
        return "Check litellm_model and api_base of this model."
    return "Check this model's parameters and context_window."


def _who(model: ModelSpec) -> str:
    return f"{model.slug} ({model.litellm_model})"


def _words(raised: BaseException, chain: Sequence[BaseException]) -> str:
    """What was said, in one line, without litellm's own decoration and tracebacks."""
    text = _in_line(raised)
    if text == _SDK_WORDS:  # why, only the HTTP library knows
        text = next((_in_line(error) for error in chain if type(error).__module__.startswith("httpx")), text)
    if _NAME_ALONE.fullmatch(text):  # what litellm looked for and did not find
        text = f"the answer has no {text}"
    text = shortened(text, _LONGEST_MESSAGE)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def shortened(text: str, most: int) -> str:
    return text[:most] + "…" if len(text) > most else text


def _in_line_text(text: str) -> str:
    return " ".join(_safe(text).split())


def _in_line(error: BaseException) -> str:
    text = _in_line_text(str(error) or type(error).__name__)
    for noise in _NOISE:
        text = noise.sub("", text)
    return text


def _safe(text: str) -> str:
    """Without keys, and so that any file can hold it and any terminal show it: JSON can bring half a surrogate pair,
    and what a terminal obeys."""
    return redact(_CONTROLS.sub(" ", in_unicode(text[:_LONGEST_READ])))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(chain: list[BaseException]) -> int | None:
    """The HTTP status that the provider sent; None where none was sent.

    litellm writes 500, 422 or 200 on what never was a status (invalid JSON, a broken connection) and 500 on
    some that were another (529): what the HTTP library saw counts. Without any HTTP, a request that litellm
    itself refuses keeps the status it is refused with.
    """
    seen = (_response_status(error) for error in chain if not type(error).__module__.startswith("litellm"))
    sent = next((status for status in seen if status is not None and status >= 400), None)
    if sent is not None:
        return sent
    own = getattr(chain[0], "status_code", None)
    broken = any(isinstance(error, json.JSONDecodeError) for error in chain)
    return own if own in _REFUSED_WITHOUT_ASKING and not broken else None


def _response_status(error: BaseException) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _is_connection_trouble(error: BaseException) -> bool:
    module = type(error).__module__.split(".")[0]
    name = type(error).__name__
    if isinstance(error, json.JSONDecodeError):
        return False
    return (
        isinstance(error, OSError)
        or name == "MidStreamFallbackError"
        or module in {"aiohttp", "httpcore", "h11"}
        or (
            module in {"httpx", "openai"}
            and name.endswith(
                ("ConnectError", "ConnectionError", "ReadError", "WriteError", "ProtocolError", "NetworkError")
            )
        )
    )


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for error in chain:
        for headers in (
            getattr(getattr(error, "response", None), "headers", None),
            getattr(error, "litellm_response_headers", None),
        ):
            wish = _from_headers(headers) if headers else None
            if wish is not None:
                return wish
    # Google says it in the body.
    said = re.search(r'"retryDelay":\s*"([\d.]+)s"', str(chain[0]))
    return _number(said.group(1)) if said else None


def _from_headers(headers: Mapping[str, Any]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return seconds if seconds is not None or not value else _until(str(value), headers.get("date"))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None


def _until(date: str, sent: object) -> float | None:
    """From when the answer was ``sent``, by the provider's own clock: ours may be wrong."""
    moment = _moment(date)
    return max(0.0, (moment - (_moment(str(sent)) or datetime.now(UTC))).total_seconds()) if moment else None


def _moment(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
