"""Files that were made to break a reader: every one has a result or a refusal in words, soon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.errors import BenchmarkFormatError
from deepchart_dagster.scoring.fidelity import Scorer
from deepchart_dagster.scoring.score_file import score_file

DEEP = 100_000
SCRIPTS = ["１２", "١٢", "१२", "๑๒", "৫৬"]  # full-width, Arabic, Devanagari, Thai, Bengali
STATE = '{"src_data": %s, "der_data": [1]}'


def scored(folder: Path, reference: str, prediction: str, scorer: Scorer = "paper") -> dict[str, Any]:
    paths = {"reference": folder / "d_src.json", "prediction": folder / "state.json"}
    for name, text in (("reference", reference), ("prediction", prediction)):
        paths[name].write_text(text, encoding="utf-8")
    return score_file(paths["reference"], None, paths["prediction"], scorer)


@pytest.mark.parametrize("scorer", ["paper", "upstream"])
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        pytest.param("[" * DEEP + "]" * DEEP, "invalid_output", id="lists 100,000 deep"),
        pytest.param('{"a":' * DEEP + "1" + "}" * DEEP, "invalid_output", id="objects 100,000 deep"),
        pytest.param("7" * 5_000_000, "invalid_output", id="an integer of 5 million digits"),
        pytest.param("[" * DEEP, "invalid_output", id="never closed"),
    ],
)
def test_what_is_too_large_or_too_deep_is_refused(tmp_path: Path, content: str, fault: str, scorer: Scorer) -> None:
    result = scored(tmp_path, "[1]", STATE % content, scorer)

    assert result["src"]["f1"] == 0.0
    assert [one["class"] for one in result["diagnosis"] if one["of"] == "prediction"] == [fault]
    with pytest.raises(BenchmarkFormatError, match=r"d_src\.json"):
        scored(tmp_path, "[" * DEEP + "]" * DEEP, STATE % "[1]", scorer)


@pytest.mark.parametrize("scorer", ["paper", "upstream"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "7" * 4000])
def test_what_is_no_finite_number_never_counts(tmp_path: Path, value: str, scorer: Scorer) -> None:
    fidelity = scored(tmp_path, f"[1, {value}]", STATE % f"[1, {value}, {value}]", scorer)["src"]

    assert (fidelity["f1"], fidelity["n_reference"], fidelity["n_predicted"]) == (1.0, 1, 1)


def test_of_members_of_one_name_the_last_holds(tmp_path: Path) -> None:
    assert (
        scored(tmp_path, "[2]", '{"src_data": [1], "src_data": {"a": 1, "a": 2}, "der_data": [1]}')["src"]["f1"] == 1.0
    )


def test_two_megabytes_of_zeros(tmp_path: Path) -> None:
    zeros = json.dumps([0] * 600_000)

    fidelity = scored(tmp_path, "[0, 3]", STATE % zeros)["src"]

    assert (fidelity["n_predicted"], fidelity["n_matched"], fidelity["recall"]) == (600_000, 1, 0.5)


@pytest.mark.parametrize("content", ["{}", "[]", "null", '""'])
def test_empty_data_make_no_state(tmp_path: Path, content: str) -> None:
    result = scored(tmp_path, "[1]", STATE % content)

    assert (result["src"]["f1"], result["diagnosis"][0]["class"]) == (0.0, "missing_src_data")


@pytest.mark.parametrize("text", SCRIPTS)
def test_digits_of_other_scripts_are_read_by_people_alone(tmp_path: Path, text: str) -> None:
    value = int(text)

    result = scored(tmp_path, f"[{value}]", STATE % json.dumps([text]))

    assert (result["src"]["f1"], result["src"]["n_predicted"]) == (0.0, 0)
    assert [(one["value"], one["class"]) for one in result["diagnosis"]] == [(value, "notation")]
    assert scored(tmp_path, f"[{value}]", STATE % json.dumps([text]), "upstream")["src"]["f1"] == 1.0


@pytest.mark.parametrize("scorer", ["paper", "upstream"])
def test_a_name_of_a_megabyte_and_wide_objects(tmp_path: Path, scorer: Scorer) -> None:
    wide = json.dumps({"k" * 1_000_000: 1, **{f"member {at}": at for at in range(2, 20_000)}})

    assert scored(tmp_path, "[1]", STATE % wide, scorer)["src"]["recall"] == 1.0
