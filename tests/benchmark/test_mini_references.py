"""The mini benchmark's reference programs: evidence for each source value, derivations, charts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pymupdf
import pytest
from scipy import stats

from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries
from deepchart_dagster.benchmark.mini.documents import document_scripts
from deepchart_dagster.benchmark.model import Domain, Query

QUERIES = {query.uid.removeprefix("mini/"): query for query in mini_queries()}


def leaves(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from leaves(member)
    else:
        yield value


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_evidence_is_counted(states: dict[str, Any], name: str) -> None:
    evidence = QUERIES[name].evidence
    assert len(list(leaves(states[name]["src_data"]))) == evidence.source_values
    assert len(list(leaves(states[name]["der_data"]))) == evidence.derived_values


# Some of their values stand in pictures: tests/llm/test_llm_mini_chain.py reads those by text recognition.
IN_PICTURES = {f"ecosystem-{name}" for name in ("patents", "port-cohorts", "port-growth", "port-jobs", "port-rounds")}
IN_PICTURES |= {name for name in QUERIES if name.startswith("finance-tarn-valley-")}


def evidence_text(query: Query) -> str:
    """What a reader finds as text: the data block of an academic query, the documents' pages of others."""
    if query.domain is Domain.ACADEMIC:
        return (QUERY_FOLDER / str(query.evidence_hint["data"])).read_text(encoding="utf-8")
    return "\n".join(map(text_of, query.document_ids))


@cache
def text_of(document_id: str) -> str:
    (script,) = (script for script in document_scripts() if script.document.id == document_id)
    return "\n".join(page.get_text() for page in pymupdf.open(stream=script.draw()))


@pytest.mark.parametrize("name", sorted(QUERIES.keys() - IN_PICTURES))
def test_every_source_value_is_printed_in_the_evidence(states: dict[str, Any], name: str) -> None:
    text = evidence_text(QUERIES[name])
    printed = {word.strip("()|.,").replace(",", "") for word in text.split()}
    numbers = {float(word) for word in printed if word.replace(".", "", 1).isdigit()}
    if "—" in printed:  # nil in a filing
        numbers.add(0.0)
    missing = [value for value in leaves(states[name]["src_data"]) if value not in numbers]
    assert not missing


def test_internal_growth_by_hand(states: dict[str, Any]) -> None:
    rates = states["finance-halden-igr"]["der_data"]
    # 2021: kept 515 - 131 = 384 of assets of 5573; 384 / (5573 - 384)
    assert rates["2021"]["Internal growth rate (%)"] == pytest.approx(100 * 384 / 5189)
    assert rates["2024"]["Internal growth rate (%)"] == pytest.approx(100 * 504 / 6472)


def test_cash_conversion_by_hand(states: dict[str, Any]) -> None:
    first = states["finance-marrow-ccc"]["der_data"]["2020"]
    assert first["DIO"] == pytest.approx(371_205 / 6537)  # 1017 × 365 = 371205
    assert first["DSO"] == pytest.approx(294_190 / 8954)  # 806 × 365 = 294190
    assert first["DPO"] == pytest.approx(351_860 / 6537)  # 964 × 365 = 351860
    assert first["CCC"] == pytest.approx(35.8151, abs=1e-4)  # 56.7852 + 32.8557 - 53.8259


def test_mean_and_standard_error_agree_with_scipy(states: dict[str, Any]) -> None:
    state = states["academic-barley-roots"]
    for line, treatments in state["src_data"].items():
        for treatment, plants in treatments.items():
            group = state["der_data"][line][treatment]
            assert group == pytest.approx({"mean": np.mean(plants), "sem": stats.sem(plants)})


def test_regression_agrees_with_scipy(states: dict[str, Any]) -> None:
    state = states["academic-lichen-growth"]
    for side, thalli in state["src_data"].items():
        fit = stats.linregress(thalli["humidity"], thalli["growth"])
        expected = {"slope": fit.slope, "intercept": fit.intercept, "r_squared": fit.rvalue**2}
        assert state["der_data"][side] == pytest.approx(expected)


def test_companies_are_ranked_by_capital_per_head(states: dict[str, Any]) -> None:
    state = states["ecosystem-capital-efficiency"]
    ranked = list(state["der_data"])
    assert ranked[:2] == ["Hoarfrost Quantum", "Coldbox Labs"]  # 214.6 / 178 and 93.7 / 86
    assert state["der_data"]["Coldbox Labs"]["EUR million per employee"] == pytest.approx(93.7 / 86)
    lowest = min(leaves(state["der_data"]))
    others = state["src_data"].keys() - set(ranked)
    assert all(state["src_data"][c]["total_raised"] / state["src_data"][c]["headcount"] < lowest for c in others)
    assert "Lanternfish" not in state["src_data"], "its headcount is not known"


def test_ranks_agree_with_scipy(states: dict[str, Any]) -> None:
    state = states["ecosystem-rank-gap"]
    cities = list(state["src_data"])
    for measure in ("funding", "engineers"):
        expected = stats.rankdata([-state["src_data"][city][measure] for city in cities])
        assert [state["der_data"][city][f"rank_by_{measure}"] for city in cities] == list(expected)
    assert state["der_data"]["Gothenburg"]["rank_gap"] == 5  # 7th by funding, 2nd by engineers
