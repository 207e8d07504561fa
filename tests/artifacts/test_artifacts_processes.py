"""Whether a process is still at work, told from its number and a moment at which it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from deepchart_dagster.artifacts.processes import is_at_work

WAITING = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(WAITING)
    yield process
    process.kill()
    process.wait()


def test_a_process_is_at_work_until_it_ends_and_counts_no_more_as_a_zombie(child: subprocess.Popen[bytes]) -> None:
    seen = time.time()
    assert is_at_work(child.pid, seen)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how
    assert not is_at_work(child.pid, seen)
    child.wait()
    assert not is_at_work(child.pid, seen)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says when a process started")
def test_a_number_that_was_given_away_again_is_another_process(child: subprocess.Popen[bytes]) -> None:
    assert not is_at_work(child.pid, time.time() - 3600)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl")
def test_a_child_is_asked_to_end_when_its_parent_is_killed() -> None:
    starter = (
        "import subprocess, sys\n"
        "from deepchart_dagster.artifacts.processes import end_with_parent\n"
        f"child = subprocess.Popen({WAITING!r}, preexec_fn=end_with_parent, start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    grandchild, seen = int(parent.stdout.readline()), time.time()
    assert is_at_work(grandchild, seen)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while is_at_work(grandchild, seen) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_at_work(grandchild, seen)
