from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.results import Outcome, Status, output_hash
from deepchart_dagster.artifacts.steps import Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import DamagedFile, MissingInputError, NoWorkPossible, ProviderTimeout, StorageError

STEP = Step(asset="predicted_states", partition=("finance-normal", "oracle"), scope=("finance-normal", "oracle"))


class Counter:
    """A stage that writes one file an instance and remembers what it computed."""

    def __init__(self) -> None:
        self.computed: list[str] = []

    def work(self, uid: str, content: str = "x", outcome: Outcome | Exception | None = None) -> Work:
        async def compute(folder: Path) -> Outcome:
            self.computed.append(uid)
            if isinstance(outcome, Exception):
                raise outcome
            (folder / "sub").mkdir()
            (folder / "sub" / "out.txt").write_text(content, errors="replace")
            return outcome or Outcome(value={"n": 1}, observations={"calls": 2, "price_usd": 0.5})

        return Work(uid=uid, key=InputKey.of(uid=uid, content=content), compute=compute)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "storage")


def test_a_second_run_reuses_everything(store: ArtifactStore) -> None:
    stage = Counter()
    works = [stage.work("academic/2"), stage.work("academic/1")]
    first = run_step(store, STEP, works)
    second = run_step(store, STEP, works)
    assert stage.computed == ["academic/1", "academic/2"]
    assert (first.n_computed, first.n_reused, first.n_ok) == (2, 0, 2)
    assert (second.n_computed, second.n_reused, second.n_ok) == (0, 2, 2)
    assert first.data_version == second.data_version
    assert first.observed("calls") == 4
    assert second.observed("calls") == 0, "reused instances cost nothing now"


def test_only_the_changed_instance_is_computed(store: ArtifactStore) -> None:
    stage = Counter()
    before = run_step(store, STEP, [stage.work("a"), stage.work("b")])
    stage.computed.clear()
    after = run_step(store, STEP, [stage.work("a"), stage.work("b", "changed"), stage.work("c")])
    assert stage.computed == ["b", "c"]
    assert (after.n_computed, after.n_reused) == (2, 1)
    assert after.data_version != before.data_version


def test_another_key_with_the_same_output_keeps_the_data_version(store: ArtifactStore) -> None:
    stage = Counter()
    before = run_step(store, STEP, [stage.work("a")])
    renamed = stage.work("a")
    after = run_step(store, STEP, [Work("a", InputKey.of(other="parts"), renamed.compute)])
    assert after.n_computed == 1
    assert after.data_version == before.data_version


def test_an_error_is_kept_named_and_retried_and_stops_nothing(store: ArtifactStore) -> None:
    stage = Counter()
    bad = stage.work("b", outcome=ProviderTimeout("no answer from model m within 600 s.", remedy="Try again."))
    summary = run_step(store, STEP, [stage.work("a"), bad, stage.work("c")])
    assert (summary.n_ok, summary.n_error, summary.n_failed) == (2, 1, 0)
    assert summary.errors[0].uid == "b"
    assert summary.errors[0].kind == "ProviderTimeout"
    assert summary.errors[0].message == "no answer from model m within 600 s. Try again."
    stage.computed.clear()
    again = run_step(store, STEP, [stage.work("a"), stage.work("b"), stage.work("c")])
    assert stage.computed == ["b"]
    assert (again.n_ok, again.n_error) == (3, 0)


def test_a_failure_is_a_result_and_is_not_retried(store: ArtifactStore) -> None:
    stage = Counter()
    failing = stage.work("a", outcome=Outcome.failed("timeout", "the program ran longer than 60 s", executed=0))
    run_step(store, STEP, [failing])
    summary = run_step(store, STEP, [failing])
    assert stage.computed == ["a"]
    assert (summary.n_failed, summary.n_reused, summary.n_error) == (1, 1, 0)
    stored = store.read(STEP.asset, STEP.scope, "a")
    assert stored is not None
    assert stored.status is Status.FAILED
    assert stored.value == {"executed": 0}


