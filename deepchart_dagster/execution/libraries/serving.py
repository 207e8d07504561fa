"""The bytes that answer an address, what they are, and what they stand for."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from deepchart_dagster.execution.libraries import modules
from deepchart_dagster.execution.libraries.addresses import Asked, parse_address, parse_addresses
from deepchart_dagster.execution.libraries.packages import LocalFile, PackageFolder

# Where modules find each other: part of the page's own made-up origin.
MODULE_ORIGIN = "http://chart.invalid/npm/"
MAX_FILE_BYTES = 32 << 20
_KINDS = {".js": "application/javascript", ".mjs": "application/javascript", ".cjs": "application/javascript"}

_TAG = re.compile(r"<(?:script|link)\b[^>]{0,2000}>", re.I)
_SOURCE = re.compile(r"""\b(?:src|href)\s*=\s*(["']?)([^"'\s>]+)\1""", re.I)
_INTEGRITY = re.compile(r"""\sintegrity\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", re.I)


@dataclass(frozen=True)
class Part:
    """One package of an answer: the address that asked for it, and the file that answers (None: not there)."""

    url: str
    file: LocalFile | None


@dataclass(frozen=True)
class Answer:
    """``parts`` is empty for what a served module imports itself."""

    body: bytes
    content_type: str
    parts: tuple[Part, ...]


class ChartLibraries:
    """Answers addresses from ``root``, a node_modules folder; None: no address has an answer."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._folder = PackageFolder(root)

    @classmethod
    def from_folder(cls, folder: Path | None) -> ChartLibraries:
        """``folder``, else DEEPCHART_CHART_LIBRARIES (empty: none), else where `deepchart libraries` puts them.

        A folder above node_modules serves too.
        """
        named = os.environ.get("DEEPCHART_CHART_LIBRARIES")
        if folder is None and named == "":
            return cls(None)
        wanted = folder or (Path(named) if named else default_folder())
        inner = wanted / "node_modules"
        return cls((inner if inner.is_dir() else wanted).resolve())

    def versions(self) -> dict[str, str]:
        """Folder name -> version of the packages that were asked for by name, not of those they need."""
        packages = self._folder.packages
        wanted = self._wanted_names()
        return {name: package.version for name, package in packages.items() if wanted is None or name in wanted}

    @cached_property
    def digest(self) -> str:
        """Stands for every package and version there is, for input keys; "" where there are none."""
        packages = self._folder.packages
        if not packages:
            return ""
        listed = json.dumps(sorted((name, package.version) for name, package in packages.items()))
        return hashlib.sha256(listed.encode()).hexdigest()[:16]

    def _wanted_names(self) -> frozenset[str] | None:
        from deepchart_dagster.execution.libraries.packages import read_manifest

        if self.root is None:
            return frozenset()
        asked = read_manifest(self.root.parent).get("dependencies")
        return frozenset(asked) if isinstance(asked, dict) else None

    def find(self, url: str) -> LocalFile | None:
        """The local file that answers an address of one package."""
        asked = parse_address(url)
        return self._find(asked) if asked else None

    def answer(self, url: str) -> Answer | None:
        """What is served for ``url``; None for what is no address of a package, or of none that is there."""
        if url.startswith(MODULE_ORIGIN):
            return self._imported_module(url)
        asked = parse_addresses(url)
        if len(asked) > 1:
            return self._combined(asked)
        if not asked or (local := self._find(asked[0])) is None or (body := _read(local.path)) is None:
            return None
        if asked[0].module and local.path.suffix in _KINDS:
            text = body.decode("utf-8", "replace")
            body = modules.forwarding(text, self._module_address(local.path), asked[0].package).encode()
        elif asked[0].package in modules.LISTENERS:
            body += modules.LISTENERS[asked[0].package]
        return Answer(body, content_type(local.path), (Part(url, local),))

    def without_integrity(self, html: str) -> str:
        """``html`` without hashes (integrity="…") of scripts that are answered here: another build has another."""
        return _TAG.sub(lambda found: self._unchecked(found.group()), html) if "integrity" in html else html

    def _unchecked(self, tag: str) -> str:
        source = _SOURCE.search(tag)
        asked = parse_addresses(_absolute(source.group(2))) if source else []
        return _INTEGRITY.sub("", tag) if any(self._find(one) for one in asked) else tag

    def _combined(self, asked: list[Asked]) -> Answer | None:
        """Several packages in one script; what is not there is left out and said."""
        parts = tuple(Part(_npm_address(one), self._find(one)) for one in asked)
        bodies = [
            body + modules.LISTENERS.get(one.package, b"")
            for one, part in zip(asked, parts, strict=True)
            if part.file and (body := _read(part.file.path)) is not None
        ]
        return Answer(b"\n;\n".join(bodies), _KINDS[".js"], parts) if bodies else None

    def _imported_module(self, url: str) -> Answer | None:
        assert self.root is not None
        path = (self.root / unquote(urlsplit(url).path.removeprefix("/npm/"))).resolve()
        if not path.is_relative_to(self.root) or not path.is_file() or (body := _read(path)) is None:
            return None
        if path.suffix in _KINDS:
            body = modules.as_module(body.decode("utf-8", "replace"), lambda name: self._import(path, name)).encode()
        return Answer(body, content_type(path), ())

    def _import(self, from_file: Path, name: str) -> str | None:
        found = self._folder.imported(from_file, name)
        return self._module_address(found) if found else None

    def _module_address(self, path: Path) -> str:
        assert self.root is not None
        return MODULE_ORIGIN + quote(path.relative_to(self.root).as_posix())

    def _find(self, asked: Asked) -> LocalFile | None:
        for package in self._folder.candidates(asked):
            path = package.module(asked) if asked.module else package.script(asked)
            if path is not None:
                same_file = asked.module or not asked.file or path.name == Path(asked.file).name
                return LocalFile(path, package.name, package.version, same_file and asked.is_met_by(package.version))
        return None


def default_folder() -> Path:
    """Where `deepchart libraries install` puts them: beside the Python packages, so that they go with them."""
    return Path(sys.prefix) / "share" / "deepchart-dagster" / "chart-libraries"


def _absolute(url: str) -> str:
    return f"http:{url}" if url.startswith("//") else url


def content_type(path: Path) -> str:
    return _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def _npm_address(asked: Asked) -> str:
    version = f"@{asked.version}" if asked.version else ""
    return f"npm/{asked.package}{version}" + (f"/{asked.file}" if asked.file else "")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else None
    except OSError:
        return None
