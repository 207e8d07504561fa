"""What the scripts say while they set up: each thing that takes long, before it is begun."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
_TOOLS = ("bash", "dirname", "cat", "grep", "sha256sum", "cut", "id")
_PYTHON = 'case "$*" in *"uv pip"*) echo CALLED uv >&2;; *compileall*) echo CALLED compile >&2;; esac'


def _set_up(tree: Path, tools: Path) -> list[str]:
    done = subprocess.run(
        [str(tools / "bash"), "-c", '. scripts/lib.sh; set_up "[ocr]"'],
        cwd=tree,
        env={"PATH": str(tools), "HOME": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_what_is_set_up_is_said_before_it_is_done_and_only_then(tmp_path: Path) -> None:
    """Programs of the environment are stand-ins that say when they are called."""
    tree, tools = tmp_path / "tree", tmp_path / "bin"
    npm = tree / "deepchart_dagster/execution/libraries/npm"
    for folder in (tree / "scripts", tree / ".venv/bin", npm, tools):
        folder.mkdir(parents=True)
    shutil.copy(PROJECT / "scripts" / "lib.sh", tree / "scripts")
    for file in (tree / "pyproject.toml", tree / "requirements.lock", npm / "package.json"):
        file.write_text("{}")
    for name in _TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))
    stand_ins = {
        tools / "npm": "",
        tree / ".venv/bin/playwright": "echo CALLED playwright >&2",
        tree / ".venv/bin/deepchart": "echo CALLED libraries >&2",
        tree / ".venv/bin/python": _PYTHON,
    }
    for path, text in stand_ins.items():
        path.write_text(f"#!{tools / 'bash'}\n{text}\n")
        path.chmod(0o755)
    lines = _set_up(tree, tools)
    assert lines == [
        "setting up, about four minutes the first time: packages, this project, where missing a browser, "
        "where npm is chart libraries",
        "installing packages into .venv (about 1.5 GB, downloaded and compiled; most of the time)",
        "CALLED uv",
        "compiling the project and reading its dbt models",
        "CALLED compile",
        "downloading Chromium through Playwright",
        "CALLED playwright",
        "installing chart libraries for HTML charts (npm, 250 MB)",
        "CALLED libraries",
    ]
    assert _set_up(tree, tools) == []
