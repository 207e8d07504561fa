"""Tier `container` with a real engine: its walls, its life and death, and what happens without one.

That programs behave and hostile ones are held is tested in all tiers by test_execution_sandbox and
test_execution_hostile.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import InfrastructureError, SandboxUnavailable
from deepchart_dagster.execution import doctor
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox import tiers
from deepchart_dagster.execution.sandbox.container import engine as engine_module
from deepchart_dagster.execution.sandbox.container import owner, pool
from deepchart_dagster.execution.sandbox.container.engine import LABEL, OWNER_LABEL, EngineError, engine_errors
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.keeper import guard
from deepchart_dagster.execution.sandbox.keeper.request import Report
from deepchart_dagster.settings import Settings

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("container engine")]

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


@pytest.fixture(scope="session")
def address(container_engine: Any) -> str:
    return str(container_engine.address)


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[DockerClient]:
    import docker

    client = docker.DockerClient(address)
    yield client
    client.close()


@pytest.fixture
def runner(address: str) -> Iterator[LocalRunner]:
    with runner_at(address) as runner:
        yield runner


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
    assert host["NanoCpus"] == min(2, os.cpu_count() or 1) * 10**9
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
    """Many small processes: the kernel ends some of them, and the container ends after that."""
    source = f"""
import os, time
for _ in range(12):
    if os.fork() == 0:
        held = bytearray(60 << 20); held[::4096] = b"x" * len(held[::4096]); time.sleep(50)
        os._exit(0)
for _ in range(2): os.wait()
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
        before = guard.descendants(os.getpid())
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
            agents = [pid for pid in guard.descendants(os.getpid()) - before if b"keeper.agent" in command_of(pid)]
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


def test_without_an_engine_the_tier_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with LocalRunner("container") as runner, pytest.raises(SandboxUnavailable) as refused:
        run(runner, FORTY_TWO)
    said = str(refused.value)
    assert f"no container engine answers at unix://{tmp_path}/none.sock" in said
    assert "DOCKER_HOST" in said
    assert "start one" in said


def test_without_the_docker_package_the_tier_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with LocalRunner("container") as runner, pytest.raises(SandboxUnavailable, match=r"deepchart-dagster\[docker\]"):
        run(runner, FORTY_TWO)


def test_an_engine_that_this_user_may_not_use_is_named() -> None:
    pytest.importorskip("docker")
    with (
        pytest.raises(EngineError, match="at unix:///x: this user may not use it"),
        engine_errors("unix:///x"),
    ):
        raise PermissionError(13, "Permission denied")


def test_an_engine_that_does_not_see_our_files_asks_for_an_image(runner: LocalRunner) -> None:
    code = runner._start_machinery()[0].code
    code.rename(code.with_name("elsewhere"))
    with pytest.raises(SandboxUnavailable, match="does not see this machine's files; name an image"):
        run(runner, FORTY_TWO)


