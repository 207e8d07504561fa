"""References that disagree with themselves or their documents: the faults that the published sample is known for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.state import content_of
from deepchart_dagster.scoring.reference_faults import Fault, faults_of
from deepchart_dagster.scoring.tables import reference_data

TABLE = (
    '<table><tr><td>years ended December 31 (in millions)</td><td colspan="2">2018</td><td>2017</td><td>2016</td></tr>'
    "<tr><td>Income tax expense (benefit)</td><td>$</td><td>(490</td><td>2,418</td><td>1,931</td></tr></table>"
)


def sample_faults(shared: Path, uid: str) -> list[Fault]:
    folder = shared / "upstream-sample/references" / uid
    (source,) = folder.glob("d_src.*")
    derived = folder / "d_der.json"
    contexts = sorted((shared / "upstream-sample/data" / uid / "normal").rglob("*.md"))
    return faults_of(
        reference_data(source, source.suffix, "src"),
        reference_data(derived, ".json", "der"),
        content_of(json.loads(derived.read_text(encoding="utf-8")), "src"),
        [path.read_text(encoding="utf-8") for path in contexts],
    )


def test_a_derivation_by_the_wrong_denominator_shows(shared: Path) -> None:
    """d_der divides by year-end assets where d_src divides by the average."""
    (fault,) = sample_faults(shared, "finance/287")

    assert fault.kind == "series"
    assert "'result spread' of d_src" in fault.message
    assert fault.values[0] == (2016, pytest.approx(0.0431165, rel=1e-5), pytest.approx(0.0427, rel=1e-5))
    assert len(fault.values) == 9


def test_dropped_signs_of_tax_benefits_show(shared: Path) -> None:
    (fault,) = sample_faults(shared, "finance/4")

    assert (fault.kind, fault.name) == ("sign", "income tax")
    assert [year for year, _, _ in fault.values] == [2018, 2020, 2024]


@pytest.mark.parametrize("uid", ["finance/1", "academic/1", "academic/176"])
def test_sound_references_have_none(shared: Path, uid: str) -> None:
    assert sample_faults(shared, uid) == []


def test_a_side_without_a_number_shows_and_one_that_is_not_there_does_not() -> None:
    (fault,) = faults_of([], {"margin": [0.5]}, None, [])
    assert fault.as_text() == "empty: d_src holds no number, and each model scores 0 on it"
    assert [fault.name for fault in faults_of({"a": "x"}, {}, None, [])] == ["d_src", "d_der"]
    assert faults_of(None, None, None, []) == []


def test_a_column_with_the_other_sign_throughout_is_a_convention() -> None:
    source = {"tax": {"2016": 1931, "2017": 2418, "2018": 490}}
    negated = {"tax": {year: -value for year, value in source["tax"].items()}}
    all_negative = TABLE.replace("2,418", "(2,418)").replace("1,931", "(1,931)")

    assert [fault.kind for fault in faults_of(source, None, None, [TABLE.replace("(490", "(490)")])] == ["sign"]
    assert faults_of(source, None, None, [all_negative.replace("(490", "(490)")]) == []
    assert [fault.values for fault in faults_of(negated, None, None, [TABLE.replace("(490", "(490)")])] == [
        ((2016, -1931.0, 1931.0), (2017, -2418.0, 2418.0))
    ]


def test_source_values_that_are_repeated_otherwise_are_named() -> None:
    source = [{"Year": 2016, "CFO": 22082}, {"Year": 2017, "CFO": 30066}]
    repeated = [{"Year": 2016, "CFO": 22082}, {"Year": 2017, "CFO": 30666}]

    (fault,) = faults_of(source, None, repeated, [])

    assert fault == Fault("repeated", "cfo", "'cfo' beside der_data is not what d_src has", ((2017, 30666.0, 30066.0),))


def test_another_series_of_the_same_years_is_no_fault() -> None:
    source = {"assets": {"2016": 100, "2017": 110, "2018": 120}, "debt": {"2016": 10, "2017": 40, "2018": 90}}

    assert faults_of(source, {"ratio": {"2016": 0.1, "2017": 0.36, "2018": 0.75}}, None, []) == []


def test_two_quantities_that_run_along_each_other_are_no_fault() -> None:
    """Operating profit after tax is some 15 % below income before taxes: by their nature, not by a mistake."""
    source = {"income before taxes": {"2022": 668, "2023": 613, "2024": 853}}
    derived = {"nopat": {"2022": 574.9, "2023": 545.8, "2024": 725.4}}
    assert faults_of(source, derived, None, []) == []

    renamed = {"income after taxes": derived["nopat"]}
    (fault,) = faults_of(source, renamed, None, [])
    assert fault.values == ((2022, 574.9, 668.0), (2023, 545.8, 613.0), (2024, 725.4, 853.0))
