"""References copied from the published sample, and references that real programs make in the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.results import Status
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.importers import import_benchmark
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import ContextVariant, Domain, Query, References, Split
from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.execution.model import Limits
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.scoring.references import Finding, ReferenceStage, self_check

STAGE1 = """import json, sys
sales = {"2021": 30.0, "2022": 45.0}
state = {"src_data": sales, "der_data": [{"year": 2022, "growth": sales["2022"] / sales["2021"] - 1}]}
json.dump(state, open(sys.argv[1], "w"))
"""
STAGE2 = """import sys
import matplotlib.pyplot as plt
J = __J__
rows = J["der_data"]
plt.bar([str(row["year"]) for row in rows], [row["growth"] for row in rows], label="growth")
plt.title("Growth of sales")
plt.savefig(sys.argv[1])
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[LocalRunner]:
    with LocalRunner(workers=1) as runner:
        yield runner


@pytest.fixture
def stage(tmp_path: Path, runner: LocalRunner) -> ReferenceStage:
    root = tmp_path / "storage"
    limits = Limits(wall_s=60.0)
    return ReferenceStage(ArtifactStore(root), Library(root), runner, EvidenceStore(root), limits, limits)


def add_query(stage: ReferenceStage, source: Path, files: dict[str, str | bytes], **references: Any) -> None:
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content.encode() if isinstance(content, str) else content)
    query = Query(
        uid="q/1",
        benchmark="b",
        domain=Domain.FINANCE,
        chart_purpose="Show growth.",
        variants=(ContextVariant.NORMAL, ContextVariant.LONG),
        references=References(**references),
    )
    stage.library.add("b", [query], source)


def add_programs(stage: ReferenceStage, source: Path, stage1: str = STAGE1, stage2: str = STAGE2) -> None:
    files: dict[str, str | bytes] = {"stage1.py": stage1, "stage2.py": stage2}
    add_query(stage, source, files, stage1="stage1.py", stage2_python="stage2.py", programs_are_truth=True)


def test_the_published_sample_is_copied_as_it_is(shared: Path, stage: ReferenceStage) -> None:
    import_benchmark(shared / "upstream-sample", stage.library)

    summary = stage.run(Split.FINANCE_NORMAL)

    assert (summary.n_total, summary.n_ok, summary.n_error) == (3, 3, 0)
    assert {result.uid: (result.value["n_source"], result.value["n_derived"]) for result in summary.results} == {
        "finance/1": (63, 18),
        "finance/287": (72, 18),
        "finance/4": (54, 18),
    }
    first = summary.results[0]
    assert sorted(first.files) == ["d_der.json", "d_src.csv"]
    assert first.value["has_chart"] is False
    assert first.value["missing"] == [
        f"references/finance/1/{name}" for name in ("stage1.py", "stage2.py", "stage2.html", "chart.png")
    ]
    published = shared / "upstream-sample/references/finance/1/d_src.csv"
    assert first.files["d_src.csv"].sha256 == sha256_file(published)


def test_every_published_reference_is_itself(shared: Path, stage: ReferenceStage) -> None:
    import_benchmark(shared / "upstream-sample", stage.library)
    sizes = {}
    for split in (Split.ACADEMIC_NORMAL, Split.FINANCE_NORMAL, Split.ECOSYSTEM):
        for result in stage.run(split).results:
            assert self_check(stage.store, result.uid) == []
            sizes[result.uid] = (result.value["n_source"], result.value["n_derived"])

    assert sizes["academic/1"] == (68, 106)
    assert sizes["academic/176"] == (48, 48)
    assert sizes["research_report/book-of-scouting-reports-2025-fintech-100__query-01"] == (
        199,
        15,
    )  # 100 companies, one without a headcount


def test_variants_share_what_is_stored(shared: Path, stage: ReferenceStage) -> None:
    import_benchmark(shared / "upstream-sample", stage.library)

    assert stage.run(Split.FINANCE_NORMAL).n_computed == 3
    long = stage.run(Split.FINANCE_LONG)

    assert (long.n_total, long.n_computed) == (3, 0)
    assert long.results[0].scope == ()


def test_programs_make_the_references(stage: ReferenceStage, tmp_path: Path) -> None:
    add_programs(stage, tmp_path / "source")

    summary = stage.run(Split.FINANCE_NORMAL)

    (result,) = summary.results
    assert result.status is Status.OK, result.problem
    assert result.value == {"n_source": 2, "n_derived": 2, "has_chart": True, "missing": []}
    folder = stage.store.folder("references", (), "q/1")
    assert json.loads((folder / "d_src.json").read_text()) == {"2021": 30.0, "2022": 45.0}
    assert json.loads((folder / "d_der.json").read_text()) == [{"year": 2022, "growth": 0.5}]
    drawn = json.loads((folder / "drawn.json").read_text())
    assert drawn["figures"][0]["axes"][0]["marks"][0]["values"] == [0.5]
    assert stage.evidence.get("drawn", sha256_file(folder / "chart.png")) == drawn
    assert self_check(stage.store, "q/1") == []


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"\xff\xfe")], ids=["gone", "damaged"])
def test_nothing_is_made_twice_and_lost_evidence_comes_back(
    stage: ReferenceStage, tmp_path: Path, lose: Callable[[Path], object]
) -> None:
    add_programs(stage, tmp_path / "source")
    (first,) = stage.run(Split.FINANCE_NORMAL).results
    chart = first.files["chart.png"].sha256
    lose(next((stage.evidence.root / "evidence/drawn").rglob("*.json")))

    again = stage.run(Split.FINANCE_LONG)

    assert again.n_computed == 0
    assert stage.evidence.get("drawn", chart) is not None


