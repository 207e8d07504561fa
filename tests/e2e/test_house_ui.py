"""The Dagster UI as a person uses it: see the graph, materialise one partition by clicking, watch it succeed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from deepchart_dagster.execution.browser import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.conftest import Demo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MODEL, SPLIT = "oracle", "finance-normal"
_READY_WITHIN_S = 180


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def ui(demo: Demo) -> Iterator[str]:
    """``deepchart ui`` on the demo's storage; its address. Afterwards no process of it is left."""
    arguments = [demo.executable, "ui", "--json", "--port", str(_free_port())]
    process = subprocess.Popen(
        arguments,
        env={**os.environ, "DEEPCHART_STORAGE": str(demo.storage), "DEEPCHART_BENCHMARKS": "mini"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdout is not None
    document = ""
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline and not document.rstrip().endswith("}"):
        document += process.stdout.readline()
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
    yield json.loads(document)["url"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert _processes_of(demo.storage) == []


def _processes_of(storage: Path) -> list[str]:
    """Command lines of processes whose Dagster home lies in ``storage``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it ended while we looked
            continue
        if f"DAGSTER_HOME={storage}".encode() in environment:
            found.append(command)
    return found


@pytest.fixture
def page(ui: str) -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    browser = find_browser()
    if browser is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(browser.path), args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 1600, "height": 1000})
        view.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        yield view
        chromium.close()


def test_the_graph_shows_the_groups_in_order(ui: str, page: Page) -> None:
    page.goto(f"{ui}/asset-groups")
    for group in ("benchmark", "documents", "contexts", "references", "predictions", "scores", "reports"):
        expect(page.get_by_text(group, exact=True).first).to_be_visible()


def _choose(page: Page, key: str) -> None:
    """Pick ``key`` in the first dimension of the launch dialog that has nothing chosen yet."""
    page.get_by_text("Select a partition or create one").first.click()
    page.get_by_placeholder("Filter partitions").fill(key)
    page.get_by_role("menuitem").filter(has_text=key).last.click()
    page.keyboard.press("Escape")


def test_one_partition_is_materialised_by_clicking(demo: Demo, ui: str, page: Page) -> None:
    lost = demo.storage / "predicted_states" / SPLIT / MODEL
    before = {path.parent.name: json.loads(path.read_text())["output_hash"] for path in lost.glob("*/result.json")}
    assert len(before) == 2
    shutil.rmtree(lost)

    page.goto(f"{ui}/assets/predicted_states?view=partitions")
    page.get_by_role("button", name="Materialize").first.click()
    _choose(page, MODEL)
    _choose(page, SPLIT)
    page.get_by_role("button", name="Launch 1 run").click()
    page.get_by_text("View", exact=True).first.click()
    page.wait_for_url("**/runs/**")
    expect(page.get_by_text("Success", exact=True).first).to_be_visible(timeout=300_000)

    after = {path.parent.name: json.loads(path.read_text())["output_hash"] for path in lost.glob("*/result.json")}
    assert after == before, "the same inputs give the same outputs"


def test_the_partition_page_shows_counts_and_checks(ui: str, page: Page) -> None:
    page.goto(f"{ui}/assets/predicted_states?view=partitions&partition={MODEL}%7C{SPLIT}")
    expect(page.get_by_text("n_total", exact=True).first).to_be_visible()
    page.goto(f"{ui}/assets/predicted_states?view=checks")
    expect(page.get_by_text("no_errors", exact=True).first).to_be_visible()
