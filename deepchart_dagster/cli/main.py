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
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

import click

from deepchart_dagster import __version__
from deepchart_dagster.artifacts.files import explain_os_error
from deepchart_dagster.cli.common import group_options
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


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="deepchart")
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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the ``deepchart`` command: leaves by SystemExit, except for an error of ours (a traceback)."""
    own_process = arguments is None
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _end_in_order()
    _print_everything()
    try:
        # Click hands back the code of a command that ended early (Exit), and None from one that came to its end.
        code = cli.main(args=arguments, prog_name="deepchart", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = error.exit_code
    except click.ClickException as error:
        code = _complain(arguments, "UsageError", error.format_message(), _see_help(error), error.exit_code)
    except DeepChartError as error:
        code = _complain(arguments, type(error).__name__, error.message, error.remedy, error.exit_code)
    except OSError as error:
        code = _complain(arguments, "StorageError", *explain_os_error(error), StorageError.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # Click takes it for Ctrl-D at a prompt; we have no prompts
            _complain_of_fault(arguments, error.__cause__)
            raise
        code = _complain(arguments, "Interrupted", "interrupted.", _KEPT, _INTERRUPTED)
    except Exception as error:
        _complain_of_fault(arguments, error)
        raise
    if own_process:
        # Taking apart what litellm and Dagster loaded would take seconds; the process ends with it anyway.
        gc.freeze()
    sys.exit(code)


_INTERRUPTED = 130
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
        click.echo(json.dumps({"error": {"kind": kind, "message": message, "remedy": remedy}}, ensure_ascii=False))
    click.echo(f"deepchart: {message} {remedy}".rstrip(), err=True)
    return code


if __name__ == "__main__":
    main()
