"""``deepchart contexts show|locate|check`` as people and scripts meet them, on documents of the mini benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_command import Ran, deepchart
from PIL import Image

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.benchmark.model import Domain, Split
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = pytest.mark.slow

UID = "mini/finance-halden-igr"
SCANNED = "tarn-valley"  # its statements are pictures


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mini benchmark's filings read, their contexts and references made."""
    root = tmp_path_factory.mktemp("mini") / "storage"
    build_mini(root)
    with Workbench(load_settings(storage=root, benchmarks=("mini",), ocr_engine="text-layer")) as bench:
        for document in bench.documents.list():
            if document.domain is Domain.FINANCE and SCANNED not in document.id:
                bench.raw_documents().run(document.id)
                bench.ocr_contexts().run(document.id)
        bench.context_variants().run(Split.FINANCE_NORMAL)
        bench.references().run(Split.FINANCE_NORMAL)
    return root


def contexts(storage: Path, *arguments: object) -> Ran:
    return deepchart("contexts", *arguments, "--storage", storage, environment={"DEEPCHART_BENCHMARKS": "mini"})


def test_show_is_compact_and_json_has_every_page(storage: Path) -> None:
    shown = contexts(storage, "show", "mini-halden-2024")
    assert shown.code == 0
    assert len(shown.out.splitlines()) < 10
    described = contexts(storage, "show", "mini-halden-2024", "--json").json
    assert described["statements"] == {"balance_sheet": [19], "income_statement": [18], "cash_flow": [20]}
    assert len(described["pages"]) == described["n_pages"]
    assert described["quality"]["pages_by_engine"] == {"text-layer": described["n_pages"]}


def test_locate_prints_places_and_draws_the_one_that_is_asked_for(storage: Path, tmp_path: Path) -> None:
    picture = tmp_path / "place.png"
    found = contexts(storage, "locate", UID, "2022", "--split", "finance-normal", "--json")
    places = found.json["places"]
    assert {place["document_id"] for place in places} == {"mini-halden-2022", "mini-halden-2024"}
    assert all(place["page"] and len(place["box"]) == 4 for place in places)
    drawn = contexts(storage, "locate", UID, "2022", "--split", "finance-normal", "--picture", picture, "--nth", 2)
    assert f"{picture}: place 2 of {len(places)}, " in drawn.out
    with Image.open(picture) as page:
        assert (220, 0, 0) in set(page.convert("RGB").get_flattened_data())


def test_what_is_not_there_and_what_is_no_number(storage: Path, tmp_path: Path) -> None:
    absent = contexts(storage, "locate", "mini-halden-2024", "-123456789")
    assert (absent.code, absent.out) == (3, "")
    assert "-123456789 does not stand in mini-halden-2024" in absent.complaint
    misspelt = contexts(storage, "locate", "mini-halden-2024", "2022", "--pictre", "x.png")
    assert (misspelt.code, misspelt.out) == (2, "")
    words = contexts(storage, "locate", "mini-halden-2024", "income")
    assert (words.code, words.out) == (2, "")
    beyond = contexts(storage, "locate", "mini-halden-2024", "2022", "--picture", tmp_path / "p.png", "--nth", 999)
    assert beyond.code == 2
    assert not (tmp_path / "p.png").exists()
    photo = contexts(storage, "locate", "mini-halden-2024", "2022", "--picture", tmp_path / "p.jpg")
    assert (photo.code, photo.out, photo.complaint.endswith("A page is drawn as PNG: name it so.")) == (2, "", True)
    assert not (tmp_path / "p.jpg").exists()
    instance = contexts(storage, "locate", UID, "123456789", "--split", "finance-normal")
    assert (instance.code, instance.complaint) == (
        3,
        f"123456789 does not stand in {UID} (finance-normal). "
        f"What is in its context: deepchart contexts check --split finance-normal --uid {UID}.",
    )


def test_the_mini_benchmark_is_answerable_and_leaks_nothing(storage: Path) -> None:
    checked = contexts(storage, "check", "--split", "finance-normal", "--json")
    instances = {one["uid"]: one for one in checked.json["instances"] if SCANNED not in one["uid"]}
    assert len(instances) > 10
    assert [one for one in instances.values() if one["problem"] or one["missing"] or one["leaks"]] == []
    assert [one for one in instances.values() if one["needless"]] == [], "normal shows what the query needs alone"
    assert contexts(storage, "check", "--split", "finance-normal", "--uid", UID).code == 0
    assert instances[UID]["n_source"] == 12
    assert instances[UID]["found"] == {"as written": 8, "as written, other sign": 4}


def test_an_instance_that_lacks_a_statement_is_named_with_its_values(storage: Path) -> None:
    """One of its tables is emptied, as a page that was not read would leave it."""
    file = storage / "context_variants" / "finance-normal"
    (sheet,) = [
        path
        for path in file.rglob("mini-halden-2024/balance_sheet.md")
        if "files" in path.parts and UID.rpartition("/")[2] in str(path)
    ]
    kept = sheet.read_text()
    sheet.write_text("\n" * kept.count("\n"))
    try:
        checked = contexts(storage, "check", "--split", "finance-normal", "--uid", UID)
    finally:
        sheet.write_text(kept)
    assert checked.code == 1
    assert "missing" in checked.out
    assert "no source value stands in mini-halden-2024/balance_sheet.md" in checked.out


def test_without_references_nothing_is_claimed(storage: Path) -> None:
    unread = contexts(storage, "check", "--split", "ecosystem")
    assert unread.code == 1
    assert "not checked" in unread.out
    assert re.search(r"^0 of \d+ instances of ecosystem are answerable", unread.out, re.MULTILINE)
