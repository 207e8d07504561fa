"""Runners shared by the tests of this room, one per sandbox tier, and a container engine of the tests' own."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.keeper import linux
from deepchart_dagster.execution.sandbox.keeper.processes import descendants, process_status

# Tests are imported by path (importlib mode): their helpers beside them need a place to be found.
sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[..., RunResult]


@pytest.fixture(scope="session", autouse=True)
def _escaped_processes_become_ours() -> None:
    """So that a program that outlives its keeper shows up below this process (see test_execution_hostile)."""
    linux.adopt_orphans()


class DockerEngine:
    """A dockerd whose files all lie in ``folder``, without a network. Its pid files are removed: after SIGKILL they
    would keep the next one from starting."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix://{folder}/docker.sock"

    def start(self) -> None:
        """Raises OSError with the log's last line where it does not come up."""
        for pid_file in self.folder.rglob("*.pid"):
            pid_file.unlink()
        (self.folder / "daemon.json").write_text("{}")
        places = {"config-file": "daemon.json", "data-root": "data", "exec-root": "exec", "pidfile": "dockerd.pid"}
        command = ["dockerd", f"--host={self.address}", *(f"--{k}={self.folder / v}" for k, v in places.items())]
        command += ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"]
        with (self.folder / "log").open("w") as log:
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)
        stop = time.monotonic() + 60
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > stop:
                self.stop()
                raise OSError((self.folder / "log").read_text().strip().splitlines()[-1])
            time.sleep(0.1)

    def _answers(self) -> bool:
        import docker
        from docker.errors import DockerException

        try:
            docker.DockerClient(self.address).close()
        except DockerException:
            return False
        return True

    def try_out(self) -> None:
        """Raises docker's error where it starts no container; nothing of the project has a part in that."""
        import docker

        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for name in ("usr", "lib", "lib64"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"host/{name}"
                archive.addfile(link)
        client = docker.DockerClient(self.address)
        client.api.import_image_from_data(content.getvalue(), "deepchart-test-true")
        host = {"/": {"bind": "/host", "mode": "ro"}}
        try:
            client.containers.run("deepchart-test-true", ["/usr/bin/true"], volumes=host, network="none", remove=True)
        finally:
            client.images.remove("deepchart-test-true", force=True)
            client.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        while f" {self.folder}/data " in Path("/proc/mounts").read_text():  # left by a dockerd that was killed
            subprocess.run(["umount", self.folder / "data"], check=True)


@pytest.fixture(scope="session")
def container_engine() -> Iterator[DockerEngine]:
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("no container engine can be started: that needs root and dockerd (on Debian the package docker.io)")
    docker = pytest.importorskip("docker", reason="the Python package docker is not installed (extra: docker)")
    with tempfile.TemporaryDirectory(prefix="deepchart-engine-", ignore_cleanup_errors=True) as folder:
        engine = DockerEngine(Path(folder))
        try:
            engine.start()
        except OSError as error:
            pytest.skip(f"dockerd does not run here: {error}")
        try:
            engine.try_out()
        except docker.errors.DockerException as error:
            engine.stop()
            pytest.skip(f"dockerd starts no container here: {error}")
        yield engine
        engine.stop()


@pytest.fixture(
    scope="session",
    params=[
        *("namespaces", "landlock", "namespaces fresh", "landlock fresh"),
        pytest.param("container", marks=pytest.mark.xdist_group("container engine")),
    ],
)
def tier_runner(request: pytest.FixtureRequest) -> Iterator[LocalRunner]:
    tier, _, fresh = request.param.partition(" ")
    containers = None
    if tier == "container":
        containers = ContainerOptions(engine=request.getfixturevalue("container_engine").address)
    with LocalRunner(tier, workers=2, containers=containers, fresh=bool(fresh)) as runner:
        try:
            runner.tier  # noqa: B018 - raises where this host cannot
        except SandboxUnavailable as error:
            pytest.skip(str(error))
        yield runner


@pytest.fixture(scope="session")
def auto_runner() -> Iterator[LocalRunner]:
    with LocalRunner(workers=2) as runner:
        yield runner


@pytest.fixture
def waiting_servers(tier_runner: LocalRunner) -> Callable[[], set[int]]:
    """Process ids of the fork servers that wait for programs, of their launchers, and of what makes their guards."""

    def look() -> set[int]:
        launchers = tier_runner._fork_servers.pids() if tier_runner._fork_servers else set()
        found = {pid: process_status(pid) for pid in descendants(os.getpid())}
        parents = {pid: status.parent for pid, status in found.items() if status}
        servers = {pid for pid, parent in parents.items() if parent in launchers}
        children = [[pid for pid, parent in parents.items() if parent == server] for server in servers]
        # Programs are children of a server too, all younger.
        nurseries = {min(pids) for pids in children if pids} if tier_runner.tier == "namespaces" else set()
        return launchers | servers | nurseries

    return look


def _run_with(runner: LocalRunner) -> Run:
    def run(source: str, stage: int = 1, *, wall_s: float = 60.0, **limits: int) -> RunResult:
        return runner.run(Program(source, stage, CodeType.PYTHON, Limits(wall_s=wall_s, **limits)))  # type: ignore[arg-type]

    return run


@pytest.fixture
def run(tier_runner: LocalRunner) -> Run:
    """Runs a Python program in each safe tier."""
    return _run_with(tier_runner)


@pytest.fixture
def run_once(auto_runner: LocalRunner) -> Run:
    """Runs a Python program in the best tier."""
    return _run_with(auto_runner)


@pytest.fixture
def answer(run: Run) -> Callable[..., Any]:
    """What a program dumped into its output, which must have gone well."""

    def read(source: str, **options: Any) -> Any:
        result = run(source, **options)
        assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
        assert result.output is not None
        return json.loads(result.output)

    return read


@pytest.fixture(scope="session")
def project_root() -> Path:
    return Path(__file__).resolve().parents[2]


# Pages: each module that draws any has a ``page_runner`` of its own.


@pytest.fixture
def draw(page_runner: LocalRunner) -> Run:
    def render(html: str, wall_s: float = 60.0) -> RunResult:
        return page_runner.run(Program(html, 2, CodeType.HTML, Limits(wall_s=wall_s)))

    return render


@pytest.fixture(scope="module")
def undisturbed(page_runner: LocalRunner) -> bytes:
    """The picture of a plain page before any mischief."""
    from execution_page import PLAIN

    result = page_runner.run(Program(PLAIN, 2, CodeType.HTML, Limits(wall_s=60)))
    assert result.output is not None
    return result.output
