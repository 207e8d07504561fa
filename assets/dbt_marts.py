"""The dbt models on the metrics store: staging, then one mart per published table, with their tests.

dbt builds on a copy of the raw store; the copy takes the place of the published database only when every
model and test has succeeded. Readers keep the old one until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets
from deepchart_dagster.metrics.dbt import ensure_manifest, prepare_build_copy, publish

from resources import StorageResource, dbt_project, open_workbench


class _Translator(DagsterDbtTranslator):
    """Sources of the dbt project are tables that the ``metrics`` asset makes; models stand in one group."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        if dbt_resource_props["resource_type"] == "source":
            return dg.AssetKey("metrics")
        return dg.AssetKey(dbt_resource_props["name"])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        return "reports"


@dbt_assets(
    manifest=ensure_manifest(dbt_project.project_dir), project=dbt_project, dagster_dbt_translator=_Translator()
)
def dbt_marts(context: dg.AssetExecutionContext, dbt: DbtCliResource, storage: StorageResource) -> Iterator[Any]:
    with open_workbench(storage) as bench:
        copy = prepare_build_copy(bench.settings.storage)
        # Without the environment variable dbt would not know which file to build in; it is set for this call only.
        yield from dbt.cli(
            ["build"], context=context, raise_on_error=True, env={"DEEPCHART_DUCKDB": str(copy)}
        ).stream()
        publish(copy, bench.settings.storage)
