"""A node_modules folder: which file of which version answers what is asked.

The same package and major version is served where it is there, also as an npm alias ``echarts-v5``; of another major
version, never. Which file a package serves when none is named, its package.json says, as CDNs read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepchart_dagster.execution.libraries.addresses import Asked

_MAX_MANIFEST_BYTES = 1 << 20
_ALIAS = re.compile(r"-v\d+$")
# Folders that CDNs which flatten a package (cdnjs, d3js.org) take their files from.
_BUILD_FOLDERS = ("dist", "build", "umd", "lib", "min")
# Files that a package.json does not name, or not for browsers.
_MAIN_FILES = {
    "echarts": ("dist/echarts.min.js", "dist/echarts.js"),
    "chart.js": ("dist/chart.umd.min.js", "dist/chart.umd.js", "dist/Chart.min.js", "dist/chart.min.js"),
    "d3": ("dist/d3.min.js", "build/d3.min.js", "d3.min.js"),
    "plotly.js-dist-min": ("plotly.min.js",),
    "moment": ("min/moment.min.js",),
    "luxon": ("build/global/luxon.min.js",),
    "highcharts": ("highcharts.js",),
    "us-atlas": ("counties-10m.json",),
    "world-atlas": ("countries-110m.json",),
}
# One file instead of hundreds.
_MODULE_FILES = {
    "echarts": ("dist/echarts.esm.min.mjs", "dist/echarts.esm.min.js", "dist/echarts.esm.mjs", "dist/echarts.esm.js"),
    "luxon": ("build/es6/luxon.mjs", "build/es6/luxon.js"),
    "moment": ("dist/moment.js",),
}
_CONDITIONS = ("browser", "import", "module", "default")


@dataclass(frozen=True)
class LocalFile:
    """``exact``: what was asked for; else another build, or another version of the same major."""

    path: Path
    package: str
    version: str
    exact: bool


@dataclass(frozen=True)
class Package:
    """One installed package. ``name`` is its folder below node_modules (an alias may differ from npm's name)."""

    name: str
    folder: Path
    manifest: dict[str, Any]

    @property
    def version(self) -> str:
        return str(self.manifest.get("version", ""))

    def file(self, name: str) -> Path | None:
        """A file of this package; never one outside of it."""
        path = (self.folder / name).resolve()
        return path if path.is_file() and path.is_relative_to(self.folder) else None

    def script(self, asked: Asked) -> Path | None:
        """The file that is asked for if it is there, else the main build."""
        flat = Path(asked.file).name
        named = (asked.file, *(f"{folder}/{flat}" for folder in _BUILD_FOLDERS)) if asked.file else ()
        if asked.file and Path(asked.file).suffix not in ("", ".js", ".mjs", ".cjs"):
            return self._first(named)  # data and style sheets have no substitute
        return self._first((*named, *self._main_files(asked)))

    def module(self, asked: Asked) -> Path | None:
        """The file to import: the one asked for, an export of that name, or the entry for ES modules."""
        if asked.file:
            named = (asked.file, f"{asked.file}.js", self._export(f"./{asked.file}"))
            return self._first(tuple(filter(None, named)))
        entries = (
            *_MODULE_FILES.get(asked.package, ()),
            self._export("."),
            *(self.manifest.get(key) for key in ("module", "jsdelivr", "main")),
            *self._main_files(asked),
        )
        return self._first(tuple(name for name in entries if isinstance(name, str)))

    def _main_files(self, asked: Asked) -> Iterator[str]:
        yield from _MAIN_FILES.get(asked.package, ())
        for key in ("jsdelivr", "unpkg", "browser", "main"):
            if isinstance(name := self.manifest.get(key), str):
                yield name
                yield f"{name}.js"
        yield "index.js"

    def _export(self, name: str) -> str | None:
        exports = self.manifest.get("exports")
        if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports):
            exports = exports.get(name)
        elif name != ".":
            return None
        while isinstance(exports, dict):
            exports = next((exports[key] for key in _CONDITIONS if key in exports), None)
        return exports if isinstance(exports, str) else None

    def _first(self, names: tuple[str, ...]) -> Path | None:
        return next((path for name in names if name and (path := self.file(name))), None)


class PackageFolder:
    """``root`` is a node_modules folder, or None: then there are no packages."""

    def __init__(self, root: Path | None) -> None:
        self.root = root

    @cached_property
    def packages(self) -> dict[str, Package]:
        """Every package at the top of the folder, by its folder's name, read once."""
        if self.root is None or not self.root.is_dir():
            return {}
        found = (self._package(name) for name in self._names(self.root))
        return {package.name: package for package in found if package is not None}

    @staticmethod
    def _names(root: Path) -> Iterator[str]:
        for folder in sorted(root.iterdir()):
            if folder.name.startswith("@") and folder.is_dir():
                yield from (f"{folder.name}/{inner.name}" for inner in sorted(folder.iterdir()))
            elif not folder.name.startswith("."):
                yield folder.name

    def _package(self, name: str) -> Package | None:
        assert self.root is not None
        folder = (self.root / name).resolve()
        manifest = read_manifest(folder)
        return Package(name, folder, manifest) if manifest.get("version") else None

    def candidates(self, asked: Asked) -> Iterator[Package]:
        """Packages of the name and major version that are asked for, the alias of that major first."""
        names = [f"{asked.package}-v{asked.major}"] if asked.major else []
        for name in (*names, asked.package, *(self._aliases(asked.package) if not asked.major else ())):
            package = self.packages.get(name)
            if package and (not asked.major or package.version.partition(".")[0] == asked.major):
                yield package

    def _aliases(self, package: str) -> Iterator[str]:
        """Where the plain name is not there, its newest major answers a question without version."""
        aliases = [name for name in self.packages if _ALIAS.sub("", name) == package and name != package]
        yield from sorted(aliases, key=lambda name: int(name.rpartition("-v")[2]), reverse=True)

    def imported(self, from_file: Path, specifier: str) -> Path | None:
        """The file that ``import "specifier"`` means in ``from_file``: as Node looks for packages, within the root."""
        scope = 2 if specifier.startswith("@") else 1
        parts = specifier.split("/")
        name, file = "/".join(parts[:scope]), "/".join(parts[scope:])
        assert self.root is not None
        for folder in from_file.parents:
            if not folder.is_relative_to(self.root):
                return None
            home = folder if folder.name == "node_modules" else folder / "node_modules"
            if manifest := read_manifest(home / name):
                package = Package(name, (home / name).resolve(), manifest)
                return package.module(Asked(str(manifest.get("name", name)), "", file, True))
        return None


def read_manifest(folder: Path) -> dict[str, Any]:
    """A package's package.json; empty where there is none that can be read."""
    try:
        with (folder / "package.json").open("rb") as file:
            found = json.loads(file.read(_MAX_MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
