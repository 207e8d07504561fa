"""``deepchart calibration``: what it refuses. What it finds: tests/llm/test_llm_mini_chain.py, tests/e2e."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_command import deepchart

from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.mini import BENCHMARK_NAME
from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries


@pytest.mark.parametrize("rates", ["", "2", "0,-0.1", "half", "nan", "0.1;0.5"])
def test_rates_are_numbers_from_0_to_1(rates: str, tmp_path: Path) -> None:
    ran = deepchart("calibration", "--rates", rates, "--storage", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "numbers from 0 to 1, such as 0,0.1,0.5,1" in ran.err


def test_models_that_are_no_programs_have_no_calibration(tmp_path: Path) -> None:
    ran = deepchart("calibration", "--model", "gpt-5.2", "--storage", tmp_path)
    assert ran.code == 2
    assert ran.complaint.startswith("gpt-5.2 is no scripted model.")


def test_a_storage_without_the_benchmark_is_told_so(tmp_path: Path) -> None:
    ran = deepchart("calibration", "--rates", "0.5", "--storage", tmp_path)
    assert ran.code == 2
    assert "there is no benchmark named 'mini'" in ran.err


def test_without_contexts_nothing_can_be_measured_and_nothing_is_left(tmp_path: Path) -> None:
    Library(tmp_path).add(BENCHMARK_NAME, mini_queries(), QUERY_FOLDER)
    ran = deepchart("calibration", "--rates", "0.5", "--model", "misreads", "--storage", tmp_path)
    assert ran.code == 3
    last = ran.err.splitlines()[-1]
    assert "misreads at 0.5 cannot be measured in academic-normal on mini/academic-" in last
    assert "deepchart demo" in last
    assert list((tmp_path / "scripted").iterdir()) == []
    assert not (tmp_path / "predicted_states").exists()
