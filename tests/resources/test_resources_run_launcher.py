"""A run whose process is gone is told from one that is under way, on a real instance of Dagster's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.launcher import WorkerStatus
from dagster._core.test_utils import create_run_for_test

from resources.run_launcher import LocalRunLauncher
from resources.tags import HOST_TAG


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\nrun_launcher: {module: resources.run_launcher, class: LocalRunLauncher}\n"
    )
    with dg.DagsterInstance.from_config(str(tmp_path)) as opened:
        yield opened


def _started(instance: dg.DagsterInstance, pid: int | None, **tags: str) -> dg.DagsterRun:
    run = create_run_for_test(instance, job_name="evaluate_model", status=dg.DagsterRunStatus.STARTED, tags=tags)
    if pid is not None:
        instance.report_engine_event("Started process for run.", run, EngineEventData.in_process(pid))
    return run


def _health(instance: dg.DagsterInstance, run: dg.DagsterRun) -> WorkerStatus:
    launcher = instance.run_launcher
    assert isinstance(launcher, LocalRunLauncher)
    assert launcher.supports_check_run_worker_health
    return launcher.check_run_worker_health(run).status


def test_a_run_whose_process_ended_without_a_word_is_found(instance: dg.DagsterInstance) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    run = _started(instance, process.pid)
    assert _health(instance, run) is WorkerStatus.RUNNING
    process.kill()
    process.wait()
    assert _health(instance, run) is WorkerStatus.NOT_FOUND


def test_a_run_of_another_machine_is_left_alone(instance: dg.DagsterInstance) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert _health(instance, _started(instance, gone.pid, **{HOST_TAG: "elsewhere"})) is WorkerStatus.RUNNING
    assert _health(instance, _started(instance, gone.pid)) is WorkerStatus.NOT_FOUND


def test_the_latest_process_counts(instance: dg.DagsterInstance) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    run = _started(instance, gone.pid)
    instance.report_engine_event("Executing steps in process.", run, EngineEventData.in_process(os.getpid()))
    assert _health(instance, run) is WorkerStatus.RUNNING


def test_a_run_that_named_no_process_is_gone(instance: dg.DagsterInstance) -> None:
    assert _health(instance, _started(instance, None)) is WorkerStatus.NOT_FOUND
