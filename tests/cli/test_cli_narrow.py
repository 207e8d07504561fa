"""What a terminal of 40 columns is shown, and that nothing else is shown otherwise."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest
from cli_command import command_line, deepchart

from deepchart_dagster.cli import narrow

DIAGNOSIS = "  source   other_row                12 not matched     12 wrong   in 1 instance"
SENTENCE = "Means over scored instances, failures counting 0; in brackets the 95 % bootstrap interval."


def _in_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that the command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(command_line(*arguments), env=environment, stdout=theirs, stdin=theirs) as child:
        os.close(theirs)
        written = b""
        try:
            while more := os.read(ours, 65536):
                written += more
        except OSError:  # Linux says so when the last writer has gone
            pass
        os.close(ours)
        assert child.wait(timeout=120) == 0
    return written.decode().replace("\r\n", "\n").splitlines()


def test_the_help_of_a_narrow_terminal_breaks_no_name() -> None:
    lines = _in_terminal(40, "status", "--help")
    longer = [line for line in lines if len(line) > 40]
    assert [line.split()[0] for line in longer] == ["deepchart", "--split"]  # an example to copy; names to choose from
    assert any("DEEPCHART_STORAGE" in line for line in lines)
    assert "  --storage DIR  Storage root; default" in lines


def test_the_help_of_a_wide_terminal_is_click_s_own() -> None:
    assert _in_terminal(80, "status", "--help") == deepchart("status", "--help").out.splitlines()


def test_a_long_line_of_a_table_goes_on_below_from_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "terminal_columns", lambda: 40)
    assert narrow.folded(f"{DIAGNOSIS}\n{SENTENCE}\n  a  b").splitlines() == [
        "  source  other_row  12 not matched",
        "      12 wrong  in 1 instance",
        SENTENCE,
        "  a  b",
    ]


@pytest.mark.parametrize("columns", [None, 80])
def test_elsewhere_no_line_is_folded(monkeypatch: pytest.MonkeyPatch, columns: int | None) -> None:
    monkeypatch.setattr(narrow, "terminal_columns", lambda: columns)
    assert narrow.folded(DIAGNOSIS) == DIAGNOSIS
