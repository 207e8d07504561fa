"""The README's two commands in a fresh clone: they set themselves up, and a second call skips what is done.

What the first command printed and left is looked at in test_house_demo.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Clone, Demo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


@pytest.fixture
def used(clone: Clone | None, demo: Demo) -> Clone:
    """The clone, after the demo that ran in it."""
    if clone is None:
        pytest.skip("this is no git checkout: nothing to clone")
    return clone


def test_the_demo_set_itself_up_and_made_the_report(used: Clone, demo: Demo) -> None:
    assert (used.folder / ".venv" / "bin" / "deepchart").is_file()
    assert (demo.storage / "report" / "index.html").is_file()


def test_the_test_command_sets_itself_up(used: Clone) -> None:
    done = used.run("./scripts/test", "--collect-only", "-q")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "tests collected" in done.stdout
    begun = time.monotonic()
    again = used.run("./scripts/test", "--version")
    assert again.returncode == 0
    assert "installing" not in again.stderr
    assert time.monotonic() - begun < 20, "what is done is skipped"


def test_the_clone_stays_as_it_was(used: Clone) -> None:
    assert used.git("status", "--porcelain") == used.status
