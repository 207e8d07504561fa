"""Stored contexts against stored references, by real stages: what was pasted in is found, what is gone listed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageDraw

from deepchart_dagster.benchmark.model import Domain, Query, Split
from deepchart_dagster.errors import UsageError
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = pytest.mark.slow

SOURCE = {"raised": [411.25, 387.5, 92.75, 205.125]}
DERIVED = {"per_head": [1.285, 3.874, 0.927, 2.051]}
TEXT = "Raised, in EUR million: 411.25 in Bergen, 387.5 in Turku, 92.75 in Tartu, 205.125 in Aarhus."
BLOCK = "Per head: Bergen 1.285, Turku 3.874, Tartu 0.927, Aarhus 2.051."


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(load_settings(storage=tmp_path / "storage", ocr_engine="text-layer")) as workbench:
        yield workbench


def chart(form: str = "PNG") -> bytes:
    picture = Image.new("RGB", (480, 320), "white")
    for at, height in enumerate((90, 250, 60, 140)):
        ImageDraw.Draw(picture).rectangle((50 + 100 * at, 300 - height, 120 + 100 * at, 300), fill=(180, 60, 40))
    stream = io.BytesIO()
    picture.save(stream, form)
    return stream.getvalue()


def report(path: Path, *pages: str, picture: bytes | None = None) -> Path:
    with pymupdf.open() as pdf:
        for text in pages:
            pdf.new_page().insert_text((50, 80), text, fontsize=9)
        if picture:
            pdf[-1].insert_image(pymupdf.Rect(80, 200, 480, 470), stream=picture)
        pdf.save(str(path))
    return path


def checked(bench: Workbench, folder: Path, pdf: Path) -> dict[str, object]:
    """Read ``pdf``, show it to a query with references, check that."""
    document = bench.documents.add(pdf, Domain.ECOSYSTEM)
    bench.raw_documents().run(document.id)
    bench.ocr_contexts().run(document.id)
    (folder / "d_src.json").write_text(json.dumps(SOURCE))
    (folder / "d_der.json").write_text(json.dumps(DERIVED))
    (folder / "chart.png").write_bytes(chart())
    query = Query.model_validate(
        {
            "uid": "q",
            "benchmark": "b",
            "domain": "ecosystem",
            "chart_purpose": "A chart",
            "variants": ["normal"],
            "document_ids": [document.id],
            "references": {"d_src": "d_src.json", "d_der": "d_der.json", "chart_image": "chart.png"},
        }
    )
    bench.library.add("b", [query], folder)
    bench.context_variants().run(Split.ECOSYSTEM)
    bench.references().run(Split.ECOSYSTEM)
    (check,) = bench.context_checks().run(Split.ECOSYSTEM)
    return check.as_json()  # type: ignore[return-value]


def test_a_report_with_everything_is_answerable_and_leaks_nothing(bench: Workbench, tmp_path: Path) -> None:
    found = checked(bench, tmp_path, report(tmp_path / "r.pdf", "Cover", TEXT))
    assert (found["missing"], found["leaks"], found["problem"]) == ([], [], None)
    assert (found["n_source"], found["found"], found["n_telling"]) == (4, {"as written": 4}, 4)


def test_values_of_a_removed_page_are_listed(bench: Workbench, tmp_path: Path) -> None:
    found = checked(bench, tmp_path, report(tmp_path / "r.pdf", "Cover", "Raised: 387.5 in Turku."))
    assert [value["value"] for value in found["missing"]] == [411.25, 92.75, 205.125]  # type: ignore[attr-defined]


def test_a_pasted_block_of_derived_values_is_a_leak_of_its_page(bench: Workbench, tmp_path: Path) -> None:
    found = checked(bench, tmp_path, report(tmp_path / "r.pdf", TEXT, BLOCK))
    (leak,) = found["leaks"]  # type: ignore[misc]
    assert (leak["kind"], leak["place"]) == ("derived_values", "r page 2")


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_the_reference_chart_on_a_page_is_a_leak_of_that_page(bench: Workbench, tmp_path: Path, form: str) -> None:
    pdf = report(tmp_path / "r.pdf", TEXT, "A page with a picture", picture=chart(form))
    (leak,) = checked(bench, tmp_path, pdf)["leaks"]  # type: ignore[misc]
    assert (leak["kind"], leak["place"]) == ("chart", "r page 2")


def test_what_is_not_made_is_no_pass(bench: Workbench, tmp_path: Path) -> None:
    checked(bench, tmp_path, report(tmp_path / "r.pdf", TEXT))
    (bench.settings.storage / "references" / "q" / "result.json").unlink()
    (check,) = bench.context_checks().run(Split.ECOSYSTEM)
    assert check.problem
    assert "q has no result in references" in check.problem
    assert check.is_wrong
    with pytest.raises(UsageError):
        bench.context_checks().run(Split.ECOSYSTEM, "nobody")


@pytest.mark.slow
def test_the_published_sample_lists_what_no_filing_states(bench: Workbench, shared: Path) -> None:
    """Of the internal growth rate of AbbVie: dividends and net income are there, averages and ratios are not."""
    from deepchart_dagster.benchmark.importers import import_benchmark

    import_benchmark(shared / "upstream-sample", bench.library)
    bench.context_variants().run(Split.FINANCE_NORMAL)
    bench.references().run(Split.FINANCE_NORMAL)
    (check,) = bench.context_checks().run(Split.FINANCE_NORMAL, "finance/1")
    assert check.found
    assert (check.found.n_source, len(check.found.missing), check.found.leaks) == (63, 34, ())
    missing = [value.value for value in check.found.missing]
    assert 59574500000.0 in missing, "an average of two year-ends"
    assert 5953000000.0 not in missing, "net income of 2016, in millions there"
    assert not check.is_wrong, "published references hold what no document states"
