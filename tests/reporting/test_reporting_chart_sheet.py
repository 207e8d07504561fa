"""The sheet of reference charts: which charts are on it, where, and what is said when there are none."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.files import write_bytes
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries
from deepchart_dagster.cli.references import sheet
from deepchart_dagster.errors import DamagedFile, NoWorkPossible
from deepchart_dagster.reporting.chart_sheet import CHART_SIZE, SheetEntry, draw_sheet, entries

RED, GREEN, CLEAR = (200, 30, 30, 255), (30, 150, 60, 255), (0, 0, 0, 0)
CHARTS = {"mini/ecosystem-rank-gap": GREEN, "mini/academic-lichen-growth": RED, "mini/academic-barley-roots": CLEAR}


def chart(color: tuple[int, int, int, int]) -> bytes:
    content = BytesIO()
    Image.new("RGBA", (1040, 400), color).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """References of three mini queries; one more has none but a file that no result names."""
    root = tmp_path / "storage"
    Library(root).add("mini", mini_queries(), QUERY_FOLDER)

    def work(uid: str) -> Work:
        async def compute(folder: Path) -> Outcome:
            write_bytes(folder / "chart.png", chart(CHARTS[uid]))
            return Outcome(value={"has_chart": True})

        return Work(uid=uid, key=InputKey.of(uid=uid), compute=compute)

    store = ArtifactStore(root)
    run_step(store, Step(asset="references", partition=("x",), scope=(), shared=True), [work(uid) for uid in CHARTS])
    write_bytes(store.folder("references", (), "mini/ecosystem-patents") / "chart.png", chart(RED))
    return root


def test_charts_stand_by_domain_and_uid(storage: Path) -> None:
    found = entries(Library(storage), ArtifactStore(storage))
    assert [entry.query.uid for entry in found] == [
        "mini/academic-barley-roots", "mini/academic-lichen-growth", "mini/ecosystem-rank-gap",
    ]  # fmt: skip
    assert found[1].kind == "academic · Association/correlation · Regression Scatter Plot"


def test_a_chart_is_shrunk_into_its_frame_below_its_name(storage: Path) -> None:
    drawn = Image.open(BytesIO(draw_sheet(entries(Library(storage), ArtifactStore(storage)), columns=2)))
    width, height = CHART_SIZE[0] + 14, CHART_SIZE[1] + 60
    assert drawn.size == (2 * width + 14, 2 * height + 14)

    def middle(column: int, row: int) -> tuple[int, ...]:
        place = (14 + column * width + CHART_SIZE[0] // 2, 14 + row * height + 46 + CHART_SIZE[1] // 2)
        pixel = drawn.getpixel(place)
        assert isinstance(pixel, tuple)
        return pixel

    assert middle(0, 0) == (255, 255, 255)  # a clear ground is white
    assert middle(1, 0) == RED[:3]
    assert middle(0, 1) == GREEN[:3]
    words = drawn.crop((14, 14, 14 + CHART_SIZE[0], 56)).convert("L")
    assert words.getextrema()[0] < 60


def test_a_name_that_is_too_long_stays_over_its_chart(storage: Path) -> None:
    (entry, *_) = entries(Library(storage), ArtifactStore(storage))
    long = SheetEntry(entry.query.model_copy(update={"uid": "mini/" + "very-long-" * 18}), entry.chart)
    drawn = Image.open(BytesIO(draw_sheet([long], columns=1))).convert("L")
    assert drawn.crop((14 + CHART_SIZE[0], 0, drawn.width, 54)).getextrema() == (255, 255)


def test_a_damaged_chart_is_named(storage: Path) -> None:
    (entry, *_) = entries(Library(storage), ArtifactStore(storage))
    entry.chart.write_bytes(b"\x89PNG and no more")
    with pytest.raises(DamagedFile, match=r"chart\.png cannot be decoded"):
        draw_sheet([entry], columns=1)


def test_the_command_writes_the_sheet(storage: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheets" / "all.png"
    ran = CliRunner().invoke(sheet, ["--storage", str(storage), "--json", "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["sheet"] == str(out)
    assert said["charts"][2] == "mini/ecosystem-rank-gap"
    assert said["chart_families"] == ["Dumbbell Chart", "Grouped Bar Chart", "Regression Scatter Plot"]
    assert Image.open(out).width == 4 * (CHART_SIZE[0] + 14) + 14


def test_references_that_are_made_without_a_chart_are_not_asked_for_again(storage: Path) -> None:
    for uid in CHARTS:
        result = ArtifactStore(storage).folder("references", (), uid) / "result.json"
        kept = json.loads(result.read_text(encoding="utf-8"))
        result.write_text(json.dumps({**kept, "files": {}}), encoding="utf-8")
    ran = CliRunner().invoke(sheet, ["--storage", str(storage)])
    assert isinstance(ran.exception, NoWorkPossible)
    assert ran.exception.message == "the references that are made have no chart."
    assert ran.exception.remedy.startswith("Their benchmark ships none that is a PNG: put each where")


def test_without_references_the_command_says_how_to_make_them(tmp_path: Path) -> None:
    ran = CliRunner().invoke(sheet, ["--storage", str(tmp_path / "storage")])
    assert isinstance(ran.exception, NoWorkPossible)
    assert "deepchart materialize references" in ran.exception.remedy
    assert not (tmp_path / "storage" / "report" / "references.png").exists()
