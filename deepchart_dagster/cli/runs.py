"""Materialising assets through Dagster in this process: the same assets, checks and event log as in the UI."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from filelock import FileLock

from deepchart_dagster import errors
from deepchart_dagster.artifacts.canonical import sha256_file
from deepchart_dagster.artifacts.files import storage_errors, write_text
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.errors import (
    ConfigurationError,
    DeepChartError,
    InfrastructureError,
    NoWorkPossible,
    StorageError,
)
from deepchart_dagster.lineage.graph import BY_NAME, AssetNode, PartitionKind
from deepchart_dagster.settings import Settings

if TYPE_CHECKING:
    import dagster as dg

DAGSTER_YAML = """\
# Written by deepchart once; yours to edit. Limits of pools are set in the UI (Deployment, Concurrency).
telemetry: {enabled: false}
nux: {enabled: false}
# Runs are processes of this machine; this launcher can tell when one has ended without a word.
run_launcher: {module: resources.run_launcher, class: LocalRunLauncher}
# A run that does not start, or whose process is gone, is ended.
run_monitoring: {enabled: true, start_timeout_seconds: 300, poll_interval_seconds: 20}
# A run that ended before its steps did is tried again; a step that failed is not: it tries again by itself where that
# can help, and what is in error is in its check.
run_retries: {enabled: true, max_retries: 2, retry_on_asset_or_op_failure: false}
concurrency:
  # A run waits in the queue until each pool of its steps has room; a step that has begun waits for nobody.
  pools: {default_limit: 1, granularity: run}
  runs: {max_concurrent_runs: 2}
"""
# sha256 of what earlier versions wrote there: nobody's edits, so this version's takes its place.
_WRITTEN_BEFORE = (
    "6b8d6192cf53a99165a6222660fa32b5f3cfc898ec327c2a82cd4cee7db6664e",
    "3cb58d69315e614f5d71f044b4c3fe37bdbdb8f829f49770076835809c77762f",
)

_SHOWN_CHARACTERS = 300  # Dagster's own words go on with its whole schema


@dataclass(frozen=True)
class Materialized:
    """One asset partition as one run made it (the row of ``materialize --json``)."""

    asset: str
    partition: str
    n_computed: int
    n_reused: int
    n_error: int
    calls: int
    seconds: float

    @property
    def n_done(self) -> int:
        """Instances that have a result now: ok, failed or not applicable, but no error."""
        return self.n_computed + self.n_reused - self.n_error

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class RunOutcome:
    """What a run materialised, and what stopped it where it did not succeed (what it made until then is kept).

    ``failure`` is what the step raised where it was one of ours (NoWorkPossible: nothing could be done at all).
    ``in_error`` are partitions that were tried, and every instance of them is in error: stored, not materialised.
    """

    rows: tuple[Materialized, ...]
    failure: DeepChartError | None = None
    in_error: tuple[Materialized, ...] = ()


def prepare_home(settings: Settings) -> None:
    """Dagster's home below the storage root, with a dagster.yaml; sets DAGSTER_HOME for this process."""
    config = settings.dagster_home / "dagster.yaml"
    if not config.exists() or sha256_file(config) in _WRITTEN_BEFORE:
        write_text(config, DAGSTER_YAML)
    os.environ["DAGSTER_HOME"] = str(settings.dagster_home)
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")


