"""Settings, read from DEEPCHART_* environment variables and checked once at start.

Paths and counts only: nothing here is a secret, and nothing here changes what a step computes, except
where a field says so. Provider keys are read by litellm from their own variables and never touched here.
"""

from __future__ import annotations

import difflib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from deepchart_dagster.errors import ConfigurationError, in_words

PROJECT_ROOT = Path(__file__).resolve().parent.parent
_PREFIX = "DEEPCHART_"
# DEEPCHART_… as well: where a browser and the chart libraries are; which database dbt builds in;
# the key of the VL server, which is read where it is sent.
_OTHER_VARIABLES = ("CHROMIUM", "CHART_LIBRARIES", "DUCKDB", "VL_API_KEY")

SandboxTier = Literal["auto", "namespaces", "landlock", "container", "trusted"]
OcrEngine = Literal["auto", "text-layer", "rapidocr", "paddleocr", "paddleocr-vl"]

MAX_TIMEOUT_S = 86_400.0


class Settings(BaseModel):
    """All settings of a process. Field ``x`` is read from ``DEEPCHART_X``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    storage: Path = Field(default=Path("storage"), description="root of everything that is made")
    models_file: Path = Field(
        default=PROJECT_ROOT / "models.yaml",
        description="the models that are evaluated",
    )
    judges_file: Path = Field(default=PROJECT_ROOT / "judges.yaml", description="judges and rubric writers")
    prompts: Path | None = Field(
        default=None,
        description="a folder with another prompt set (in the keys of states, charts, rubrics and verdicts)",
    )
    benchmarks: tuple[str, ...] = Field(
        default=(),
        description="names of the benchmarks in the storage to work on; empty: all of them",
    )
    ultra_long: Literal["subset", "all"] | Path = Field(
        default="subset",
        description="what of finance-ultra-long is run: the fixed subset of 50, all, or a file with a uid a line",
    )
    picture_store: str | None = Field(
        default=None,
        description="where pictures for models are uploaded, as fsspec has it (s3://bucket/folder); unset: sent along",
    )
    picture_url: str | None = Field(
        default=None, description="address at which providers read that place; unset: addresses are signed"
    )
    backend_study: Path | None = Field(
        default=None, description="a file with a uid a line: the study of backends asks free choice about these"
    )
    judge: str | None = Field(default=None, description="slug in judges.yaml; otherwise judges.yaml decides")
    rubric_writer: str | None = Field(default=None, description="slug in judges.yaml; otherwise judges.yaml decides")
    hidden_vas: float = Field(
        default=0.8, ge=0, le=1, description="a chart looks right from this VAS on (table of hidden hallucinations)"
    )
    hidden_f1: float = Field(
        default=0.5, ge=0, le=1, description="data are wrong below this F1 (table of hidden hallucinations)"
    )
    workers: int = Field(
        default=max(1, os.cpu_count() or 1),
        ge=1,
        le=256,
        description="programs run at once, and processes that read pages",
    )
    call_attempts: int = Field(
        default=6, ge=1, le=20, description="attempts at a model call before it is an error of ours"
    )
    max_cost: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="US dollars that model calls may cost; the call that would exceed them is not made",
    )
    max_tokens: int | None = Field(
        default=None, gt=0, description="tokens, in and out, that model calls may take; as for max_cost"
    )
    budget_since: str = Field(
        default="",
        description="the moment from which calls count for max_cost and max_tokens, as in 2026-11-30T08:00+01:00; "
        "empty: from the first one in the storage",
    )
    only_errors: bool = Field(default=False, description="steps try again what is in error and leave the rest as it is")
    stage1_timeout_s: float = Field(
        default=60.0,
        gt=0,
        le=MAX_TIMEOUT_S,
        allow_inf_nan=False,
        description="seconds that a stage-1 program may take (60 in the paper; in the keys of states)",
    )
    chart_timeout_s: float = Field(
        default=120.0,
        gt=0,
        le=MAX_TIMEOUT_S,
        allow_inf_nan=False,
        description="seconds that a chart may take (120 in the paper; in the keys of charts)",
    )
    sandbox: SandboxTier = Field(
        default="auto",
        description="how programs are held; 'trusted' runs them without isolation, and says so",
    )
    container_engine: str | None = Field(
        default=None,
        min_length=1,
        description="address of the engine for the tier container; not set: DOCKER_HOST, else Docker's usual socket",
    )
    container_image: str | None = Field(
        default=None,
        min_length=1,
        description="image with this Python and these libraries, for an engine that does not see this machine's files",
    )
    fork_servers_mb: int = Field(
        default=1024,
        ge=0,
        le=1_000_000,
        description="MiB that interpreters with libraries ready for programs may take while no program uses them",
    )
    page_timeout_s: float = Field(
        default=180.0, gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False, description="seconds that reading a page may take"
    )
    pages_per_child: int = Field(
        default=40, ge=1, le=10_000, description="pages after which an OCR engine is started anew (engines only grow)"
    )
    page_memory_mb: int = Field(
        default=8192, ge=512, le=1_048_576, description="megabytes of address space for a process that reads pages"
    )
    max_pages: int = Field(default=3000, ge=1, le=100_000, description="a document with more pages is not read")
    ocr_engine: OcrEngine = Field(default="auto", description="engine for ocr_contexts (in their keys)")
    ocr_dpi: int = Field(default=150, ge=50, le=600, description="resolution at which pages are drawn for OCR")
    ocr_max_pixels: int = Field(
        default=16_000_000, ge=250_000, le=200_000_000, description="a page drawn for OCR has no more pixels than this"
    )
    paddle_models: Path | None = Field(
        default=None, description="folder with det/ and rec/ for paddleocr (deepchart contexts make-paddle-models)"
    )
    vl_server_url: str | None = Field(
        default=None, description="OpenAI-compatible server of paddleocr-vl, as in http://host:8000/v1"
    )
    vl_model: str = Field(
        default="PaddleOCR-VL-1.6-0.9B",  # what paddleocr's current pipeline asks for
        min_length=1,
        description="name by which the server knows the model (part of the key)",
    )
    vl_models: Path | None = Field(
        default=None, description="folder with layout/ (PP-DocLayoutV3) and, without a server, recognition/"
    )
    vl_download: bool = Field(default=False, description="let paddleocr-vl download what is not local")
    vl_timeout_s: float = Field(
        default=120.0,
        gt=0,
        le=MAX_TIMEOUT_S,
        allow_inf_nan=False,
        description="seconds that the server may take for a page",
    )

    @field_validator("budget_since")
    @classmethod
    def _a_moment(cls, text: str) -> str:
        """In UTC, as results and the ledger write it; a moment without a zone is UTC."""
        if not text:
            return ""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("must be a moment as in 2026-11-30T08:00+01:00") from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")

    @field_validator("picture_store", "picture_url")
    @classmethod
    def _a_place_without_secrets(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        if not parts.scheme:
            raise ValueError("must be an address as in s3://bucket/folder or https://host/folder")
        if parts.password or parts.query:
            raise ValueError("must hold no password or query: credentials come from the environment")
        return address

    @field_validator("vl_server_url")
    @classmethod
    def _an_address_without_secrets(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an address as in http://host:8000/v1")
        if parts.username or parts.password or parts.query:
            raise ValueError("must hold no user, password or query: the key stands in DEEPCHART_VL_API_KEY")
        return url

    @property
    def duckdb_path(self) -> Path:
        return self.storage / "metrics" / "deepchart.duckdb"

    @property
    def dagster_home(self) -> Path:
        return self.storage / "dagster_home"


# What rooms that are used without settings fall back on: a default stands in one place.
DEFAULTS = Settings()


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment, with ``overrides`` (command line options) on top; None leaves as is.

    Raises ConfigurationError that names the variable, its value and what is allowed.
    """
    values: dict[str, object] = {}
    for name in Settings.model_fields:
        raw = os.environ.get(_PREFIX + name.upper())
        if raw:
            values[name] = tuple(filter(None, raw.split(","))) if name == "benchmarks" else raw
    values.update({name: value for name, value in overrides.items() if value is not None})
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        raise ConfigurationError(
            f"{_PREFIX}{name.upper()}={_shown(name, values)}: {in_words(first['msg'])}.",
            remedy=f"It sets: {_description(name)}.",
        ) from error
    return settings.model_copy(update={"storage": _storage(settings.storage)})


