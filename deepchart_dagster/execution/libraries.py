"""Chart libraries for pages, from a local node_modules folder: which file answers which address.

A page asks jsdelivr, unpkg, cdnjs, cdn.plot.ly or d3js.org. The file of the same package and major version is
served where it is there (also as an npm alias ``echarts-v5``); of another major version, never.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_NPM_PATH = r"((?:@[^/@]+/)?[^/@]+)(?:@([^/]+))?(?:/(.*))?"
_ADDRESSES = {
    "cdn.jsdelivr.net": re.compile(rf"/npm/{_NPM_PATH}"),
    "fastly.jsdelivr.net": re.compile(rf"/npm/{_NPM_PATH}"),
    "unpkg.com": re.compile(rf"/{_NPM_PATH}"),
    "cdnjs.cloudflare.com": re.compile(r"/ajax/libs/([^/]+)/([^/]+)/(.*)"),
}
_PLOTLY = re.compile(r"/plotly(?:-[a-z0-9]+)*?-(latest|[\d.]+?)(?:\.min)?\.js")
_D3 = re.compile(r"/d3\.v(\d+)(?:\.min)?\.js")
# Builds and other hosts' names of the same package.
_SAME_PACKAGE = {
    "plotly.js": "plotly.js-dist-min",
    "plotly.js-dist": "plotly.js-dist-min",
    "plotly.js-basic-dist-min": "plotly.js-dist-min",
    "chartjs": "chart.js",
}
_MAIN_FILES = {
    "echarts": ("dist/echarts.min.js", "dist/echarts.js"),
    "chart.js": ("dist/chart.umd.js", "dist/chart.umd.min.js", "dist/Chart.min.js", "dist/chart.min.js"),
    "plotly.js-dist-min": ("plotly.min.js",),
    "d3": ("dist/d3.min.js", "dist/d3.js"),
}
_PLOTLY_LATEST_MAJOR = "1"  # where "plotly-latest" stopped


@dataclass(frozen=True)
class Asked:
    """What an address asks for. ``version`` is as written there, "" where it is left open."""

    package: str
    version: str
    file: str

    @property
    def major(self) -> str:
        found = re.match(r"[\^~v=]*(\d+)", self.version)
        return found.group(1) if found else ""

    def is_met_by(self, version: str) -> bool:
        """An address may leave the version open ("", "5", "5.4")."""
        return not self.version or f"{version}.".startswith(f"{self.version}.")


@dataclass(frozen=True)
class LocalFile:
    """``exact``: what was asked for; else another build, or another version of the same major."""

    path: Path
    package: str
    version: str
    exact: bool


@dataclass(frozen=True)
class ChartLibraries:
    """``root`` is a node_modules folder, or None: then no address has an answer."""

    root: Path | None

    @classmethod
    def from_folder(cls, folder: Path | None) -> ChartLibraries:
        """``folder``, or DEEPCHART_CHART_LIBRARIES, or none; a folder above node_modules serves too."""
        wanted = folder or (Path(named) if (named := os.environ.get("DEEPCHART_CHART_LIBRARIES")) else None)
        if wanted is None:
            return cls(None)
        inner = wanted / "node_modules"
        return cls((inner if inner.is_dir() else wanted).resolve())

    def versions(self) -> dict[str, str]:
        """Folder name -> version, for the packages that are known and there."""
        if self.root is None or not self.root.is_dir():
            return {}
        folders = (
            self.root / name
            for name in sorted(path.name for path in self.root.iterdir())
            if _base_name(name) in _MAIN_FILES
        )
        return {folder.name: version for folder in folders if (version := _version(folder))}

    def find(self, url: str) -> LocalFile | None:
        """The local file that answers ``url``."""
        asked = parse_address(url)
        if asked is None or self.root is None:
            return None
        for folder in self._folders(asked):
            version = _version(folder)
            if not version or (asked.major and version.partition(".")[0] != asked.major):
                continue
            if path := _file_in(folder, asked):
                same_file = not asked.file or path.name == Path(asked.file).name
                return LocalFile(path, folder.name, version, same_file and asked.is_met_by(version))
        return None

    def _folders(self, asked: Asked) -> list[Path]:
        assert self.root is not None
        names = [f"{asked.package}-v{asked.major}"] if asked.major else []
        return [self.root / name for name in (*names, asked.package) if (self.root / name).is_dir()]


def parse_address(url: str) -> Asked | None:
    """The package an address asks for, None where it is no address of a package."""
    parts = urlsplit(url)
    host, path = (parts.hostname or "").removeprefix("www."), unquote(parts.path)
    if ".." in path:
        return None
    if host == "cdn.plot.ly" and (found := _PLOTLY.fullmatch(path)):
        version = _PLOTLY_LATEST_MAJOR if found.group(1) == "latest" else found.group(1)
        return Asked("plotly.js-dist-min", version, "")
    if host == "d3js.org" and (found := _D3.fullmatch(path)):
        return Asked("d3", found.group(1), "")
    pattern = _ADDRESSES.get(host)
    found = pattern.fullmatch(path) if pattern else None
    if not found:
        return None
    package = found.group(1).lower()
    version = found.group(2) or ""
    return Asked(_SAME_PACKAGE.get(package, package), "" if version == "latest" else version, found.group(3) or "")


def _base_name(folder: str) -> str:
    return re.sub(r"-v\d+$", "", folder)


def _version(folder: Path) -> str:
    try:
        return str(json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _file_in(folder: Path, asked: Asked) -> Path | None:
    """The file asked for if the package has it, else the package's main build; never one outside the package."""
    named = (asked.file, f"dist/{Path(asked.file).name}") if asked.file else ()
    root = folder.resolve()
    for name in (*named, *_MAIN_FILES.get(asked.package, ())):
        path: Path = (root / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path
    return None
