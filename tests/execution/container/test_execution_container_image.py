"""Containers of an image of the user's own."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from execution_container import (
    CHART,
    FORTY_TWO,
    of,
    run,
    runner_at,
)

from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution.model import RunStatus
from deepchart_dagster.execution.runner import LocalRunner

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("container engine")]

_PACKAGES = ("numpy", "matplotlib", "pillow", "contourpy", "kiwisolver", "cycler", "pyparsing", "packaging", "six")

_MORE_PACKAGES = ("python-dateutil", "fonttools")

_ONLY_VERSIONS = ("pandas", "scipy", "seaborn")


def test_an_image_of_the_users_runs_programs_with_its_own_python(
    address: str, client: DockerClient, auto_runner: LocalRunner
) -> None:
    import_image(client, "deepchart-test:same", {})
    try:
        with runner_at(address, image="deepchart-test:same") as runner:
            where = run(runner, "import json, sys\njson.dump([sys.prefix, sys.executable], open(sys.argv[1], 'w'))")
            assert where.output is not None, where.stderr_tail
            assert json.loads(where.output) == ["/opt/python", "/opt/python/bin/python3"]
            chart = run(runner, CHART, 2)
            assert (chart.status, chart.tier) == (RunStatus.OK, "container"), chart.stderr_tail
            assert chart.output == run(auto_runner, CHART, 2).output
            (container,) = of(client, runner)
            assert container.attrs["Mounts"] == []
            assert container.attrs["HostConfig"]["ReadonlyRootfs"]
    finally:
        client.images.remove("deepchart-test:same")


def test_an_image_with_other_versions_is_refused(address: str, client: DockerClient) -> None:
    import_image(client, "deepchart-test:other", {"seaborn": "0.0.1"}, packages=())
    try:
        with runner_at(address, image="deepchart-test:other") as runner:
            with pytest.raises(SandboxUnavailable, match=r"seaborn 0\.0\.1 for \d") as refused:
                run(runner, FORTY_TWO)
            assert "numpy missing for" in str(refused.value)
            assert of(client, runner) == []
    finally:
        client.images.remove("deepchart-test:other")


def test_an_image_that_is_not_there_is_not_pulled(address: str) -> None:
    with runner_at(address, image="python:3.11") as runner, pytest.raises(SandboxUnavailable, match="none is pulled"):
        run(runner, FORTY_TWO)


def import_image(
    client: DockerClient, name: str, versions: dict[str, str], packages: tuple[str, ...] = (*_PACKAGES, *_MORE_PACKAGES)
) -> None:
    """An image made of this machine's own interpreter and packages, and of the shared libraries that those need."""
    content = io.BytesIO()
    home = f"opt/python/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(Path(sys.executable).resolve(), "opt/python/bin/python3")
        libraries = shared_libraries([Path(sys.executable).resolve()])
        standard = Path(sysconfig.get_path("stdlib"))
        archive.add(standard, home, filter=_without_ballast)
        libraries |= shared_libraries(list((standard / "lib-dynload").glob("*.so")))
        for package in packages:
            for file in distribution(package).files or ():
                path = Path(str(file.locate()))
                if path.is_file() and not str(file).startswith("..") and "__pycache__" not in path.parts:
                    archive.add(path, f"{home}/{file}")
            modules = [Path(str(file.locate())) for file in distribution(package).files or () if ".so" in file.name]
            libraries |= {library for library in shared_libraries(modules) if "site-packages" not in str(library)}
        for package, version in {**dict.fromkeys(_ONLY_VERSIONS, ""), **versions}.items():
            said = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version or distribution(package).version}\n"
            entry = tarfile.TarInfo(f"{home}/{package}-0.dist-info/METADATA")
            entry.size = len(said)
            archive.addfile(entry, io.BytesIO(said.encode()))
        [system] = {library.parent for library in libraries if library.name.startswith("libc.so")}
        for library in sorted(libraries):
            known = str(library).startswith(("/lib", "/usr"))
            archive.add(library.resolve(), str(library if known else system / library.name).lstrip("/"))
    client.api.import_image_from_data(
        content.getvalue(), *name.split(":"), changes=["ENV PATH=/opt/python/bin", "ENV PYTHONDONTWRITEBYTECODE=1"]
    )


def _without_ballast(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    left_out = {"test", "tests", "__pycache__", "site-packages", "dist-packages", "idlelib", "ensurepip", "lib2to3"}
    parts = entry.name.split("/")
    return None if left_out & set(parts) or any(part.startswith("config-") for part in parts) else entry


def shared_libraries(binaries: list[Path]) -> set[Path]:
    if not binaries:
        return set()
    said = subprocess.run(["ldd", *map(str, binaries)], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, flags=re.MULTILINE)}
