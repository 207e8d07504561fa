"""Dagster resources: each one shows a part of the settings in the launchpad, none holds logic.

A field that is left empty falls back to its DEEPCHART_* variable. ``open_workbench`` merges the
resources an asset asks for into one workbench (deepchart_dagster.workbench).
"""

from resources.base import SettingsResource, open_workbench
from resources.benchmark import BenchmarkResource
from resources.dbt import dbt_cli, dbt_project
from resources.judge import JudgeResource
from resources.models import ModelsResource
from resources.ocr import OcrEngineResource
from resources.sandbox import SandboxResource
from resources.storage import StorageResource

__all__ = [
    "BenchmarkResource",
    "JudgeResource",
    "ModelsResource",
    "OcrEngineResource",
    "SandboxResource",
    "SettingsResource",
    "StorageResource",
    "dbt_cli",
    "dbt_project",
    "open_workbench",
]
