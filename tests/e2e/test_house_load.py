"""What Dagster loads stays light, and its top-level names stay ours."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions

HEAVY = ("litellm", "pandas", "matplotlib", "playwright", "pymupdf", "fitz", "duckdb", "PIL", "scipy", "openai")
_PROBE = "import json, sys; {load}; print(json.dumps(sorted(name.partition('.')[0] for name in sys.modules)))"


def _loaded_by(load: str) -> set[str]:
    output = subprocess.run(
        [sys.executable, "-c", _PROBE.format(load=load)], check=True, capture_output=True, text=True
    ).stdout
    return set(json.loads(output.splitlines()[-1]))


def test_the_code_location_loads_no_heavy_library() -> None:
    bare = _loaded_by("import dagster, dagster_dbt")
    ours = _loaded_by("import deepchart_dagster.definitions")
    assert "dagster_dbt" in ours
    assert {name for name in HEAVY if name in ours - bare} == set()


def test_the_command_line_starts_without_dagster() -> None:
    ours = _loaded_by("import deepchart_dagster.cli.main, deepchart_dagster.cli.score_file")
    assert {name for name in (*HEAVY, "dagster") if name in ours} == set()


def test_no_dependency_ships_a_package_of_our_names() -> None:
    shipped = {
        (distribution.metadata["Name"], file.parts[0])
        for distribution in distributions()
        if distribution.metadata["Name"] != "deepchart-dagster"
        for file in distribution.files or ()
        if file.parts[0] in ("assets", "resources", "deepchart_dagster", "assets.py", "resources.py")
    }
    assert shipped == set()
