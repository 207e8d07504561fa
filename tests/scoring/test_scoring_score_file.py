"""score_file: every reference of the sample against itself, and every kind of prediction file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from deepchart_dagster.errors import BenchmarkFormatError, UsageError
from deepchart_dagster.scoring.score_file import score_file
from deepchart_dagster.scoring.tables import table_values

QUERIES = (
    "academic/1",
    "academic/176",
    "finance/1",
    "finance/4",
    "finance/287",
    "research_report/book-of-scouting-reports-2025-fintech-100__query-01",
)
SIZES = {"academic/1": (68, 106), "academic/176": (48, 48), "finance/1": (63, 18), "finance/4": (54, 18)}


def write(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def reference_files(shared: Path, query: str) -> tuple[Path, Path]:
    folder = shared / "upstream-sample/references" / query
    return next(folder.glob("d_src.*")), folder / "d_der.json"


def rows_of(path: Path) -> object:
    """The reference as a model would write it into J: rows of a table, or the report's records."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)["records"]
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def derived_of(path: Path) -> object:
    value = json.loads(path.read_text(encoding="utf-8"))
    return value.get("der_data") or value.get("data") or value


@pytest.mark.parametrize("query", QUERIES)
def test_a_state_made_of_the_references_scores_one(shared: Path, tmp_path: Path, query: str) -> None:
    source, derived = reference_files(shared, query)
    state = write(tmp_path / "state.json", {"src_data": rows_of(source), "der_data": derived_of(derived)})

    score = score_file(source, derived, state)

    assert score["src"]["f1"] == score["der"]["f1"] == 1.0
    assert score["diagnosis"] == []
    if query in SIZES:
        counts = tuple(score[side]["n_matched"] for side in ("src", "der"))
        assert counts == SIZES[query]


@pytest.mark.parametrize("query", QUERIES)
def test_a_reference_file_scores_one_against_itself(shared: Path, query: str) -> None:
    source, derived = reference_files(shared, query)

    assert score_file(source, None, source)["src"]["f1"] == 1.0
    assert score_file(None, derived, derived)["der"]["f1"] == 1.0
    assert score_file(source, None, source)["der"] is None
    both = score_file(source, derived, derived)
    assert both["der"]["f1"] == 1.0


def test_the_shape_is_the_one_of_the_contract(tmp_path: Path) -> None:
    source = write(tmp_path / "d_src.csv", "Year,Value\n2016,1000\n2017,2000\n")
    state = write(tmp_path / "state.json", {"src_data": [2016, 1000, 2017, 2, 5], "der_data": [0.5]})

    def entry(of: str, index: int, value: float, kind: str, counterpart: float | None, factor: float | None) -> object:
        explained = {"class": kind, "counterpart": counterpart, "factor": factor}
        return {"side": "src", "of": of, "index": index, "value": value, **explained}

    assert score_file(source, None, state) == {
        "src": {"precision": 0.6, "recall": 0.75, "f1": 2 * 3 / 9, "n_reference": 4, "n_predicted": 5, "n_matched": 3},
        "der": None,
        "diagnosis": [
            entry("reference", 3, 2000.0, "scale", 2.0, 0.001),
            entry("prediction", 3, 2.0, "scale", 2000.0, 0.001),
            entry("prediction", 4, 5.0, "unknown", None, None),
        ],
    }


def test_precision_and_recall_by_hand(tmp_path: Path) -> None:
    source = write(tmp_path / "d_src.json", [10, 20, 30, 40])
    state = write(tmp_path / "state.json", {"src_data": [10, 20, 20], "der_data": [1]})

    score = score_file(source, None, state)["src"]

    assert score == {
        "precision": pytest.approx(2 / 3),
        "recall": 0.5,
        "f1": pytest.approx(4 / 7),
        "n_reference": 4,
        "n_predicted": 3,
        "n_matched": 2,
    }