def test_a_blocked_instance_is_an_error_with_the_file_s_name(store: ArtifactStore) -> None:
    blocked = Work("a", InputKey.of(uid="a"), blocked=MissingInputError("data/x.md is missing."))
    summary = run_step(store, STEP, [blocked, Counter().work("b")])
    assert (summary.n_error, summary.n_ok) == (1, 1)
    assert "data/x.md" in summary.errors[0].message


@pytest.mark.parametrize("damage", ["file removed", "file shortened", "result damaged"])
def test_damaged_results_are_made_again(store: ArtifactStore, damage: str) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a", "content")])
    folder = store.folder(STEP.asset, STEP.scope, "a")
    if damage == "file removed":
        (folder / "sub" / "out.txt").unlink()
    elif damage == "file shortened":
        (folder / "sub" / "out.txt").write_text("c")
    else:
        (folder / "result.json").write_text('{"format": "deepchart-')
    summary = run_step(store, STEP, [stage.work("a", "content")])
    assert summary.n_computed == 1
    assert (folder / "sub" / "out.txt").read_text() == "content"


def test_a_damaged_result_is_named_with_its_remedy(store: ArtifactStore) -> None:
    run_step(store, STEP, [Counter().work("a")])
    path = store.folder(STEP.asset, STEP.scope, "a") / "result.json"
    path.write_text("{}")
    with pytest.raises(StorageError, match="is damaged") as caught:
        store.read(STEP.asset, STEP.scope, "a")
    assert str(path) in str(caught.value)


def test_the_manifest_is_derived_and_read_back(store: ArtifactStore) -> None:
    summary = run_step(store, STEP, [Counter().work("b"), Counter().work("a")])
    manifest = store.read_manifest(STEP.asset, STEP.partition)
    assert manifest is not None
    assert [row["uid"] for row in manifest.rows] == ["a", "b"]
    assert manifest.data_version == summary.data_version
    assert store.manifests(STEP.asset) == [("finance-normal", "oracle")]


def test_a_uid_that_comes_twice_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(NoWorkPossible, match="comes twice"):
        run_step(store, STEP, [Counter().work("a"), Counter().work("a")])


def test_storage_that_cannot_be_written_stops_the_step(store: ArtifactStore) -> None:
    blocked = Counter().work("a", outcome=StorageError("cannot write x: No space left on device."))
    with pytest.raises(StorageError, match="No space left"):
        run_step(store, STEP, [blocked, Counter().work("b")])


@dataclass
class AtOnce:
    """Computes nothing, slowly, and counts how many do so at the same time."""

    seconds: float
    running: int = 0
    most: int = 0

    async def compute(self, folder: Path) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.seconds)
        self.running -= 1
        return Outcome()


def run_in_threads(run: Callable[[str], object], *names: str) -> None:
    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_concurrency_is_bounded_and_used(store: ArtifactStore) -> None:
    counter = AtOnce(0.02)
    works = [Work(f"u{number}", InputKey.of(n=number), counter.compute) for number in range(12)]
    run_step(store, STEP, works, concurrency=4)
    assert counter.most == 4


def test_two_steps_on_one_partition_take_turns(store: ArtifactStore) -> None:
    events: list[str] = []

    def run(name: str) -> StepSummary:
        async def compute(folder: Path) -> Outcome:
            events.append(f"{name} in")
            await asyncio.sleep(0.05)
            events.append(f"{name} out")
            return Outcome()

        return run_step(store, STEP, [Work("a", InputKey.of(name=name), compute)])

    run_in_threads(run, "one", "two")
    assert [event.split()[1] for event in events] == ["in", "out", "in", "out"]


def test_splits_that_share_results_take_turns(store: ArtifactStore) -> None:
    counter = AtOnce(0.05)

    def run(split: str) -> None:
        step = Step(asset="references", partition=(split,), scope=(), shared=True)
        run_step(store, step, [Work("finance/1", InputKey.of(split=split), counter.compute)])

    run_in_threads(run, "finance-normal", "finance-long")
    assert counter.most == 1
    assert store.manifests("references") == [("finance-long",), ("finance-normal",)]


