"""Getting the chart libraries with npm, exactly those that package-lock.json names.

They are other people's work under their own licences (MIT, ISC, BSD, Apache-2.0) and are not part of this package.
Highcharts is not among them: its licence asks for a licence of the user's own. Who has one adds it to a folder of
their own (``npm install highcharts``) and names that in DEEPCHART_CHART_LIBRARIES.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.files import new_folder, remove_leftovers, storage_errors
from deepchart_dagster.errors import InfrastructureError, NoWorkPossible
from deepchart_dagster.execution.libraries.serving import ChartLibraries, default_folder

_LISTS = Path(__file__).with_name("npm")
_LIMIT_S = 1200
# Nothing of a package runs while it is installed; peers are chosen here, by major version.
_OPTIONS = ("--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--no-update-notifier")
_NOT_SERVED = (".map", ".ts", ".md", ".flow", ".cts", ".mts")
_MARK = "installed-from.txt"


@dataclass(frozen=True)
class Installed:
    """``changed`` is false where they were there already."""

    folder: Path
    versions: dict[str, str]
    changed: bool


def install(folder: Path | None = None) -> Installed:
    """Installs the libraries into ``folder`` (default: beside the Python packages); does nothing where they are.

    The old ones stay until the new ones are complete. Raises NoWorkPossible without npm, InfrastructureError where
    npm fails, StorageError where the folder cannot be written.
    """
    target = folder or default_folder()
    if is_installed(target):
        return Installed(target, ChartLibraries.from_folder(target).versions(), changed=False)
    npm = shutil.which("npm")
    if npm is None:
        raise NoWorkPossible("npm is not there.", remedy=npm_remedy())
    with storage_errors(target, "install the chart libraries into"):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        with new_folder(target) as fresh:
            _run_npm(npm, fresh)
            _remove_what_is_never_served(fresh)
            (fresh / _MARK).write_text(_fingerprint())
    return Installed(target, ChartLibraries.from_folder(target).versions(), changed=True)


def is_installed(folder: Path | None = None) -> bool:
    """Whether ``folder`` holds what the list of today names."""
    try:
        return ((folder or default_folder()) / _MARK).read_text() == _fingerprint()
    except OSError:
        return False


def npm_remedy() -> str:
    return "Install npm (Debian: apt-get install --no-install-recommends npm), then: deepchart libraries install."


def _fingerprint() -> str:
    files = sorted(path for path in _LISTS.iterdir() if path.is_file())
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def _run_npm(npm: str, folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(_LISTS / name, folder / name)
    try:
        done = subprocess.run(
            [npm, "ci", *_OPTIONS],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureError(f"npm did not end well: {error}.", remedy="Run it again.") from error
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()][:3]
        raise InfrastructureError(
            f"npm could not install the chart libraries: {' '.join(said)[:500]}",
            remedy="Check that npm reaches a registry, then run it again.",
        )


def _remove_what_is_never_served(folder: Path) -> None:
    """Source maps and type declarations: a third of the whole."""
    for path in folder.rglob("*"):
        if path.suffix in _NOT_SERVED and path.is_file() and not path.is_symlink():
            path.unlink()
