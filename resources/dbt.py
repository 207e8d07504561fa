"""The dbt project and its command line."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from dagster_dbt import DbtCliResource, DbtProject

from deepchart_dagster.settings import PROJECT_ROOT

_FOLDER = PROJECT_ROOT / "dbt_reports"

dbt_project = DbtProject(project_dir=_FOLDER, profiles_dir=_FOLDER)


def dbt_cli() -> DbtCliResource:
    """dbt of this environment, found beside its Python: .venv/bin need not be on PATH."""
    executable = Path(sysconfig.get_path("scripts")) / "dbt"
    return DbtCliResource(project_dir=dbt_project, dbt_executable=str(executable))
