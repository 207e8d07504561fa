"""``deepchart``: the group of commands, and what happens to an error.

Exit codes: 0 done (a model's failures included), 1 done but some instances are in error, 2 wrong usage or
configuration, 3 no work was possible, 130 interrupted. Commands are imported when they are called.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence

import click

from deepchart_dagster import __version__
from deepchart_dagster.artifacts.files import explain_os_error
from deepchart_dagster.errors import DeepChartError

_COMMANDS = {
    "contexts": "contexts",
    "demo": "demo",
    "doctor": "doctor",
    "documents": "documents",
    "import": "importing",
    "leaderboard": "leaderboard",
    "materialize": "materialize",
    "models": "models",
    "prompt": "prompt",
    "report": "report",
    "run-program": "programs",
    "score-file": "score_file",
    "status": "status",
    "ui": "ui",
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
def cli() -> None:
    """The DeepChart benchmark as a pipeline: from raw PDFs to a stage-by-stage leaderboard.

    Start with `deepchart demo`, then `deepchart ui`. Every command takes --storage DIR and --json.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``deepchart`` command; always leaves by SystemExit."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        cli.main(args=arguments, prog_name="deepchart", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.ClickException as error:
        _complain(arguments, "UsageError", error.format_message(), "See deepchart --help.")
        sys.exit(error.exit_code)
    except DeepChartError as error:
        _complain(arguments, type(error).__name__, error.message, error.remedy)
        sys.exit(error.exit_code)
    except OSError as error:
        message, remedy = explain_os_error(error)
        _complain(arguments, "StorageError", message, remedy)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("deepchart: interrupted; what is stored is kept, the next run goes on from there.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(0)


def _complain(arguments: Sequence[str], kind: str, message: str, remedy: str) -> None:
    line = " ".join(f"{message} {remedy}".split())
    if "--json" in arguments:
        click.echo(json.dumps({"error": {"kind": kind, "message": message, "remedy": remedy}}, ensure_ascii=False))
    click.echo(f"deepchart: {line}", err=True)


if __name__ == "__main__":
    main()
