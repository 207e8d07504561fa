"""What the tests of the mini benchmark share."""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any

import pytest

from deepchart_dagster.benchmark.mini.catalogue import folder_of, mini_queries


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Query -> what its stage-1 program leaves. Run in this process: most of a program's time is to load libraries."""
    folder = tmp_path_factory.mktemp("states")
    found = {}
    for query in mini_queries():
        name = query.uid.removeprefix("mini/")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["stage1.py", str(folder / name)])
            runpy.run_path(str(folder_of(query) / "stage1.py"), run_name="__main__")
        found[name] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found
