"""What ``materialize`` says before the first run is done, while it loads and works."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_command import deepchart, process

from deepchart_dagster.benchmark.mini import build_mini
from deepchart_dagster.cli.common import LOADING

SCOPE = ("references", "--split", "finance-normal")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("first-words")
    build_mini(root, quick=True)
    return root


def test_a_single_run_says_at_once_that_it_loads(tmp_path: Path) -> None:
    ran = process("materialize", "nosuch", "--storage", tmp_path)
    assert ran.err.splitlines()[0] == LOADING
    assert ran.complaint.startswith("the selection 'nosuch' means no asset")


def test_a_single_run_says_what_it_begins(storage: Path) -> None:
    ran = deepchart("materialize", *SCOPE, "--storage", storage)
    lines = [line for line in ran.err.splitlines() if line != LOADING]
    assert lines[0] == "beginning: finance-normal: references, 2 instances"
    assert lines[1].startswith("[1/1] finance-normal: references: 2 computed")


def test_a_model_s_run_counts_what_the_model_is_asked(storage: Path) -> None:
    arguments = ("context_variants,predicted_states", "--model", "oracle", "--split", "finance-normal", "--json")
    ran = deepchart("materialize", *arguments, "--storage", storage)
    lines = [line for line in ran.err.splitlines() if line != LOADING]
    assert lines[0] == "beginning 2 runs with finance-normal: context_variants, 2 instances"
