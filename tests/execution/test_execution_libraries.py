"""Which local file answers which address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.errors import InfrastructureError, NoWorkPossible
from deepchart_dagster.execution.libraries import Asked, ChartLibraries, installing, parse_address

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
        ("https://unpkg.com/plotly.js-basic-dist-min@3/plotly-basic.min.js", Asked("plotly.js-dist-min", "3", "")),
        ("https://cdn.jsdelivr.net/npm/d3@7/+esm", Asked("d3", "7", "", module=True)),
        ("https://esm.sh/chart.js@4/auto", Asked("chart.js", "4", "auto", module=True)),
        ("https://cdn.skypack.dev/d3", Asked("d3", "", "", module=True)),
        ("https://unpkg.com/d3@7?module", Asked("d3", "7", "", module=True)),
        ("https://d3js.org/d3-sankey.v0.12.min.js", Asked("d3-sankey", "0.12", "")),
        ("https://d3js.org/topojson.v3.min.js", Asked("topojson", "3", "")),
        ("https://code.highcharts.com/highcharts.js", Asked("highcharts", "", "highcharts.js")),
        ("https://code.highcharts.com/11.2.0/modules/sankey.js", Asked("highcharts", "11.2.0", "modules/sankey.js")),
        ("https://code.highcharts.com/maps/highmaps.js", Asked("highcharts", "", "maps/highmaps.js")),
        (
            "https://registry.npmmirror.com/echarts/5.4.3/files/dist/echarts.min.js",
            Asked("echarts", "5.4.3", "dist/echarts.min.js"),
        ),
        ("https://cdn.bootcdn.net/ajax/libs/echarts/5.4.3/echarts.js", Asked("echarts", "5.4.3", "echarts.js")),
        ("https://cdn.jsdelivr.net/combine/npm/vega@5,npm/vega-lite@5", None),
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
    expected = {
        "chart.js": "4.6.1",
        "echarts": "6.1.0",
        "echarts-v5": "5.6.0",
        "left-pad": "1.3.0",
        "plotly.js-dist-min": "3.0.1",
    }
    assert ChartLibraries.from_folder(node_modules).versions() == expected
    monkeypatch.setenv("DEEPCHART_CHART_LIBRARIES", str(node_modules / "node_modules"))
    assert ChartLibraries.from_folder(None).versions() == expected


def test_without_a_folder_nothing_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPCHART_CHART_LIBRARIES", "")  # none, wherever they may be
    assert ChartLibraries.from_folder(None).find(ECHARTS) is None
    assert ChartLibraries.from_folder(tmp_path / "missing").find(ECHARTS) is None
    assert ChartLibraries.from_folder(tmp_path / "missing").versions() == {}


def answer(node_modules: Path, url: str) -> str:
    found = ChartLibraries.from_folder(node_modules).answer(url)
    assert found is not None
    return found.body.decode()


def test_combined_packages_are_one_script_and_what_is_missing_is_named(node_modules: Path) -> None:
    url = "https://cdn.jsdelivr.net/combine/npm/echarts@6,npm/vega@5,npm/chart.js@4/dist/chart.umd.js"
    found = ChartLibraries.from_folder(node_modules).answer(url)
    assert found is not None
    assert found.body == b"// echarts 6.1.0 dist/echarts.min.js\n;\n// chart.js 4.6.1 dist/chart.umd.js"
    assert [(part.url, part.file.version if part.file else None) for part in found.parts] == [
        ("npm/echarts@6", "6.1.0"),
        ("npm/vega@5", None),
        ("npm/chart.js@4/dist/chart.umd.js", "4.6.1"),
    ]


def package(root: Path, name: str, manifest: dict[str, object], **files: str) -> None:
    folder = root / "node_modules" / name
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", **manifest}))
    for file, text in files.items():
        (folder / file.replace("_", ".")).write_text(text)


@pytest.fixture
def module_packages(tmp_path: Path) -> Path:
    package(tmp_path, "shapes", {"module": "index.js"}, index_js='import{size}from"sizes";export{size as area};')
    package(tmp_path, "sizes", {"exports": {"import": "./m.mjs"}}, m_mjs="export const size = 3; export default 4;")
    package(tmp_path, "old", {"main": "old.js"}, old_js="module.exports = { draw: 1 };")
    return tmp_path


def test_a_module_is_forwarded_to_the_one_place_where_it_stands(module_packages: Path) -> None:
    assert answer(module_packages, "https://cdn.jsdelivr.net/npm/shapes@1/+esm") == (
        'export * from "http://chart.invalid/npm/shapes/index.js";'
    )
    assert answer(module_packages, "https://esm.sh/sizes").splitlines() == [
        'export * from "http://chart.invalid/npm/sizes/m.mjs";',
        'export { default } from "http://chart.invalid/npm/sizes/m.mjs";',
    ]


def test_imports_of_other_packages_become_addresses(module_packages: Path) -> None:
    text = answer(module_packages, "http://chart.invalid/npm/shapes/index.js")
    assert text == 'import{size}from"http://chart.invalid/npm/sizes/m.mjs";export{size as area};'


def test_a_script_that_is_no_module_is_wrapped(module_packages: Path) -> None:
    assert "export { default }" in answer(module_packages, "https://esm.sh/old@1")
    text = answer(module_packages, "http://chart.invalid/npm/old/old.js")
    assert "module.exports = { draw: 1 };" in text
    assert text.endswith("export default module.exports;\n")


@pytest.mark.parametrize("path", ["../secret.js", "%2e%2e/secret.js", "shapes/../../secret.js", "shapes", "none.js"])
def test_module_addresses_do_not_leave_the_folder(module_packages: Path, path: str) -> None:
    (module_packages / "secret.js").write_text("secret")
    assert ChartLibraries.from_folder(module_packages).answer(f"http://chart.invalid/npm/{path}") is None


def test_hashes_of_what_is_answered_here_are_taken_out(node_modules: Path) -> None:
    libraries = ChartLibraries.from_folder(node_modules)
    here = f"<script src='{ECHARTS}@5' integrity=\"sha384-x\" crossorigin></script>"
    elsewhere = '<script src="https://example.com/a.js" integrity="sha384-y"></script>'
    expected = f"<script src='{ECHARTS}@5' crossorigin></script>"
    assert libraries.without_integrity(here + elsewhere) == expected + elsewhere


def test_the_digest_changes_with_a_version(node_modules: Path) -> None:
    before = ChartLibraries.from_folder(node_modules).digest
    assert before == ChartLibraries.from_folder(node_modules).digest
    (node_modules / "node_modules" / "echarts" / "package.json").write_text('{"version": "6.2.0"}')
    assert len({before, ChartLibraries.from_folder(node_modules).digest, ""}) == 3
    assert ChartLibraries(None).digest == ""


def test_the_lists_for_npm_name_no_host() -> None:
    folder = Path(installing.__file__).with_name("npm")
    lock = json.loads((folder / "package-lock.json").read_text())
    asked = json.loads((folder / "package.json").read_text())["dependencies"]
    assert lock["packages"][""]["dependencies"] == asked
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
    assert all("integrity" in entry for name, entry in lock["packages"].items() if name)
    assert not [name for name in asked if "highcharts" in name]


def test_without_npm_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoWorkPossible, match="apt-get install"):
        installing.install(tmp_path / "libraries")
    assert not (tmp_path / "libraries").exists()


def test_an_npm_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(InfrastructureError, match="ENOTFOUND"):
        installing.install(tmp_path / "libraries")
    assert [path.name for path in tmp_path.iterdir()] == ["npm"]


def test_what_npm_installed_is_served_and_not_installed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text(
        "#!/bin/sh\nmkdir -p node_modules/d3/dist\n"
        'echo \'{"version": "7.1.0"}\' > node_modules/d3/package.json\n'
        "echo 1 > node_modules/d3/dist/d3.min.js\necho 1 > node_modules/d3/dist/d3.min.js.map\n"
    )
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    folder = tmp_path / "libraries"
    first = installing.install(folder)
    assert (first.changed, first.versions) == (True, {"d3": "7.1.0"})
    assert ChartLibraries.from_folder(folder).find("https://d3js.org/d3.v7.min.js") is not None
    assert not list(folder.rglob("*.map"))
    npm.unlink()
    assert installing.install(folder).changed is False
