"""The dbt project and its command line."""

from __future__ import annotations

from dagster_dbt import DbtCliResource, DbtProject

from deepchart_dagster.settings import PROJECT_ROOT

dbt_project = DbtProject(project_dir=PROJECT_ROOT / "dbt_reports", profiles_dir=PROJECT_ROOT / "dbt_reports")


def dbt_cli() -> DbtCliResource:
    return DbtCliResource(project_dir=dbt_project)
