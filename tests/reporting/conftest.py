"""The storage of tests/metrics, with charts: what a report is made from."""

from __future__ import annotations

import importlib.util
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import Backend
from deepchart_dagster.metrics.backend_rows import export_backends


def _metrics_conftest() -> ModuleType:
    """The builder of result trees lives with the metrics tests; test folders are no packages."""
    name = "deepchart_metrics_trees"
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "metrics" / "conftest.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def a_chart(color: str, width: int = 900, height: int = 560) -> bytes:
    """A PNG of bars on a transparent ground."""
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    for place in range(5):
        left = width * (0.12 + place * 0.16)
        draw.rectangle((left, height * (0.7 - place * 0.12), left + width * 0.1, height * 0.9), fill=color)
    content = BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


@pytest.fixture(scope="session")
def reported_once(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """m-1 drew shop/1 and shop/2 and failed on the others; robot drew all; shop/1 … 3 have a reference chart."""
    trees = _metrics_conftest()
    tree = trees.written_tree(tmp_path_factory.mktemp("reported") / "storage")
    uids = ("shop/1", "shop/2", "shop/3", "shop/4")
    ok, outcome = trees.Outcome(value={"backend": "python"}), trees.Outcome.failed
    drawn = [ok, ok, outcome("invalid_state", "no J"), outcome("crash", "it crashed")]
    tree.write(
        "rendered_charts", "m-1", dict(zip(uids, drawn, strict=True)), files={"chart.png": a_chart("#336699")}, again=1
    )
    tree.write("rendered_charts", "robot", dict.fromkeys(uids, ok), files={"chart.png": a_chart("#cc6633")})
    has_chart = trees.Outcome(value={"has_chart": True})
    tree.write("references", "", dict.fromkeys(uids[:3], has_chart), files={"chart.png": a_chart("#228833")})
    tree.export_everything()
    _write_backends(trees, tree, uids)
    trees.build_metrics(tree.root)
    trees.build_marts(tree.root, trees.DBT_PROJECT)
    return tree


def _write_backends(trees: Any, tree: Any, uids: tuple[str, ...]) -> None:
    """robot, free to choose, drew shop/1 … 3 in Python and shop/4 in HTML; asked for HTML it failed on two of four."""
    chosen = ["python"] * 3 + ["html"]
    free = [trees.Outcome(value={"executed": 1, "vas": 1.0, "chosen_backend": backend}) for backend in chosen]
    crash = {"executed": 0, "vas": 0.0, "chosen_backend": "html"}
    html = [trees.Outcome(value={**crash, "executed": 1, "vas": 0.5})] * 2 + [trees.failed("crash", **crash)] * 2
    for backend, outcomes in ((Backend.FREE, free), (Backend.HTML, html)):
        results = dict(zip(uids, outcomes, strict=True))
        tree.write(
            "backend_scores", "robot", results, split=backend.value, splits=["finance-normal"], judge=trees.JUDGE
        )
        export_backends(tree.store, tree.library, tree.models, backend, "robot")


@pytest.fixture
def reported(reported_once: Any, tmp_path: Path) -> Any:
    return reported_once.copy_to(tmp_path / "storage")