def test_an_engine_that_would_leave_limits_out_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a rootless one without cgroups of its own, which starts containers all the same."""
    from docker import APIClient

    really = APIClient.info
    monkeypatch.setattr(APIClient, "info", lambda self: {**really(self), "MemoryLimit": False, "PidsLimit": False})
    with runner_at(address) as runner, pytest.raises(SandboxUnavailable, match="cannot limit memory, processes"):
        run(runner, FORTY_TWO)


def test_auto_asks_an_engine_only_where_nothing_better_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(tier: str) -> Report:
        asked.append(tier)
        return working if tier in works else Report(ended="setup_failed", error=f"no {tier}")

    working = Report(ended="exit", wait_status=0, output_state="ok")
    asked: list[str] = []
    works = {"namespaces", "landlock", "container", "trusted"}
    assert tiers.choose("auto", probe) == "namespaces"
    works = {"container", "trusted"}
    asked.clear()
    assert tiers.choose("auto", probe) == "container"
    assert asked == [tier for tier in ("namespaces", "landlock", "container") if tier in asked]
    monkeypatch.setattr(engine_module.Engine, "connect", lambda _: pytest.fail("an engine was asked"))
    with LocalRunner() as runner:
        assert runner.tier in ("namespaces", "landlock")


def test_auto_takes_a_container_where_the_other_tiers_fail(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(runner: LocalRunner, tier: str) -> Report:
        return really(runner, tier) if tier == "container" else Report(ended="setup_failed", error="forbidden")

    really = LocalRunner._probe
    monkeypatch.setattr(LocalRunner, "_probe", probe)
    with LocalRunner(containers=ContainerOptions(engine=address)) as runner:
        assert run(runner, FORTY_TWO).tier == "container"


def test_the_doctor_says_whether_there_is_an_engine(address: str, tmp_path: Path) -> None:
    for engine, available in ((address, True), (f"unix://{tmp_path}/none.sock", False)):
        states = {state.name: state for state in doctor.available_tiers(Settings(container_engine=engine))}
        assert states["container"].available is available
        assert ("no container engine answers" in states["container"].reason) is not available


# -- an image of the user's ------------------------------------------------------------------------------------------

_PACKAGES = ("numpy", "matplotlib", "pillow", "contourpy", "kiwisolver", "cycler", "pyparsing", "packaging", "six")
_MORE_PACKAGES = ("python-dateutil", "fonttools")
_ONLY_VERSIONS = ("pandas", "scipy", "seaborn")


def test_an_image_of_the_users_runs_programs_with_its_own_python(
    address: str, client: DockerClient, auto_runner: LocalRunner
) -> None:
    import_image(client, "deepchart-test:same", {})
    try:
        with runner_at(address, image="deepchart-test:same") as runner:
            where = run(runner, "import json, sys\njson.dump([sys.prefix, sys.executable], open(sys.argv[1], 'w'))")
            assert where.output is not None, where.stderr_tail
            assert json.loads(where.output) == ["/opt/python", "/opt/python/bin/python3"]
            chart = run(runner, CHART, 2)
            assert (chart.status, chart.tier) == (RunStatus.OK, "container"), chart.stderr_tail
            assert chart.output == run(auto_runner, CHART, 2).output
            (container,) = of(client, runner)
            assert container.attrs["Mounts"] == []
            assert container.attrs["HostConfig"]["ReadonlyRootfs"]
    finally:
        client.images.remove("deepchart-test:same")


def test_an_image_with_other_versions_is_refused(address: str, client: DockerClient) -> None:
    import_image(client, "deepchart-test:other", {"seaborn": "0.0.1"}, packages=())
    try:
        with runner_at(address, image="deepchart-test:other") as runner:
            with pytest.raises(SandboxUnavailable, match=r"seaborn 0\.0\.1 for \d") as refused:
                run(runner, FORTY_TWO)
            assert "numpy missing for" in str(refused.value)
            assert of(client, runner) == []
    finally:
        client.images.remove("deepchart-test:other")


def test_an_image_that_is_not_there_is_not_pulled(address: str) -> None:
    with runner_at(address, image="python:3.11") as runner, pytest.raises(SandboxUnavailable, match="none is pulled"):
        run(runner, FORTY_TWO)


def import_image(
    client: DockerClient, name: str, versions: dict[str, str], packages: tuple[str, ...] = (*_PACKAGES, *_MORE_PACKAGES)
) -> None:
    """An image made of this machine's own interpreter and packages, and of the shared libraries that those need."""
    content = io.BytesIO()
    home = f"opt/python/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(Path(sys.executable).resolve(), "opt/python/bin/python3")
        libraries = shared_libraries([Path(sys.executable).resolve()])
        standard = Path(sysconfig.get_path("stdlib"))
        archive.add(standard, home, filter=_without_ballast)
        libraries |= shared_libraries(list((standard / "lib-dynload").glob("*.so")))
        for package in packages:
            for file in distribution(package).files or ():
                path = Path(str(file.locate()))
                if path.is_file() and not str(file).startswith("..") and "__pycache__" not in path.parts:
                    archive.add(path, f"{home}/{file}")
            modules = [Path(str(file.locate())) for file in distribution(package).files or () if ".so" in file.name]
            libraries |= {library for library in shared_libraries(modules) if "site-packages" not in str(library)}
        for package, version in {**dict.fromkeys(_ONLY_VERSIONS, ""), **versions}.items():
            said = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version or distribution(package).version}\n"
            entry = tarfile.TarInfo(f"{home}/{package}-0.dist-info/METADATA")
            entry.size = len(said)
            archive.addfile(entry, io.BytesIO(said.encode()))
        [system] = {library.parent for library in libraries if library.name.startswith("libc.so")}
        for library in sorted(libraries):
            known = str(library).startswith(("/lib", "/usr"))
            archive.add(library.resolve(), str(library if known else system / library.name).lstrip("/"))
    client.api.import_image_from_data(
        content.getvalue(), *name.split(":"), changes=["ENV PATH=/opt/python/bin", "ENV PYTHONDONTWRITEBYTECODE=1"]
    )


def _without_ballast(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    left_out = {"test", "tests", "__pycache__", "site-packages", "dist-packages", "idlelib", "ensurepip", "lib2to3"}
    parts = entry.name.split("/")
    return None if left_out & set(parts) or any(part.startswith("config-") for part in parts) else entry


def shared_libraries(binaries: list[Path]) -> set[Path]:
    if not binaries:
        return set()
    said = subprocess.run(["ldd", *map(str, binaries)], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, flags=re.MULTILINE)}
