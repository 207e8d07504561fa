"""``deepchart status`` for people: models that were never run are one line, unless they are asked for."""

from __future__ import annotations

from pathlib import Path

from cli_command import deepchart


def test_models_that_were_never_run_are_named_in_one_line(sample: Path, storage: Path) -> None:
    assert deepchart("import", sample, "--storage", storage).code == 0
    lines = deepchart("status", "--storage", storage).out.splitlines()
    assert lines[-1].startswith("Never run, left out here: claude-opus-4.5, deepseek-v3.2, ")
    assert not any(line.startswith("predicted_states") for line in lines)
    asked = deepchart("status", "--model", "gpt-5.2", "--storage", storage).out.splitlines()
    assert any(line.startswith("predicted_states") and "|gpt-5.2 " in line for line in asked)
    assert not any(line.startswith("Never run") for line in asked)
    cells = deepchart("status", "--storage", storage, "--json").json["cells"]
    assert {"gpt-5.2", "glm-4.7"} <= {cell["model"] for cell in cells}
