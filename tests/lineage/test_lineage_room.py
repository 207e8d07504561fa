"""Status, why and verify on a real storage: the mini benchmark's academic-normal split, read and answered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from deepchart_dagster.artifacts.canonical import InputKey
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.group import cli
from deepchart_dagster.errors import UsageError
from deepchart_dagster.lineage.graph import BY_NAME, NODES, PartitionKey, node
from deepchart_dagster.lineage.looks import Look, look
from deepchart_dagster.lineage.status import Cell, State, read_status
from deepchart_dagster.lineage.trace import hops, value_places
from deepchart_dagster.lineage.verify import verify
from deepchart_dagster.lineage.why import explain
from deepchart_dagster.metrics.freshness import rows_are_written
from deepchart_dagster.metrics.rows import export_partition
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

SPLIT = Split.ACADEMIC_NORMAL
MODEL = "oracle"
PAPERS = ("mini-barley-paper", "mini-lichen-paper")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def bench(made: Path, tmp_path: Path) -> Iterator[Workbench]:
    """A copy that the test may change."""
    storage = tmp_path / "storage"
    shutil.copytree(made, storage)
    with Workbench(load_settings(storage=storage)) as workbench:
        yield workbench


def _cells(bench: Workbench) -> dict[str, Cell]:
    cells = read_status(bench, models=[MODEL], splits=[SPLIT])
    return {cell.key.asset: cell for cell in cells if cell.key.document in (None, PAPERS[0])}


def test_what_was_made_is_fresh_and_the_rest_is_missing(bench: Workbench) -> None:
    cells = _cells(bench)
    made = ("raw_documents", "ocr_contexts", "context_variants", "references", "predicted_states", "source_fidelity")
    assert {name: cells[name].state for name in made} == dict.fromkeys(made, State.FRESH)
    assert cells["rendered_charts"].state is State.MISSING
    assert (cells["predicted_states"].n_total, cells["predicted_states"].n_done) == (2, 2)
    assert cells["rendered_charts"].because == ("2 of 2 instances were never computed",)


def test_another_engine_makes_what_it_reads_stale_and_the_contexts_built_from_it(made: Path) -> None:
    with Workbench(load_settings(storage=made, ocr_engine="text-layer")) as changed:
        cells = _cells(changed)
    stale = ("ocr_contexts", "context_variants", "predicted_states", "source_fidelity")
    assert {name: cells[name].state for name in stale} == dict.fromkeys(stale, State.STALE)
    engines = "drawing of pages, OCR engine (DEEPCHART_OCR_ENGINE), OCR engine rapidocr and 1 more"
    assert cells["context_variants"].because == tuple(
        f"ocr_contexts {paper} is stale (1 of 2 instances read that): {engines}" for paper in PAPERS
    )
    # Two hops on it is still said through what.
    states = f"predicted_states {SPLIT}|{MODEL} is stale: through context_variants: through ocr_contexts: {engines}"
    assert cells["source_fidelity"].because == (states,)
    assert cells["raw_documents"].state is cells["references"].state is State.FRESH


def test_a_changed_prompt_makes_states_stale_and_scores_behind_them(
    bench: Workbench, tmp_path: Path, made: Path
) -> None:
    prompts = _changed_prompt(tmp_path / "prompts")
    with Workbench(load_settings(storage=bench.settings.storage, prompts=prompts)) as changed:
        cells = _cells(changed)
        key = PartitionKey("predicted_states", split=SPLIT, model=MODEL)
        explanations = explain(changed, key)
    assert cells["context_variants"].state is State.FRESH
    assert cells["predicted_states"].state is State.STALE
    assert cells["source_fidelity"].state is State.STALE
    assert len(explanations) == 2
    for explanation in explanations:
        assert [change.part for change in explanation.changes] == ["prompt"]
        assert explanation.changes[0].what == "prompt"
        assert explanation.changes[0].old != explanation.changes[0].new
    assert cells["source_fidelity"].because == (f"predicted_states {SPLIT}|{MODEL} is stale: prompt",)
    assert (cells["source_fidelity"].n_done, cells["source_fidelity"].n_behind) == (2, 2)


def test_a_lost_instance_makes_the_partition_partial(bench: Workbench) -> None:
    folder = bench.settings.storage / "predicted_states" / SPLIT.value / MODEL
    shutil.rmtree(next(path for path in folder.iterdir() if path.is_dir()))
    cell = _cells(bench)["predicted_states"]
    assert (cell.state, cell.n_done, cell.n_total) == (State.PARTIAL, 1, 2)
    assert cell.because == ("1 of 2 instances were never computed",)


def _changed_prompt(folder: Path) -> Path:
    """A prompt set whose stage-1 prompt is another one, though it says the same."""
    folder.mkdir()
    ours = Path(__file__).parents[2] / "deepchart_dagster/generation/prompt_files/stage1.yaml"
    (folder / "stage1.yaml").write_text(ours.read_text() + "\n# another version\n")
    return folder


def test_a_dry_run_says_what_would_run_and_ask_and_runs_nothing(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPCHART_STORAGE", str(bench.settings.storage))
    monkeypatch.setenv("DEEPCHART_PROMPTS", str(_changed_prompt(tmp_path / "prompts")))
    stored = {path: path.stat().st_mtime_ns for path in bench.settings.storage.rglob("result.json")}
    selection = ["context_variants,predicted_states,source_fidelity", "--model", MODEL, "--split", SPLIT.value]
    done = CliRunner().invoke(cli, ["materialize", *selection, "--stale-only", "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    forecast = json.loads(done.stdout)
    rows = {row["asset"]: row for row in forecast["would_run"]}
    assert {name: (row["n_to_compute"], row["n_behind"], row["n_total"]) for name, row in rows.items()} == {
        "predicted_states": (2, 0, 2),
        "source_fidelity": (0, 2, 2),
    }
    assert "(prompt)" in rows["predicted_states"]["because"][0]
    assert forecast["estimate"]["total"]["calls"] == {"low": 2, "expected": 2, "high": 2}
    assert {path: path.stat().st_mtime_ns for path in bench.settings.storage.rglob("result.json")} == stored


def test_a_split_whose_results_another_split_made_is_still_listed(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPCHART_STORAGE", str(bench.settings.storage))

    def would_run(*options: str) -> list[tuple[str, str, int]]:
        arguments = ["materialize", "references", "--split", "academic-long", *options, "--dry-run", "--json"]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
        return [(row["asset"], row["state"], row["n_to_compute"]) for row in json.loads(done.stdout)["would_run"]]

    assert would_run("--stale-only") == [("references", "fresh", 0)]
    assert bench.references().run(Split.ACADEMIC_LONG).n_computed == 0
    assert would_run("--stale-only") == []


def test_rows_older_than_their_partition_are_to_be_written(bench: Workbench) -> None:
    store, partition = bench.artifacts, (SPLIT.value, MODEL)
    assert not rows_are_written(store, "source_fidelity", partition)  # no asset ran: only the stage
    export_partition(store, bench.library, bench.models, "source_fidelity", partition)
    assert rows_are_written(store, "source_fidelity", partition)
    bench.fidelity("src").run(SPLIT, bench.model(MODEL))  # killed before its rows
    assert not rows_are_written(store, "source_fidelity", partition)
    export_partition(store, bench.library, bench.models, "source_fidelity", partition)  # the same rows
    assert rows_are_written(store, "source_fidelity", partition)
    assert rows_are_written(store, "context_variants", (SPLIT.value,))


@pytest.mark.parametrize("hours", [-1, 1], ids=["set back", "set forward"])
def test_rows_are_known_for_what_they_are_when_the_clock_was_set_in_between(bench: Workbench, hours: int) -> None:
    """By the times of files, rows would be an hour older than their list, or a list an hour older than old rows."""
    store, partition = bench.artifacts, (SPLIT.value, MODEL)
    export_partition(store, bench.library, bench.models, "source_fidelity", partition)
    listed = store.partition_path("source_fidelity", partition, ".jsonl")
    shifted = listed.stat().st_mtime_ns - hours * 3_600_000_000_000
    os.utime(listed, ns=(shifted, shifted))  # as a run makes it that ends before its rows
    assert not rows_are_written(store, "source_fidelity", partition)
    export_partition(store, bench.library, bench.models, "source_fidelity", partition)
    assert rows_are_written(store, "source_fidelity", partition)


def test_a_run_that_was_killed_before_it_wrote_its_list_shows_as_partial(bench: Workbench) -> None:
    manifest = bench.artifacts.partition_path("predicted_states", (SPLIT.value, MODEL), ".jsonl")
    manifest.write_text(manifest.read_text().splitlines()[0] + "\n")
    cell = _cells(bench)["predicted_states"]
    assert (cell.state, cell.n_done, cell.n_total) == (State.PARTIAL, 2, 2)
    assert cell.because == ("every instance is done, but the run ended before it said so",)


def test_the_way_of_an_instance_leads_from_its_score_to_the_page(bench: Workbench) -> None:
    key = PartitionKey("source_fidelity", split=SPLIT, model=MODEL)
    way = hops(bench, key, "mini/academic-barley-roots")
    assert [(hop.key.asset, hop.uid.rpartition("/")[2]) for hop in way] == [
        ("source_fidelity", "academic-barley-roots"),
        ("predicted_states", "academic-barley-roots"),
        ("references", "academic-barley-roots"),
        ("context_variants", "academic-barley-roots"),
        ("ocr_contexts", PAPERS[0]),
        ("raw_documents", PAPERS[0]),
    ]
    assert all(hop.explanation.fresh and hop.result and (hop.folder / "result.json").is_file() for hop in way)
    values = value_places(bench, key, "mini/academic-barley-roots")
    first = values[0]
    assert (len(values), first.reference, first.predicted) == (54, 7.84, 7.84)
    assert (first.places[0].document_id, first.places[0].page) == (PAPERS[0], 5)
    assert "Wild type" in first.places[0].row


def test_prices_and_pace_change_nothing(bench: Workbench, tmp_path: Path) -> None:
    text = bench.settings.models_file.read_text().replace("concurrency: 16", "concurrency: 3")
    models = tmp_path / "models.yaml"
    models.write_text(text.replace("input_per_million: 0,", "input_per_million: 5,"))
    with Workbench(load_settings(storage=bench.settings.storage, models_file=models, workers=1)) as other:
        assert other.model(MODEL).concurrency == 3
        assert _cells(other)["predicted_states"].state is State.FRESH


def test_a_model_taken_out_is_orphaned_and_kept(bench: Workbench, tmp_path: Path) -> None:
    text = bench.settings.models_file.read_text()
    models = tmp_path / "models.yaml"
    models.write_text(text.replace("\n  oracle:\n", "\n  soothsayer:\n"))
    with Workbench(load_settings(storage=bench.settings.storage, models_file=models)) as other:
        cells = read_status(other, models=["soothsayer"], splits=[SPLIT])
    orphaned = {cell.key.asset for cell in cells if cell.state is State.ORPHANED}
    assert orphaned == {"predicted_states", "source_fidelity"}
    assert (bench.settings.storage / "predicted_states" / SPLIT.value / MODEL).is_dir()


def test_a_text_model_has_nothing_to_do_on_reports(bench: Workbench) -> None:
    cells = read_status(bench, models=["deepseek-v3.2"], splits=[Split.ECOSYSTEM])
    assert {cell.state for cell in cells if cell.key.model} == {State.NOT_APPLICABLE}


def test_verify_finds_what_was_edited_removed_or_added(bench: Workbench) -> None:
    storage = bench.settings.storage
    assert verify(storage).findings == ()
    states = sorted((storage / "predicted_states" / SPLIT.value / MODEL).glob("*/state.json"))
    states[0].write_text("{}")
    states[1].unlink()
    (states[1].parent / "note.txt").write_text("mine")
    result = states[1].with_name("result.json")
    edited = json.loads(result.read_text())
    edited["value"]["n_source"] = 999
    result.write_text(json.dumps(edited))

    def stored() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in storage.rglob("*")}

    before = stored()
    found = {(finding.file.name, finding.message) for finding in verify(storage).findings}
    assert stored() == before, "nothing is touched"
    assert found == {
        ("state.json", "differs from what was recorded"),
        ("state.json", "is missing"),
        ("note.txt", "is not part of the result"),
        ("result.json", "was edited: its output hash does not fit its content"),
    }


def test_every_upstream_asset_exists_and_comes_before() -> None:
    seen: set[str] = set()
    for asset in NODES:
        assert set(asset.upstream) <= seen
        seen.add(asset.name)
    assert set(BY_NAME) == seen
    with pytest.raises(UsageError, match="there is no asset 'nonsense'"):
        node("nonsense")


def test_verify_names_what_cannot_be_read_and_goes_on(bench: Workbench) -> None:
    storage = bench.settings.storage
    first, second = sorted((storage / "predicted_states" / SPLIT.value / MODEL).glob("*/result.json"))
    first.unlink()
    first.mkdir()
    second.write_bytes(b"\xff\xfe")
    manifest = storage / "predicted_states" / "_partitions" / SPLIT.value / f"{MODEL}.jsonl"
    manifest.write_bytes(b"[]\n")
    document, other, *_ = sorted((storage / "documents").glob("*/document.json"))
    document.write_bytes(b"\xff")
    other.with_name("source.pdf").write_bytes(b"%PDF-1.7 another")
    described = storage / "benchmarks" / "mini" / "benchmark.json"
    [named, *_] = json.loads(described.read_text())["files"]
    (described.parent / named).write_bytes(b"changed")
    (described.parent / "queries.jsonl").write_bytes(b'{"uid":\n')
    killed = storage / "predicted_states" / SPLIT.value / MODEL / ".tmp-0-1-2"
    killed.mkdir()
    (killed / "result.json").write_text("{")

    found = {finding.file: finding.message for finding in verify(storage).findings}

    assert set(found) == {
        first,
        second,
        manifest,
        document,
        other.with_name("source.pdf"),
        described.parent / named,
        described.parent / "queries.jsonl",
    }
    assert found[first] == "cannot be read: Is a directory"
    assert found[other.with_name("source.pdf")] == "differs from what was recorded"


def test_what_has_not_changed_is_not_read_again(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _cells(bench)
    read: list[str] = []

    def counted(bench: Workbench, key: PartitionKey) -> Look:
        read.append(key.asset)
        return look(bench, key)

    monkeypatch.setattr("deepchart_dagster.lineage.seen.look", counted)
    assert _cells(bench) == first
    assert read == []
    read_status(bench, models=[MODEL], splits=[SPLIT], anew=True)
    assert {"raw_documents", "context_variants", "predicted_states"} <= set(read)
    read.clear()
    state = next((bench.settings.storage / "predicted_states" / SPLIT.value / MODEL).glob("*/state.json"))
    state.unlink()
    changed = _cells(bench)
    uid = state.parent.name.replace("~", "/")
    reason = f"1 of 2 instances have other inputs now (output files are missing), first {uid}"
    assert changed["predicted_states"].because == (reason,)
    assert "ocr_contexts" not in read, "what a document's partition reads is as it was"
    seen = bench.settings.storage / "lineage" / "seen.json"
    seen.write_text("{")
    assert _cells(bench) == changed


def test_what_people_put_there_and_what_is_gone_from_a_folder_within_a_result_is_seen(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _cells(bench)["context_variants"].state is State.FRESH
    next((bench.settings.storage / "context_variants" / SPLIT.value).glob("*/files/**/*.md")).unlink()
    lost = _cells(bench)["context_variants"]
    assert (lost.state, lost.n_done) == (State.STALE, 1)
    read: list[str] = []

    def noted(bench: Workbench, key: PartitionKey) -> Look:
        read.append(key.asset)
        return look(bench, key)

    monkeypatch.setattr("deepchart_dagster.lineage.seen.look", noted)
    _cells(bench)
    assert read == []
    given = bench.settings.storage / "given_rubrics" / "mini~academic-barley-roots.json"
    given.parent.mkdir()
    given.write_text("{}")
    _cells(bench)
    assert "rubrics" in read


def test_a_manifest_that_no_split_has_is_passed_over(bench: Workbench) -> None:
    stray = bench.settings.storage / "source_fidelity" / "_partitions" / "no-split" / "no-model.jsonl"
    stray.parent.mkdir()
    stray.write_bytes(b"")
    assert State.ORPHANED not in {cell.state for cell in read_status(bench, models=[MODEL], splits=[SPLIT])}


def test_verify_takes_an_instance_called_result_json_for_one(tmp_path: Path) -> None:
    async def compute(folder: Path) -> Outcome:
        (folder / "out.txt").write_text("x")
        return Outcome()

    work = Work(uid="result.json", key=InputKey.of(a=1), compute=compute)
    run_step(ArtifactStore(tmp_path), Step.own("predicted_states", "ecosystem", "m"), [work])
    report = verify(tmp_path)
    assert (report.n_results, report.n_files, report.findings) == (1, 1, ())


def test_verify_names_a_folder_that_this_user_may_not_look_into(tmp_path: Path) -> None:
    closed = tmp_path / "references" / "q"
    closed.mkdir(parents=True)
    closed.chmod(0)
    rights = "-dac_override,-dac_read_search"
    as_others = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
    program = (
        "import pathlib, sys; from deepchart_dagster.lineage.verify import verify\n"
        "print(verify(pathlib.Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [*as_others, sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    closed.chmod(0o755)
    assert str(closed) in done.stdout
    assert "cannot be read: Permission denied" in done.stdout
