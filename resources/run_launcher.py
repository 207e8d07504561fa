"""Runs as processes of this machine, and a look at whether a run's process is still there.

The code server that started a run's process reports it when that process dies. Where the server is gone as well (the
machine was restarted, everything was killed), or the run was one of the command line, nobody would: the run would be
under way for ever. Run monitoring asks the launcher, and Dagster's own one cannot tell.
"""

from __future__ import annotations

import platform
import time

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, LaunchRunContext, WorkerStatus

from deepchart_dagster.artifacts.processes import is_at_work
from resources.tags import COST_TAGS, HOST_TAG

_NAMED_WITHIN_S = 60.0  # a run says which process works on it when it starts


class LocalRunLauncher(DefaultRunLauncher):
    """Dagster's default launcher (a process below the code server), able to say that a run's process has ended."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def launch_run(self, context: LaunchRunContext) -> None:
        run = context.dagster_run
        anew = {tag: "0" for tag in COST_TAGS if tag in run.tags}  # what the run that this one repeats has cost
        self._instance.add_run_tags(run.run_id, {HOST_TAG: platform.node(), **anew})
        super().launch_run(context)

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Of a run that has started. RUNNING where nothing can be known: the process is another machine's."""
        host = run.tags.get(HOST_TAG, platform.node())
        if host != platform.node():
            return CheckRunHealthResult(WorkerStatus.RUNNING, f"on {host}")
        events = self._instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
        for entry in reversed(events):
            if (pid := _process(entry)) is not None:
                at_work = is_at_work(pid, entry.timestamp)
                return CheckRunHealthResult(
                    WorkerStatus.RUNNING if at_work else WorkerStatus.NOT_FOUND,
                    f"process {pid}" if at_work else f"its process {pid} has ended without a word",
                )
        started = self._instance.get_run_stats(run.run_id).start_time or 0.0
        if time.time() - started < _NAMED_WITHIN_S:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "no process was ever named")


def _process(entry: dg.EventLogEntry) -> int | None:
    event = entry.dagster_event
    value = event.engine_event_data.metadata.get("pid") if event else None
    return int(str(value.value)) if value is not None else None