def _shown(name: str, values: dict[str, object]) -> str:
    """An address may hold a password where none belongs: it is not repeated."""
    return "…" if name in ("vl_server_url", "picture_store", "picture_url") else repr(values.get(name))


def _storage(given: Path) -> Path:
    """``given`` as an absolute path. Raises ConfigurationError for what is or lies below a file, and for a path that
    Dagster would read otherwise: as a pattern (its dagster.yaml), or up to a ``?`` (its SQLite files)."""
    try:
        path = given.expanduser().absolute()
    except RuntimeError as error:
        raise ConfigurationError(
            f"the storage folder {str(given)!r}: there is no such user.",
            remedy="Write ./~name for a folder of that name.",
        ) from error
    remedy = "Choose another one with --storage or DEEPCHART_STORAGE."
    if set("?*[") & set(str(path)) or not str(path).isprintable():
        raise ConfigurationError(
            f"the storage folder {str(path)!r} holds one of ?*[ or a character that cannot be shown.", remedy=remedy
        )
    there = next(place for place in (path, *path.parents) if place.exists())
    if not there.is_dir():
        raise ConfigurationError(f"the storage folder {path} cannot be: {there} is a file.", remedy=remedy)
    return path


def unknown_variables() -> dict[str, str]:
    """DEEPCHART_* variables of the environment that nothing reads -> the known one that comes nearest, or ""."""
    known = [*(name.upper() for name in Settings.model_fields), *_OTHER_VARIABLES]
    given = (name.removeprefix(_PREFIX) for name in sorted(os.environ) if name.startswith(_PREFIX))
    near = {name: difflib.get_close_matches(name, known, n=1) for name in given if name not in known}
    return {_PREFIX + name: _PREFIX + names[0] if names else "" for name, names in near.items()}


def _description(name: str) -> str:
    field = Settings.model_fields.get(name)
    return field.description or name if field else "nothing known"
