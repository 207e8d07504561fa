"""Options and output that all commands share.

Options end up in the environment (DEEPCHART_*), so that Dagster's steps, child processes and this process
read the same settings. Machine output goes to stdout, everything else to stderr.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:  # `deepchart --help` reads this module too, and waits for no room
    from deepchart_dagster.contexts.progress import PageProgress
    from deepchart_dagster.settings import Settings
    from deepchart_dagster.workbench import Workbench

F = TypeVar("F", bound=Callable[..., Any])


def common_options(function: F) -> F:
    """--storage and --json, as on every command; handed to it as ``storage`` and ``as_json``."""
    return _storage_and_json(function, expose_value=True)


def group_options(function: F) -> F:
    """The same two before a command's name: ``deepchart --storage DIR status``. The command takes them over."""
    return _storage_and_json(function, expose_value=False)


def _storage_and_json(function: F, *, expose_value: bool) -> F:
    as_json = click.option(
        "--json",
        "as_json",
        is_flag=True,
        expose_value=expose_value,
        callback=_nearest,
        help="One JSON document on stdout, nothing else.",
    )
    storage = click.option(
        "--storage",
        metavar="DIR",
        expose_value=expose_value,
        callback=_nearest,
        help="Storage root; default DEEPCHART_STORAGE, else ./storage.",
    )
    return storage(as_json(function))


def _nearest(context: click.Context, parameter: click.Parameter, value: object) -> object:
    """``value`` where the option was given here, otherwise what was given before the command's name."""
    name = f"{__name__}.{parameter.name}"
    if value == "":
        raise click.BadParameter("it names no folder.")
    if value:
        context.meta[name] = value
    return context.meta.get(name, value)


def settings_for(storage: str | None = None, **overrides: object) -> Settings:
    """Settings of this process, written back to its environment for Dagster's steps and child processes."""
    from deepchart_dagster.settings import load_settings

    _note_unknown_variables()
    settings = load_settings(storage=storage, **overrides)
    for name in {"storage", *(name for name, value in overrides.items() if value is not None)}:
        value = getattr(settings, name)
        os.environ[f"DEEPCHART_{name.upper()}"] = ",".join(value) if isinstance(value, tuple) else str(value)
    return settings


_NOTED = f"{__name__}.unknown_variables"


def _note_unknown_variables() -> None:
    """Once a command. A limit under a wrong name (DEEPCHART_MAXCOST) limits nothing: calls are made, and paid."""
    from deepchart_dagster.settings import unknown_variables

    context = click.get_current_context(silent=True)
    if context is None or context.meta.get(_NOTED):
        return
    context.meta[_NOTED] = True
    for name, near in unknown_variables().items():
        meant = f"; did you mean {near}?" if near else "; deepchart doctor lists the settings."
        note(f"deepchart: {name} is set, but nothing reads it{meant}")


@contextmanager
def workbench(storage: str | None = None, **overrides: object) -> Iterator[Workbench]:
    from deepchart_dagster.workbench import Workbench

    with Workbench(settings_for(storage, **overrides)) as bench:
        yield bench


def emit(as_json: bool, value: object, text: str) -> None:
    """``value`` as one JSON document, or ``text`` for people (nothing, where there is nothing to say)."""
    if as_json:
        click.echo(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))
    elif text:
        click.echo(shown(text))


def note(message: str) -> None:
    """A line for people while work goes on: stderr, so that stdout stays the result."""
    click.echo(shown(message), err=True)


LOADING = "loading Dagster and the assets: some seconds, more on a slow machine"


def note_loading() -> None:
    """What takes the first seconds of a process, in which nothing else can be said yet."""
    if "dagster" not in sys.modules:
        note(LOADING)


# Controls, and what turns the direction of the text behind it. Lines and tabs are ours.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """``text`` with escapes for what a terminal would obey: names of files and texts of PDFs are anybody's."""
    return _OBEYED.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


class PageBar:
    """Pages of a document, their pace and the time left, on stderr, only where it is a terminal."""

    _WIDTH = 24

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, document_id: str, progress: PageProgress) -> None:
        if not self._shown:
            return
        filled = self._WIDTH * progress.done // max(1, progress.total)
        bar = "#" * filled + "." * (self._WIDTH - filled)
        end = "\n" if progress.done >= progress.total else ""
        click.echo(f"\r{document_id} [{bar}] {progress.as_text()}\x1b[K{end}", err=True, nl=False)


def exit_with_errors(n_error: int) -> None:
    """Exit 1 where some instances are in error."""
    if n_error:
        raise click.exceptions.Exit(1)
