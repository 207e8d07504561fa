"""Containers end with the pipeline, and what dies under a program is an error of ours."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from execution_container import (
    FORTY_TWO,
    eventually,
    in_background,
    is_running,
    of,
    ours,
    run,
    runner_at,
    sleeper,
)

from deepchart_dagster.errors import InfrastructureError, SandboxUnavailable
from deepchart_dagster.execution.model import Limits, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.container import owner
from deepchart_dagster.execution.sandbox.container.engine import LABEL, OWNER_LABEL
from deepchart_dagster.execution.sandbox.keeper.processes import descendants

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("container engine")]


def test_closing_removes_every_container_and_the_image(address: str, client: DockerClient) -> None:
    runner = runner_at(address)
    run(runner, FORTY_TWO)
    wait = in_background(runner, sleeper("86394.5"))
    assert eventually(lambda: is_running("86394.5"))
    containers = of(client, runner)
    assert len(containers) == 1
    runner.close()
    outcome = wait()
    assert isinstance(outcome, InfrastructureError)
    assert "closed" in str(outcome)
    left = {container.id for container in ours(client)}
    assert not left & {container.id for container in containers}
    assert eventually(lambda: not is_running("86394.5"))
    if not left:
        assert client.images.list(filters={"label": LABEL}) == []
    with pytest.raises(InfrastructureError, match="closed"):
        run(runner, FORTY_TWO)


DRIVER = """
import sys
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution.model import Limits, Program
from deepchart_dagster.execution.runner import LocalRunner
LocalRunner("container").run(Program(sys.argv[1], 1, CodeType.PYTHON, Limits(wall_s=100)))
"""


def test_a_pipeline_that_is_killed_leaves_no_container(
    address: str, client: DockerClient, project_root: Path, tmp_path: Path
) -> None:
    before = {container.id for container in ours(client)}
    environment = {**os.environ, "TMPDIR": str(tmp_path), "DOCKER_HOST": address}
    command = [sys.executable, "-c", DRIVER, sleeper("86393.5")]
    with subprocess.Popen(command, cwd=project_root, env=environment, stdin=subprocess.DEVNULL) as pipeline:
        assert eventually(lambda: is_running("86393.5"), 60)
        (container,) = [each for each in ours(client) if each.id not in before]
        assert container.labels[OWNER_LABEL].split("/")[-2] == str(pipeline.pid)
        pipeline.kill()
    assert eventually(lambda: not is_running("86393.5"))
    assert eventually(lambda: container.id not in {each.id for each in ours(client)})


def test_what_dead_pipelines_left_is_removed_at_the_next_start(address: str, client: DockerClient) -> None:
    with subprocess.Popen(["sleep", "0"]) as process:
        pass
    world = owner.this_process().rsplit("/", 2)[0]
    owners = {
        "gone": f"{world}/{process.pid}/1",
        "number taken again": f"{world}/{os.getpid()}/1",
        "alive": owner.this_process(),
        "of another machine": f"another/{process.pid}/1",
        "not ours": None,
    }
    with runner_at(address) as runner:
        run(runner, FORTY_TWO)  # makes the image
        image = of(client, runner)[0].image.id
        made = {
            name: client.containers.create(image, ["x"], labels={OWNER_LABEL: mark} if mark else {})
            for name, mark in owners.items()
        }
        try:
            with runner_at(address) as next_runner:
                run(next_runner, FORTY_TWO)
            there = {container.id for container in client.containers.list(all=True, ignore_removed=True)}
            assert {name for name, container in made.items() if container.id in there} == {
                "alive",
                "of another machine",
                "not ours",
            }
        finally:
            for name in ("alive", "of another machine", "not ours"):
                made[name].remove()


def test_a_container_that_is_killed_is_our_error(runner: LocalRunner, client: DockerClient) -> None:
    wait = in_background(runner, sleeper("86392.5"))
    assert eventually(lambda: is_running("86392.5"))
    (container,) = of(client, runner)
    container.kill()
    outcome = wait()
    assert type(outcome) is InfrastructureError
    assert "ended while a program ran" in str(outcome)
    assert run(runner, FORTY_TWO).output == b"[42]"


def test_a_program_that_takes_its_container_along_has_crashed(runner: LocalRunner, client: DockerClient) -> None:
    """What sockets hold is the container's, not a process's: the kernel ends some processes, and later all."""
    source = f"""
import os, socket, time
for _ in range(8):
    if os.fork() == 0:
        held = b"x" * (20 << 20)  # more than the first process has
        pairs = [socket.socketpair() for _ in range(110)]
        for end in [end for pair in pairs for end in pair]:
            end.setblocking(False)
            try:
                while end.send(bytes(1 << 12)): pass
            except BlockingIOError: pass
        time.sleep(50)
        os._exit(0)
assert os.wait()[1] == 9
{sleeper("86391.5")}"""
    wait = in_background(runner, source, Limits(wall_s=50, memory_mb=256, work_mb=8))
    assert eventually(lambda: is_running("86391.5"), 40)
    (container,) = of(client, runner)
    container.kill()
    outcome = wait()
    assert isinstance(outcome, RunResult), outcome
    assert (outcome.status, outcome.signal, outcome.tier) == (RunStatus.CRASH, signal.SIGKILL, "container")
    assert "memory" in outcome.message
    assert outcome.output is None


def test_an_engine_that_dies_is_our_error_and_leaves_nothing_for_long(container_engine: Any, tmp_path: Path) -> None:
    engine = type(container_engine)(Path(f"/tmp/deepchart-e-{os.getpid()}"))
    engine.folder.mkdir()
    try:
        engine.start()
        before = descendants(os.getpid())
        with runner_at(engine.address) as runner:
            code = runner._start_machinery()[0].code / "keeper" / "agent.py"
            code.write_text(re.sub(r"^IDLE_S = \d+$", "IDLE_S = 1", code.read_text(), flags=re.MULTILINE))
            wait = in_background(runner, sleeper("86390.5"), Limits(wall_s=6))
            assert eventually(lambda: is_running("86390.5"))
            engine.process.kill()
            outcome = wait()
            assert type(outcome) is InfrastructureError
            assert "lost while a program ran" in str(outcome)
            assert engine.address in str(outcome)
            with pytest.raises(SandboxUnavailable, match="no container engine answers"):
                run(runner, FORTY_TWO)
            assert eventually(lambda: not is_running("86390.5"))
            agents = [pid for pid in descendants(os.getpid()) - before if b"keeper.agent" in command_of(pid)]
            assert eventually(lambda: not any(b"keeper.agent" in command_of(pid) for pid in agents))
            engine.start()
            assert run(runner, FORTY_TWO).output == b"[42]"
    finally:
        engine.stop()
        subprocess.run(["rm", "-rf", str(engine.folder)], check=False)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""