def test_a_kill_loses_at_most_what_was_in_flight(tmp_path: Path) -> None:
    program = """
import asyncio, os, sys, pathlib
from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
def work(n):
    async def compute(folder):
        (folder / "f").write_text(str(n))
        with open(sys.argv[2], "a") as log: log.write(f"{n}\\n")
        if n == 5 and len(sys.argv) == 4: os.kill(os.getpid(), 9)
        return Outcome()
    return Work(f"u{n}", InputKey.of(n=n), compute)
summary = run_step(ArtifactStore(pathlib.Path(sys.argv[1])), Step("a", ("p",), ("p",)), [work(n) for n in range(9)])
print(summary.n_computed, summary.n_reused)
"""
    arguments = [sys.executable, "-c", program, str(tmp_path / "storage"), str(tmp_path / "log")]
    assert subprocess.run([*arguments, "die"], check=False).returncode == -9
    output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    assert output.split() == ["4", "5"]
    counts = (tmp_path / "log").read_text().split()
    assert sorted(counts) == sorted([*map(str, range(9)), "5"]), "only the one in flight was done twice"
    assert not list((tmp_path / "storage").rglob(".tmp-*"))


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1),
)
def test_a_rerun_computes_exactly_what_differs(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, int], after: dict[str, int]
) -> None:
    store = ArtifactStore(tmp_path_factory.mktemp("storage"))
    stage = Counter()
    run_step(store, STEP, [stage.work(uid, str(content)) for uid, content in before.items()])
    stage.computed.clear()
    run_step(store, STEP, [stage.work(uid, str(content)) for uid, content in after.items()])
    assert sorted(stage.computed) == sorted(uid for uid in after if before.get(uid) != after[uid])


def test_the_result_file_names_its_parts(store: ArtifactStore) -> None:
    run_step(store, STEP, [Counter().work("a", "content")])
    stored = json.loads((store.folder(STEP.asset, STEP.scope, "a") / "result.json").read_text())
    assert stored["format"] == "deepchart-result/1"
    assert stored["key_parts"] == {"uid": "a", "content": "content"}
    assert stored["files"]["sub/out.txt"]["bytes"] == 7
    assert stored["input_key"].startswith("k1-")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{}", b"[" * 100_000, b'"\\ud800"'])
def test_a_damaged_result_is_named_and_made_again(store: ArtifactStore, content: bytes) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a"), stage.work("b")])
    damaged = store.folder(STEP.asset, STEP.scope, "a") / "result.json"
    damaged.write_bytes(content)
    with pytest.raises(DamagedFile, match=re.escape(str(damaged))):
        store.read(STEP.asset, STEP.scope, "a")
    again = run_step(store, STEP, [stage.work("a"), stage.work("b")])
    assert again.computed_uids == {"a"}
    assert store.read(STEP.asset, STEP.scope, "a") is not None


def test_a_result_that_is_a_folder_is_named_and_made_again(store: ArtifactStore) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a")])
    damaged = store.folder(STEP.asset, STEP.scope, "a") / "result.json"
    damaged.unlink()
    damaged.mkdir()
    with pytest.raises(DamagedFile, match=re.escape(str(damaged))):
        store.read(STEP.asset, STEP.scope, "a")
    assert run_step(store, STEP, [stage.work("a")]).computed_uids == {"a"}


def test_a_damaged_input_is_the_error_of_the_instance_that_reads_it_alone(store: ArtifactStore) -> None:
    stage = Counter()
    damaged = DamagedFile("evidence/x.json is damaged.", remedy="Delete it.")
    summary = run_step(store, STEP, [stage.work("a", outcome=damaged), stage.work("b")])
    assert (summary.n_error, summary.n_ok) == (1, 1)
    assert summary.errors[0].message == "evidence/x.json is damaged. Delete it."


@pytest.mark.parametrize(
    "content", [b"\xff\n", b"[]\n", b'{"uid": 1, "output_hash": "x"}\n', b'{"uid": "a"}\n', b"[" * 100_000 + b"\n"]
)
def test_a_damaged_manifest_is_named(store: ArtifactStore, content: bytes) -> None:
    run_step(store, STEP, [Counter().work("a")])
    path = store.partition_path(STEP.asset, STEP.partition, ".jsonl")
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=re.escape(str(path))):
        store.read_manifest(STEP.asset, STEP.partition)


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[" * 100_000])
def test_damaged_evidence_is_named(tmp_path: Path, content: bytes) -> None:
    evidence = EvidenceStore(tmp_path)
    evidence.put("drawn", "ab12", {"figures": []})
    [path] = (tmp_path / "evidence" / "drawn").rglob("*.json")
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=re.escape(str(path))):
        evidence.get("drawn", "ab12")


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.failed("crash", "it said \ud800 and \ud83d\ude00", member="\udfff"),
        Outcome(value={"\ud800": ["\ud800", {"a": "\ud800"}]}, observations={"said": "\ud800"}),
        ValueError("half a pair: \ud800"),
    ],
    ids=["failure", "value", "error"],
)
def test_half_a_surrogate_pair_makes_no_result_unreadable(store: ArtifactStore, outcome: Outcome | Exception) -> None:
    stage = Counter()
    (made,) = run_step(store, STEP, [stage.work("a", outcome=outcome)]).results
    assert store.read(STEP.asset, STEP.scope, "a") == made
    assert made.output_hash == output_hash(made.status, made.value, made.problem, made.files)
    if made.status is Status.FAILED:
        assert made.problem is not None
        assert (made.problem.message, made.value) == ("it said \ufffd and \U0001f600", {"member": "\ufffd"})


