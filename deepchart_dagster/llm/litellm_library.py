"""litellm, imported late, quiet and offline.

Importing it takes seconds and 200 MB, reads a .env file, and fetches a price list unless told not to: so
it is imported by the first call only, from here only, with those switches set.
"""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deepchart_dagster.llm.redirects import stay_on_the_host

_SWITCHES = {
    "LITELLM_MODE": "PRODUCTION",  # or it loads keys from a .env file of whatever folder we stand in
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
# No provider's reason is as long; whole web pages are.
_LONGEST_REDACTED = 20_000
_CLIENT_LOGGERS = ("httpx", "httpcore", "openai", "aiohttp")

_lock = threading.Lock()
_ready = False


def litellm_library() -> Any:
    """The module, set up once a process, with the scripted provider registered."""
    global _ready
    with _lock:
        if not _ready:
            _set_up()
            _ready = True
    import litellm

    return litellm


def litellm_is_loaded() -> bool:
    return _ready


@contextmanager
def without_records() -> Iterator[None]:
    """A call in this block leaves nothing for litellm's callbacks and spend logs, which nobody reads here.

    They are made after each answer, by a worker that holds the messages until it comes round to them.
    """
    from litellm._internal_context import internal_sub_call

    with internal_sub_call():
        yield


def _set_up() -> None:
    for name, value in _SWITCHES.items():
        os.environ.setdefault(name, value)
    # A note of pydantic's on litellm's own classes, a dozen times over; some come with the first call only.
    warnings.filterwarnings("ignore", message=r"Items? .* using the .ReadOnly. qualifier", category=UserWarning)
    # Its other note is of answers that are not as OpenAI has them, and repeats their beginning.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Its tokenizers for some model names come from the network: 23 seconds of retries when there is none.
    litellm.disable_hf_tokenizer_download = True
    _quieten()
    _redact_beginnings()
    stay_on_the_host()
    from deepchart_dagster.llm.scripted.provider import PROVIDER, scripted_provider

    others = [entry for entry in litellm.custom_provider_map if entry["provider"] != PROVIDER]
    litellm.custom_provider_map = [*others, {"provider": PROVIDER, "custom_handler": scripted_provider()}]
    # What a call costs stands in models.yaml (llm.model); what litellm believes took it a tenth of every call's time.
    litellm.response_cost_calculator = _no_price  # type: ignore[assignment]  # None is what it gives without a price
    _import_the_rest(litellm)
    # 400,000 objects of litellm's live as long as the process. The garbage collector went through them again and
    # again, half a second each, in which no call went on.
    gc.collect()
    gc.freeze()


def _no_price(**_: object) -> None:
    return None


def _import_the_rest(litellm: Any) -> None:
    """What litellm imports with its first call, half a second, now: by then many calls wait for it. Asks nobody."""
    message = {"role": "user", "content": "-"}
    litellm.completion(model="openai/none", messages=[message], mock_response="-", api_key="-", num_retries=0)


def _redact_beginnings() -> None:
    """Of an error's text litellm looks for keys in the beginning, and keeps that alone.

    It reads the whole of it twice, with a pattern that takes a second for a megabyte, and no call goes on meanwhile.
    What is shown of an error is shorter still, and redacted by us (llm.provider_errors).
    """
    module = importlib.import_module("litellm.litellm_core_utils.secret_redaction")
    whole = module.python_redact_string

    @functools.wraps(whole)
    def beginning(value: str) -> str:
        return str(whole(value[:_LONGEST_REDACTED]))

    module.python_redact_string = beginning  # type: ignore[attr-defined]


def _quieten() -> None:
    """What litellm would log we say ourselves, without the secrets that providers repeat in their errors."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _CLIENT_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
