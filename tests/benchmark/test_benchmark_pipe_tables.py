"""Cells of markdown tables."""

from __future__ import annotations

import pytest

from deepchart_dagster.benchmark.pipe_tables import cells_of, is_rule


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("  |a|b|  \n", ["a", "b"]),
        ("a | b", ["a", "b"]),
        ("| a |", ["a"]),
        ("| a |  |", ["a", ""]),
        ("|  | a |", ["", "a"]),
        (r"| a \| b | c |", [r"a \| b", "c"]),
        ("|", []),
    ],
)
def test_cells_stand_between_pipes(line: str, cells: list[str]) -> None:
    assert cells_of(line) == cells


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("|---|---|", True),
        ("| :-- | --: | :-: |", True),
        ("| - |", True),
        ("| --- | 1 |", False),
        ("| — |", False),
        ("|", False),
        ("| |", False),
    ],
)
def test_a_rule_is_all_dashes(line: str, rule: bool) -> None:
    assert is_rule(cells_of(line)) is rule
