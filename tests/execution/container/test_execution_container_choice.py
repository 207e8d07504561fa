"""Which engine is asked and when, and what is said where there is none that will do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from execution_container import (
    FORTY_TWO,
    run,
    runner_at,
)

from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution import doctor
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox import tiers
from deepchart_dagster.execution.sandbox.container import engine as engine_module
from deepchart_dagster.execution.sandbox.container.engine import EngineError, engine_errors
from deepchart_dagster.execution.sandbox.container.options import ContainerOptions
from deepchart_dagster.execution.sandbox.keeper.request import Report
from deepchart_dagster.settings import Settings

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("container engine")]


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
    with (
        LocalRunner("container") as runner,
        pytest.raises(SandboxUnavailable, match=r"pip install -c requirements.lock -e '\.\[docker\]'"),
    ):
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
