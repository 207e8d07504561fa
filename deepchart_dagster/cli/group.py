"""``deepchart``: the group of commands, and what happens to an error.

Exit codes: 0 done (a model's failures included), 1 done but some instances are in error, 2 wrong usage or
configuration, 3 no work was possible, 130 interrupted. With --json an error is the one document on stdout.
Commands are imported when they are called.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

import click

from deepchart_dagster.artifacts.files import explain_os_error
from deepchart_dagster.cli.common import group_options
from deepchart_dagster.cli.ctrl_c import INTERRUPTED, leave_at_ctrl_c, raise_at_ctrl_c
from deepchart_dagster.cli.narrow import HelpFormatter
from deepchart_dagster.errors import DeepChartError, StorageError

_COMMANDS = {
    "backends": "backends",
    "calibration": "calibration",
    "compare": "compare",
    "contexts": "contexts",
    "demo": "demo",
    "diagnosis": "diagnosis",
    "doctor": "doctor",
    "documents": "documents",
    "estimate": "estimate",
    "hallucinations": "hallucinations",
    "import": "importing",
    "leaderboard": "leaderboard",
    "libraries": "libraries",
    "materialize": "materialize",
    "metrics": "metrics",
    "models": "models",
    "prompt": "prompt",
    "prune": "prune",
    "references": "references",
    "report": "report",
    "rubrics": "rubrics",
    "run-program": "programs",
    "score-file": "score_file",
    "status": "status",
    "subset": "subset",
    "ui": "ui",
    "validation": "validation",
    "verify": "verify",
    "why": "why",
}


click.Context.formatter_class = HelpFormatter  # of every command: none hands its own down


class _LazyGroup(click.Group):
    """Imports a command's module when it is asked for, so that ``deepchart --help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"deepchart_dagster.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command


def _say_version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from deepchart_dagster import __version__

        click.echo(f"deepchart, version {__version__}")
        context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Show the version and exit.",
)
@group_options
def cli() -> None:
    """The DeepChart benchmark as a pipeline: from raw PDFs to a stage-by-stage leaderboard.

    Start with `deepchart demo`, then `deepchart ui`. --storage and --json stand before or after the command's name.

    \b
    Example: deepchart demo --storage /tmp/try

    \b
    Exit codes: 0 done, a model's failures included; 1 done, but some instances are in error;
    2 wrong usage or configuration; 3 no work was possible.
    """


def run(arguments: Sequence[str], *, own_process: bool) -> NoReturn:
    """Runs the command and leaves by SystemExit, except for an error of ours (a traceback).

    ``own_process``: the process is there for this command alone, so that Ctrl-C is its own to handle.
    """
    _end_in_order()
    _print_everything()
    code = _outcome(arguments, own_process=own_process)
    if own_process:
        # Taking apart what litellm and Dagster loaded would take seconds; the process ends with it anyway.
        gc.freeze()
    sys.exit(code)


def _outcome(arguments: Sequence[str], *, own_process: bool) -> int:
    """The exit code. What went wrong has been said."""
    try:
        try:
            if own_process:
                raise_at_ctrl_c()
            # Click hands back the code of a command that ended early (Exit), and None from one that came to its end.
            return cli.main(args=arguments, prog_name="deepchart", standalone_mode=False) or 0
        finally:
            if own_process:
                leave_at_ctrl_c()
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _complain(arguments, "UsageError", error.format_message(), _see_help(error), error.exit_code)
    except DeepChartError as error:
        return _complain(arguments, type(error).__name__, error.message, error.remedy, error.exit_code)
    except OSError as error:
        return _complain(arguments, "StorageError", *_explained(error), StorageError.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # Click takes it for Ctrl-D at a prompt; we have no prompts
            _complain_of_fault(arguments, error.__cause__)
            raise
        return _complain(arguments, "Interrupted", "interrupted.", _KEPT, INTERRUPTED)
    except Exception as error:
        _complain_of_fault(arguments, error)
        raise


_KEPT = "What is stored is kept; the next run goes on from there."


def _complain_of_fault(arguments: Sequence[str], error: BaseException) -> None:
    message = f"a fault in deepchart: {type(error).__name__}: {error}."
    _complain(arguments, "InternalError", message, "What is stored is kept; the trace below says where.", 1)


def _end_in_order() -> None:
    """A request to end, or a closed terminal, does what Ctrl-C does: children are ended, one line is said.

    Where a caller ignores or handles these signals (nohup, a test), that stands.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _print_everything() -> None:
    """A character that a terminal or a pipe cannot take is shown as its escape: a name that is no UTF-8, a dash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _see_help(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"See {context.command_path if context else 'deepchart'} --help."


def _complain(arguments: Sequence[str], kind: str, message: str, remedy: str, code: int) -> int:
    """One line on stderr, and with --json the one document on stdout. Hands back ``code``."""
    message, remedy = " ".join(message.split()), " ".join(remedy.split())
    if "--json" in arguments:
        _say(json.dumps({"error": {"kind": kind, "message": message, "remedy": remedy}}, ensure_ascii=False))
    _say(f"deepchart: {message} {remedy}".rstrip(), err=True)
    return code


def _say(text: str, *, err: bool = False) -> None:
    """The last words of a command; what cannot be said is left out, where the exit code says enough."""
    try:
        click.echo(text, err=err)
    except OSError:
        _drop_what_waits(sys.stderr if err else sys.stdout)


def _explained(error: OSError) -> tuple[str, str]:
    """(what happened to which file, what to do about it)."""
    if not _is_of_output(error):
        return explain_os_error(error)
    _drop_what_waits(sys.stdout)
    return f"the output could not be written: {error.strerror}.", _SEND_ELSEWHERE


_SEND_ELSEWHERE = "Send it elsewhere, or free space where it goes; what is stored is kept."


def _is_of_output(error: OSError) -> bool:
    """Whether it was raised where all output is written; such an error names no file."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return frames[-1].f_code is click.echo.__code__


def _drop_what_waits(stream: TextIO) -> None:
    """What a stream still holds goes nowhere: Python would try it once more in the end, and complain by itself."""
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
        stream.flush()
