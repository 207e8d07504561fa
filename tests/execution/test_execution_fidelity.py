"""A fork of an interpreter behaves as a fresh one: the same exit code or signal, words and bytes, for a corpus.

The corpus is ours (corpus/charts, corpus/programs): the paper's chart families, and what programs do that a fork could
get wrong. Each program runs in a fresh interpreter and as a fork, in the same tier and so at the same paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import SandboxUnavailable
from deepchart_dagster.execution import runner as runner_module
from deepchart_dagster.execution.model import Limits, Program, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.imports import import_set

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).with_name("corpus")
CHARTS, PROGRAMS = (sorted((CORPUS / kind).glob("*.py")) for kind in ("charts", "programs"))
# Addresses in memory, and the folder that a program stands in where there is no root of its own.
VARYING = re.compile(r"0x[0-9a-f]{6,}|/\S*?/scratch/(program|server)-\d+")


class Pair(NamedTuple):
    fresh: LocalRunner
    forked: LocalRunner


class Outcome(NamedTuple):
    ended: str
    wait_status: int | None
    stdout: str
    stderr: str
    output_state: str
    output: bytes
    drawn: bytes


@pytest.fixture(scope="module", params=["namespaces", "landlock"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with LocalRunner(request.param, fresh=True) as fresh, LocalRunner(request.param, fresh=False) as forked:
        try:
            fresh.tier  # noqa: B018 - raises where this host cannot
        except SandboxUnavailable as error:
            pytest.skip(str(error))
        yield Pair(fresh, forked)


def outcome(runner: LocalRunner, path: Path) -> Outcome:
    stage = 2 if path.parent.name == "charts" else 1
    runtime, _ = runner._prepare_python()
    program = Program("", stage, CodeType.PYTHON, Limits(wall_s=200))  # type: ignore[arg-type]
    request = runner_module._request(program, runner.tier, runtime, runner._font_list)
    source = path.read_bytes()
    report = runner._hold(request, source, () if runner._fresh else import_set(source.decode("utf-8", "replace")))
    return Outcome(
        report.ended,
        report.wait_status,
        VARYING.sub("<varies>", report.stdout_tail),
        VARYING.sub("<varies>", report.stderr_tail),
        report.output_state,
        report.output,
        report.drawn,
    )


def test_the_corpus_is_large_and_holds_every_chart_family() -> None:
    families = {
        *("bar", "line", "grouped_bar", "stacked_bar", "horizontal_bar", "ranked_bar", "regression_scatter"),
        *("dose_response", "heatmap", "radial_bar", "box", "violin", "combination", "forest", "dot", "sunburst"),
        *("scatter", "sankey", "bubble", "dumbbell", "slope"),
    }
    assert len(families) == 21
    assert families <= {path.stem for path in CHARTS}
    assert len(CHARTS) + len(PROGRAMS) >= 180


@pytest.mark.parametrize("path", [*CHARTS, *PROGRAMS], ids=lambda path: path.stem)
def test_a_fork_does_what_a_fresh_interpreter_does(pair: Pair, path: Path) -> None:
    if pair.fresh.tier != "namespaces" and path in CHARTS[5:]:
        pytest.skip("charts are compared in the tier `namespaces`; how they are drawn does not depend on it")
    if pair.fresh.tier != "namespaces" and path.stem == "process_ids":
        pytest.skip("without a process namespace every program has ids of its own")
    fresh = outcome(pair.fresh, path)
    assert fresh.ended == "exit"
    assert outcome(pair.forked, path) == fresh


@pytest.mark.parametrize("name", ["bar", "seaborn_heatmap", "pandas_bar", "violin"])
def test_the_corpus_draws_what_it_means_to(pair: Pair, name: str) -> None:
    drawn = outcome(pair.forked, CORPUS / "charts" / f"{name}.py")
    assert (drawn.wait_status, drawn.stderr) == (0, "")
    assert drawn.output.startswith(b"\x89PNG")
    assert len(drawn.output) > 5000
    assert json.loads(drawn.drawn)["figures"][0]["axes"][0]["marks"]


def run_forked(pair: Pair, source: str) -> object:
    result = pair.forked.run(Program(source, 1, CodeType.PYTHON, Limits(wall_s=100)))
    assert result.status is RunStatus.OK, (result.message, result.stderr_tail)
    assert result.output is not None
    return json.loads(result.output)


RANDOM = """
import json, random, sys, uuid
import numpy as np
json.dump([random.random(), np.random.rand(), np.random.default_rng().random(), uuid.uuid4().hex],
          open(sys.argv[1], "w"))
"""


def test_random_numbers_without_a_seed_differ_between_programs(pair: Pair) -> None:
    first, second, third = (run_forked(pair, RANDOM) for _ in range(3))
    for values in zip(first, second, third, strict=True):  # type: ignore[call-overload]
        assert len(set(values)) == 3


SPOILS = """
import builtins, gc, json, os, sys, warnings
import matplotlib.pyplot as plt
import numpy as np
plt.rcParams["font.size"] = 40
plt.figure()
builtins.left = json.left = np.left = sys.left = 1
np.seterr(all="raise")
os.environ["LEFT"] = "1"
open(os.environ["TMPDIR"] + "/left", "w").close()
open(os.environ["MPLCONFIGDIR"] + "/matplotlibrc", "w").write("font.size: 33")
warnings.simplefilter("error")
gc.disable()
plt.Figure.savefig = np.mean = builtins.print = None
open(sys.argv[1], "w").write("{}")
"""
LOOKS = """
import builtins, gc, json, os, sys, warnings
import matplotlib.pyplot as plt
import numpy as np
json.dump([plt.rcParams["font.size"], plt.get_fignums(), [hasattr(m, "left") for m in (builtins, json, np, sys)],
    np.geterr()["divide"], "LEFT" in os.environ, os.listdir(os.environ["TMPDIR"]),
    [name.split("-")[0] for name in os.listdir(os.environ["MPLCONFIGDIR"])], warnings.filters[0][0], gc.isenabled(),
    plt.Figure.savefig is None, np.mean is None, print is None], open(sys.argv[1], "w"))
"""


def test_what_a_program_changes_does_not_reach_the_next(pair: Pair) -> None:
    before = run_forked(pair, LOOKS)
    run_forked(pair, SPOILS)
    assert run_forked(pair, LOOKS) == before
    assert before == [10, [], [False] * 4, "warn", False, [], ["fontlist"], "ignore", True, False, False, False]
