"""``deepchart why --instance``: how the instance ended at each stage and why, and what the model answered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from lineage_slice import MODEL, SPLIT

from deepchart_dagster.artifacts.results import Outcome, Status
from deepchart_dagster.artifacts.steps import Compute, run_step
from deepchart_dagster.cli.group import cli
from deepchart_dagster.errors import ProviderTimeout
from deepchart_dagster.lineage.graph import PartitionKey, plan
from deepchart_dagster.lineage.said import said
from deepchart_dagster.lineage.trace import other_stages
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

UID = "mini/academic-lichen-growth"
STATES = PartitionKey("predicted_states", split=SPLIT, model=MODEL)

pytestmark = pytest.mark.slow  # the storage that these tests copy takes half a minute to make


@pytest.fixture
def bench(made: Path, tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(load_settings(storage=shutil.copytree(made, tmp_path / "storage"))) as workbench:
        yield workbench


def end(bench: Workbench, key: PartitionKey, compute: Compute) -> None:
    """Has the instance end at ``key`` as ``compute`` says, under the key that a run would give it."""
    shutil.rmtree(bench.artifacts.folder(key.asset, key.step.scope, UID), ignore_errors=True)
    works = [replace(work, compute=compute) if work.uid == UID else work for work in plan(bench, key)]
    run_step(bench.artifacts, key.step, works)


async def prose(folder: Path) -> Outcome:
    lines = ["I would draw", "", "two lines", *(f"and point {n}" for n in range(9)), "\x1b[2J" + "x" * 300]
    (folder / "answer.txt").write_text("\n".join(lines))
    return Outcome.failed("no_code", "no python program could be found in the answer")


async def timed_out(folder: Path) -> Outcome:
    raise ProviderTimeout("the provider did not answer within 600 s.")


def why(bench: Workbench, asset: str, *options: str) -> str:
    place = ["--model", MODEL, "--split", SPLIT.value, "--storage", str(bench.settings.storage)]
    done = CliRunner().invoke(cli, ["why", asset, *place, "--instance", UID, *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_failure_is_told_with_its_reason_its_files_and_what_the_model_answered(bench: Workbench) -> None:
    end(bench, STATES, prose)
    lines = why(bench, "source_fidelity").splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("predicted_states"))
    folder = bench.artifacts.folder("predicted_states", (SPLIT.value, MODEL), UID)
    assert " failed (no_code), made " in lines[first]
    assert lines[first + 1 : first + 10] == [
        f"    {folder}: answer.txt",
        "    no python program could be found in the answer",
        "    the model answered:",
        "        I would draw",
        "        two lines",
        "        and point 0",
        "        and point 1",
        "        and point 2",
        "        … and 7 more in answer.txt",
    ]
    hop = json.loads(why(bench, "source_fidelity", "--json"))["path"][1]
    assert (hop["status"], hop["message"]) == ("failed", "no python program could be found in the answer")
    assert (hop["said"]["file"], hop["said"]["n_more"]) == (str(folder / "answer.txt"), 7)


def test_an_error_is_told_once_with_its_kind(bench: Workbench) -> None:
    end(bench, STATES, timed_out)
    text = why(bench, "predicted_states").partition("Its other stages:")[0].partition("\n")[2]
    assert "error (ProviderTimeout), made " in text
    assert text.count("the provider did not answer within 600 s.") == 1
    assert "the model answered" not in text


def test_the_other_stages_of_the_instance_are_shown_as_they_ended(bench: Workbench) -> None:
    end(bench, STATES, prose)
    bench.rendered_charts().run(SPLIT, bench.model(MODEL))
    bench.artifacts.folder("source_fidelity", (SPLIT.value, MODEL), UID).joinpath("result.json").write_text("{")
    stages = {stage.key.asset: stage for stage in other_stages(bench, STATES, UID)}
    assert list(stages)[:3] == ["rendered_charts", "source_fidelity", "derived_fidelity"]
    assert not {"predicted_states", "context_variants"} & stages.keys()
    charts = stages["rendered_charts"].result
    assert charts is not None
    assert (charts.status, charts.problem and charts.problem.kind) == (Status.FAILED, "invalid_state")
    text = why(bench, "predicted_states").partition("Its other stages:")[2]
    assert "    rendered_charts  failed (invalid_state), made " in text
    assert "        stage 1 left no valid J (no_code); stage 2 was not asked\n" in text
    assert "    derived_fidelity  not made yet\n" in text
    assert str(stages["source_fidelity"].damage) in text
    assert "result.json" in str(stages["source_fidelity"].damage)


def test_what_was_answered_is_cut_and_a_file_that_was_changed_is_said(bench: Workbench) -> None:
    async def long_line(folder: Path) -> Outcome:
        (folder / "answer.txt").write_text("x" * 300)
        return Outcome.failed("no_code", "none")

    end(bench, STATES, long_line)
    stored = bench.artifacts.read("predicted_states", (SPLIT.value, MODEL), UID)
    assert stored is not None
    told = said(bench.artifacts, stored)
    assert told is not None
    assert (told.lines, told.n_more) == (("x" * 200 + "…",), 0)
    told.file.write_text("y" * 300)
    changed = said(bench.artifacts, stored)
    assert changed is not None
    assert changed.lines[0].endswith("answer.txt was changed after predicted_states made it.")


def test_of_verdicts_those_that_are_not_yes_are_told(bench: Workbench) -> None:
    rows = [("yes", "Is it one?"), ("no", "Are there two?"), ("unclear", "Is it red?")]

    async def judged(folder: Path) -> Outcome:
        lines = [json.dumps({"verdict": verdict, "question": question}) for verdict, question in rows]
        (folder / "verdicts.jsonl").write_text("\n".join(lines) + "\n")
        return Outcome(value={"vas": 1 / 3})

    key = replace(STATES, asset="visual_accuracy")
    works = [replace(work, compute=judged, blocked=None) for work in plan(bench, key)]
    run_step(bench.artifacts, key.step, works)
    text = why(bench, "visual_accuracy")
    assert "    the judge did not say Yes to:\n        no: Are there two?\n        unclear: Is it red?\n" in text
    assert "Is it one?" not in text


def test_a_setting_that_changed_is_named(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPCHART_STAGE1_TIMEOUT_S", "30")
    what = "time limit of the program (DEEPCHART_STAGE1_TIMEOUT_S)"
    assert f"    {what} (limits.wall_s): 60.0 -> 30.0" in why(bench, "predicted_states").splitlines()
    place = ["--model", MODEL, "--split", SPLIT.value, "--storage", str(bench.settings.storage)]
    assert what in CliRunner().invoke(cli, ["status", *place, "--partitions"]).stdout
