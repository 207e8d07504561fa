"""litellm, imported late, quiet and offline.

Importing it takes seconds and 200 MB, reads a .env file, and fetches a price list unless told not to: so
it is imported by the first call only, from here only, with those switches set.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from typing import Any

_SWITCHES = {
    "LITELLM_MODE": "PRODUCTION",  # or it loads keys from a .env file of whatever folder we stand in
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
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


def _set_up() -> None:
    for name, value in _SWITCHES.items():
        os.environ.setdefault(name, value)
    # A note of pydantic's on litellm's own classes, a dozen times over; some come with the first call only.
    warnings.filterwarnings("ignore", message=r"Items? .* using the .ReadOnly. qualifier", category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Its tokenizers for some model names come from the network: 23 seconds of retries when there is none.
    litellm.disable_hf_tokenizer_download = True
    _quieten()
    from deepchart_dagster.llm.scripted.provider import PROVIDER, scripted_provider

    others = [entry for entry in litellm.custom_provider_map if entry["provider"] != PROVIDER]
    litellm.custom_provider_map = [*others, {"provider": PROVIDER, "custom_handler": scripted_provider()}]


def _quieten() -> None:
    """What litellm would log we say ourselves, without the secrets that providers repeat in their errors."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _CLIENT_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
