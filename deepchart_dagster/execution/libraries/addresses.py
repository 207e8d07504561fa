"""Which npm package, version and file an address of a CDN asks for.

Understood are jsDelivr (``/npm``, ``/combine``, ``/+esm``), unpkg, cdnjs and its mirrors, esm.sh, Skypack, jspm,
cdn.plot.ly, d3js.org, code.highcharts.com, and the mirrors of npm that ECharts' own pages name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, unquote, urlsplit

_MAX_COMBINED = 20
_NPM = re.compile(r"((?:@[^/@]+/)?[^/@]+)(?:@([^/]+))?(?:/(.*))?")
_LIBRARY_FOLDER = re.compile(r"([^/]+)/([^/]+)/(.+)")
_MIRRORED_FILE = re.compile(r"((?:@[^/@]+/)?[^/@]+)/([^/]+)/files/(.+)")
_PLOTLY = re.compile(r"plotly(?:-[a-z0-9]+)*?-(latest|v?[\d.]+?)(?:\.min)?\.js")
_D3 = re.compile(r"(d3(?:-[a-z-]+)?|topojson)\.v(\d+)(?:\.(\d+))?(?:\.min)?\.js")
_HIGHCHARTS = re.compile(r"(?:(stock|maps|gantt)/)?(?:(\d[\d.]*)/)?(.+)")

# Where a path begins with an npm package: host -> what stands before it.
_NPM_HOSTS = {
    "cdn.jsdelivr.net": "npm/",
    "fastly.jsdelivr.net": "npm/",
    "gcore.jsdelivr.net": "npm/",
    "testingcf.jsdelivr.net": "npm/",
    "unpkg.com": "",
    "npm.elemecdn.com": "",
    "esm.sh": "",
    "esm.run": "",
    "cdn.skypack.dev": "",
    "cdn.esm.sh": "",
    "jspm.dev": "",
    "ga.jspm.io": "npm:",
}
_MODULE_HOSTS = ("esm.sh", "cdn.esm.sh", "esm.run", "cdn.skypack.dev", "jspm.dev")
# Where a path is /<library>/<version>/<file>: host -> what stands before it.
_FOLDER_HOSTS = {
    "cdnjs.cloudflare.com": "ajax/libs/",
    "cdn.bootcdn.net": "ajax/libs/",
    "cdn.bootcss.com": "",
    "cdn.staticfile.org": "",
    "cdn.staticfile.net": "",
    "lib.baomitu.com": "",
}
_MIRROR = "registry.npmmirror.com"
# Builds and other hosts' names of the same package.
_SAME_PACKAGE = {
    "plotly.js": "plotly.js-dist-min",
    "plotly.js-dist": "plotly.js-dist-min",
    "chartjs": "chart.js",
    "moment.js": "moment",
    "d3-legend": "d3-svg-legend",
}
_PLOTLY_BUILD = re.compile(r"plotly\.js-[a-z0-9]+-dist(?:-min)?")
_PLOTLY_LATEST_MAJOR = "1"  # where "plotly-latest" stopped
_MODULE_FILE = re.compile(r"(?:^|/)\+esm$")


@dataclass(frozen=True)
class Asked:
    """What an address asks for.

    version    as written there, "" where it is left open
    file       path within the package, "" for its main file
    module     the package (or the file) as an ES module with its imports resolved
    """

    package: str
    version: str
    file: str
    module: bool = False

    @property
    def major(self) -> str:
        found = re.match(r"[\^~v=]*(\d+)", self.version)
        return found.group(1) if found else ""

    def is_met_by(self, version: str) -> bool:
        """An address may leave the version open ("", "5", "5.4")."""
        return not self.version or f"{version}.".startswith(f"{self.version}.")


def parse_address(url: str) -> Asked | None:
    """The one package an address asks for, None where it asks for none or for several."""
    asked = parse_addresses(url)
    return asked[0] if len(asked) == 1 else None


def parse_addresses(url: str) -> list[Asked]:
    """The packages an address asks for, in order (jsDelivr's ``/combine`` names several); none for other addresses."""
    parts = urlsplit(url)
    host, path = (parts.hostname or "").removeprefix("www."), unquote(parts.path).lstrip("/")
    if parts.scheme not in ("http", "https") or ".." in path or "\\" in path or "\0" in path:
        return []
    if path.startswith("combine/") and host.endswith("jsdelivr.net"):
        names = path.removeprefix("combine/").split(",")[:_MAX_COMBINED]
        found = [_in_npm_path(name.removeprefix("npm/")) for name in names if name.startswith("npm/")]
        return [asked for asked in found if asked is not None]
    asked = _in_path(host, path)
    if asked is None:
        return []
    wants_module = host in _MODULE_HOSTS or (host == "unpkg.com" and "module" in parse_qs(parts.query, True))
    return [replace(asked, module=asked.module or wants_module)]


def _in_path(host: str, path: str) -> Asked | None:
    if host in _NPM_HOSTS:
        before = _NPM_HOSTS[host]
        return _in_npm_path(path.removeprefix(before)) if path.startswith(before) else None
    if host in _FOLDER_HOSTS:
        found = _LIBRARY_FOLDER.fullmatch(path.removeprefix(_FOLDER_HOSTS[host]))
        return _asked(*found.groups()) if found and path.startswith(_FOLDER_HOSTS[host]) else None
    if host == _MIRROR and (found := _MIRRORED_FILE.fullmatch(path)):
        return _asked(*found.groups())
    return _of_a_library_itself(host, path)


def _of_a_library_itself(host: str, path: str) -> Asked | None:
    """Addresses under which a library's makers serve it."""
    if host == "cdn.plot.ly" and (found := _PLOTLY.fullmatch(path)):
        version = _PLOTLY_LATEST_MAJOR if found.group(1) == "latest" else found.group(1).removeprefix("v")
        return Asked("plotly.js-dist-min", version, "")
    if host == "d3js.org" and (found := _D3.fullmatch(path)):
        package, major, minor = found.groups()
        return Asked(package, f"{major}.{minor}" if minor else major, "")
    if host == "code.highcharts.com" and (found := _HIGHCHARTS.fullmatch(path)):
        part, version, file = found.groups()
        return Asked("highcharts", version or "", f"{part}/{file}" if part and part != "stock" else file)
    return None


def _in_npm_path(path: str) -> Asked | None:
    found = _NPM.fullmatch(path)
    if not found:
        return None
    return _asked(*found.groups())


def _asked(package: str, version: str | None, file: str | None) -> Asked:
    name = package.lower()
    if _PLOTLY_BUILD.fullmatch(name):
        name, file = "plotly.js-dist-min", ""  # every bundle is a part of the full one
    file = (file or "").rstrip("/")
    module = bool(_MODULE_FILE.search(file))
    version = "" if version in (None, "latest", "*") else version or ""
    return Asked(_SAME_PACKAGE.get(name, name), version, _MODULE_FILE.sub("", file), module)