def test_half_a_surrogate_pair_in_a_key_leaves_the_instance_reusable(store: ArtifactStore) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a", content="\ud800")])
    assert run_step(store, STEP, [stage.work("a", content="\ud800")]).n_reused == 1


def test_where_only_errors_are_tried_again_every_other_result_stands(store: ArtifactStore) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a"), stage.work("b", outcome=ProviderTimeout("late")), stage.work("c")])
    stage.computed.clear()
    again = ArtifactStore(store.root, only_errors=True)
    works = [stage.work("a", content="other"), stage.work("b", content="other"), stage.work("c"), stage.work("new")]
    summary = run_step(again, STEP, works)
    assert stage.computed == ["b", "new"], "what is stale stays; what was never computed may have waited for an error"
    assert (summary.n_total, summary.n_computed, summary.n_reused, summary.n_error) == (4, 2, 2, 0)
    manifest = store.read_manifest(STEP.asset, STEP.partition)
    assert manifest is not None
    keys = {row["uid"]: row["input_key"] for row in manifest.rows}
    assert keys["a"] == stage.work("a").key.digest, "stale, and the manifest says of what it was made"
    stage.computed.clear()
    run_step(store, STEP, works)
    assert stage.computed == ["a"], "a run without the option does the rest"


def test_where_only_errors_are_tried_again_failures_are_not(store: ArtifactStore) -> None:
    stage = Counter()
    run_step(store, STEP, [stage.work("a", outcome=Outcome.failed("no_code", "nothing"))])
    again = run_step(ArtifactStore(store.root, only_errors=True), STEP, [stage.work("a")])
    assert (stage.computed, again.n_failed) == (["a"], 1)


def test_a_price_that_is_not_known_is_counted_and_not_taken_for_nothing(store: ArtifactStore) -> None:
    stage = Counter()
    unpriced = Outcome(observations={"calls": 1, "price_usd": None})
    summary = run_step(store, STEP, [stage.work("a"), stage.work("b", outcome=unpriced)])
    assert (summary.observed("price_usd"), summary.unknown("price_usd")) == (0.5, 1)
    assert run_step(store, STEP, [stage.work("a"), stage.work("b")]).unknown("price_usd") == 0