class Runs:
    """Runs in this process, recorded in the storage's Dagster instance."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        prepare_home(settings)

    @cached_property
    def instance(self) -> dg.DagsterInstance:
        """Raises ConfigurationError for a dagster.yaml that Dagster cannot use: it is the user's to edit."""
        import dagster as dg
        import yaml

        config = self.settings.dagster_home / "dagster.yaml"
        try:
            with self._alone():
                instance = dg.DagsterInstance.get()
                # Each makes its tables when it is first asked for.
                _ = instance.run_storage, instance.event_log_storage, instance.schedule_storage
                return instance
        except (dg.DagsterError, yaml.YAMLError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())[:_SHOWN_CHARACTERS]
            raise ConfigurationError(
                f"{config} cannot be used: {said}.", remedy="Correct it, or delete it: then it is written anew."
            ) from error

    @cached_property
    def definitions(self) -> dg.Definitions:
        from deepchart_dagster.definitions import defs

        return defs

    def sync_models(self, slugs: Iterable[str]) -> dict[str, list[str]]:
        from deepchart_dagster.partitions import MODELS_NAME, sync_partitions

        with self._records():
            instance = self.instance
            with self._alone():
                change = sync_partitions(instance, MODELS_NAME, list(slugs))
        return {"added": list(change.added), "orphaned": list(change.removed)}

    def sync_documents(self, ids: Iterable[str]) -> None:
        from deepchart_dagster.partitions import DOCUMENTS_NAME, sync_partitions

        with self._records():
            instance = self.instance
            with self._alone():
                sync_partitions(instance, DOCUMENTS_NAME, list(ids))

    def sync_judges(self, slugs: Iterable[str]) -> None:
        from deepchart_dagster.partitions import JUDGES_NAME, sync_partitions

        with self._records():
            instance = self.instance
            with self._alone():
                sync_partitions(instance, JUDGES_NAME, list(slugs))

    def set_pool_limits(self) -> None:
        """Limits of the assets' pools, where nobody has set one yet (Dagster keeps them in its records)."""
        from assets.pools import LIMITS

        with self._records():
            storage = self.instance.event_log_storage
            with self._alone():
                chosen = {pool.name for pool in storage.get_pool_limits() if not pool.from_default}
                for name in LIMITS.keys() - chosen:
                    storage.set_concurrency_slots(name, LIMITS[name])

    def materialize(self, assets: Sequence[str], partition: str | None = None) -> RunOutcome:
        """Run these assets for one partition; assets must share its kind of partition.

        Raises KeyboardInterrupt where somebody asked us to end: Dagster catches it and ends the run.
        """
        import dagster as dg

        from resources.tags import HOST_TAG

        job = self.definitions.resolve_implicit_global_asset_job_def()
        begun = time.monotonic()
        with self._records(), self._apart_from_stdout():
            result = job.execute_in_process(
                instance=self.instance,
                partition_key=partition,
                asset_selection=[dg.AssetKey(name.split("/")) for name in assets],
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                tags={HOST_TAG: platform.node()},
                raise_on_error=False,
            )
        if any(_is_interrupted(event) for event in result.all_events):
            raise KeyboardInterrupt
        rows = [
            _row(event.step_materialization_data.materialization, partition, time.monotonic() - begun)
            for event in result.get_asset_materialization_events()
        ]
        if result.success:
            return RunOutcome(tuple(rows))
        return RunOutcome(tuple(rows), _failure(result, assets, partition), tuple(self._in_error(result, partition)))

    def _in_error(self, result: dg.ExecuteInProcessResult, partition: str | None) -> Iterator[Materialized]:
        """A row for every step that ended with NoWorkPossible: its manifest says how many instances it tried."""
        store = ArtifactStore(self.settings.storage)
        for event in result.all_events:
            asset = BY_NAME.get(event.step_key or "") if event.is_step_failure else None
            if asset is None or partition is None or not isinstance(_error_of(event), NoWorkPossible):
                continue
            manifest = store.read_manifest(asset.name, _manifest_partition(asset, partition))
            n = len(manifest.rows) if manifest else 0
            yield Materialized(asset.name, partition, n_computed=n, n_reused=0, n_error=n, calls=0, seconds=0.0)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two commands that start together on a new storage would make the same tables, and add the same partitions."""
        path = self.settings.dagster_home / ".lock"
        with storage_errors(path, "lock"):
            lock = FileLock(path)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _records(self) -> Iterator[None]:
        """Dagster keeps its records in SQLite below its home: what stops that becomes one line with the place."""
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except DBAPIError as error:
            raise StorageError(
                f"Dagster cannot keep its records in {self.settings.dagster_home}: {error.orig}.",
                remedy="Free space or give this user write permission, or choose another folder with --storage; "
                "what is stored is kept.",
            ) from error

    @contextmanager
    def _apart_from_stdout(self) -> Iterator[None]:
        """What steps print (dbt does) goes to a log: stdout belongs to the command's result."""
        log = self.settings.storage / "logs" / "runs.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as stream, redirect_stdout(stream):
            yield


def _is_interrupted(event: dg.DagsterEvent) -> bool:
    """Dagster cancels the run between steps, and inside a step has it fail with an error of its own."""
    import dagster as dg

    if event.event_type is dg.DagsterEventType.RUN_CANCELED:
        return True
    error = event.step_failure_data.error if event.is_step_failure else None
    names = {one.cls_name for one in (error, error.cause if error else None) if one}
    return bool(names & {"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def _row(materialization: dg.AssetMaterialization, partition: str | None, run_seconds: float) -> Materialized:
    values = {name: entry.value for name, entry in materialization.metadata.items()}

    def number(name: str, default: float = 0.0) -> float:
        value = values.get(name, default)
        return float(value) if isinstance(value, int | float) else default

    return Materialized(
        asset=materialization.asset_key.to_user_string(),
        partition=partition or "",
        n_computed=int(number("n_computed")),
        n_reused=int(number("n_reused")),
        n_error=int(number("n_error")),
        calls=int(number("calls")),
        seconds=round(number("step_seconds", run_seconds), 3),
    )


def _failure(result: dg.ExecuteInProcessResult, assets: Sequence[str], partition: str | None) -> DeepChartError:
    where = f"{', '.join(assets)} {partition or ''}".strip()
    for event in result.all_events:
        if event.is_step_failure:
            error = _error_of(event)
            if isinstance(error, DeepChartError):
                return error
            return InfrastructureError(f"{where}: {error}", remedy="The run's log in the UI has the whole trace.")
    return InfrastructureError(f"{where}: the run failed without naming a step.")


def _error_of(event: dg.DagsterEvent) -> DeepChartError | str:
    """What a failed step raised: one of ours as itself, anything else in Dagster's words."""
    error = event.step_failure_data.error
    cause = error.cause if error and error.cause else error
    message = " ".join((cause.message if cause else "no error was recorded").split())
    kind = getattr(errors, (cause.cls_name if cause else None) or "", None)
    if isinstance(kind, type) and issubclass(kind, DeepChartError):
        # Dagster writes "package.Class: message"; the message ends with its remedy.
        return kind(message.partition(": ")[2] or message)
    return message


def _manifest_partition(asset: AssetNode, partition: str) -> tuple[str, ...]:
    """The partition's place in the storage, of its key as Dagster writes it (dimensions by name: model, split)."""
    if asset.kind is PartitionKind.MODEL_SPLIT:
        model, _, split = partition.partition("|")
        return (split, model)
    if asset.kind is PartitionKind.MODEL_BACKEND:
        backend, _, model = partition.partition("|")
        return (backend, model)
    return (partition,)


def model_backend_key(model: str, backend: str) -> str:
    """The key string of a backend × model partition, as Dagster writes it."""
    import dagster as dg

    return cast(str, dg.MultiPartitionKey({"model": model, "backend": backend}))


def model_split_key(model: str, split: str) -> str:
    """The key string of a model × split partition, as Dagster writes it."""
    import dagster as dg

    return cast(str, dg.MultiPartitionKey({"model": model, "split": split}))
