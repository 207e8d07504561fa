"""What each engine has and lacks, for ``deepchart doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from deepchart_dagster.contexts.engines.base import EngineUnavailableError
from deepchart_dagster.contexts.engines.config import PADDLEOCR_VL, EngineConfig, EngineName
from deepchart_dagster.contexts.engines.identity import engine_identity
from deepchart_dagster.errors import ConfigurationError


@dataclass(frozen=True)
class EngineState:
    name: EngineName
    verdict: Literal["ok", "missing", "broken"]
    detail: str
    remedy: str = ""


def engine_states(config: EngineConfig) -> Iterator[EngineState]:
    """Every engine, in the order of their names; a server is asked whether it is there."""
    for name in get_args(EngineName):
        yield _state(name, config.model_copy(update={"name": name}))


def _state(name: EngineName, config: EngineConfig) -> EngineState:
    try:
        detail = engine_identity(config).version
    except ConfigurationError as error:
        return EngineState(name, _severity(name, config), error.message, error.remedy)
    if name == PADDLEOCR_VL:
        return _vl_state(config, detail)
    return EngineState(name, "ok", detail)


def _severity(name: EngineName, config: EngineConfig) -> Literal["missing", "broken"]:
    """What was configured and cannot be had is broken; what was not is only missing."""
    configured = config.vl_configured if name == PADDLEOCR_VL else config.paddle_models is not None
    return "broken" if configured and name.startswith("paddle") else "missing"


def _vl_state(config: EngineConfig, detail: str) -> EngineState:
    layout = "" if config.vl_layout else "; no layout model: a page is read as one block"
    if config.vl_server_url is None:
        return EngineState(PADDLEOCR_VL, "ok", detail + layout)
    from deepchart_dagster.contexts.engines.vl_server import check_server

    try:
        check_server(config.vl_server_url, config.vl_model)
    except EngineUnavailableError as error:
        return EngineState(PADDLEOCR_VL, "broken", str(error), "Start it, or unset DEEPCHART_VL_SERVER_URL.")
    return EngineState(PADDLEOCR_VL, "ok", f"{detail}, {config.vl_model} at {config.vl_server_url}{layout}")
