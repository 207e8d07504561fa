"""One demo for all tests of the whole house: minutes of work, done once, in a storage of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

DEEPCHART = str(Path(sys.executable).with_name("deepchart"))


@dataclass(frozen=True)
class Demo:
    """A storage in which the quick demo (two queries a domain) has run once, and what that run printed with --json."""

    storage: Path
    first: dict[str, Any]
    executable: str = DEEPCHART
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_deepchart(self.storage, *arguments, environment=self.environment)

    def at(self, storage: Path, environment: Mapping[str, str]) -> Demo:
        """The same command on another storage, with these variables set."""
        return replace(self, storage=storage, environment=environment)


def run_deepchart(
    storage: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The installed command in a process of its own, without the caller's settings or keys."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DEEPCHART_", "DAGSTER_")) and not name.endswith("_API_KEY")
    }
    return subprocess.run(
        [DEEPCHART, *arguments],
        env={**inherited, "DEEPCHART_STORAGE": str(storage), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    storage = tmp_path_factory.mktemp("demo") / "storage"
    done = run_deepchart(storage, "demo", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    return Demo(storage, json.loads(done.stdout))
