"""How a command ends: interrupted in its first or last moment, its output full, its reader gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_command import Ran, command_line, deepchart

_WHILE_IMPORTING = """
import _signal, sys
from deepchart_dagster.cli.main import main

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            _signal.raise_signal(_signal.SIGINT)

wanted = sys.argv.pop(1)
_signal.signal(_signal.SIGINT, _signal.default_int_handler)
sys.meta_path.insert(0, Press())
main()
"""
_AT_EXIT = """
import atexit, signal
from deepchart_dagster.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(signal.raise_signal, signal.SIGINT)
main()
"""


def _run(code: str, *arguments: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "module", ["signal", "deepchart_dagster.cli.group", "click", "deepchart_dagster.artifacts.files"]
)
def test_ctrl_c_before_the_command_is_known_ends_it_without_a_word(module: str) -> None:
    assert _run(_WHILE_IMPORTING, module, "models", "list") == Ran(130, "", "")


def test_ctrl_c_while_a_command_is_imported_is_one_line() -> None:
    ran = _run(_WHILE_IMPORTING, "deepchart_dagster.workbench", "models", "list", "--json")
    assert ran.code == 130
    assert ran.json["error"]["kind"] == "Interrupted"
    assert ran.err.strip() == "deepchart: interrupted. What is stored is kept; the next run goes on from there."


def test_ctrl_c_when_all_is_said_adds_nothing_to_it() -> None:
    assert _run(_AT_EXIT, "--version") == Ran(130, deepchart("--version").out, "")


def test_a_caller_that_ignores_ctrl_c_stays_uninterrupted() -> None:
    ignoring = _AT_EXIT.replace("signal.default_int_handler", "signal.SIG_IGN")
    assert _run(ignoring, "--version") == Ran(0, deepchart("--version").out, "")


@pytest.mark.parametrize("arguments", [["--help"], ["models", "list"], ["models", "list", "--json"]], ids=" ".join)
def test_an_output_that_is_full_is_named(storage: Path, arguments: list[str]) -> None:
    environment = {"DEEPCHART_STORAGE": str(storage)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command_line(*arguments), env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert Ran(3, "", done.stderr).complaint == (
        "the output could not be written: No space left on device. "
        "Send it elsewhere, or free space where it goes; what is stored is kept."
    )


def test_a_complaint_that_nobody_reads_keeps_its_exit_code() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command_line("nosuch", "--json"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "deepchart: No such command 'nosuch'. See deepchart --help.\n")
