"""What the tests of containers share: programs, runners at an engine, and a look at what runs there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution.model import Limits, Program, RunResult
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.container.engine import OWNER_LABEL
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions

if TYPE_CHECKING:
    from docker import DockerClient

LIMITS = Limits(wall_s=60)

FORTY_TWO = "import sys\nopen(sys.argv[1], 'w').write('[42]')"

CHART = """
import sys
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(["2022", "2023"], [1.5, 2.5], label="Revenue")
ax.set_title("Umsätze"); ax.legend()
fig.savefig(sys.argv[1])
"""


def runner_at(address: str, **options: Any) -> LocalRunner:
    return LocalRunner("container", workers=2, containers=ContainerOptions(engine=address, **options))


def run(runner: LocalRunner, source: str, stage: int = 1, limits: Limits = LIMITS) -> RunResult:
    return runner.run(Program(source, stage, CodeType.PYTHON, limits))  # type: ignore[arg-type]


def in_background(runner: LocalRunner, source: str, limits: Limits = LIMITS) -> Callable[[], Exception | RunResult]:
    """Runs it in a thread; what is returned waits for what came of it."""
    outcome: list[Exception | RunResult] = []

    def work() -> None:
        try:
            outcome.append(run(runner, source, limits=limits))
        except Exception as error:  # noqa: BLE001 - for the test to look at
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()

    def wait() -> Exception | RunResult:
        thread.join(60)
        return outcome[0]

    return wait


def ours(client: DockerClient) -> list[Any]:
    """Containers of this process, or of one below it."""
    return client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)


def of(client: DockerClient, runner: LocalRunner) -> list[Any]:
    """The containers of one runner: other tests' runners have some too."""
    assert runner._containers is not None
    ids = {box._container for box in (*runner._containers._idle, *runner._containers._busy)}
    return [container for container in ours(client) if container.id in ids]


def eventually(holds: Callable[[], Any], within_s: float = 20.0) -> bool:
    stop = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > stop:
            return False
        time.sleep(0.1)
    return True


def is_running(marker: str) -> bool:
    """Whether ``sleep MARKER`` runs anywhere on this machine."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == f"sleep\0{marker}\0".encode():
                return True
        except OSError:
            continue
    return False


def sleeper(marker: str) -> str:
    return f"import os\nos.execv('/usr/bin/sleep', ['sleep', '{marker}'])"