def test_misspelt_members_are_read_and_named(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.json", [1, 2])
    state = write(tmp_path / "state.json", {"data_list": {"scr_data": [1, 2], "chart_data": ["1", "2"]}})

    score = score_file(reference, reference, state)

    assert score["src"]["f1"] == score["der"]["f1"] == 1.0
    assert score["diagnosis"] == [
        {"side": side, "of": "prediction", "class": "misspelt_member", "message": message}
        for side, message in (
            ("src", "src_data was read from data_list.scr_data"),
            ("der", "der_data was read from data_list.chart_data"),
        )
    ]


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ({"src_data": [1]}, "missing_der_data"),
        ({"src_data": [1], "der_data": []}, "missing_der_data"),
        ({"src_data": {}, "der_data": [1]}, "missing_src_data"),
        ({"der_data": [1]}, "missing_src_data"),
        ("{not JSON", "invalid_output"),
        ("[" * 100_000, "invalid_output"),
        ("[" + "0," * 2_000_000 + "0]", "invalid_output"),
    ],
)
def test_an_invalid_state_scores_zero_on_both_sides(tmp_path: Path, state: object, fault: str) -> None:
    reference = write(tmp_path / "reference.json", [1])

    score = score_file(reference, reference, write(tmp_path / "state.json", state))

    zero = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "n_reference": 1, "n_predicted": 0, "n_matched": 0}
    assert score["src"] == score["der"] == zero
    assert score["diagnosis"][0]["class"] == fault


def test_only_what_has_a_reference_is_asked_of_a_state(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.json", [1])
    nothing = write(tmp_path / "nothing.json", "null")
    state = write(tmp_path / "state.json", {"src_data": [1]})

    assert score_file(reference, None, state)["src"]["f1"] == 1.0
    absent = score_file(reference, nothing, state)
    assert absent["src"]["f1"] == 1.0
    assert absent["der"] is None


def test_bare_data_in_any_format(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.csv", "a,b\n1,2\n")

    for name, text in (
        ("list.json", "[2, 1]"),
        ("object.json", '{"x": {"y": 1}, "z": "2"}'),
        ("table.md", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("table.tsv", "a\tb\n1\t2\n"),
    ):
        assert score_file(reference, None, write(tmp_path / name, text))["src"]["f1"] == 1.0


def test_no_numbers_on_either_side_is_not_applicable(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.json", ["none"])
    state = write(tmp_path / "state.json", {"src_data": ["nothing"]})

    assert score_file(reference, None, state)["src"] is None
    assert score_file(reference, None, state, "upstream")["src"]["f1"] == 1.0


def test_what_is_no_json_number_never_counts_on_either_side(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.json", '[1, NaN, Infinity, 1e999, "NaN", 2]')
    state = write(tmp_path / "state.json", '{"src_data": [2, 1, NaN, -Infinity, -1e999, ' + "9" * 400 + "]}")

    for scorer in ("paper", "upstream"):
        score = score_file(reference, None, state, scorer)
        assert score["src"] == {
            "precision": 1.0,
            "recall": 1.0,
            "f1": 1.0,
            "n_reference": 2,
            "n_predicted": 2,
            "n_matched": 2,
        }
        assert score["diagnosis"] == []


def test_a_user_s_mistakes_are_told_in_one_line(tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.json", [1])

    with pytest.raises(UsageError, match="no reference is named"):
        score_file(None, None, reference)
    with pytest.raises(UsageError, match=r"gone\.json is not a file"):
        score_file(reference, None, tmp_path / "gone.json")
    with pytest.raises(UsageError, match=r"gone\.csv is not a file"):
        score_file(tmp_path / "gone.csv", None, reference)
    with pytest.raises(BenchmarkFormatError, match=r"broken\.json is no valid JSON"):
        score_file(write(tmp_path / "broken.json", "{"), None, reference)


def test_reading_rows_gave_no_number_away(shared: Path) -> None:
    """The rows that the first test writes hold as many numbers as the table itself."""
    source, _ = reference_files(shared, "finance/287")
    assert len(table_values(source.read_text(encoding="utf-8"), ".csv")) == 9 * 8
