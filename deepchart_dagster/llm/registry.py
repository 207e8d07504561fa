"""models.yaml and judges.yaml: which models exist, how they are reached, what they cost.

    models.yaml   models: {slug: {litellm_model, protocols, parameters, …}},
                  providers: {name: {concurrency: 16}}
    judges.yaml   judges: {slug: …}, primary: slug, rubric_writer: slug,
                  for_benchmark: {name: {primary: slug, rubric_writer: slug}}

A slug is a Dagster partition key and a folder name; the provider's own name lives in ``litellm_model``.
Prices, concurrency and time-outs change no output and are in no key. Keys of providers are no part of
these files: litellm reads them from the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from deepchart_dagster.artifacts.canonical import canonical_json
from deepchart_dagster.artifacts.files import is_slug
from deepchart_dagster.benchmark.model import Modality
from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.llm.provider_keys import KEY_NAMES
from deepchart_dagster.llm.yaml_file import YamlFile, as_sentence, did_you_mean
from deepchart_dagster.settings import MAX_TIMEOUT_S

SCRIPTED_PREFIX = "scripted/"

# What the client itself says in every call, or what must not stand in a file.
_NOT_PARAMETERS = frozenset(
    {"model", "messages", "stream", "timeout", "max_retries", "num_retries", "drop_params", "api_base", "base_url"}
)
_SECRET_PARAMETERS = frozenset({"api_key", "extra_headers", "headers", "azure_ad_token", "vertex_credentials"})
# litellm's own, with which another model would answer, or none at all; or several answers, of which one is read.
_FALSIFYING = frozenset(
    {"fallbacks", "default_fallbacks", "context_window_fallback_dict", "custom_llm_provider", "model_list", "n"}
)
_MOCK = "mock_"
# In what a provider is sent beside litellm's names (extra_body), under whatever name it knows.
_SECRET_NAME = re.compile(r"api[-_]?key|authorization|password|secret|access[-_]?token|credential|^key$", re.IGNORECASE)


class Prices(BaseModel):
    """US dollars per million tokens; None where unknown (never 0 for that reason)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_per_million: float | None = Field(default=None, ge=0, le=1_000_000)
    output_per_million: float | None = Field(default=None, ge=0, le=1_000_000)

    @property
    def known(self) -> bool:
        return self.input_per_million is not None and self.output_per_million is not None


