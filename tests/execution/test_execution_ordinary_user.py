"""The same tests again as an ordinary user, with the same code (when the tests run under root)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# An interpreter below /root is closed to nobody: in a mount namespace of the test, what is closed is replaced by
# folders that hold nothing but the interpreter, the virtual environment and the project.
_OPEN_UP = """
set -e
closed=$1; stage=$2; shift 2
mount --make-rprivate /
if [ -n "$closed" ]; then
    mount -t tmpfs -o mode=755 stage "$stage"
    while [ "$1" != -- ]; do
        mkdir -p "$stage/${1#"$closed"/}"
        mount --rbind "$1" "$stage/${1#"$closed"/}"
        shift
    done
    mount --rbind "$stage" "$closed"
else
    while [ "$1" != -- ]; do shift; done
fi
shift
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
"""


def _closed_ancestor(path: Path) -> Path | None:
    closed = [folder for folder in path.parents if not folder.stat().st_mode & 0o001]
    return closed[-1] if closed else None


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Not pytest's tmp_path, whose parents are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="deepchart-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user anyway")
@pytest.mark.skipif(not shutil.which("unshare") or not shutil.which("setpriv"), reason="needs util-linux")
@pytest.mark.timeout(1800)
def test_everything_holds_for_an_ordinary_user(project_root: Path, open_folder: Path) -> None:
    needed = {Path(path).resolve() for path in (sys.prefix, sys.base_prefix, project_root)}
    behind = {path: closed for path in needed if (closed := _closed_ancestor(path))}
    if len(set(behind.values())) > 1:
        pytest.skip(f"several closed folders: {sorted(map(str, set(behind.values())))}")
    closed = next(iter(behind.values()), "")
    home, stage = open_folder / "home", open_folder / "stage"
    stage.mkdir()
    home.mkdir()
    home.chmod(0o777)
    tests = [
        str(Path(__file__).with_name(f"test_execution_{name}.py"))
        for name in ("sandbox", "hostile", "forkservers", "pages", "pages_hostile")
    ]
    command = ["unshare", "--mount", "sh", "-c", _OPEN_UP, "sh", str(closed), str(stage)]
    command += [*map(str, behind), "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    command += ["-k", "not real_limits"]  # two minutes, and the same for every user
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("DEEPCHART_CHROMIUM", "DEEPCHART_CHART_LIBRARIES"):
        environment |= {name: os.environ[name]} if name in os.environ else {}
    done = subprocess.run(command, cwd=project_root, env=environment, capture_output=True, text=True, check=False)
    summary = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(summary.split(" passed")[0].split()[-1]) > 80, summary
