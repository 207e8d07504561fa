"""``deepchart ui``: the Dagster UI and daemon on this storage, on loopback only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from deepchart_dagster.cli.common import common_options, emit, note, workbench
from deepchart_dagster.errors import UsageError
from deepchart_dagster.settings import PROJECT_ROOT, Settings

HOST = "127.0.0.1"
_READY_WITHIN_S = 120.0
_STOP_WITHIN_S = 20.0


@click.command("ui", short_help="Start the Dagster UI and its daemon.")
@click.option("--port", default=3000, show_default=True, type=click.IntRange(1, 65535))
@common_options
def command(port: int, storage: str | None, as_json: bool) -> None:
    """Start the Dagster UI and its daemon; DAGSTER_HOME lies below the storage root. Ctrl-C ends both.

    \b
    Example: deepchart ui --port 3000
    """
    serve(storage, port, as_json=as_json)


def serve(storage: str | None, port: int, *, as_json: bool = False, browse: bool = False) -> None:
    """The UI on this storage, until it ends or somebody ends it; ``browse``: shown in the user's browser, if any.

    Raises UsageError where it cannot be started.
    """
    from deepchart_dagster.cli.runs import Runs

    check_free(port)
    with workbench(storage) as bench:
        settings = bench.settings
        runs = Runs(settings)
        runs.sync_models(bench.models)
        runs.sync_documents([document.id for document in bench.documents.list()])
    with _children(settings, port) as children:
        _wait_until_ready(port, children)
        url = f"http://{HOST}:{port}"
        if browse:  # after another command's result, to which stdout belongs
            note(f"Dagster UI: {url}")
            webbrowser.open(url)
        else:
            emit(as_json, {"url": url, "dagster_home": str(settings.dagster_home)}, f"Dagster UI: {url}")
        note(f"history is kept in {settings.dagster_home}; Ctrl-C ends the UI and the daemon")
        _wait_for_an_end(children)


def check_free(port: int) -> None:
    """Raises UsageError where the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UsageError(
                f"port {port} is taken: {error.strerror}.", remedy="Choose another with --port."
            ) from error


@contextmanager
def _children(settings: Settings, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Webserver and daemon, each in its own session so that they end when we say, as a whole."""
    workspace = str(PROJECT_ROOT / "workspace.yaml")
    commands = [
        [sys.executable, "-m", "dagster_webserver", "-w", workspace, "-h", HOST, "-p", str(port)],
        [sys.executable, "-m", "dagster._daemon", "run", "-w", workspace],
    ]
    environment = {**os.environ, "DAGSTER_HOME": str(settings.dagster_home)}
    logs = settings.storage / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    children: list[subprocess.Popen[bytes]] = []
    try:
        for name, arguments in zip(("webserver", "daemon"), commands, strict=True):
            with (logs / f"{name}.log").open("ab") as log:
                children.append(
                    subprocess.Popen(
                        arguments,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                        # A background shell hands down an ignored SIGINT, and Dagster then ignores SIGTERM as well.
                        preexec_fn=_default_signals,
                    )
                )
        yield children
    finally:
        _stop(children)


def _default_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _wait_until_ready(port: int, children: list[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline:
        for child in children:
            if child.poll() is not None:
                raise UsageError("the Dagster UI ended before it was ready.", remedy="Its log lies in <storage>/logs.")
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/server_info", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.3)
    raise UsageError(f"the Dagster UI did not answer within {_READY_WITHIN_S:.0f} s.", remedy="See <storage>/logs.")


def _wait_for_an_end(children: list[subprocess.Popen[bytes]]) -> None:
    """Until someone asks us to end, or a child ends on its own."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    while all(child.poll() is None for child in children):
        time.sleep(0.5)
    raise UsageError("the Dagster UI or its daemon ended by itself.", remedy="Its log lies in <storage>/logs.")


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    for child in children:
        _signal_session(child, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_WITHIN_S
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal_session(child, signal.SIGKILL)
            child.wait()
        # What a child started (code servers) stands in its session and ends with it.
        _signal_session(child, signal.SIGKILL)


def _signal_session(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        return
