"""`deepchart ui` where it cannot start, and what it settles of the Dagster instance before it does."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from cli_command import deepchart

from assets.pools import LIMITS
from deepchart_dagster.cli import ui
from deepchart_dagster.cli.runs import DAGSTER_YAML, Runs
from deepchart_dagster.errors import UsageError
from deepchart_dagster.settings import load_settings

AS_WRITTEN_BEFORE = """\
# Written by deepchart once; yours to edit.
telemetry: {enabled: false}
nux: {enabled: false}
run_monitoring: {enabled: true}
concurrency:
  pools: {default_limit: 1, granularity: op}
  runs: {max_concurrent_runs: 2}
"""


def test_a_second_one_on_the_same_storage_is_told_where_the_first_is(storage: Path) -> None:
    settings = load_settings(storage=storage)
    with ui._only_one(settings, "http://127.0.0.1:3000"):
        ran = deepchart("ui", "--storage", storage, "--port", "3001")
    assert ran.code == 2
    assert ran.complaint == (
        f"a Dagster UI on {storage} is running already at http://127.0.0.1:3000 (process {os.getpid()}). "
        "Use that one, or end it first (Ctrl-C where it was started)."
    )
    with ui._only_one(settings, "http://127.0.0.1:3000"):
        pass  # whoever ended gives the place back
    assert not (settings.dagster_home / "ui.json").exists()


def test_one_that_is_just_starting_has_no_address_yet(storage: Path) -> None:
    settings = load_settings(storage=storage)
    with ui._only_one(settings, "http://127.0.0.1:3000"):
        (settings.dagster_home / "ui.json").write_text('{"url":')
        with pytest.raises(UsageError, match=r"is running already\. "), ui._only_one(settings, "http://127.0.0.1:3001"):
            pass


def test_a_port_that_is_taken_is_said(storage: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ran = deepchart("ui", "--storage", storage, "--port", port)
    assert ran.code == 2
    assert ran.complaint == f"port {port} is taken: Address already in use. Choose another with --port."


def test_a_dagster_yaml_that_nobody_changed_follows_this_version(
    storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")  # set by what is tested, and as before afterwards
    settings = load_settings(storage=storage)
    config = settings.dagster_home / "dagster.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(AS_WRITTEN_BEFORE)
    Runs(settings)
    assert config.read_text() == DAGSTER_YAML
    edited = AS_WRITTEN_BEFORE.replace("max_concurrent_runs: 2", "max_concurrent_runs: 12")
    config.write_text(edited)
    Runs(settings)
    assert config.read_text() == edited


def test_limits_of_pools_are_set_once_and_the_user_s_to_change(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    runs = Runs(load_settings(storage=storage))
    runs.set_pool_limits()
    records = runs.instance.event_log_storage
    assert {pool.name: pool.limit for pool in records.get_pool_limits()} == LIMITS
    records.set_concurrency_slots("ocr", 3)
    runs.set_pool_limits()
    assert {pool.name: pool.limit for pool in records.get_pool_limits()} == {**LIMITS, "ocr": 3}
    assert runs.instance.run_launcher.supports_check_run_worker_health
    runs.instance.dispose()