def test_another_program_is_another_key(stage: ReferenceStage, tmp_path: Path) -> None:
    add_programs(stage, tmp_path / "source")
    before = stage.plan(Split.FINANCE_NORMAL)[0].key
    assert stage.plan(Split.FINANCE_LONG)[0].key == before

    add_programs(stage, tmp_path / "source", stage2=STAGE2 + "# drawn again\n")

    assert stage.plan(Split.FINANCE_NORMAL)[0].key != before


@pytest.mark.parametrize(
    ("stage1", "stage2", "message"),
    [
        ("raise SystemExit('no data today')", STAGE2, "stage-1 reference program ended with crash: no data today"),
        ("print('done')", STAGE2, "stage-1 reference program ended with no_output"),
        (STAGE1, "J = __J__\n1 / 0\n", "stage-2 reference program ended with crash: ZeroDivisionError"),
        (STAGE1, "print('no place for the data')", "stage2.py has no __J__. Let it begin with J = __J__."),
        (STAGE1.replace('"der_data"', '"derived"'), STAGE2, "left no valid J: missing_der_data"),
        (STAGE1.replace("30.0", "float('nan')"), STAGE2, "stage-1 reference program ended with invalid_output"),
    ],
)
def test_a_failing_reference_program_is_an_error_of_ours(
    stage: ReferenceStage, tmp_path: Path, stage1: str, stage2: str, message: str
) -> None:
    add_programs(stage, tmp_path / "source", stage1, stage2)

    summary = stage.run(Split.FINANCE_NORMAL)

    assert (summary.n_error, summary.n_failed) == (1, 0)
    assert message in summary.errors[0].message
    assert "q/1" in summary.errors[0].message


def test_named_data_that_is_missing_is_an_error_with_its_name(stage: ReferenceStage, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    add_query(stage, tmp_path / "source", {"d_der.json": "[1]"}, d_src="gone/d_src.csv", d_der="d_der.json")

    (error,) = stage.run(Split.FINANCE_NORMAL).errors

    assert error.kind == "MissingInputError"
    assert "gone/d_src.csv" in error.message


def test_data_that_cannot_be_read_is_an_error_with_its_name(stage: ReferenceStage, tmp_path: Path) -> None:
    add_query(stage, tmp_path / "source", {"sales.json": "[1,"}, d_src="sales.json")

    (error,) = stage.run(Split.FINANCE_NORMAL).errors

    assert error.kind == "BenchmarkFormatError"
    (named,) = stage.library.folder("b").rglob("sales.json")
    assert error.message.startswith(f"{named} is no valid JSON: ")
    assert error.message.endswith("Correct it in the source and import the benchmark again.")


def test_a_side_that_a_record_lacks_has_no_count(stage: ReferenceStage, tmp_path: Path) -> None:
    add_query(stage, tmp_path / "source", {"der.json": "null"}, d_der="der.json")

    (result,) = stage.run(Split.FINANCE_NORMAL).results

    assert result.value == {"n_source": None, "n_derived": None, "has_chart": False, "missing": []}


def test_only_a_png_counts_as_the_chart(stage: ReferenceStage, tmp_path: Path, house: Any) -> None:
    add_query(stage, tmp_path / "source", {"chart.png": "<svg/>"}, chart_image="chart.png")
    (result,) = stage.run(Split.FINANCE_NORMAL).results
    assert (result.value["has_chart"], result.value["missing"]) == (False, ["chart.png"])

    add_query(stage, tmp_path / "source", {"chart.png": house.png_of(3)}, chart_image="chart.png")
    (result,) = stage.run(Split.FINANCE_NORMAL).results
    assert (result.value["has_chart"], result.value["missing"]) == (True, [])
    assert result.files["chart.png"].bytes == len(house.png_of(3))


def test_the_self_check_finds_data_without_numbers(stage: ReferenceStage, tmp_path: Path) -> None:
    add_query(stage, tmp_path / "source", {"d_src.csv": "a,b\nx,y\n"}, d_src="d_src.csv")
    stage.run(Split.FINANCE_NORMAL)

    assert self_check(stage.store, "q/1") == [
        Finding("q/1", "src", "no_numbers", "the reference data holds no number"),
    ]
    with pytest.raises(UpstreamError, match=r"Make it: deepchart materialize references\."):
        self_check(stage.store, "q/2")
