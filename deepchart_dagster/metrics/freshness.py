"""Whether rows, marts and report are made of what is stored now.

A stamp beside the published store names what it was built from: the Parquet files and the call ledger, the dbt
project's own files, and the version of the page. It is written when the report is done, and compared before building
again.
"""

from __future__ import annotations

import json
from pathlib import Path

from deepchart_dagster.artifacts.canonical import content_hash, sha256_file
from deepchart_dagster.artifacts.files import write_json
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.metrics.dbt import DATABASE_NAME, project_sources
from deepchart_dagster.metrics.rows import BACKEND_SCORES, EXPORTED, list_time, partition_file
from deepchart_dagster.metrics.store import metrics_folder, sources_hash
from deepchart_dagster.stage_versions import REPORT_VERSION

_STAMP_NAME = "published.json"


def _stamp(storage: Path, project_dir: Path) -> dict[str, str]:
    return {
        "rows": sources_hash(storage),
        "report": REPORT_VERSION,
        "dbt_project": content_hash(
            {
                str(path.relative_to(project_dir)): sha256_file(path)
                for path in sorted(project_sources(project_dir))
                if path.is_file()
            }
        ),
    }


def record_published(storage: Path, project_dir: Path) -> None:
    """Say that marts and report are made of what is stored now."""
    write_json(metrics_folder(storage) / _STAMP_NAME, _stamp(storage, project_dir))


def reports_are_fresh(storage: Path, project_dir: Path, report: Path) -> bool:
    """Whether building marts and report again would make the same ones."""
    path = metrics_folder(storage) / _STAMP_NAME
    if not all(needed.is_file() for needed in (path, report, metrics_folder(storage) / DATABASE_NAME)):
        return False
    try:
        recorded = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        return False  # half a stamp stands for none: the reports are built again
    return bool(recorded == _stamp(storage, project_dir))


def rows_are_written(store: ArtifactStore, asset: str, partition: tuple[str, ...]) -> bool:
    """Whether a partition's rows are those of its manifest: a run that was killed in between left older ones.

    They are where they have its time. Which of two is the newer one cannot be asked: the clock may have been set back.
    """
    if asset not in (*EXPORTED, BACKEND_SCORES):
        return True
    made = list_time(store, asset, partition)
    if not made:
        return True  # nothing was made, so there is nothing to write
    rows = partition_file(store.root, asset, partition)
    return rows.exists() and rows.stat().st_mtime_ns == made