class ModelSpec(BaseModel):
    """One entry of models.yaml or judges.yaml.

    parameters     provider parameters sent with every call (reasoning_effort: low); part of every key
    context_window tokens of input and output together, as the provider states it
    timeout_s      wall-clock cap of one attempt, seconds
    stream         whether the answer is sent piece by piece (some models answer in no other way, and some gateways
                   hang up on a connection that is silent for a minute); what is answered is the same
    api_base       another endpoint than the provider's own (a local server, a gateway)
    revision       which weights stand behind the name where the name does not say; part of every key where it is set
    benchmarks     the benchmarks this model can be asked about; empty: all (scripted models know only mini)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    litellm_model: str = Field(min_length=1)
    name: str = Field(default="", max_length=100)
    family: str = Field(default="other", max_length=100)
    protocols: tuple[Modality, ...] = Field(default=(Modality.TEXT,), min_length=1)
    context_window: int = Field(default=128_000, gt=0, le=1_000_000_000)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    prices: Prices = Prices()
    concurrency: int = Field(default=4, ge=1, le=1024)
    timeout_s: float = Field(default=600.0, gt=0, le=MAX_TIMEOUT_S)
    stream: bool = False
    max_image_chunks: int | None = Field(default=None, gt=0)
    api_base: str | None = None
    revision: str | None = Field(default=None, min_length=1)
    benchmarks: tuple[str, ...] = ()

    @field_validator("parameters")
    @classmethod
    def _only_parameters(cls, parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in parameters:
            if name in _SECRET_PARAMETERS:
                raise ValueError(f"{name} can hold a secret; keys come from the environment")
            if name in _NOT_PARAMETERS:
                raise ValueError(f"{name} is set by the client and cannot be a parameter")
            if name in _FALSIFYING or name.startswith(_MOCK):
                raise ValueError(f"{name}: one answer of this very model is what is scored")
        secret = next((name for name in _names_within(parameters) if _SECRET_NAME.search(name)), None)
        if secret is not None:
            raise ValueError(f"{secret} can hold a secret; keys come from the environment")
        return parameters

    @field_validator("litellm_model", "name", "family", "revision")
    @classmethod
    def _can_be_shown(cls, text: str | None) -> str | None:
        """Tables, pages and terminals show them."""
        if text is not None and not text.isprintable():
            raise ValueError("holds a line break or a character that cannot be shown")
        return text

    @field_validator("api_base")
    @classmethod
    def _no_secret_in_address(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        if "@" in parts.netloc:
            raise ValueError("an address with a user or password in it; keys come from the environment")
        if parts.query:
            raise ValueError("an address with a query in it, which can hold a key; keys come from the environment")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an address as in http://host:8000/v1")
        return address

    @property
    def scripted(self) -> bool:
        """A program in place of a model; its results are called scripted wherever they appear."""
        return self.litellm_model.startswith(SCRIPTED_PREFIX)

    @property
    def provider(self) -> str:
        """As litellm calls it: what stands before the first slash."""
        return self.litellm_model.split("/")[0]

    def identity(self) -> dict[str, JsonValue]:
        """What of a model its answers depend on, for keys: ``program`` (a scripted model's version) and ``revision``
        only where there is one, so that the keys of answers that were paid for stay as they are.

        An endpoint's address is none of it: a server that moves, or a gateway in between, is no other model.
        """
        known: dict[str, JsonValue] = {"model": self.litellm_model, "parameters": self.parameters}
        if self.revision is not None:
            known["revision"] = self.revision
        return {**known, "program": self._program_version()} if self.scripted else known

    def _program_version(self) -> str | None:
        from deepchart_dagster.llm.scripted.base import behaviour_version

        return behaviour_version(self.litellm_model.removeprefix(SCRIPTED_PREFIX))

    def speaks(self, modality: Modality) -> bool:
        return modality in self.protocols

    def knows(self, benchmark: str) -> bool:
        return not self.benchmarks or benchmark in self.benchmarks


def _names_within(value: JsonValue) -> Iterator[str]:
    """Of all members, at whatever depth."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _names_within(member)
    elif isinstance(value, list):
        for member in value:
            yield from _names_within(member)


class BenchmarkJudges(BaseModel):
    """Who judges one benchmark; None: as for all others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    primary: str | None = None
    rubric_writer: str | None = None


class JudgesFile(BaseModel):
    """judges.yaml. ``override`` in the methods is a slug asked for on the command line or in a setting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judges: dict[str, ModelSpec]
    primary: str
    rubric_writer: str
    for_benchmark: dict[str, BenchmarkJudges] = Field(default_factory=dict)

    def judge_for(self, benchmark: str, override: str | None = None) -> ModelSpec:
        """The model that answers rubric questions. Raises ConfigurationError for an unknown override."""
        return self._find(override or self._of(benchmark).primary or self.primary)

    def writer_for(self, benchmark: str, override: str | None = None) -> ModelSpec:
        """The model that writes rubrics. Raises ConfigurationError for an unknown override."""
        return self._find(override or self._of(benchmark).rubric_writer or self.rubric_writer)

    def _of(self, benchmark: str) -> BenchmarkJudges:
        return self.for_benchmark.get(benchmark, BenchmarkJudges())

    def _find(self, slug: str) -> ModelSpec:
        try:
            return self.judges[slug]
        except KeyError:
            raise ConfigurationError(
                as_sentence(f"judges.yaml has no judge {slug!r}{did_you_mean(slug, self.judges)}"),
                remedy=f"It has: {', '.join(self.judges)}.",
            ) from None


class ProviderLimit(BaseModel):
    """What all models of one provider share. concurrency: calls in flight at once, of all processes on one storage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concurrency: int = Field(ge=1, le=1024)


class _ModelsFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    models: dict[str, ModelSpec]
    providers: dict[str, ProviderLimit] = Field(default_factory=dict)


def load_models(path: Path) -> dict[str, ModelSpec]:
    """Slug -> model, in the file's order. Raises ConfigurationError with file, line, entry and remedy."""
    return _load_models_file(path).models


def load_providers(path: Path) -> dict[str, ProviderLimit]:
    """The limits that models.yaml sets for providers, by their names. Raises ConfigurationError as load_models does."""
    return _load_models_file(path).providers


def _load_models_file(path: Path) -> _ModelsFile:
    file = YamlFile.read(path)
    _name_entries(file, "models")
    content = file.validate(_ModelsFile)
    _check_programs(file, "models", content.models)
    _check_answers(file, "models", content.models)
    _check_providers(file, content)
    return content


def load_judges(path: Path) -> JudgesFile:
    """Raises ConfigurationError with file, line, entry and remedy."""
    file = YamlFile.read(path)
    # A judge looks at charts: it need not say so.
    _name_entries(file, "judges", protocols=[Modality.MULTIMODAL.value])
    judges = file.validate(JudgesFile)
    _check_programs(file, "judges", judges.judges)
    _check_answers(file, "judges", judges.judges)
    for place, slug in _references(judges):
        if slug not in judges.judges:
            raise file.error(
                place,
                f"no judge is called {slug!r}{did_you_mean(slug, judges.judges)}",
                f"Name one of: {', '.join(judges.judges)}.",
            )
    return judges


def _name_entries(file: YamlFile, section: str, **defaults: JsonValue) -> None:
    """Give every entry of ``section`` its slug, a name and the defaults; refuse slugs that cannot be."""
    entries = file.section(section)
    for slug, entry in entries.items():
        place = (section, slug)
        if not is_slug(slug):
            raise file.error(
                place,
                f"{slug!r} cannot be a partition key and a folder name",
                "Use letters, digits, '.', '_' and '-' (100 at most), beginning with a letter or digit; "
                "the provider's own name belongs in litellm_model.",
            )
        if not isinstance(entry, dict):
            raise file.error(place, "an entry is a mapping", "Give it at least 'litellm_model: provider/model'.")
        if "slug" in entry:
            raise file.error((*place, "slug"), "the slug is the entry's own key", "Remove this line.")
        entries[slug] = {"name": slug, **defaults, **entry, "slug": slug}


def _check_providers(file: YamlFile, content: _ModelsFile) -> None:
    """A limit for a provider that nobody is reached through would limit nothing, in silence (a judge may use those
    whose keys we know)."""
    known = sorted({model.provider for model in content.models.values()} | set(KEY_NAMES))
    for name in content.providers:
        if name not in known:
            what = f"no model is reached through {name!r}{did_you_mean(name, known)}"
            raise file.error(("providers", name), what, "A provider is what stands before the slash in litellm_model.")


def _check_answers(file: YamlFile, section: str, entries: dict[str, ModelSpec]) -> None:
    """Two servers may call different weights by one name. No address is in a key, so that the one that is asked second
    would be given the answers of the first."""
    first: dict[str, ModelSpec] = {}
    for slug, entry in entries.items():
        other = first.setdefault(canonical_json(entry.identity()), entry)
        if other.api_base != entry.api_base:
            raise file.error(
                (section, slug),
                f"it would be given the answers of {other.slug}, which has the same litellm_model, parameters and "
                "revision at another api_base",
                "Say with 'revision: …' which weights each serves; where they are the same, keep one of the two.",
            )


def _check_programs(file: YamlFile, section: str, entries: dict[str, ModelSpec]) -> None:
    """A scripted entry names a program that there is, with parameters that this program reads."""
    from deepchart_dagster.llm.scripted.base import BEHAVIOURS, behaviour_parameters

    for slug, entry in entries.items():
        if not entry.scripted:
            continue
        name = entry.litellm_model.removeprefix(SCRIPTED_PREFIX)
        if name not in BEHAVIOURS:
            what = f"there is no scripted model {name!r}{did_you_mean(name, BEHAVIOURS)}"
            raise file.error((section, slug, "litellm_model"), what, f"Known: {', '.join(BEHAVIOURS)}.")
        kind = behaviour_parameters(name)
        try:
            kind.model_validate(entry.parameters, strict=True)
        except ValidationError as error:
            raise file.invalid((section, slug, "parameters"), kind, error) from None


def _references(judges: JudgesFile) -> list[tuple[tuple[str, ...], str]]:
    named: list[tuple[tuple[str, ...], str]] = [
        (("primary",), judges.primary),
        (("rubric_writer",), judges.rubric_writer),
    ]
    for benchmark, choice in judges.for_benchmark.items():
        for field, slug in (("primary", choice.primary), ("rubric_writer", choice.rubric_writer)):
            if slug is not None:
                named.append((("for_benchmark", benchmark, field), slug))
    return named
