"""Tier `container` with a real engine: its walls, and what one program finds of the one before.

That programs behave and hostile ones are held is tested in all tiers by test_execution_sandbox and
test_execution_hostile.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from execution_container import (
    CHART,
    FORTY_TWO,
    in_background,
    is_running,
    of,
    run,
    runner_at,
)

from deepchart_dagster.execution.model import Limits, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.container import owner, pool
from deepchart_dagster.execution.sandbox.container.engine import OWNER_LABEL

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("container engine")]


def test_a_chart_is_the_same_as_in_the_best_tier(runner: LocalRunner, auto_runner: LocalRunner) -> None:
    here, there = run(runner, CHART, 2), run(auto_runner, CHART, 2)
    assert (here.status, here.tier) == (RunStatus.OK, "container")
    assert there.tier in ("namespaces", "landlock")
    assert here.output == there.output
    assert here.output is not None
    assert here.output.startswith(b"\x89PNG")
    assert here.drawn == there.drawn
    assert here.drawn is not None
    assert here.versions == there.versions


def test_the_walls_seen_from_outside(runner: LocalRunner, client: DockerClient) -> None:
    run(runner, FORTY_TWO, limits=Limits(wall_s=60, memory_mb=512, work_mb=32, processes=20))
    (container,) = of(client, runner)
    host, config = container.attrs["HostConfig"], container.attrs["Config"]
    assert (host["NetworkMode"], host["IpcMode"], host["Privileged"]) == ("none", "none", False)
    assert (host["ReadonlyRootfs"], host["AutoRemove"]) == (True, True)
    assert (host["CapDrop"], host["CapAdd"]) == (["ALL"], None)
    assert host["SecurityOpt"] == ["no-new-privileges"]
    # Three folders of 32 MiB and three of 16, and 64 for the keeper, beside the program's memory; no swap.
    assert host["Memory"] == host["MemorySwap"] == (512 + 3 * 32 + 3 * 16 + 64) << 20
    assert host["PidsLimit"] == 20 + 3
    assert host["NanoCpus"] == min(2, len(os.sched_getaffinity(0))) * 10**9
    assert config["User"] == "60000:60000"
    assert config["Labels"][OWNER_LABEL] == owner.this_process()
    mounts = {mount["Destination"]: (mount["Type"], mount["RW"]) for mount in container.attrs["Mounts"]}
    assert mounts["/usr"] == mounts[sys.prefix] == ("bind", False)
    assert {kind for kind, writable in mounts.values() if writable} == set()


WHAT_IT_SEES = """
import json, os, sys, socket
def may_write(path):
    try: open(path + "/x", "w").close()
    except OSError: return False
    return True
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
json.dump({
    "capabilities": [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new_privileges": status["NoNewPrivs"].strip(), "filters": int(status["Seccomp_filters"]),
    "user": [os.getuid(), os.geteuid(), os.getgid()], "groups": os.getgroups(),
    "writable": [path for path in ("/", "/usr", "/etc", "/root", "/var", "/dev", "/run", "/program", "/program/hook",
                                   "/program/code", "/program/work", "/tmp", "/dev/shm", sys.prefix)
                 if may_write(path)],
    "environment": sorted(os.environ),
}, open(sys.argv[1], "w"))
"""


def test_the_walls_seen_from_inside(runner: LocalRunner) -> None:
    result = run(runner, WHAT_IT_SEES)
    assert result.output is not None, result.stderr_tail
    seen = json.loads(result.output)
    assert seen.pop("capabilities") == [0] * 5
    assert seen.pop("filters") == 2  # the engine's and ours
    assert set(seen.pop("groups")) <= {60000}
    assert "DOCKER_HOST" not in seen.pop("environment")
    assert seen == {
        "no_new_privileges": "1",
        "user": [60000] * 3,
        "writable": ["/program/work", "/tmp", "/dev/shm"],
    }


def test_one_container_holds_many_programs_and_is_replaced(
    runner: LocalRunner, client: DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_PROGRAMS_PER_CONTAINER", 6)
    assert runner.tier == "container"  # which took two programs: a probe, and perhaps the font list
    (first,) = of(client, runner)
    for _ in range(3):
        assert run(runner, FORTY_TWO).output == b"[42]"
    assert {container.id for container in of(client, runner)} <= {first.id}
    for _ in range(3):
        assert run(runner, FORTY_TWO).output == b"[42]"
    (second,) = of(client, runner)
    assert second.id != first.id
    assert run(runner, FORTY_TWO, limits=Limits(wall_s=60, memory_mb=1024)).output == b"[42]"
    (third,) = of(client, runner)
    assert third.id != second.id
    assert third.attrs["HostConfig"]["Memory"] < second.attrs["HostConfig"]["Memory"]


def test_containers_are_as_many_as_programs_run_at_a_time(runner: LocalRunner, client: DockerClient) -> None:
    waiting = [in_background(runner, f"import time\ntime.sleep(2)\n{FORTY_TWO}") for _ in range(4)]
    outcomes = [wait() for wait in waiting]
    assert [outcome.output for outcome in outcomes if isinstance(outcome, RunResult)] == [b"[42]"] * 4
    assert len(of(client, runner)) == 2


LEAVES_THINGS = """
import ctypes, os, sys
for place in (".", "/tmp", "/dev/shm", os.environ["MPLCONFIGDIR"], "/program/drawn", "/program/keeper"):
    try:
        os.makedirs(place + "/deep/er"); open(place + "/deep/er/left", "w").write("x" * 1000)
        os.chmod(place + "/deep/er", 0); os.chmod(place + "/deep", 0)
    except OSError: pass
ctypes.CDLL(None).shmget(42, 4096, 0o1600)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execv("/usr/bin/sleep", ["sleep", "86395.5"])
    os._exit(0)
open(sys.argv[1], "w").write("{}")
"""

LOOKS_FOR_THINGS = """
import ctypes, glob, json, os, sys
places = (".", "/tmp", "/dev/shm", "/program/drawn", "/program/keeper")
def entries(place):
    try: return [name for name in os.listdir(place) if name != "this.py" and not name.startswith("program-")]
    except PermissionError: return []
json.dump({"files": sum(map(entries, places), []), "memory": ctypes.CDLL(None).shmget(42, 4096, 0o600),
           "processes": [open(p).read() for p in glob.glob("/proc/[0-9]*/comm")].count("sleep\\n"),
           "config": sorted(os.listdir(os.environ["MPLCONFIGDIR"]))}, open(sys.argv[1], "w"))
"""


@pytest.fixture(params=["with Landlock", "without Landlock"])
def any_kernel_runner(request: pytest.FixtureRequest, runner: LocalRunner) -> LocalRunner:
    """Also as on a kernel without Landlock, where the container and the filter hold alone."""
    if request.param == "without Landlock":
        code = runner._start_machinery()[0].code / "keeper" / "landlock.py"
        code.write_text(code.read_text() + "\n\ndef abi() -> int:\n    return 0\n")
    return runner


def test_the_next_program_finds_nothing_of_the_one_before(any_kernel_runner: LocalRunner, client: DockerClient) -> None:
    assert run(any_kernel_runner, LEAVES_THINGS).status is RunStatus.OK
    (first,) = of(client, any_kernel_runner)
    assert not is_running("86395.5")
    result = run(any_kernel_runner, LOOKS_FOR_THINGS)
    assert result.output is not None, result.stderr_tail
    seen = json.loads(result.output)
    (font_list,) = seen.pop("config")
    assert font_list.startswith("fontlist-")
    assert seen == {"files": [], "memory": -1, "processes": 0}
    assert [container.id for container in of(client, any_kernel_runner)] == [first.id]


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("os.kill(-1, 9)", {RunStatus.OK, RunStatus.CRASH}),
        ("for pid in range(1, 40):\n    try: os.kill(pid, 9)\n    except OSError: pass", {RunStatus.OK}),
        (
            "for pid in range(1, 40):\n    try: open(f'/proc/{pid}/mem', 'rb+')\n    except OSError: pass",
            {RunStatus.OK},
        ),
        ("while True:\n    try: os.fork()\n    except OSError: pass", {RunStatus.TIMEOUT, RunStatus.CRASH}),
        ("while True: open('big', 'ab').write(bytes(1 << 20))", {RunStatus.CRASH}),
        ("for n in range(100_000): open(f'/dev/shm/{n}', 'w')", {RunStatus.CRASH}),
        ("import socket; socket.create_connection(('127.0.0.1', 80), 2)", {RunStatus.CRASH}),
        ("import signal; os.kill(os.getpid(), signal.SIGSTOP); time.sleep(99)", {RunStatus.TIMEOUT, RunStatus.CRASH}),
        ("os.symlink('/etc/passwd', sys.argv[1]); os._exit(0)", {RunStatus.INVALID_OUTPUT}),
        ("open('/program/hook/sitecustomize.py', 'a')", {RunStatus.CRASH}),
        ("open('/program/code/keeper/agent.py', 'a')", {RunStatus.CRASH}),
        ("assert not any('canary' in open(p).read() for p in ('/etc/passwd', '/proc/1/environ'))", {RunStatus.CRASH}),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_a_kernel_without_landlock_is_enough(
    address: str, source: str, allowed: set[RunStatus], weak_runner: LocalRunner
) -> None:
    program = f"import os, sys, time\n{source}\nopen(sys.argv[1], 'w').write('{{}}')"
    result = run(weak_runner, program, limits=Limits(wall_s=3, work_mb=16, processes=16))
    assert result.status in allowed, (result.message, result.stderr_tail)
    assert run(weak_runner, FORTY_TWO).output == b"[42]"


@pytest.fixture(scope="module")
def weak_runner(address: str) -> Iterator[LocalRunner]:
    with runner_at(address) as runner:
        code = runner._start_machinery()[0].code / "keeper" / "landlock.py"
        code.write_text(code.read_text() + "\n\ndef abi() -> int:\n    return 0\n")
        yield runner
