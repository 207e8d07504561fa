"""The check ``fresh``, said anew outside of any run, as often as it changes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus

from assets.outcome import FRESH

if TYPE_CHECKING:
    from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord


@dataclass(frozen=True)
class Freshness:
    """How a partition is (None: the asset has none). ``description`` says why it is not fresh, in one line."""

    asset: str
    partition: str | None
    passed: bool
    description: str = ""
    metadata: Mapping[str, dg.MetadataValue] = field(default_factory=dict)


class FreshChecks:
    """Says it in the place of what the last run said, so that the UI shows it wherever it shows checks.

    Dagster 1.13 keeps one evaluation of a partition's check without a run (what a sensor hands over is such a one): the
    second violates a constraint of its tables. That of a run can be said again. What was in no run gets an id of its
    own in the run's place.
    """

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._without_run = str(uuid.uuid4())

    def say(self, one: Freshness) -> bool:
        """False where a run that will say it itself is under way: nothing was said."""
        last = self._last(one)
        if last is not None and self._is_under_way(last):
            return False
        event = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
            event_specific_data=self._evaluation(one),
            job_name="",
        )
        self._instance.report_dagster_event(event, run_id=(last.run_id if last else "") or self._without_run)
        return True

    def _last(self, one: Freshness) -> AssetCheckExecutionRecord | None:
        history = self._instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey(one.asset), FRESH),
            limit=1,
            partition_filter=PartitionKeyFilter(key=one.partition),
        )
        return history[0] if history else None

    def _is_under_way(self, last: AssetCheckExecutionRecord) -> bool:
        if last.status is not AssetCheckExecutionRecordStatus.PLANNED:
            return False
        run = self._instance.get_run_by_id(last.run_id)
        return run is not None and not run.is_finished

    def _evaluation(self, one: Freshness) -> dg.AssetCheckEvaluation:
        return dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(one.asset),
            check_name=FRESH,
            passed=one.passed,
            severity=dg.AssetCheckSeverity.WARN,
            description=one.description,
            metadata=one.metadata,
            target_materialization_data=self._latest(one),
            partition=one.partition,
        )

    def _latest(self, one: Freshness) -> AssetCheckEvaluationTargetMaterializationData | None:
        """The latest materialization: a check of any other one counts as out of date."""
        only = [one.partition] if one.partition is not None else None
        found = self._instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=dg.AssetKey(one.asset), asset_partitions=only), limit=1
        ).records
        if not found:
            return None
        return AssetCheckEvaluationTargetMaterializationData(
            storage_id=found[0].storage_id, run_id=found[0].run_id, timestamp=found[0].timestamp
        )
