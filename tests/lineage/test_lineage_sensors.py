"""The sensors that show staleness in Dagster and that refresh: on a real instance, with real runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import dagster as dg
import pytest

from assets.staleness import _JOBS
from deepchart_dagster.artifacts.results import Outcome
from deepchart_dagster.artifacts.steps import run_step
from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.errors import ProviderTimeout
from deepchart_dagster.lineage.graph import PartitionKey, PartitionKind, plan
from deepchart_dagster.lineage.refresh import _ORDER, due, is_due
from deepchart_dagster.lineage.status import Cell, State, read_status
from deepchart_dagster.settings import load_settings
from deepchart_dagster.workbench import Workbench

SPLIT = "academic-normal"
PARTITION = f"oracle|{SPLIT}"


@dataclass
class Location:
    """The code location on a storage, with an instance of its own; cursors are kept as the daemon does."""

    instance: dg.DagsterInstance
    definitions: dg.Definitions
    cursors: dict[str, str | None] = field(default_factory=dict)

    def tick(self, name: str) -> dg.SensorResult | dg.SkipReason:
        sensor = self.definitions.resolve_sensor_def(name)
        resources = dict(self.definitions.resources or {})
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursors.get(name), resources=resources, sensor_name=name
        )
        found = sensor(context)
        assert isinstance(found, dg.SensorResult | dg.SkipReason)
        self.cursors[name] = found.cursor if isinstance(found, dg.SensorResult) else context.cursor
        return found

    def fresh(self) -> dict[tuple[str, str | None], dg.AssetCheckEvaluation]:
        """The check `fresh` of every asset and partition of which anything was said, as the UI shows it."""
        said: dict[tuple[str, str | None], dg.AssetCheckEvaluation] = {}
        for key in self.definitions.resolve_asset_graph().asset_check_keys:
            if key.name == "fresh":
                for record in self.instance.event_log_storage.get_asset_check_execution_history(key, limit=100):
                    if record.evaluation:  # newest first
                        said.setdefault((key.asset_key.to_user_string(), record.partition), record.evaluation)
        return said

    def not_fresh(self) -> set[tuple[str, str | None]]:
        return {name for name, evaluation in self.fresh().items() if not evaluation.passed}

    def run(self, request: dg.RunRequest) -> bool:
        assert request.job_name
        assert request.asset_selection
        job = self.definitions.resolve_job_def(request.job_name)
        done = job.execute_in_process(
            instance=self.instance,
            partition_key=request.partition_key,
            asset_selection=list(request.asset_selection),
            tags=dict(request.tags),
            raise_on_error=False,
        )
        return done.success


@pytest.fixture
def location(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Location]:
    storage = tmp_path / "storage"
    shutil.copytree(made, storage)
    monkeypatch.setenv("DEEPCHART_STORAGE", str(storage))
    from deepchart_dagster.definitions import defs

    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        instance.add_dynamic_partitions("models", ["oracle"])
        instance.add_dynamic_partitions("documents", ["mini-barley-paper", "mini-lichen-paper"])
        yield Location(instance, defs)


def _prompt(tmp_path: Path) -> str:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    ours = Path(__file__).parents[2] / "deepchart_dagster/generation/prompt_files/stage1.yaml"
    (prompts / "stage1.yaml").write_text(ours.read_text() + "\n# another version\n")
    return str(prompts)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_stale_partition_is_seen_in_dagster_and_refreshed(
    location: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location.tick("staleness")
    said = location.fresh()
    assert set(said) == {
        *((asset, paper) for asset in ("raw_documents", "ocr_contexts") for paper in _papers()),
        *((asset, SPLIT) for asset in ("context_variants", "references")),
        ("references", "academic-long"),  # the same references
        *((asset, PARTITION) for asset in ("predicted_states", "source_fidelity")),
    }, "what was begun, and nothing else"
    assert location.not_fresh() == set()
    again = location.tick("staleness")
    assert isinstance(again, dg.SkipReason)
    assert again.skip_message == "9 partitions, 0 of them not fresh; 0 changed since the last look."

    behind = {("predicted_states", PARTITION), ("source_fidelity", PARTITION)}
    monkeypatch.setenv("DEEPCHART_PROMPTS", _prompt(tmp_path))
    location.tick("staleness")
    assert location.not_fresh() == behind
    why = location.fresh()["source_fidelity", PARTITION]
    assert why.severity is dg.AssetCheckSeverity.WARN
    assert why.description == f"stale: predicted_states {SPLIT}|oracle is stale: prompt"
    with monkeypatch.context() as undone:  # a check may be said any number of times without a run
        undone.delenv("DEEPCHART_PROMPTS")
        location.tick("staleness")
        assert location.not_fresh() == set()
    location.tick("staleness")
    assert location.not_fresh() == behind

    asked = location.tick("refresh_stale")
    assert isinstance(asked, dg.SensorResult)
    (request,) = asked.run_requests or []
    assert (request.job_name, request.partition_key) == ("evaluate_model", PARTITION)
    assert [key.to_user_string() for key in request.asset_selection or []] == ["predicted_states", "source_fidelity"]
    again = location.tick("refresh_stale")
    assert isinstance(again, dg.SkipReason), "not asked twice for the same reason"
    assert location.run(request)
    assert location.not_fresh() == set(), "the run says it itself"
    location.tick("staleness")
    assert location.not_fresh() == set()
    assert isinstance(location.tick("refresh_stale"), dg.SkipReason)
    calls = Path(os.environ["DEEPCHART_STORAGE"], "llm", "ledger")
    assert sum(len(path.read_text().splitlines()) for path in calls.glob("*.jsonl")) == 4, "two calls for each prompt"

    # What a run made can turn stale after it, again and again, and takes the place of what the run said.
    monkeypatch.delenv("DEEPCHART_PROMPTS")
    location.tick("staleness")
    assert location.not_fresh() == behind


def _papers() -> tuple[str, str]:
    return ("mini-barley-paper", "mini-lichen-paper")


def test_the_refresh_is_off_until_somebody_switches_it_on() -> None:
    from deepchart_dagster.definitions import defs

    status = {name: defs.resolve_sensor_def(name).default_status for name in ("staleness", "refresh_stale")}
    assert status == {"staleness": dg.DefaultSensorStatus.RUNNING, "refresh_stale": dg.DefaultSensorStatus.STOPPED}


def _cell(asset: str, state: State, done: int = 0, refreshable: int = 0, *, unlisted: bool = False) -> Cell:
    keys = {
        "ocr_contexts": PartitionKey("ocr_contexts", document="d"),
        "references": PartitionKey("references", split=Split.ECOSYSTEM),
    }
    key = keys.get(asset, PartitionKey(asset, split=Split.ECOSYSTEM, model="m"))
    again = frozenset(f"q{n}" for n in range(refreshable))
    return Cell(key, state, n_total=2, n_done=done, refreshable=again, unlisted=unlisted, because=("x",))


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        (_cell("references", State.FRESH, 2), False),
        (_cell("references", State.MISSING), False),
        (_cell("references", State.FAILED), False),
        (_cell("references", State.PARTIAL, done=1), False),
        (_cell("references", State.PARTIAL, done=1, refreshable=1), True),
        (_cell("references", State.PARTIAL, done=2, unlisted=True), True),
        (_cell("references", State.STALE, done=1, refreshable=1), True),
        (_cell("references", State.STALE, done=2, refreshable=1), True),
        (_cell("references", State.STALE, done=2), False),
    ],
)
def test_errors_and_what_was_never_run_are_left_alone(cell: Cell, wanted: bool) -> None:
    assert is_due(cell) is wanted
    assert bool(due([cell])) is wanted


async def _provider_is_down(folder: Path) -> Outcome:
    raise ProviderTimeout("no answer within 600 s.")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_reads_from_an_error_waits_until_that_is_gone(made: Path, tmp_path: Path) -> None:
    split, roots, growth = Split(SPLIT), "mini/academic-barley-roots", "mini/academic-lichen-growth"
    states = PartitionKey("predicted_states", split=split, model="oracle")
    with Workbench(load_settings(storage=shutil.copytree(made, tmp_path / "storage"))) as bench:

        def look() -> tuple[dict[str, Cell], list[tuple[str, ...]]]:
            cells = read_status(bench, models=["oracle"], splits=[split])
            return {cell.key.asset: cell for cell in cells}, [one.assets for one in due(cells)]

        folders = {uid: bench.artifacts.folder("predicted_states", (SPLIT, "oracle"), uid) for uid in (roots, growth)}
        for folder in folders.values():
            shutil.rmtree(folder)
        works = [replace(work, compute=_provider_is_down) for work in plan(bench, states)]
        assert run_step(bench.artifacts, states.step, works).n_error == 2
        cells, runs = look()
        assert (cells["predicted_states"].state, cells["source_fidelity"].state) == (State.FAILED, State.STALE)
        assert (cells["source_fidelity"].n_done, cells["source_fidelity"].n_error) == (0, 0)
        assert runs == []

        shutil.rmtree(folders[growth])  # it can be made, and then so can its score
        cells, runs = look()
        assert cells["predicted_states"].refreshable == cells["source_fidelity"].refreshable == {growth}
        assert runs == [("predicted_states", "source_fidelity")]

        bench.predicted_states().run(split, bench.model("oracle"))
        cells, runs = look()
        assert (cells["source_fidelity"].state, runs) == (State.FRESH, [])


def test_every_kind_of_partition_has_its_turn_and_its_job() -> None:
    assert set(_ORDER) == set(PartitionKind) == {PartitionKind(name) for name in _JOBS}
    key = PartitionKey("judge_verdicts", judge="j")
    (judged,) = due([Cell(key, State.STALE, n_total=2, n_done=1, refreshable=frozenset({"c"}))])
    assert (judged.kind, judged.assets) == (PartitionKind.JUDGE, ("judge_verdicts",))


def test_the_furthest_upstream_goes_first_and_a_partition_s_assets_together() -> None:
    scores = [_cell(name, State.STALE, done=2, refreshable=1) for name in ("predicted_states", "execution_rate")]
    document = _cell("ocr_contexts", State.STALE, refreshable=1)
    assert [one.kind for one in due([*scores, document])] == [PartitionKind.DOCUMENT]
    (together,) = due(scores)
    assert together.assets == ("predicted_states", "execution_rate")
