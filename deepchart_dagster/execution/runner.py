"""The one way to run a generated program: picks sandbox or browser, judges what was left, never lets it out.

Stage 1 runs as ``python this.py output.json``, stage 2 as ``python this.py output.png``; an HTML program is a page
that Chromium draws. A program that misbehaves gets a result that says so; only a host that cannot hold programs
raises.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import weakref
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import JsonValue

from deepchart_dagster.benchmark import drawn
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.benchmark.state import load_state, reading_limits
from deepchart_dagster.errors import BenchmarkFormatError, ConfigurationError, SandboxUnavailable
from deepchart_dagster.execution import drawing, images
from deepchart_dagster.execution.browser import Browser, find_browser
from deepchart_dagster.execution.libraries import ChartLibraries
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.pages import PageRenderer
from deepchart_dagster.execution.sandbox import tiers
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.container.pool import Containers
from deepchart_dagster.execution.sandbox.forkservers import ForkServers
from deepchart_dagster.execution.sandbox.imports import import_set
from deepchart_dagster.execution.sandbox.keeper.request import SETUP_FAILED, Report, Request, Room
from deepchart_dagster.execution.sandbox.process import Keepers
from deepchart_dagster.execution.sandbox.runtime import Runtime, interpreter_paths
from deepchart_dagster.settings import DEFAULTS

_MIB = 1 << 20
_STREAM_MB = 16
_SERVER_WORK_MB = 64
_PROBE_LIMITS = Limits(wall_s=30.0)
_FONT_LIMITS = Limits(wall_s=120.0)
_LIBRARIES = ("matplotlib", "numpy", "pandas", "scipy", "seaborn", "pillow")
_OUTPUT_NAMES = {1: "output.json", 2: "output.png"}
_ENDED_BY_KEEPER = {
    "streams": f"ended: it wrote more than {_STREAM_MB} MiB to stdout or stderr",
    "disk": "ended: it wrote more files than its work folder may hold",
    "memory": "ended: its processes took more memory together than one may",
}


class LocalRunner:
    """Runs programs on this machine, at most ``workers`` at once. Safe to use from several threads.

    tier         "auto" (the best safe one), "namespaces", "landlock", "container", or "trusted" (no isolation)
    browser      path of a Chromium; None: looked for at the first page
    libraries    a node_modules folder with chart libraries for pages; None: DEEPCHART_CHART_LIBRARIES,
                 else those that `deepchart libraries install` put there
    cache        where matplotlib's font list is kept; None: the user's cache folder
    fresh        an interpreter of its own for each Python program, instead of a fork of one that has its libraries
                 ready; tier container: always
    fork_servers_memory_mb   what such interpreters may take together while no program uses them
    fork_server_programs     after so many programs one of them makes way for a new one
    containers   image and engine of the tier "container"
    """

    def __init__(
        self,
        tier: str = "auto",
        workers: int | None = None,
        *,
        browser: Path | None = None,
        libraries: Path | None = None,
        cache: Path | None = None,
        containers: ContainerOptions | None = None,
        fresh: bool = False,
        fork_servers_memory_mb: int = DEFAULTS.fork_servers_mb,
        fork_server_programs: int = 2000,
    ) -> None:
        if tier not in ("auto", *tiers.TIERS):
            raise ConfigurationError(
                f"The sandbox tier {tier!r} is not known; there are: auto, {', '.join(tiers.TIERS)}."
            )
        self._wanted_tier = tier
        self._browser = browser
        self._cache = cache
        self._workers = workers or os.cpu_count() or 1
        self._slots = threading.BoundedSemaphore(self._workers)
        self._lock = threading.RLock()
        self._runtime: Runtime | None = None
        self._keepers: Keepers | None = None
        self._fresh = fresh
        self._fork_servers_memory_mb = fork_servers_memory_mb
        self._fork_server_programs = fork_server_programs
        self._fork_servers: ForkServers | None = None
        self._container_options = containers or ContainerOptions()
        self._containers: Containers | None = None
        self._tier = ""
        self._font_list: Path | None = None
        self._pages: PageRenderer | None = None
        self._libraries = ChartLibraries.from_folder(libraries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, program: Program) -> RunResult:
        """Blocks until the program has ended. Never raises for what the program does.

        Raises SandboxUnavailable or BrowserUnavailable where this host cannot hold it, InfrastructureError
        where the machinery around it died.
        """
        with self._slots:
            if program.backend is CodeType.HTML:
                return self._page_renderer().render(program.source, program.limits)
            return self._run_python(program)

    def identity(self, stage: Literal[1, 2], backend: CodeType) -> dict[str, JsonValue]:
        """What of this room an output depends on: for input keys. The tier is not in it: it changes no output."""
        if backend is CodeType.HTML:
            browser = self._known_browser
            return {
                "chromium": browser.major if browser else None,
                "chart_libraries": self._libraries.digest,
                "page_rules": drawing.RULES_VERSION,
                "image_rules": images.RULES_VERSION,
                "drawn": drawn.FORMAT,
            }
        rules: dict[str, JsonValue] = (
            {"state": reading_limits()} if stage == 1 else {"image_rules": images.RULES_VERSION, "drawn": drawn.FORMAT}
        )
        return {"libraries": dict[str, JsonValue](library_versions()), **rules}

    @property
    def tier(self) -> str:
        """The sandbox tier that holds Python programs. Raises SandboxUnavailable."""
        self._prepare_python()
        return self._tier

    def close(self) -> None:
        """Ends what runs and removes what was put on disk. The runner cannot be used afterwards."""
        if self._pages:
            self._pages.close()
        if self._keepers:
            self._keepers.close()
        if self._fork_servers:
            self._fork_servers.close()
        if self._containers:
            self._containers.close()
        with self._lock:
            if self._runtime:
                self._runtime.remove()

    @cached_property
    def _known_browser(self) -> Browser | None:
        return find_browser(self._browser)

    def _page_renderer(self) -> PageRenderer:
        with self._lock:
            if self._pages is None:
                self._pages = PageRenderer(self._known_browser, self._libraries)
            return self._pages

    def _run_python(self, program: Program) -> RunResult:
        runtime, _ = self._prepare_python()
        request = _request(program, self._tier, runtime, self._font_list)
        imports = () if self._fresh else import_set(program.source)
        report = self._hold(request, program.source.encode("utf-8", "surrogatepass"), imports)
        return _judge(program, self._tier, report)

    def _prepare_python(self) -> tuple[Runtime, Keepers]:
        with self._lock:
            runtime, keepers = self._start_machinery()
            if not self._tier:
                tier = tiers.choose(self._wanted_tier, self._probe)
                cache = self._cache or _user_cache()
                if tier == "container" and self._container_options.image:
                    cache = runtime.base  # the image has fonts of its own
                self._font_list = runtime.font_list(cache, lambda s: self._run_own(s, tier))
                self._tier = tier
            return runtime, keepers

    def _start_machinery(self) -> tuple[Runtime, Keepers]:
        if self._keepers is None or self._runtime is None:
            self._runtime = Runtime.prepare()
            self._keepers = Keepers(self._runtime.code)
            self._fork_servers = ForkServers(
                self._runtime.code,
                workers=self._workers,
                memory_mb=self._fork_servers_memory_mb,
                programs=self._fork_server_programs,
            )
            self._containers = Containers(
                self._container_options, self._runtime.code, self._runtime.inside, library_versions()
            )
            weakref.finalize(self, self._runtime.remove)  # for a runner that nobody closes
        return self._runtime, self._keepers

    def probe_tiers(self) -> list[tiers.TierState]:
        """The state of every tier on this host."""
        with self._lock:
            self._start_machinery()
            return [tiers.examine(tier, self._probe) for tier in tiers.TIERS]

    def _probe(self, tier: str) -> Report:
        runtime, _ = self._start_machinery()
        program = Program(tiers.PROBE.decode(), 1, CodeType.PYTHON, _PROBE_LIMITS)
        return self._hold(_request(program, tier, runtime, None), tiers.PROBE)

    def _hold(self, request: Request, source: bytes, imports: tuple[str, ...] = ()) -> Report:
        assert self._keepers is not None
        assert self._containers is not None
        assert self._fork_servers is not None
        if request.tier == "container":
            return self._containers.run(request, source)
        if self._fresh:
            return self._keepers.run(request, source)
        return self._fork_servers.run(_room(request, imports), request, source)

    def _run_own(self, source: str, tier: str) -> bytes:
        """Runs a program of ours in the sandbox, for its output."""
        runtime, _ = self._start_machinery()
        program = Program(source, 1, CodeType.PYTHON, _FONT_LIMITS)
        report = self._hold(_request(program, tier, runtime, None), source.encode())
        if report.wait_status != 0 or report.output_state != "ok":
            raise SandboxUnavailable(
                f"matplotlib does not start in the sandbox ({tier}): {report.stderr_tail.strip()[-500:]}",
                remedy="Check that the virtual environment is complete and readable by this user.",
            )
        return report.output


@cache
def _library_versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def library_versions() -> dict[str, str]:
    """Python and the libraries a program can import: name -> version."""
    return dict(_library_versions())


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("deepchart-dagster")


def _request(program: Program, tier: str, runtime: Runtime, font_list: Path | None) -> Request:
    limits = program.limits
    return Request(
        tier=tier,
        interpreter=sys.executable,
        readable=interpreter_paths(),
        inside=str(runtime.inside),
        scratch=str(runtime.scratch),
        output_name=_OUTPUT_NAMES[program.stage],
        wall_s=limits.wall_s,
        memory_bytes=limits.memory_mb * _MIB,
        output_bytes=limits.output_mb * _MIB,
        work_bytes=limits.work_mb * _MIB,
        processes=limits.processes,
        open_files=limits.open_files,
        stream_bytes=_STREAM_MB * _MIB,
        drawn_bytes=drawn.MAX_BYTES,
        font_list=str(font_list) if font_list else None,
    )


def _room(request: Request, imports: tuple[str, ...]) -> Room:
    return Room(
        tier=request.tier,
        interpreter=request.interpreter,
        readable=request.readable,
        inside=request.inside,
        scratch=request.scratch,
        work_bytes=_SERVER_WORK_MB * _MIB,
        font_list=request.font_list,
        imports=imports,
    )


def _judge(program: Program, tier: str, report: Report) -> RunResult:
    if report.ended == SETUP_FAILED:
        raise SandboxUnavailable(
            f"The sandbox ({tier}) could not be set up for a program: {report.error.strip().splitlines()[-1]}.",
            remedy="`deepchart doctor` shows which tiers work on this host.",
        )
    status, message = _status(program, report)
    code = os.waitstatus_to_exitcode(report.wait_status) if report.wait_status is not None else None
    ok = status is RunStatus.OK
    return RunResult(
        status=status,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        wall_s=report.wall_s,
        cpu_s=report.cpu_s,
        max_rss_mb=report.max_rss_mb,
        tier=tier,
        stderr_tail=report.stderr_tail,
        stdout_tail=report.stdout_tail,
        message=message,
        output=report.output if ok else None,
        drawn=drawn.read(report.drawn) if ok and program.stage == 2 else None,
        versions=library_versions(),
    )


def _status(program: Program, report: Report) -> tuple[RunStatus, str]:
    """The verdict, and one line that says why it is not ok."""
    name = _OUTPUT_NAMES[program.stage]
    if report.ended == "timeout":
        return RunStatus.TIMEOUT, f"ended after {program.limits.wall_s:g} s"
    if report.ended in _ENDED_BY_KEEPER:
        return RunStatus.CRASH, _ENDED_BY_KEEPER[report.ended]
    if report.wait_status != 0:
        return RunStatus.CRASH, _how_it_crashed(report)
    if report.output_state == "missing":
        return RunStatus.NO_OUTPUT, f"it left no file {name}"
    if report.output_state != "ok":
        return RunStatus.INVALID_OUTPUT, f"{name} is {report.output_state}"
    if not report.output:
        return RunStatus.NO_OUTPUT, f"{name} is empty"
    problem = _state_problem(report.output) if program.stage == 1 else images.judge_png(report.output).problem
    return (RunStatus.INVALID_OUTPUT, problem) if problem else (RunStatus.OK, "")


def _state_problem(output: bytes) -> str:
    """Why a stage-1 program's output cannot be read; empty where it can. Its members are for generation to judge."""
    try:
        load_state(output, name=_OUTPUT_NAMES[1])
    except BenchmarkFormatError as error:
        return error.message.rstrip(".")
    return ""


def _how_it_crashed(report: Report) -> str:
    code = os.waitstatus_to_exitcode(report.wait_status or 0)
    lines = [line for line in report.stderr_tail.strip().splitlines() if line.strip()]
    last_words = f": {lines[-1].strip()[:300]}" if lines else ""
    return f"ended by signal {-code}{last_words}" if code < 0 else f"exit code {code}{last_words}"
