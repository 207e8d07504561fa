"""The result of one instance at one step: what was made, from what, and how it ended.

Statuses keep our errors and the model's failures apart (ARCHITECTURE, error is not failure):

ok               the step did what it should
failed           the model's doing: its program crashed, its JSON is invalid, its chart is blank. Scored.
error            ours: a provider, a sandbox, a missing file. Never scored, tried again by the next run.
not_applicable   there is nothing to do or to compare here (no derived reference, say)
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationInfo

from deepchart_dagster.artifacts.canonical import all_in_unicode, content_hash, in_unicode
from deepchart_dagster.errors import DeepChartError

RESULT_FORMAT = "deepchart-result/1"


def _storable(value: JsonValue, info: ValidationInfo) -> JsonValue:
    """What a program or a model said may hold half a surrogate pair, which no file can: it would make the result
    unreadable. What was read from JSON holds none: the parser refuses it."""
    return value if info.mode == "json" else all_in_unicode(value)


JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_storable)]


class Status(StrEnum):
    OK = "ok"
    FAILED = "failed"
    ERROR = "error"
    NOT_APPLICABLE = "not_applicable"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OutputFile(_Frozen):
    sha256: str
    bytes: int


class Problem(_Frozen):
    """Why a result is failed or error. ``kind`` is stable (it is counted); ``message`` is for people."""

    kind: str
    message: Annotated[str, AfterValidator(in_unicode)]

    @classmethod
    def from_error(cls, error: BaseException) -> Problem:
        text = str(error) if isinstance(error, DeepChartError) else f"{type(error).__name__}: {error}"
        return cls(kind=type(error).__name__, message=text)


class Outcome(_Frozen):
    """What a step's computation says of one instance; its output files are what it left in its folder.

    value          small facts that belong to the output (a score, counts): part of the output's hash
    observations   facts about this particular run (seconds, peak memory, cache hits): in no hash
    """

    status: Status = Status.OK
    value: JsonObject = Field(default_factory=dict)
    problem: Problem | None = None
    observations: JsonObject = Field(default_factory=dict)

    @classmethod
    def failed(cls, kind: str, message: str, **value: JsonValue) -> Outcome:
        return cls(
            status=Status.FAILED,
            problem=Problem(kind=kind, message=message),
            value=value,
        )

    @classmethod
    def not_applicable(cls, kind: str, message: str, **value: JsonValue) -> Outcome:
        return cls(
            status=Status.NOT_APPLICABLE,
            problem=Problem(kind=kind, message=message),
            value=value,
        )


class InstanceResult(_Frozen):
    """One result.json. ``output_hash`` covers status, value, the problem's kind and the files' hashes."""

    format: Literal["deepchart-result/1"] = "deepchart-result/1"
    asset: str
    scope: tuple[str, ...]
    uid: str
    input_key: str
    key_parts: JsonObject
    status: Status
    value: JsonObject = Field(default_factory=dict)
    problem: Problem | None = None
    files: dict[str, OutputFile] = Field(default_factory=dict)
    output_hash: str
    started_at: str
    seconds: float
    observations: JsonObject = Field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        return self.status is Status.ERROR


class _Clock:
    """This machine's, but within a process it never goes back: budgets count from a moment on, and records are read
    in their order, while a machine's clock may be set back by an hour. It stands still until the hour is over."""

    def __init__(self) -> None:
        self._latest = datetime.min.replace(tzinfo=UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            self._latest = max(self._latest, datetime.now(UTC))
            return self._latest


_clock = _Clock()


def utc_now() -> str:
    """ISO 8601 with milliseconds, as results and the ledger write it; within a process never less than before."""
    return _clock.now().isoformat(timespec="milliseconds")


def about(uid: str, message: str) -> str:
    """``message`` with the instance it is about before it; many messages name it themselves."""
    return message if message.startswith(f"{uid}:") else f"{uid}: {message}"


def output_hash(
    status: Status,
    value: dict[str, JsonValue],
    problem: Problem | None,
    files: dict[str, OutputFile],
) -> str:
    """Hash of what downstream can see. Messages and timings are left out: they may vary from run to run."""
    return content_hash(
        {
            "status": status.value,
            "value": value,
            "problem": problem.kind if problem else None,
            "files": {name: file.sha256 for name, file in files.items()},
        }
    )
