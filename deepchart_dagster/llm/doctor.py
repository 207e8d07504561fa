"""Which environment variables hold the key of a model's provider, and whether one is set. Values go nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deepchart_dagster.llm.provider_keys import KEY_NAMES, WITHOUT_KEY
from deepchart_dagster.llm.registry import ModelSpec


@dataclass(frozen=True)
class KeyStatus:
    """What one model needs. ``names``: any one of them will do; empty: it needs no key."""

    slug: str
    litellm_model: str
    names: tuple[str, ...]
    present: bool

    @property
    def remedy(self) -> str:
        return "" if self.present else key_remedy(self.names)


def key_remedy(names: tuple[str, ...]) -> str:
    return f"Set {' or '.join(names)} in the environment."


def key_names(model: ModelSpec) -> tuple[str, ...] | None:
    """The variables of which one must be set; empty where none is needed, None where only litellm knows."""
    return () if model.scripted or model.provider in WITHOUT_KEY else KEY_NAMES.get(model.provider)


def missing_key(model: ModelSpec, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The variables of which one would have to be set and none is; empty where a call can be tried."""
    environ = os.environ if environ is None else environ
    names = key_names(model) or ()
    return () if any(environ.get(name) for name in names) else names


NAME_A_PROVIDER = (
    "Write litellm_model as provider/model, as in openai/NAME; hosted_vllm/NAME with api_base is a server of your own."
)


def has_provider(model: ModelSpec) -> bool:
    """Whether litellm knows a provider by what litellm_model says; litellm is loaded for those that we do not know."""
    if key_names(model) is not None:
        return True
    from deepchart_dagster.llm.litellm_library import litellm_library

    litellm = litellm_library()
    try:
        litellm.get_llm_provider(model.litellm_model, api_base=model.api_base)
    except litellm.exceptions.BadRequestError:
        return False
    return True


def key_status(model: ModelSpec, environ: Mapping[str, str] | None = None) -> KeyStatus:
    environ = os.environ if environ is None else environ
    names = key_names(model)
    if names is None:
        return _ask_litellm(model)
    return KeyStatus(
        slug=model.slug,
        litellm_model=model.litellm_model,
        names=names,
        present=not names or any(environ.get(name) for name in names),
    )


def key_statuses(models: Iterable[ModelSpec], environ: Mapping[str, str] | None = None) -> list[KeyStatus]:
    return [key_status(model, environ) for model in models]


def _ask_litellm(model: ModelSpec) -> KeyStatus:
    from deepchart_dagster.llm.litellm_library import litellm_library

    found = litellm_library().validate_environment(model=model.litellm_model, api_base=model.api_base)
    missing = tuple(found["missing_keys"])
    return KeyStatus(
        slug=model.slug,
        litellm_model=model.litellm_model,
        names=missing,
        present=bool(found["keys_in_environment"]),
    )
