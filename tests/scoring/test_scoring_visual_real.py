"""The visual side with nothing replaced: programs drawn by the runner, questions asked through litellm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.benchmark.model import CodeType, Split
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.llm.client import LiteLLMClient

SPLIT = Split.FINANCE_NORMAL
HEAD = """import sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
fig, ax = plt.subplots()
"""
FOOT = '\nax.set_title("T")\nax.set_ylabel("Y (US$ m)")\nfig.savefig(sys.argv[1])\n'
CHARTS = {
    "bars": 'ax.bar(["2019", "2020", "2021"], [3, 1, 2])',
    "dumbbell": """
y = [0, 1, 2]
ax.hlines(y, [1, 2, 3], [4, 3, 5], color="grey")
ax.scatter([1, 2, 3], y, label="2019")
ax.scatter([4, 3, 5], y, label="2024")
ax.set_yticks(y, ["a", "b", "c"])
ax.legend()""",
    "grouped": """
x = np.arange(3)
ax.bar(x - 0.2, [1, 2, 3], 0.4, yerr=[0.1, 0.2, 0.1], label="WT")
ax.bar(x + 0.2, [3, 1, 2], 0.4, yerr=[0.1, 0.2, 0.1], label="KO")
ax.set_xticks(x, ["a", "b", "c"])
ax.legend()""",
    "heat-map": """
image = ax.imshow([[1, 2, 3], [4, 5, 0]])
ax.set_xticks([0, 1, 2], ["x", "y", "z"])
ax.set_yticks([0, 1], ["r", "s"])
fig.colorbar(image)""",
    "horizontal": 'ax.barh(["Rust", "Go", "Zig"], [3, 1, 2])\nax.invert_yaxis()',
    "lines": """
ax.plot([2019, 2020, 2021], [3, 1, 2], label="A")
ax.plot([2019, 2020, 2021], [1, 2, 2.5], label="B")
ax.legend()""",
    "pie": 'ax.pie([5, 3, 2], labels=["a", "b", "c"])',
    "points": "ax.scatter([1, 2, 3, 4], [2, 3, 5, 4])",
}
# The same chart with one value misread: 2019's bar is the smallest of its series now.
MISREAD = CHARTS["grouped"].replace("[3, 1, 2], 0.4", "[0.5, 1, 2], 0.4")


def drawn_by(runner: LocalRunner, program: str) -> RunResult:
    result = runner.run(Program(HEAD + program + FOOT, 2, CodeType.PYTHON, Limits(wall_s=120)))
    assert result.status is RunStatus.OK, result.stderr_tail
    assert result.output is not None
    return result


@pytest.mark.slow
def test_every_usual_chart_confirms_its_own_rubric_and_a_misread_one_does_not(house: Any, tmp_path: Path) -> None:
    house.client = LiteLLMClient(house.root)
    house.add(*(house.query(uid) for uid in CHARTS))
    with LocalRunner(cache=tmp_path / "fonts") as runner:
        for uid, program in CHARTS.items():
            result = drawn_by(runner, program)
            house.reference(uid, result.drawn, result.output)
            house.chart(uid, result.drawn, result.output)
        misread = drawn_by(runner, MISREAD)

    rubrics = house.rubrics().run(SPLIT)
    assert (rubrics.n_ok, rubrics.errors) == (len(CHARTS), ())
    for result in rubrics.results:
        assert result.value["n_valid"] == result.value["n_items"], result.uid
        assert result.value["short_aspects"] == [], result.uid

    summary = house.visual().run(SPLIT, house.model)
    assert {result.uid: result.value["vas"] for result in summary.results} == dict.fromkeys(CHARTS, 1.0)

    house.chart("grouped", misread.drawn, misread.output)
    summary = house.visual().run(SPLIT, house.model)
    values = {result.uid: result.value for result in summary.results}
    assert summary.n_computed == 1
    assert values["grouped"]["data_mapping_topology"] < 1.0
    assert values["grouped"]["instruction_compliance"] == 1.0
    assert values["bars"]["vas"] == 1.0
