"""Programs, limits and results as values (paper, appendix B.1; design/METRICS.md, ER)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import CodeType


class RunStatus(StrEnum):
    """How a program ended. ``refused`` is ours (no sandbox to be had): an error, not a failure."""

    OK = "ok"
    TIMEOUT = "timeout"
    CRASH = "crash"
    NO_OUTPUT = "no_output"
    INVALID_OUTPUT = "invalid_output"
    REFUSED = "refused"


@dataclass(frozen=True)
class Limits:
    """What a program may use. Sizes in MiB (1024² bytes), times in seconds of wall clock."""

    wall_s: float
    memory_mb: int = 4096
    output_mb: int = 20
    work_mb: int = 128
    processes: int = 32
    open_files: int = 256


@dataclass(frozen=True)
class Program:
    """One program: stage 1 leaves a JSON file (J), stage 2 leaves a chart (PNG, or a page that is drawn)."""

    source: str
    stage: Literal[1, 2]
    backend: CodeType
    limits: Limits


@dataclass(frozen=True)
class RunResult:
    """How it went and what it left.

    output     the output file's bytes: JSON for stage 1 (at most 2 MiB), PNG for stage 2; None unless ok
    drawn      what the chart draws, in the shape of benchmark.drawn; None where it could not be seen
    tier       the sandbox tier that held the program (namespaces, landlock, container, trusted, browser)
    versions   libraries the program could see: name -> version
    requests   what a page asked for beyond itself, in the order of the first time (at most 200); () for Python
    cpu_s, max_rss_mb are None where the host does not tell
    """

    status: RunStatus
    exit_code: int | None
    signal: int | None
    wall_s: float
    cpu_s: float | None
    max_rss_mb: float | None
    tier: str
    stderr_tail: str
    stdout_tail: str
    message: str = ""
    output: bytes | None = None
    drawn: JsonValue = None
    versions: dict[str, str] = field(default_factory=dict)
    requests: tuple[PageRequest, ...] = ()


@dataclass(frozen=True)
class PageRequest:
    """What a page asked for beyond itself, and what became of it.

    outcome    served (what was asked for), substituted (another version or build of the same major), refused
    by         "echarts-v5@5.6.0 dist/echarts.min.js" for what was served; "" for what was refused
    """

    url: str
    outcome: Literal["served", "substituted", "refused"]
    by: str = ""


class ProgramRunner(Protocol):
    """What the stages need of this room."""

    def run(self, program: Program) -> RunResult:
        """Blocking, safe to call from several threads. Never raises for what the program does.

        Raises SandboxUnavailable or BrowserUnavailable where nothing on this host can hold the program.
        """
        ...

    def identity(self, stage: Literal[1, 2], backend: CodeType) -> dict[str, JsonValue]:
        """What of this room an output depends on (library versions, Chromium's major version): key parts."""
        ...
