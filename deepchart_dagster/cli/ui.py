"""``deepchart ui``: the Dagster UI and daemon on this storage, on loopback only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
import yaml
from filelock import FileLock, Timeout

from deepchart_dagster.artifacts.files import process_folder, storage_errors, write_json, write_text
from deepchart_dagster.artifacts.processes import end_with_parent
from deepchart_dagster.cli.common import common_options, emit, note, settings_for, workbench
from deepchart_dagster.errors import UsageError
from deepchart_dagster.settings import PROJECT_ROOT, Settings

if TYPE_CHECKING:
    from deepchart_dagster.workbench import Workbench

HOST = "127.0.0.1"
_READY_WITHIN_S = 180.0
_STOP_WITHIN_S = 20.0
_SEE_LOGS = "See <storage>/logs."
_LOADED = """{ workspaceOrError { ... on Workspace { locationEntries {
    locationOrLoadError { __typename ... on PythonError { message } } } } } }"""


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
    url = f"http://{HOST}:{port}"
    settings = settings_for(storage)
    with _only_one(settings, url):
        check_free(port)
        with workbench(storage) as bench:
            _prepare(bench)
        with _children(settings, port) as children:
            _wait_until_loaded(url, children)
            if browse:  # after another command's result, to which stdout belongs
                note(f"Dagster UI: {url}")
                webbrowser.open(url)
            else:
                emit(as_json, {"url": url, "dagster_home": str(settings.dagster_home)}, f"Dagster UI: {url}")
            note(f"history is kept in {settings.dagster_home}; Ctrl-C ends the UI and the daemon")
            _wait_for_an_end(children)
        note("the UI and the daemon have ended; what was running is taken up again at the next start")


def _prepare(bench: Workbench) -> None:
    """What the UI shows from its first moment on: partitions as they are now, pools with their limits."""
    from deepchart_dagster.cli.runs import Runs

    runs = Runs(bench.settings)
    runs.sync_models(bench.models)
    runs.sync_judges(bench.judges.judges)
    runs.sync_documents([document.id for document in bench.documents.list()])
    runs.set_pool_limits()


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
def _only_one(settings: Settings, url: str) -> Iterator[None]:
    """Two daemons on one storage would launch everything twice. The lock goes with the process that holds it.

    Raises UsageError that says where the other UI is.
    """
    lock = FileLock(settings.dagster_home / "ui.lock")
    place = settings.dagster_home / "ui.json"
    with storage_errors(place, "lock"):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise _already(settings, place) from None
    try:
        write_json(place, {"url": url, "pid": os.getpid()})
        yield
    finally:
        place.unlink(missing_ok=True)
        lock.release()


def _already(settings: Settings, place: Path) -> UsageError:
    try:
        other = json.loads(place.read_text(encoding="utf-8"))
        where = f" at {other['url']} (process {other['pid']})"
    except (OSError, ValueError, KeyError, TypeError):  # it is just starting, or just ending
        where = ""
    return UsageError(
        f"a Dagster UI on {settings.storage} is running already{where}.",
        remedy="Use that one, or end it first (Ctrl-C where it was started).",
    )


@dataclass(frozen=True)
class _Child:
    """A process that we started, which leads a session of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def _children(settings: Settings, port: int) -> Iterator[list[_Child]]:
    """Code server, webserver and daemon, each in its own session so that they end when we say, as a whole.

    Webserver and daemon share the code server. Left to itself each would have one, and the daemon a new one a minute.
    Raises UsageError where the code server cannot be started.
    """
    logs = settings.storage / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "DAGSTER_HOME": str(settings.dagster_home)}
    folder = process_folder("ui")
    code, workspace = folder / "code", folder / "workspace.yaml"
    given = yaml.safe_load((PROJECT_ROOT / "workspace.yaml").read_text(encoding="utf-8"))
    module = given["load_from"][0]["python_module"]
    served = {"grpc_server": {"socket": str(code), "location_name": module["location_name"]}}
    write_text(workspace, yaml.safe_dump({"load_from": [served]}))
    children: list[_Child] = []

    def start(name: str, *arguments: str) -> None:
        log = logs / f"{name}.log"
        with log.open("ab") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                preexec_fn=_before_start,
            )
        children.append(_Child(name, process, log))

    try:
        location = ("--module-name", module["module_name"], "--location-name", module["location_name"])
        start("code-server", "dagster", "code-server", "start", "--socket", str(code), *location)
        _wait_until_served(code, children)
        start("webserver", "dagster_webserver", "-w", str(workspace), "-h", HOST, "-p", str(port))
        start("daemon", "dagster._daemon", "run", "-w", str(workspace))
        yield children
    finally:
        _stop([child.process for child in children])
        shutil.rmtree(folder, ignore_errors=True)


def _before_start() -> None:
    """A background shell hands down an ignored SIGINT, and Dagster then ignores SIGTERM as well."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    end_with_parent()


def _wait_until_served(code: Path, children: list[_Child]) -> None:
    """Until the code server answers on its socket: a webserver that comes too early shows a location in error."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline:
        _check_children(children, "before it was ready")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(code))
            except OSError:  # not there yet
                time.sleep(0.1)
            else:
                return
    raise UsageError(f"Dagster's code server did not start within {_READY_WITHIN_S:.0f} s.", remedy=_SEE_LOGS)


def _wait_until_loaded(url: str, children: list[_Child]) -> None:
    """Until the webserver has the code location. Raises UsageError where that cannot be."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline:
        _check_children(children, "before it was ready")
        if (location := _location(url)) is None:
            time.sleep(0.3)
        elif location["__typename"] == "PythonError":
            said = " ".join(str(location["message"]).split())[:500]
            raise UsageError(f"Dagster cannot load the assets: {said}.", remedy=_SEE_LOGS)
        else:
            return
    raise UsageError(f"the Dagster UI did not answer within {_READY_WITHIN_S:.0f} s.", remedy=_SEE_LOGS)


def _location(url: str) -> dict[str, Any] | None:
    """The code location as the webserver has it, or why it has none; None: not known yet."""
    request = urllib.request.Request(  # noqa: S310 - our own address
        f"{url}/graphql", json.dumps({"query": _LOADED}).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
            entries = json.load(response)["data"]["workspaceOrError"].get("locationEntries", [])
    except (urllib.error.URLError, ConnectionError, TimeoutError, ValueError):
        return None
    return entries[0]["locationOrLoadError"] if entries else None


def _check_children(children: list[_Child], when: str) -> None:
    for child in children:
        if child.process.poll() is not None:
            raise UsageError(
                f"the Dagster UI's {child.name} ended {when} (exit {child.process.returncode}).",
                remedy=f"Its log: {child.log}.",
            )


def _wait_for_an_end(children: list[_Child]) -> None:
    """Until someone asks us to end, which is how it ends, or a child ends on its own (UsageError)."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    with suppress(KeyboardInterrupt):
        while True:
            _check_children(children, "by itself")
            time.sleep(0.5)


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
        # What a child started (runs) stands in its session and ends with it.
        _signal_session(child, signal.SIGKILL)


def _signal_session(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        return
