"""``deepchart why`` for people: what is the same is said once, numbers and hashes are short enough to be read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.cli.why import _number, _text
from deepchart_dagster.errors import MissingInputError
from deepchart_dagster.lineage.changes import Change
from deepchart_dagster.lineage.why import Explanation, explanation
from deepchart_dagster.workbench import Workbench

FRESH = "fresh: nothing it depends on has changed"
WARMER = Change("parameters.temperature", "model parameter temperature", 0.2, 1.5)


def changed(uid: str, *changes: Change) -> Explanation:
    return Explanation(uid, False, "inputs changed", changes)


def test_what_is_the_same_of_more_than_three_instances_is_said_once() -> None:
    fresh = [Explanation(f"mini/f{n}", True, FRESH) for n in range(4)]
    warmer = [changed(f"mini/w{n}", WARMER) for n in range(4)]
    assert _text([warmer[0], *fresh, *warmer[1:]]).splitlines() == [
        "4 instances (mini/w0, mini/w1, mini/w2, …): inputs changed",
        "    model parameter temperature (parameters.temperature): 0.2 -> 1.5",
        f"4 instances: {FRESH}",
    ]


def test_up_to_three_instances_are_named_and_others_stand_apart() -> None:
    rubric = Change("rubric", "rubric", "0" * 64, None)
    assert _text([changed("a", WARMER), changed("b", rubric), changed("c", WARMER)]).splitlines() == [
        "a, c: inputs changed",
        "    model parameter temperature (parameters.temperature): 0.2 -> 1.5",
        "b: inputs changed",
        '    rubric: "000000000000…" -> —',
    ]
    blocked = [Explanation(uid, False, f"cannot be computed: {uid} has no result in rubrics.") for uid in ("a", "b")]
    assert _text(blocked) == "a, b: cannot be computed: it has no result in rubrics."
    assert _text([]) == "The partition has no instances; deepchart status shows what is there."


def test_what_is_said_of_one_instance_can_be_said_of_many(tmp_path: Path) -> None:
    async def fail(folder: Path) -> Outcome:
        raise MissingInputError("the server is down.")

    store, (asset, partition) = ArtifactStore(tmp_path), ("rubrics", ("x",))
    works = [Work(uid, InputKey.of(uid=uid), compute=fail) for uid in "abcd"]
    run_step(store, Step(asset=asset, partition=partition, scope=()), works)
    bench = cast(Workbench, SimpleNamespace(artifacts=store))
    said = [explanation(bench, work, store.read(asset, (), work.uid)) for work in works]
    assert _text(said) == "4 instances (a, b, c, …): in error, to be tried again: the server is down."
    assert _text([explanation(bench, work, None) for work in works]) == "4 instances (a, b, c, …): never computed"


def test_amounts_have_all_of_their_digits() -> None:
    amounts = (59574500000.0, 2016, -3717, 0.0999253036114445, 1.5e300)
    assert [_number(value) for value in amounts] == ["59574500000", "2016", "-3717", "0.09992530361", "1.5e+300"]
