"""Which local file answers which address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.execution.libraries import Asked, ChartLibraries, parse_address

ECHARTS = "https://cdn.jsdelivr.net/npm/echarts"


@pytest.fixture
def node_modules(tmp_path: Path) -> Path:
    for name, version, files in (
        ("echarts", "6.1.0", ["dist/echarts.min.js", "dist/echarts.js"]),
        ("echarts-v5", "5.6.0", ["dist/echarts.min.js", "theme/dark.js"]),
        ("chart.js", "4.6.1", ["dist/chart.umd.js"]),
        ("plotly.js-dist-min", "3.0.1", ["plotly.min.js"]),
        ("left-pad", "1.3.0", ["index.js"]),
    ):
        folder = tmp_path / "node_modules" / name
        folder.mkdir() if folder.parent.exists() else folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
        for file in files:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(f"// {name} {version} {file}")
    (tmp_path / "secret.js").write_text("secret")
    return tmp_path


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        (ECHARTS, Asked("echarts", "", "")),
        (f"{ECHARTS}@5.4.3/dist/echarts.min.js", Asked("echarts", "5.4.3", "dist/echarts.min.js")),
        (f"{ECHARTS}@latest", Asked("echarts", "", "")),
        ("https://cdn.jsdelivr.net/npm/@scope/pkg@1/a.js", Asked("@scope/pkg", "1", "a.js")),
        ("https://unpkg.com/d3@7", Asked("d3", "7", "")),
        ("http://unpkg.com/chart.js?x=1#y", Asked("chart.js", "", "")),
        (
            "https://cdnjs.cloudflare.com/ajax/libs/Chart.js/3.9.1/chart.min.js",
            Asked("chart.js", "3.9.1", "chart.min.js"),
        ),
        (
            "https://cdnjs.cloudflare.com/ajax/libs/plotly.js/2.0.0/plotly.min.js",
            Asked("plotly.js-dist-min", "2.0.0", "plotly.min.js"),
        ),
        ("https://cdn.plot.ly/plotly-2.27.0.min.js", Asked("plotly.js-dist-min", "2.27.0", "")),
        ("https://cdn.plot.ly/plotly-basic-2.27.0.js", Asked("plotly.js-dist-min", "2.27.0", "")),
        ("https://cdn.plot.ly/plotly-latest.min.js", Asked("plotly.js-dist-min", "1", "")),
        ("https://d3js.org/d3.v7.min.js", Asked("d3", "7", "")),
        ("https://cdn.jsdelivr.net/npm/echarts@5/../../../etc/passwd", None),
        ("https://cdn.jsdelivr.net/npm/echarts@5/%2e%2e/%2e%2e/x", None),
        ("https://example.com/echarts.min.js", None),
        ("https://cdn.jsdelivr.net.example.com/npm/echarts", None),
        ("file:///etc/passwd", None),
        ("data:text/javascript,1", None),
    ],
)
def test_addresses_are_understood(url: str, asked: Asked | None) -> None:
    assert parse_address(url) == asked


@pytest.mark.parametrize(
    ("url", "file", "exact"),
    [
        (ECHARTS, "echarts/dist/echarts.min.js", True),
        (f"{ECHARTS}@6", "echarts/dist/echarts.min.js", True),
        (f"{ECHARTS}@6.1.0/dist/echarts.js", "echarts/dist/echarts.js", True),
        (f"{ECHARTS}@6.0.0/dist/echarts.js", "echarts/dist/echarts.js", False),
        (f"{ECHARTS}@5.4.3/dist/echarts.min.js", "echarts-v5/dist/echarts.min.js", False),
        (f"{ECHARTS}@^5.6.0", "echarts-v5/dist/echarts.min.js", False),
        (f"{ECHARTS}@5/theme/dark.js", "echarts-v5/theme/dark.js", True),
        ("https://cdnjs.cloudflare.com/ajax/libs/Chart.js/4.4.0/chart.umd.min.js", "chart.js/dist/chart.umd.js", False),
        ("https://cdn.plot.ly/plotly-3.0.1.min.js", "plotly.js-dist-min/plotly.min.js", True),
    ],
)
def test_the_same_package_and_major_version_is_served(node_modules: Path, url: str, file: str, exact: bool) -> None:
    found = ChartLibraries.from_folder(node_modules).find(url)
    assert found is not None
    assert (found.path, found.exact) == (node_modules / "node_modules" / file, exact)


@pytest.mark.parametrize(
    "url",
    [
        f"{ECHARTS}@4.9.0/dist/echarts.min.js",
        "https://cdnjs.cloudflare.com/ajax/libs/Chart.js/2.9.4/Chart.min.js",
        "https://cdn.plot.ly/plotly-latest.min.js",
        "https://d3js.org/d3.v7.min.js",
        f"{ECHARTS}@6/..%2f..%2f..%2fsecret.js",
        "https://example.com/echarts.min.js",
    ],
)
def test_another_major_version_or_package_is_not(node_modules: Path, url: str) -> None:
    assert ChartLibraries.from_folder(node_modules).find(url) is None


def test_a_link_out_of_a_package_is_not_followed(node_modules: Path) -> None:
    package = node_modules / "node_modules" / "echarts"
    (package / "leak.js").symlink_to(node_modules / "secret.js")
    found = ChartLibraries.from_folder(node_modules).find(f"{ECHARTS}@6/leak.js")
    assert found is not None
    assert found.path == package / "dist" / "echarts.min.js"


def test_versions_for_the_key(node_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {"chart.js": "4.6.1", "echarts": "6.1.0", "echarts-v5": "5.6.0", "plotly.js-dist-min": "3.0.1"}
    assert ChartLibraries.from_folder(node_modules).versions() == expected
    monkeypatch.setenv("DEEPCHART_CHART_LIBRARIES", str(node_modules / "node_modules"))
    assert ChartLibraries.from_folder(None).versions() == expected


def test_without_a_folder_nothing_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPCHART_CHART_LIBRARIES", raising=False)
    assert ChartLibraries.from_folder(None).find(ECHARTS) is None
    assert ChartLibraries.from_folder(tmp_path / "missing").find(ECHARTS) is None
    assert ChartLibraries.from_folder(tmp_path / "missing").versions() == {}
