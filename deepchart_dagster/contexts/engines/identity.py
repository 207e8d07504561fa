"""What a reading depends on: the engine, its versions, its model files by content, its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.contexts.engines.base import INSTALL_OCR
from deepchart_dagster.contexts.engines.config import (
    OCR_LADDER,
    PADDLEOCR,
    PADDLEOCR_VL,
    RAPIDOCR,
    TEXT_LAYER,
    VL_PARTS,
    EngineConfig,
    EngineName,
    as_config,
)
from deepchart_dagster.contexts.engines.model_files import file_hash, folder_hashes
from deepchart_dagster.errors import ConfigurationError

# Bumped when an engine's use here changes what it reads (options, clean-up).
_USE: dict[EngineName, int] = {TEXT_LAYER: 3, RAPIDOCR: 5, PADDLEOCR: 4, PADDLEOCR_VL: 1}
_PACKAGES: dict[EngineName, tuple[str, ...]] = {
    TEXT_LAYER: ("pymupdf",),
    RAPIDOCR: ("rapidocr", "onnxruntime"),
    PADDLEOCR: ("paddleocr", "paddlex", "onnxruntime"),
    PADDLEOCR_VL: ("paddleocr", "paddlex"),
}

_MODEL_MARKS = ("inference.yml", "config.json")
_MODELS_REMEDY: dict[EngineName, str] = {
    PADDLEOCR: "Make them with deepchart contexts make-paddle-models DIR and set DEEPCHART_PADDLE_MODELS=DIR.",
    PADDLEOCR_VL: (
        "Set DEEPCHART_VL_SERVER_URL to a vLLM server of the model, DEEPCHART_VL_MODELS to a folder with "
        "recognition/ (and layout/), or DEEPCHART_VL_DOWNLOAD=1."
    ),
}


@dataclass(frozen=True)
class EngineIdentity:
    """``version`` is one line for people and records; ``parts`` are key parts."""

    name: str
    version: str
    parts: dict[str, JsonValue]


def engine_identity(config: EngineConfig | str) -> EngineIdentity:
    """Raises ConfigurationError for an engine that is not installed or whose models are not there."""
    config = as_config(config)
    engines = ladder(config)
    versions = {name: _version(name) for name in engines}
    parts: dict[str, JsonValue] = {"engine": config.name}
    parts.update({str(name): value for name, value in versions.items()})
    for name in engines:
        if name != TEXT_LAYER:
            parts[f"{name} models"] = dict(_models(name, config))
    if any(name != TEXT_LAYER for name in engines):
        parts["drawing"] = {"dpi": config.dpi, "max_pixels": config.max_pixels}
    text = ", ".join(f"{engine} {value}" for engine, value in versions.items())
    return EngineIdentity(name=config.name, version=text, parts=parts)


def ladder(config: EngineConfig) -> tuple[EngineName, ...]:
    """The engines that may read a page, best OCR engine first, the text layer last; one alone if asked for by name.

    Raises ConfigurationError for an engine that is asked for, by name or by its settings, and cannot be had.
    """
    if config.name != "auto":
        check(config.name, config)
        return (config.name,)
    engines = tuple(name for name in OCR_LADDER if _WANTED[name](config))
    for name in engines:
        check(name, config)
    return (*engines, TEXT_LAYER)


def check(name: EngineName, config: EngineConfig) -> None:
    """Raises ConfigurationError that says what an engine lacks."""
    for package in _PACKAGES[name]:
        if not _installed(package):
            raise ConfigurationError(f"the OCR engine {name} is not installed ({package}).", remedy=INSTALL_OCR)
    if not _WANTED[name](config):
        raise ConfigurationError(f"the OCR engine {name} has no models.", remedy=_MODELS_REMEDY[name])
    _models(name, config)


def rapidocr_installed() -> bool:
    return all(_installed(package) for package in _PACKAGES[RAPIDOCR])


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _version(name: EngineName) -> str:
    return "+".join([str(_USE[name]), *(f"{package}-{version(package)}" for package in _PACKAGES[name])])


def _models(name: EngineName, config: EngineConfig) -> dict[str, JsonValue]:
    """Key parts for an engine's models: file -> sha256. Raises ConfigurationError for folders that are not right."""
    if name == RAPIDOCR:
        return dict(_wheel_models())
    if name == PADDLEOCR and config.paddle_models is not None:
        return dict(_checked(config.paddle_models, ("det", "rec"), "DEEPCHART_PADDLE_MODELS", name))
    if name == PADDLEOCR_VL:
        return _vl_models(config)
    return {}


def _vl_models(config: EngineConfig) -> dict[str, JsonValue]:
    parts: dict[str, JsonValue] = {"recognition": config.vl_model, "layout": config.vl_layout}
    if config.vl_models is not None:
        there = [part for part in VL_PARTS if config.vl_folder(part)]
        needed = () if config.vl_server_url or config.vl_download else ("recognition",)
        parts.update(_checked(config.vl_models, (*needed, *there), "DEEPCHART_VL_MODELS", PADDLEOCR_VL))
    return parts


def _checked(root: Path, folders: tuple[str, ...], variable: str, engine: EngineName) -> dict[str, str]:
    hashes: dict[str, str] = {}
    for folder in dict.fromkeys(folders):
        found = folder_hashes(root / folder)
        if not any(Path(name).name in _MODEL_MARKS for name in found):
            raise ConfigurationError(
                f"{variable}={root}: {root / folder} holds no model for {engine} ({' or '.join(_MODEL_MARKS)}).",
                remedy=_MODELS_REMEDY[engine],
            )
        hashes.update({f"{folder}/{name}": digest for name, digest in found.items()})
    return hashes


@cache
def _wheel_models() -> dict[str, str]:
    """The models that rapidocr uses, in its wheel; the 180° classifier is not used."""
    package = find_spec("rapidocr")
    folder = Path(package.origin).parent / "models" if package and package.origin else None
    if folder is None:
        return {}
    return {path.name: file_hash(path) for path in sorted(folder.glob("*.onnx")) if "_cls_" not in path.name}


_WANTED: dict[EngineName, Callable[[EngineConfig], bool]] = {
    TEXT_LAYER: lambda config: True,
    RAPIDOCR: lambda config: rapidocr_installed(),
    PADDLEOCR: lambda config: config.paddle_models is not None,
    PADDLEOCR_VL: lambda config: config.vl_configured,
}
