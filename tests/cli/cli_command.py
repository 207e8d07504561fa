"""Running the real ``deepchart``: in this process where quick, as a process of its own where that is the point."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepchart_dagster.cli.common import LOADING
from deepchart_dagster.cli.main import main

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document that stdout holds; anything else there fails the test."""
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line on stderr that says what is wrong (after those on what is being done)."""
        lines = [line for line in self.err.splitlines() if line != LOADING and not line.startswith("beginning")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("deepchart: "), self.err
        return lines[0].removeprefix("deepchart: ")


def deepchart(*arguments: object, environment: Mapping[str, str] | None = None) -> Ran:
    """``main([...])`` in this process; the environment is as before afterwards."""
    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(_environment(before, environment))
    code: object = None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([str(argument) for argument in arguments])
    except SystemExit as leaving:
        code = leaving.code
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert isinstance(code, int), f"main ended with {code!r}"
    return Ran(code, out.getvalue(), err.getvalue())


def _environment(base: Mapping[str, str], more: Mapping[str, str] | None) -> dict[str, str]:
    """Without the settings and keys of the person who runs the tests (fixtures of a module run before they go)."""
    own = {name: value for name, value in base.items() if not name.startswith(("DEEPCHART_", "DAGSTER_"))}
    kept = {name: base[name] for name in ("DEEPCHART_CHROMIUM", "DEEPCHART_CHART_LIBRARIES") if name in base}
    return {name: value for name, value in own.items() if not name.endswith("_API_KEY")} | kept | dict(more or {})


def command_line(*arguments: object) -> list[str]:
    """The installed command, as a person types it."""
    return [str(Path(sys.executable).with_name("deepchart")), *map(str, arguments)]


def process(*arguments: object, environment: Mapping[str, str] | None = None, **options: Any) -> Ran:
    """The installed ``deepchart`` as a process of its own."""
    done = subprocess.run(
        command_line(*arguments),
        env=_environment(os.environ, environment),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        **options,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
