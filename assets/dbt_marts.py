"""The dbt models on the metrics store: staging, then one mart per published table, with their tests.

dbt builds on a copy of the raw store; the copy takes the place of the published database only when every
model and test has succeeded. Readers keep the old one until then.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets

from assets.metrics import table_key
from assets.pools import TABLES
from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.metrics.dbt import DATABASE_VARIABLE, ensure_manifest, prepare_build_copy, publish
from deepchart_dagster.metrics.store import sources_hash
from resources import StorageResource, dbt_project, open_workbench


class _Translator(DagsterDbtTranslator):
    """Sources of the dbt project are the raw tables of assets.metrics; models stand in one group."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        if dbt_resource_props["resource_type"] == "source":
            return table_key(dbt_resource_props["name"])
        return dg.AssetKey(dbt_resource_props["name"])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        return "reports"


_MANIFEST = ensure_manifest(dbt_project.project_dir)
_TRANSLATOR = _Translator()


@dbt_assets(manifest=_MANIFEST, project=dbt_project, dagster_dbt_translator=_TRANSLATOR, pool=TABLES)
def dbt_marts(context: dg.AssetExecutionContext, dbt: DbtCliResource, storage: StorageResource) -> Iterator[Any]:
    with open_workbench(storage) as bench:
        rows = sources_hash(bench.settings.storage)
        copy = prepare_build_copy(bench.settings.storage)
        with _building_in(copy):
            for event in _build_all(context, dbt, copy.parent / "target"):
                if _is_asked_for(context, event):
                    yield _with_data_version(context, event, rows)
        publish(copy, bench.settings.storage)


def _build_all(context: dg.AssetExecutionContext, dbt: DbtCliResource, target: Path) -> Iterator[Any]:
    """What is published holds every model, whatever was asked for; so dbt is not given the context, which would have it
    build that alone. ``target`` goes with the copy: the project's own folder may be another user's."""
    build = dbt.cli(["build"], manifest=_MANIFEST, dagster_dbt_translator=_TRANSLATOR, target_path=target)
    for said in build.stream_raw_events():
        yield from said.to_default_asset_events(
            manifest=_MANIFEST,
            dagster_dbt_translator=_TRANSLATOR,
            context=context,
            target_path=target,
            project=dbt_project,
        )


def _is_asked_for(context: dg.AssetExecutionContext, event: Any) -> bool:
    if isinstance(event, dg.Output):
        return event.output_name in context.selected_output_names
    if isinstance(event, dg.AssetCheckResult) and event.asset_key and event.check_name:
        return dg.AssetCheckKey(event.asset_key, event.check_name) in context.selected_asset_check_keys
    return event.asset_key in context.selected_asset_keys


def _with_data_version(context: dg.AssetExecutionContext, event: Any, rows: str) -> Any:
    """A model made by the same SQL from the same rows is the same: downstream of it stays fresh."""
    if not isinstance(event, dg.Output):
        return event
    key = context.asset_key_for_output(event.output_name)
    version = content_hash([rows, context.assets_def.code_versions_by_key.get(key)])
    return dg.Output(
        event.value, output_name=event.output_name, metadata=event.metadata, data_version=dg.DataVersion(version)
    )


@contextmanager
def _building_in(database: Path) -> Iterator[None]:
    """The dbt profile reads its file's path from this variable; dagster-dbt hands its own environment on."""
    before = os.environ.get(DATABASE_VARIABLE)
    os.environ[DATABASE_VARIABLE] = str(database)
    try:
        yield
    finally:
        if before is None:
            del os.environ[DATABASE_VARIABLE]
        else:
            os.environ[DATABASE_VARIABLE] = before
