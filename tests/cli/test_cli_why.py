"""``deepchart why`` for people: what is the same is said once, numbers and hashes are short enough to be read."""

from __future__ import annotations

from deepchart_dagster.cli.why import _number, _text
from deepchart_dagster.lineage.changes import Change
from deepchart_dagster.lineage.why import Explanation

FRESH = "fresh: nothing it depends on has changed"
WARMER = Change("parameters.temperature", "model parameter temperature", 0.2, 1.5)


def changed(uid: str, *changes: Change) -> Explanation:
    return Explanation(uid, False, "its inputs changed", changes)


def test_what_is_the_same_of_more_than_three_instances_is_said_once() -> None:
    fresh = [Explanation(f"mini/f{n}", True, FRESH) for n in range(4)]
    warmer = [changed(f"mini/w{n}", WARMER) for n in range(4)]
    assert _text([warmer[0], *fresh, *warmer[1:]]).splitlines() == [
        "4 instances (mini/w0, mini/w1, mini/w2, …): its inputs changed",
        "    model parameter temperature (parameters.temperature): 0.2 -> 1.5",
        f"4 instances: {FRESH}",
    ]


def test_up_to_three_instances_are_named_and_others_stand_apart() -> None:
    rubric = Change("rubric", "rubric", "0" * 64, None)
    assert _text([changed("a", WARMER), changed("b", rubric), changed("c", WARMER)]).splitlines() == [
        "a, c: its inputs changed",
        "    model parameter temperature (parameters.temperature): 0.2 -> 1.5",
        "b: its inputs changed",
        '    rubric: "000000000000…" -> —',
    ]
    blocked = [Explanation(uid, False, f"cannot be computed: {uid} has no result in rubrics.") for uid in ("a", "b")]
    assert _text(blocked) == "a, b: cannot be computed: it has no result in rubrics."
    assert _text([]) == "The partition has no instances; deepchart status shows what is there."


def test_amounts_have_all_of_their_digits() -> None:
    amounts = (59574500000.0, 2016, -3717, 0.0999253036114445, 1.5e300)
    assert [_number(value) for value in amounts] == ["59574500000", "2016", "-3717", "0.09992530361", "1.5e+300"]
