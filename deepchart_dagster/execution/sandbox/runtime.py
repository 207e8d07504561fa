"""What all programs of one runner share on disk: the keeper's code, the drawing hook, matplotlib's font list.

The first two are copied and compiled once, so that a keeper starts from ready bytecode wherever the package is
installed and whoever runs it. The font list is made inside the sandbox, because it must list the fonts that are
there; it is kept in the user's cache folder, since finding all fonts takes a second.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deepchart_dagster.artifacts.files import process_folder, write_bytes
from deepchart_dagster.errors import StorageError

_HERE = Path(__file__).resolve().parent
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts")
MAKE_FONT_LIST = """\
import json, os, pathlib, sys
os.environ["MPLCONFIGDIR"] = os.environ["TMPDIR"]
import matplotlib.font_manager
[found] = pathlib.Path(os.environ["TMPDIR"]).glob("fontlist-*.json")
json.dump({"name": found.name, "text": found.read_text()}, open(sys.argv[1], "w"))
"""


@dataclass(frozen=True)
class Runtime:
    """Folders of one runner, below one temporary folder."""

    base: Path

    @classmethod
    def prepare(cls) -> Runtime:
        runtime = cls(process_folder("programs"))
        runtime.scratch.mkdir()
        shutil.copytree(_HERE / "keeper", runtime.code / "keeper", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(_HERE / "inside", runtime.inside, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in (runtime.code, runtime.inside):
            compileall.compile_dir(folder, quiet=2)
        shutil.copytree(runtime.code / "keeper", runtime.inside / "keeper")  # a fork server loads it inside the walls
        # A program with a user of its own (tier landlock under root) must be able to pass.
        runtime.base.chmod(0o711)
        runtime.scratch.chmod(0o711)
        return runtime

    @property
    def code(self) -> Path:
        return self.base / "code"

    @property
    def inside(self) -> Path:
        return self.base / "inside"

    @property
    def scratch(self) -> Path:
        return self.base / "scratch"

    def remove(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def font_list(self, cache: Path, make: Callable[[str], bytes]) -> Path:
        """matplotlib's font list, in a folder of its own below the runtime.

        ``make`` runs a program in the sandbox and returns the bytes of its output file.
        """
        kept = cache / f"fonts-{_fonts_key()}.json"
        made = kept.read_bytes() if kept.is_file() else make(MAKE_FONT_LIST)
        content = json.loads(made)
        if not kept.is_file():
            _keep(kept, made)
        folder = self.base / "fonts"
        folder.mkdir(exist_ok=True)
        path = folder / Path(content["name"]).name
        path.write_text(content["text"])
        return path


def _keep(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    except (OSError, StorageError):
        return  # a home that cannot be written costs a second at the next start, nothing else


def _fonts_key() -> str:
    """Changes with matplotlib, with where it is installed, and with the fonts of the system."""
    from importlib.metadata import version

    folders = [folder for root in _FONT_FOLDERS for folder in (Path(root), *Path(root).rglob("*/")) if folder.is_dir()]
    facts = [version("matplotlib"), sys.prefix, *(f"{folder} {folder.stat().st_mtime_ns}" for folder in folders)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:24]


def interpreter_paths() -> tuple[str, ...]:
    """Folders of the host that the interpreter and its libraries lie in (beyond /usr and /lib)."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    return tuple(sorted(prefix for prefix in prefixes if prefix != "/"))
